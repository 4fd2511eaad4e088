//! Marks of numbers that are not to be relied on, and what they mean.

use std::collections::BTreeSet;

use maxseg_core::results::{Group, Row};

use super::words;

/// What stands before a number that comes from such a formula, or from a lab run that proves nothing.
pub fn mark(group: &Group<'_>) -> &'static str {
    if group.has_invalid() {
        INVALID
    } else if group.is_doubtful() {
        DOUBTFUL
    } else {
        ""
    }
}

/// The mark of a number that proves nothing: it is the best of nothing, however large.
pub const INVALID: &str = "!";

/// The mark of a number from a formula outside its range.
pub(super) const DOUBTFUL: &str = "~";

/// What the marks mean that stand somewhere among these, and which flow they are of.
pub fn mark_notes<'a>(groups: impl Iterator<Item = &'a Group<'a>>) -> Vec<String> {
    let groups: Vec<&Group<'_>> = groups.collect();
    let shared = match asked_flows(groups.iter().copied()).as_slice() {
        [] => None,
        [only] => Some(format!("of flow.{only}, which shares")),
        several => Some(format!("of {} together, which share", names(several))),
    };
    let of_asked =
        shared.map(|of| format!("goodput, RTT, losses and limit are {of} the path with others"));
    sign_notes(groups.into_iter()).into_iter().chain(of_asked).collect()
}

/// What the marks mean that stand somewhere among these.
pub(super) fn sign_notes<'a>(groups: impl Iterator<Item = &'a Group<'a>>) -> Vec<String> {
    let marks: BTreeSet<&str> = groups.map(mark).collect();
    let notes = [(DOUBTFUL, "outside the formula's range"), (INVALID, "an invalid run of the lab")];
    let notes = notes.iter().filter(|(sign, _)| marks.contains(sign));
    notes.map(|(sign, meaning)| format!("{sign} {meaning}")).collect()
}

/// What the goodput of these is called: where others carry data beside those that are asked about, it is that of these.
pub fn goodput_title<'a: 'g, 'g>(groups: impl IntoIterator<Item = &'g Group<'a>>) -> String {
    match asked_flows(groups).as_slice() {
        [] => "goodput".to_owned(),
        [only] => format!("goodput of flow.{only}"),
        several => format!("goodput of {}", names(several)),
    }
}

/// Several flows as keys name them.
fn names(flows: &[usize]) -> String {
    flows.iter().map(|flow| format!("flow.{flow}")).collect::<Vec<_>>().join(" + ")
}

fn asked_flows<'a: 'g, 'g>(groups: impl IntoIterator<Item = &'g Group<'a>>) -> Vec<usize> {
    let asked = groups.into_iter().map(Group::asked_flows);
    asked.into_iter().find(|asked| !asked.is_empty()).unwrap_or_default()
}

/// A line for each lab run that proves nothing: which it is, and why.
pub fn invalid_lines(rows: &[Row]) -> Vec<String> {
    let line = |row: &Row| {
        let seed = row.seed.map(|seed| format!("seed {seed}"));
        let which: Vec<String> = point_words(&row.point).into_iter().chain(seed).collect();
        format!("{}: {}", which.join(", "), row.outcome.invalid_because().join("; "))
    };
    rows.iter().filter(|row| !row.outcome.is_valid()).map(line).collect()
}

/// A point's keys with their values, as people read them.
pub(super) fn point_words(point: &serde_json::Map<String, serde_json::Value>) -> Vec<String> {
    point
        .iter()
        .map(|(key, value)| format!("{} {}", words::title(key), words::value(key, value)))
        .collect()
}
