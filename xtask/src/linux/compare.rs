//! Where the simulator and the kernel part.

use std::fmt::Write;

use maxseg_core::units::Time;

use super::reference::{Reference, Sample, Seen};
use super::run::Outcome;

/// The kernel's clock steps by 256 ns when programs read it, and its timers are set by readings; a packet may
/// be as late as a handful of these.
const TOLERANCE: Time = Time::from_nanos(20_000);
/// Packets shown on either side of the first that differs.
const AROUND: usize = 8;

/// The first packet that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Packets before it.
    pub index: usize,
    /// When, since the SYN: the earlier of the two.
    pub at: Time,
    /// What differs.
    pub what: &'static str,
}

/// The first packet that differs, if one does among those recorded.
pub fn first_difference(theirs: &Reference, ours: &Outcome) -> Option<Difference> {
    let end = theirs.seen.last()?.at;
    let until: Vec<&Seen> = ours.seen.iter().filter(|seen| seen.at <= end).collect();
    for (index, seen) in theirs.seen.iter().enumerate() {
        let Some(mine) = until.get(index) else {
            // The very last instants may be cut.
            let cut = seen.at.saturating_add(TOLERANCE) >= end;
            return (!cut).then_some(Difference { index, at: seen.at, what: "missing" });
        };
        if let Some(what) = differs(seen, mine) {
            return Some(Difference { index, at: seen.at.min(mine.at), what });
        }
    }
    None
}

fn differs(theirs: &Seen, ours: &Seen) -> Option<&'static str> {
    let apart = theirs.at.as_nanos().abs_diff(ours.at.as_nanos());
    let checks = [
        (theirs.is_sent != ours.is_sent, "direction"),
        (theirs.seq != ours.seq, "number"),
        (theirs.len != ours.len, "length"),
        (theirs.ack != ours.ack, "acknowledgement"),
        (theirs.sack.is_some() && theirs.sack != ours.sack, "SACK blocks"),
        (theirs.window != ours.window, "window"),
        (theirs.push != ours.push, "push"),
        (apart > TOLERANCE.as_nanos(), "time"),
    ];
    checks.into_iter().find_map(|(differs, what)| differs.then_some(what))
}

/// Both sides around a difference, theirs first, with the state before it.
pub fn show(theirs: &Reference, ours: &Outcome, difference: &Difference) -> String {
    let mut text = String::new();
    let from = difference.index.saturating_sub(AROUND);
    let _ = writeln!(text, "{} differs, packet {}:", difference.what, difference.index);
    for index in from..difference.index + AROUND {
        let mark = if index == difference.index { '*' } else { ' ' };
        let line = |seen: Option<&Seen>| seen.map_or_else(String::new, describe);
        let (left, right) = (line(theirs.seen.get(index)), line(ours.seen.get(index)));
        let _ = writeln!(text, "{mark}{left:<70} | {right}");
    }
    for (name, samples) in [("kernel", &theirs.samples), ("ours", &ours.samples)] {
        let before = samples.iter().rev().find(|sample| sample.at <= difference.at);
        let after = samples.iter().find(|sample| sample.at > difference.at);
        for sample in before.into_iter().chain(after) {
            let _ = writeln!(text, "{name:>7}: {}", state(sample));
        }
    }
    text
}

fn describe(seen: &Seen) -> String {
    let Seen { at, is_sent, seq, len, ack, window, push, sack } = seen;
    let (way, push) = (if *is_sent { '>' } else { '<' }, if *push { "P" } else { " " });
    let at = at.as_secs_f64() * 1e3;
    let sack: String = sack.iter().flatten().map(|(from, to)| format!(" {from}-{to}")).collect();
    format!("{at:11.4} {way}{push} {seq}:{} ack {ack} win {window}{sack}", seq + len)
}

fn state(sample: &Sample) -> String {
    format!("{:9.3} ms {:?}", sample.at.as_secs_f64() * 1e3, sample.info)
}
