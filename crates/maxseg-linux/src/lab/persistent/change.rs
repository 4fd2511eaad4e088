//! Setting keys of the scenario while the lab is up.

use maxseg_core::path::LinkSpec;
use maxseg_core::scenario::{Draft, End, Scenario, ScenarioError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lab::{PersistentLab, notes, set_congestion, unmet};
use crate::lab::error::LabError;
use crate::lab::feasible;
use crate::lab::flows::congestion_of;
use crate::lab::header_limits::of_any_program;
use crate::lab::host::fits;
use crate::lab::host_setup::bounded_by_the_kernel;
use crate::lab::network::Network;
use crate::lab::topology::{DIRECTIONS, Side, icmp_blocked, upstream};

/// A key whose value has changed; the values are as in the file, `null` where the file has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The key, as `lab set` takes it.
    pub key: String,
    /// The value before.
    pub old: Value,
    /// The value now.
    pub new: Value,
}

/// Sets all keys or none: where the kernel refuses one, those before it are set back.
///
/// # Errors
/// A key does not exist, a value is wrong, a key is fixed while the lab is up, or the kernel refuses a change; the error
/// says if undoing failed too.
pub(super) fn set(
    lab: &mut PersistentLab,
    assignments: &[String],
) -> Result<Vec<Changed>, LabError> {
    lab.check()?;
    let mut draft = lab.draft.clone();
    for assignment in assignments {
        draft.set_argument(assignment).map_err(without_option)?;
    }
    let new = draft.scenario()?;
    let changed = differences(&lab.draft, &draft);
    refuse_what_stays((&lab.draft, &draft), &changed)?;
    feasible::mtus(&new)?;
    begin_with(lab, &new)?;
    if let Err(error) = apply(lab, &lab.scenario, &new) {
        let undone = apply(lab, &new, &lab.scenario);
        lab.notes = notes(&set_congestion(&mut lab.network, &lab.scenario));
        return Err(match undone {
            Ok(()) => error,
            Err(undo) => LabError::HalfApplied { error: Box::new(error), undo: Box::new(undo) },
        });
    }
    lab.draft = draft;
    lab.scenario = new;
    Ok(changed)
}

/// `lab set` takes assignments alone, without `--set`.
fn without_option(error: ScenarioError) -> ScenarioError {
    ScenarioError { hint: error.hint.replace("--set ", ""), ..error }
}

/// Refuses changes of what is fixed while a lab is up.
fn refuse_what_stays(
    (old_draft, new_draft): (&Draft, &Draft),
    changed: &[Changed],
) -> Result<(), LabError> {
    let scenario = |draft: &Draft| draft.scenario();
    let (old, new) = (&scenario(old_draft)?, &scenario(new_draft)?);
    let fixed = |key: &str, reason| LabError::Fixed { key: key.to_owned(), reason };
    let names = |scenario: &Scenario| -> Vec<String> {
        scenario.path.hops.iter().map(|hop| hop.name.clone()).collect()
    };
    if names(old) != names(new) {
        return Err(fixed("hop", "the number and names of hops are fixed"));
    }
    for (index, Changed { key, .. }) in changed.iter().enumerate() {
        let root = key.split('.').next().unwrap_or_default();
        let reason = match root {
            "hop" | "name" | "about" => continue,
            "sender" | "receiver" if has_effect((old_draft, old), new, changed, index) => continue,
            "sender" | "receiver" => return Err(without_effect(key, new)),
            "flow" | "until" => "a persistent lab has no flows and no duration",
            "seed" => "the links have already drawn random numbers",
            "sweep" => "a lab is a single point of a sweep",
            _ => "the hosts were built with it",
        };
        return Err(fixed(key, reason));
    }
    Ok(())
}

/// Why a key of a host has no effect: it may be the value alone that has none.
fn without_effect(key: &str, new: &Scenario) -> LabError {
    let last = new.path.hops.len();
    let (own, index, end) = match key {
        "sender.mss" => (new.sender.mss, 0, End::Sender),
        "receiver.mss" => (new.receiver.mss, last, End::Receiver),
        "sender.rto.max" | "receiver.rto.max" | "sender.rto.min" | "receiver.rto.min" => {
            return bounded(key, new);
        }
        _ => return LabError::NotAKernelSetting(key.to_owned()),
    };
    let fits = fits(new, index, end).get();
    match own.map(|mss| mss.bytes().get()).filter(|mss| *mss > fits) {
        Some(mss) => LabError::NoSuchSegments { key: key.to_owned(), mss, fits },
        None => LabError::NotAKernelSetting(key.to_owned()),
    }
}

