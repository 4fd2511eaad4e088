//! What formulas and simulator have in the place of what a host would have.

use super::Caveat;
use crate::scenario::{End, Flow, FlowKind, LabOptions, Scenario};
use crate::settings::{InitialWindow, MtuProbing, RtoRule, Settings, WindowScale, stack};
use crate::units::Time;

/// What the simulator has in the place of what is asked for.
pub fn assumed_by_simulator(scenario: &Scenario) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let is_linux = scenario.flows.iter().any(|flow| scenario.runs_linux(flow));
    if is_linux {
        let ends = [("sender", &scenario.sender), ("receiver", &scenario.receiver)];
        caveats.extend(ends.into_iter().filter_map(|(end, host)| keys_beyond_linux(end, host)));
    }
    caveats.extend(older_tcp(scenario));
    for (end, congestion) in senders_of_older_tcp(scenario) {
        let text = format!(
            "{congestion} of the {end} needs the stack `linux` at both ends; Reno is used here and is far slower under \
             loss and on long fast paths"
        );
        caveats.push(Caveat::new("congestion", text));
    }
    for (end, host) in senders_without_linux(scenario) {
        if host.mtu_probing == MtuProbing::Always {
            let text = format!(
                "`mtu_probing = \"always\"` of the {} needs the stack `linux` at both ends; here it begins with full segments and \
                 probes once they are lost, as with `true`",
                end.word()
            );
            caveats.push(Caveat::new("mtu-search", text));
        }
    }
    // Linux's own TCP paces bulk data as in the lab.
    let is_linux = |flow: &Flow| flow.kind != FlowKind::Bulk || scenario.runs_linux(flow);
    let paces = scenario.flows.iter().all(is_linux);
    caveats.extend(lab_keys(scenario, paces));
    caveats
}

/// Keys without effect on the formulas; which law these take for a congestion control, they say themselves.
pub fn assumed_by_formulas(scenario: &Scenario) -> Vec<Caveat> {
    lab_keys(scenario, false).into_iter().collect()
}

/// Keys of the lab without effect, where bulk data is paced (`pacing_rate`) or not.
fn lab_keys(scenario: &Scenario, paces: bool) -> Option<Caveat> {
    let with_effect = scenario.lab.pacing_rate.filter(|_| paces);
    let (others, except) = match with_effect {
        Some(_) => (LabOptions { pacing_rate: None, ..scenario.lab }, " but `pacing_rate`"),
        None => (scenario.lab, ""),
    };
    let text = format!("the keys under `lab`{except} have no effect: they are for `--engine lab`");
    (others != LabOptions::default()).then(|| Caveat::new("lab-keys", text))
}

/// The ends that send in flows without Linux's own TCP, with a congestion control that only that has.
fn senders_of_older_tcp(scenario: &Scenario) -> Vec<(&'static str, &'static str)> {
    senders_without_linux(scenario)
        .filter(|(_, host)| !host.congestion.is_simulated())
        .map(|(end, host)| (end.word(), host.congestion.word()))
        .collect()
}

/// The ends that send in flows without Linux's own TCP.
fn senders_without_linux(scenario: &Scenario) -> impl Iterator<Item = (End, &Settings)> {
    let sends = move |end: End| {
        let mut older = scenario.flows.iter().filter(|flow| !scenario.runs_linux(flow));
        older.any(|flow| match flow.kind {
            FlowKind::Bulk => flow.from == end,
            FlowKind::Request(_) => true,
            FlowKind::Cbr { .. } | FlowKind::Ping { .. } => false,
        })
    };
    [(End::Sender, &scenario.sender), (End::Receiver, &scenario.receiver)]
        .into_iter()
        .filter(move |(end, _)| sends(*end))
}

/// Why hosts with Linux's own TCP run another here.
fn older_tcp(scenario: &Scenario) -> Option<Caveat> {
    let (sender, receiver) = (&scenario.sender, &scenario.receiver);
    let has_tcp = scenario.flows.iter().any(|flow| flow.kind.is_tcp());
    let text = match (sender.linux.is_some(), receiver.linux.is_some()) {
        (true, true) => {
            let differs = |flow: &Flow| flow.kind.is_tcp() && !scenario.runs_linux(flow);
            if !scenario.flows.iter().any(differs) {
                return None;
            }
            "requests with a `read_rate` run the TCP of the stack `rfc`, with the keys of the stack `linux` that it has: \
             Linux's own is simulated where replies are read at once"
                .to_owned()
        }
        (false, false) => return None,
        _ if !has_tcp => return None,
        _ => format!(
            "the sender has the stack `{}`, the receiver `{}`: Linux's own TCP is simulated between two hosts that have \
             it, so both run the older TCP with their keys; give both one stack",
            sender.stack, receiver.stack
        ),
    };
    Some(Caveat::new("mixed-stacks", text))
}

