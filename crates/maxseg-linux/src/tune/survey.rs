//! What became of every change: the journal beside what the kernel has.

use std::fs;
use std::path::PathBuf;

use maxseg_core::tune::{
    COMPARISONS_S, Entry, EntryState, History, Moment, Progress, Target, Value,
};

use super::dependence::{Dependent, dependent};
use super::here::process_start;
use super::route::{Image, exact, main_routes};
use super::watch::moved;
use super::{interface, read, route};
use crate::sys::read_regular;

/// An entry, and what became of it.
#[derive(Debug, Clone)]
pub struct Surveyed {
    /// As the journal has it.
    pub entry: Entry,
    /// What the kernel has now; `None` where that cannot be read, or is not of this place.
    pub now: Option<Value>,
    /// What it is.
    pub state: EntryState,
    /// Who changed it since, where that can be known.
    pub changed_by: Option<String>,
    /// What else there is to say.
    pub note: Option<String>,
}

impl Surveyed {
    /// Whether somebody should look at it: of a plan that was cut off nothing is to stay.
    pub fn is_trouble(&self) -> bool {
        match self.state {
            EntryState::Drifted | EntryState::Expired => true,
            EntryState::Set => !self.entry.plan_is_complete,
            EntryState::Superseded { .. } | EntryState::Undone | EntryState::Unknown => false,
        }
    }
}

/// Looks at every entry, in the order of their numbers.
pub fn survey(history: &History, at: &Moment) -> Vec<Surveyed> {
    history.entries().map(|entry| look(entry, history, at)).collect()
}

fn look(entry: Entry, history: &History, at: &Moment) -> Surveyed {
    let is_here = entry.is_at(&at.place) && entry.progress != Progress::Undone;
    let step = &entry.step;
    let reading = is_here.then(|| read(&step.target, step.image.as_deref()));
    let failure =
        reading.as_ref().and_then(|reading| reading.as_ref().err()).map(ToString::to_string);
    let now = reading.and_then(Result::ok).map(|reading| reading.value);
    let mut state = entry.state(history, now.as_ref(), at);
    let mut changed_by = match (&state, &now) {
        (EntryState::Drifted, Some(now)) => changed_by(&entry, now),
        _ => None,
    };
    // The metric is there, on a route that leads where its destinations do not go any more.
    if state == EntryState::Set
        && let Some(why) = moved(&entry.step)
    {
        (state, changed_by) = (EntryState::Drifted, Some(why));
    }
    let renamed = now.as_ref().and_then(|_| {
        let now = interface::renamed(&step.target, step.image.as_deref())?;
        Some(format!("the interface is named {now} now"))
    });
    let acts_on_none = || {
        let Target::Clamp(name) = &step.target else { return None };
        let is_none = state == EntryState::Set && interface::index(name).is_none();
        is_none.then(|| format!("no interface is named {name} now: the clamp acts on none"))
    };
    let waits = || waits_for(&entry, &state, history, at);
    let note = failure
        .or_else(waits)
        .or_else(|| note(&entry, &state, at))
        .or(renamed)
        .or_else(acts_on_none);
    Surveyed { entry, now, state, changed_by, note }
}

/// What keeps an expired change from being undone.
fn waits_for(entry: &Entry, state: &EntryState, history: &History, at: &Moment) -> Option<String> {
    let is_expired = *state == EntryState::Expired && entry.plan_is_complete;
    let Some(Dependent::Target(by)) =
        is_expired.then(|| dependent(history, &at.place, entry, &[])).flatten()
    else {
        return None;
    };
    Some(format!("still set until change {by}, which depends on it, is undone"))
}