/// Why a timeout has no effect: the kernel takes another value for it, which it may have already.
fn bounded(key: &str, new: &Scenario) -> LabError {
    let (end, timeout) = key.split_once('.').unwrap_or_default();
    let settings = if end == "sender" { &new.sender } else { &new.receiver };
    let bound = bounded_by_the_kernel(settings).into_iter().find(|what| what.starts_with(timeout));
    bound.map_or_else(
        || LabError::NotAKernelSetting(key.to_owned()),
        |bound| LabError::Bounded { key: key.to_owned(), bound },
    )
}

/// Whether a changed key has an effect on the hosts' kernels, alone or as the last of the changes: a key without effect
/// must not pass because others have one.
fn has_effect(
    (draft, old): (&Draft, &Scenario),
    new: &Scenario,
    changed: &[Changed],
    index: usize,
) -> bool {
    let with = |is_set: &dyn Fn(usize) -> bool| {
        let mut draft = draft.clone();
        for (_, Changed { key, new, .. }) in
            changed.iter().enumerate().filter(|(other, _)| is_set(*other))
        {
            draft.set_argument(&format!("{key}={new}")).ok()?;
        }
        draft.scenario().ok()
    };
    let alone = with(&|other| other == index).map(|alone| heeds(old, &alone));
    let as_last = || with(&|other| other != index).map(|others| heeds(&others, new));
    // Some keys have an effect only together with others.
    alone == Some(true) || as_last().or(alone).unwrap_or_else(|| heeds(old, new))
}

/// Whether the hosts' sysctls, route metrics or congestion control differ between the scenarios.
fn heeds(old: &Scenario, new: &Scenario) -> bool {
    if (&old.sender, &old.receiver) == (&new.sender, &new.receiver) {
        return true;
    }
    congestion(old) != congestion(new) || Network::settings_differ(old, new)
}

fn congestion(scenario: &Scenario) -> [&'static str; 2] {
    [&scenario.sender, &scenario.receiver].map(congestion_of)
}

/// Changes the congestion control of new connections, in every host or in none.
fn begin_with(lab: &mut PersistentLab, new: &Scenario) -> Result<(), LabError> {
    if congestion(&lab.scenario) == congestion(new) {
        return Ok(());
    }
    let told = set_congestion(&mut lab.network, new);
    let new_notes = notes(&told);
    if let Some(error) = unmet(told) {
        lab.notes = notes(&set_congestion(&mut lab.network, &lab.scenario));
        return Err(error);
    }
    lab.notes = new_notes;
    Ok(())
}

fn apply(lab: &PersistentLab, old: &Scenario, new: &Scenario) -> Result<(), LabError> {
    for hop in 0..new.path.hops.len() {
        let links = |scenario: &Scenario| scenario.path.hops[hop].links().map(LinkSpec::clone);
        for ((was, link), (side, to)) in links(old)
            .into_iter()
            .zip(links(new))
            .zip([Side::Near, Side::Far].into_iter().zip(DIRECTIONS))
        {
            // Interfaces shrink before their link and grow after it, so that no packet is too large for the link.
            if link.mtu < was.mtu {
                lab.network.set_mtu(new, (hop, side), link.mtu)?;
            }
            if link != was
                || icmp_blocked(new, hop, to) != icmp_blocked(old, hop, to)
                || of_any_program(new, hop, to) != of_any_program(old, hop, to)
                || upstream(new, hop, to) != upstream(old, hop, to)
            {
                lab.relays.change(new, hop, to)?;
            }
            if link.mtu > was.mtu {
                lab.network.set_mtu(new, (hop, side), link.mtu)?;
            }
        }
    }
    lab.network.reconfigure(old, new)
}

/// The keys in which two documents differ.
fn differences(old: &Draft, new: &Draft) -> Vec<Changed> {
    let mut changed = Vec::new();
    compare("", &old.to_json(), &new.to_json(), &mut changed);
    changed
}