/// Keys that are set otherwise than in the stack `linux`, and that its simulation does not go by.
fn keys_beyond_linux(end: &str, host: &Settings) -> Option<Caveat> {
    let linux = stack("linux").ok()?.settings.complete().ok()?;
    let tick = host.linux.map(|rules| Time::from_nanos(1_000_000_000 / u64::from(rules.hz)));
    let fixed = match host.rto.rule {
        RtoRule::Linux { tick: written } => written != tick_of(&linux) && Some(written) != tick,
        RtoRule::Rfc6298 { .. } | RtoRule::Ticks { .. } => false,
    };
    let asks = [
        (
            "window_scale",
            matches!(host.window_scale, WindowScale::Shift(_) | WindowScale::Unlimited),
        ),
        (
            "initial_window = \"rfc6928\" (10 segments)",
            host.initial_window == InitialWindow::Rfc6928,
        ),
        ("delayed_ack (other than false)", {
            host.delayed_ack.is_some() && host.delayed_ack != linux.delayed_ack
        }),
        ("recovery", host.recovery != linux.recovery),
        ("recovery_burst", host.recovery_burst != linux.recovery_burst),
        ("initial_ssthresh", host.initial_ssthresh != linux.initial_ssthresh),
        ("limited_transmit", host.limited_transmit != linux.limited_transmit),
        ("handshake_ack", host.handshake_ack != linux.handshake_ack),
        ("rto.rule", !matches!(host.rto.rule, RtoRule::Linux { .. })),
        ("rto.initial", host.rto.initial != linux.rto.initial),
        ("rto.max", host.rto.max != linux.rto.max),
        ("rto.forget_after", host.rto.forget_after != linux.rto.forget_after),
        ("rto.tick (set linux.hz)", fixed),
    ];
    let keys: Vec<&str> = asks.iter().filter(|(_, asks)| *asks).map(|(key, _)| *key).collect();
    (!keys.is_empty()).then(|| {
        let text = format!(
            "of the {end}, the simulated Linux does not go by {}; the stack `rfc` does",
            keys.join(", ")
        );
        Caveat::new("linux-keys", text)
    })
}

/// The tick of the stack's timer.
fn tick_of(host: &Settings) -> Time {
    match host.rto.rule {
        RtoRule::Linux { tick } | RtoRule::Ticks { tick, .. } => tick,
        RtoRule::Rfc6298 { granularity } => granularity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(of: fn(&Scenario) -> Vec<Caveat>, more: &str) -> Vec<String> {
        let text = format!("{more}\n[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n");
        let scenario = Scenario::from_toml("test.toml", &text).unwrap();
        of(&scenario)
            .into_iter()
            .map(|caveat| format!("{}: {}", caveat.code, caveat.text))
            .collect()
    }

    #[test]
    fn what_linux_goes_by_has_no_caveat() {
        for text in [
            "",
            "sender.mss = 1000\nsender.initial_window = \"3 segments\"\nsender.rto.min = \"50 ms\"",
            "receiver.window = \"64 KiB\"\nreceiver.window_scale = \"off\"\nreceiver.delayed_ack = false",
            "sender = { ecn = true, mtu_probing = true }\nreceiver.ecn = true",
            "sender.mtu_probing = \"always\"",
            "sender.send_buffer = \"100 kB\"\nsender.congestion = \"bbr\"\nsender.sack = false",
        ] {
            assert_eq!(codes(assumed_by_simulator, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_linux_does_not_go_by_is_named() {
        for (text, key) in [
            ("sender.recovery = \"tahoe\"", "recovery"),
            ("sender.rto.max = \"60 s\"", "rto.max"),
            ("sender.rto = { rule = \"rfc6298\", granularity = \"1 ms\" }", "rto.rule"),
            ("receiver.delayed_ack = { timeout = \"40 ms\", every = 4 }", "delayed_ack"),
            ("sender.limited_transmit = false", "limited_transmit"),
            ("sender.initial_window = \"rfc6928\"", "initial_window"),
        ] {
            let found = codes(assumed_by_simulator, text);
            assert!(found.len() == 1 && found[0].starts_with("linux-keys"), "{text}: {found:?}");
            assert!(found[0].contains(key), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_stand_in_is_never_silent() {
        let mixed = codes(assumed_by_simulator, "receiver.stack = \"rfc\"");
        assert!(
            mixed[0].starts_with("mixed-stacks") && mixed[1].contains("cubic of the sender"),
            "{mixed:?}"
        );
        let search = "sender.mtu_probing = \"always\"\nreceiver.stack = \"rfc\"";
        let search = codes(assumed_by_simulator, search);
        assert!(search.iter().any(|it| it.starts_with("mtu-search: ")), "{search:?}");
        let slow = "flow = [{ kind = \"request\", request = \"1 kB\", reply = \"1 kB\" }]\nreceiver.read_rate = \"1 Mbit/s\"";
        assert!(codes(assumed_by_simulator, slow)[0].contains("read_rate"));
        assert_eq!(codes(assumed_by_formulas, ""), Vec::<String>::new());
    }
}