fn note(entry: &Entry, state: &EntryState, at: &Moment) -> Option<String> {
    if let Some(undone) = entry.undone.as_ref().filter(|_| entry.progress == Progress::Undone) {
        return Some(undone.words());
    }
    let is_here = entry.is_at(&at.place);
    if !is_here && entry.place.boot != at.place.boot {
        return Some(
            "gone when the machine was booted: `tune persist` makes a change last".to_owned(),
        );
    }
    if !is_here {
        let guard = entry.guard.filter(|_| has_guard(entry)).map(|(pid, _)| {
            format!(
                ", which stays, with its interfaces, as long as process {pid} does: it is to undo this at its time"
            )
        });
        return Some(format!("in another network namespace{}", guard.unwrap_or_default()));
    }
    match state {
        EntryState::Undone if !entry.plan_is_complete => {
            Some("its plan was cut off before it was made".to_owned())
        }
        EntryState::Undone
            if matches!(entry.step.target, Target::Socket { .. })
                && entry.progress == Progress::Set =>
        {
            Some("the connection is closed: nothing is left of it".to_owned())
        }
        EntryState::Undone => Some("undone; the program ended before it noted that".to_owned()),
        _ if !entry.plan_is_complete => Some(
            "its plan was cut off: the next `tune apply`, `undo` or `watch` undoes it".to_owned(),
        ),
        EntryState::Expired => {
            Some("still set: the next `tune apply`, `undo` or `watch` undoes it".to_owned())
        }
        EntryState::Set if entry.ends.is_some() && !has_guard(entry) => Some(
            "the process that is to undo it has ended: the next `tune` command after its time does"
                .to_owned(),
        ),
        EntryState::Set if entry.reverts_if_worse && !has_guard(entry) => Some(
            "the process that is to undo it where connections do worse has ended: nobody compares them \
             (`tune status --effect` does)"
                .to_owned(),
        ),
        EntryState::Set if entry.reverts_if_worse => {
            let most_min = COMPARISONS_S.last().map_or(0.0, |last| last / 60.0);
            Some(format!(
                "undone where its connections do worse: they are compared from time to time for {most_min:.0} min"
            ))
        }
        EntryState::Set if entry.progress == Progress::Undoing => {
            Some("undoing it was cut off: `tune undo` again".to_owned())
        }
        EntryState::Set
        | EntryState::Drifted
        | EntryState::Superseded { .. }
        | EntryState::Unknown => None,
    }
}

/// Whether the process that is to undo it runs.
fn has_guard(entry: &Entry) -> bool {
    entry.guard.is_some_and(|(pid, started)| process_start(pid) == Some(started))
}

/// Who has changed it since, as far as that leaves a trace.
fn changed_by(entry: &Entry, now: &Value) -> Option<String> {
    match &entry.step.target {
        Target::Route { .. } if *now == Value::Absent => {
            let was = Image::parse(entry.step.image.as_deref()?)?.raw()?;
            Some(route::gone_with(was.interface()))
        }
        Target::InterfaceMtu(_) | Target::Sysctl(_)
            if *now == Value::Absent && interface::is_of_gone(&entry.step) =>
        {
            let why =
                "the interface is gone: it was deleted, or moved to another network namespace";
            Some(why.to_owned())
        }
        _ if *now == Value::Absent => None,
        Target::Sysctl(name) => {
            let value = now.text()?;
            conf_file_with(name, value).map(|file| format!("{} has this value", file.display()))
        }
        Target::Route { prefix, .. } => {
            let routes = main_routes(prefix.is_v6()).ok()?;
            let there = exact(&routes, *prefix)?;
            let was = Image::parse(entry.step.image.as_deref()?)?;
            let protocol = if was.added { route::PROTOCOL } else { was.raw()?.header.protocol };
            (there.header.protocol != protocol)
                .then(|| format!("the route is of {}", protocol_name(there.header.protocol)))
        }
        Target::InterfaceMtu(_) | Target::Socket { .. } | Target::Clamp(_) | Target::File(_) => {
            None
        }
    }
}

/// A file of sysctl.d(5) that sets a name to this value.
fn conf_file_with(name: &str, value: &str) -> Option<PathBuf> {
    let folders =
        ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"];
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.push(PathBuf::from("/etc/sysctl.conf"));
    let slashed = name.replace('.', "/");
    let sets = |file: &PathBuf| {
        let bytes = read_regular(file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().filter_map(|line| line.split_once('=')).any(|(key, of)| {
            let key = key.trim().trim_start_matches('-');
            let of: Vec<&str> = of.split_whitespace().collect();
            (key == name || key == slashed) && of.join(" ") == value
        })
    };
    files.into_iter().find(sets)
}

/// `RTPROT_*` of `linux/rtnetlink.h`.
fn protocol_name(protocol: u8) -> String {
    match protocol {
        2 => "the kernel".to_owned(),
        3 | 4 => "an administrator (boot or static)".to_owned(),
        9 => "a router advertisement".to_owned(),
        16 => "a DHCP client".to_owned(),
        12 => "BIRD".to_owned(),
        11 => "Zebra".to_owned(),
        186 => "BGP".to_owned(),
        188 => "OSPF".to_owned(),
        other => format!("protocol {other} (/etc/iproute2/rt_protos)"),
    }
}