fn compare(key: &str, old: &Value, new: &Value, changed: &mut Vec<Changed>) {
    if old == new {
        return;
    }
    let below = |word: &str| if key.is_empty() { word.to_owned() } else { format!("{key}.{word}") };
    match (old, new) {
        (Value::Object(was), Value::Object(is)) => {
            let words = was.keys().chain(is.keys().filter(|word| !was.contains_key(*word)));
            for word in words {
                let of = |table: &serde_json::Map<String, Value>| {
                    table.get(word).cloned().unwrap_or_default()
                };
                compare(&below(word), &of(was), &of(is), changed);
            }
        }
        // A table that was not there: its keys are new.
        (Value::Null, Value::Object(is)) => {
            for (word, value) in is {
                compare(&below(word), &Value::Null, value, changed);
            }
        }
        (Value::Array(was), Value::Array(is))
            if was.len() == is.len() && is.iter().all(Value::is_object) =>
        {
            for (index, (old, new)) in was.iter().zip(is).enumerate() {
                let name = new.get("name").and_then(Value::as_str);
                compare(&below(name.unwrap_or(&index.to_string())), old, new, changed);
            }
        }
        _ => changed.push(Changed { key: key.to_owned(), old: old.clone(), new: new.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[hop]]\nname = \"radio\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\n\
                        errors = { model = \"uniform\", per = \"frame\", rate = 0 }\nframe = 128\n";

    fn drafts(assignments: &[&str]) -> (Draft, Draft, Vec<Changed>) {
        let old = Draft::parse("test", FILE).unwrap();
        let mut new = old.clone();
        for assignment in assignments {
            new.set_argument(assignment).unwrap();
        }
        let changed = differences(&old, &new);
        (old, new, changed)
    }

    /// Why they cannot be set, and the hint; `None` where they can.
    fn refusal(assignments: &[&str]) -> Option<(String, Option<String>)> {
        let (old, new, changed) = drafts(assignments);
        let error = refuse_what_stays((&old, &new), &changed).err()?;
        Some((error.to_string(), error.hint()))
    }

    #[test]
    fn what_has_changed_is_told_as_it_is_written() {
        let cases = [
            ("hop.radio.rate=3 Mbit/s", "hop.radio.rate", "\"2 Mbit/s\"", "\"3 Mbit/s\""),
            ("hop.*.mtu=1400", "hop.radio.mtu", "null", "1400"),
            ("hop.radio.errors.rate=5%", "hop.radio.errors.rate", "0", "\"5%\""),
            ("hop.radio.reverse.delay=5 ms", "hop.radio.reverse.delay", "null", "\"5 ms\""),
        ];
        for (assignment, key, old, new) in cases {
            let (_, _, changed) = drafts(&[assignment]);
            let changed = changed.iter().find(|changed| changed.key == key).unwrap();
            assert_eq!(
                (changed.old.to_string(), changed.new.to_string()),
                (old.into(), new.into())
            );
        }
        assert_eq!(drafts(&["hop.radio.delay=20 ms"]).2, []);
    }

    #[test]
    fn what_stays_is_refused_with_the_reason() {
        let cases = [
            ("hop.radio.name=air", "names of hops are fixed"),
            ("until.time=5 s", "no duration"),
            ("seed=7", "random numbers"),
            ("ip=6", "the hosts were built with it"),
            ("lab.as_netem=true", "the hosts were built with it"),
            ("sender.limited_transmit=false", "not a setting of the Linux kernel"),
            ("sender.rto.max=200 s", "rto.max = 200 s is 120 s here"),
        ];
        for (assignment, why) in cases {
            let Some((what, hint)) = refusal(&[assignment]) else {
                panic!("{assignment} is accepted");
            };
            assert!(what.contains(why) && hint.is_some(), "{assignment}: {what}");
        }
        for assignment in [
            "sender.mss=536",
            "receiver.window=64 KiB",
            "sender.congestion=cubic",
            "sender.sack=false",
        ] {
            assert_eq!(refusal(&[assignment]), None);
        }
    }

    #[test]
    fn an_mss_above_the_interface_is_told_as_such() {
        let (_, new, _) = drafts(&["sender.mss=9000", "receiver.mss=1400"]);
        let told = |key| without_effect(key, &new.scenario().unwrap()).to_string();
        assert!(
            told("sender.mss").contains("= 9000 would change nothing"),
            "{}",
            told("sender.mss")
        );
        assert!(told("sender.mss").contains("hold 1460 bytes"), "{}", told("sender.mss"));
        for key in ["receiver.mss", "sender.limited_transmit"] {
            assert!(told(key).contains("not a setting of the Linux kernel"), "{}", told(key));
        }
    }

    #[test]
    fn a_key_without_a_value_gets_a_hint_that_lab_set_takes() {
        let error = Draft::parse("test", FILE).unwrap().set_argument("hop.radio.rate").unwrap_err();
        assert_eq!(without_option(error).hint, "write for example sender.mss=536");
    }

    #[test]
    fn a_key_is_not_heeded_for_its_company() {
        let without_effect = "sender.limited_transmit=false";
        for assignments in
            [["sender.mss=536", without_effect], [without_effect, "sender.congestion=cubic"]]
        {
            let (what, _) = refusal(&assignments).unwrap();
            assert!(what.contains("sender.limited_transmit"), "{what}");
        }
        assert_eq!(refusal(&["sender.mss=536", "sender.sack=false", "hop.radio.delay=9 ms"]), None);
        // Alone the window has no effect: unscaled it stays below 64 KiB.
        let window = ["receiver.window=100 KiB", "receiver.window_scale=\"off\""];
        assert_eq!(refusal(&window[1..]), None);
        assert_eq!(refusal(&window), None);
    }
}
