//! Where the simulator and the kernel part.

use std::fmt::Write;

use maxseg_core::units::Time;

use super::reference::{Reference, Sample, Seen};
use super::run::Outcome;

/// The kernel's clock steps by 256 ns when programs read it, and its timers are set by readings; a packet may
/// be as late as a handful of these.
const TOLERANCE: Time = Time::from_nanos(20_000);
/// Rates of delivery may be so far apart: intervals are of microseconds, read off a clock of 256 ns.
const RATE: f64 = 0.01;
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

/// What the kernel's samples of a cell, whose packets are the same, show beside ours.
#[derive(Debug, Clone, Default)]
pub struct SamplesCompared {
    /// How many there are.
    pub count: usize,
    /// Of how many the mark differs that the application held the rate down: a write and an acknowledgement at one instant decide it.
    pub marks_apart: usize,
    /// The first whose counts differ, or whose rate of delivery does by more than 1%: both sides.
    pub apart: Option<String>,
}

/// Compares samples. Those beside which a packet moves are left out: it may be counted by one and not by the other.
pub(super) fn compare_samples(theirs: &Reference, ours: &Outcome) -> SamplesCompared {
    let mut compared = SamplesCompared::default();
    let Some(end) = theirs.seen.last().map(|seen| seen.at) else { return compared };
    for sample in theirs.samples.iter().filter(|sample| sample.at <= end) {
        let mine = ours.samples.iter().find(|mine| mine.at == sample.at);
        let Some(mine) = mine.filter(|mine| mine.info.srtt > 0 && sample.info.srtt > 0) else {
            continue;
        };
        if moves_at(theirs, sample.at) {
            continue;
        }
        compared.count += 1;
        let (theirs, ours) = (&sample.info, &mine.info);
        let rates = [theirs.delivery_rate as f64, ours.delivery_rate as f64];
        let is_same = theirs.total_retrans == ours.total_retrans
            && theirs.bytes_sent == ours.bytes_sent
            && (rates[1] - rates[0]).abs() <= RATE * rates[0];
        compared.marks_apart += usize::from(theirs.is_app_limited != ours.is_app_limited);
        if !is_same && compared.apart.is_none() {
            compared.apart = Some(format!("{}\n{}", state(sample), state(mine)));
        }
    }
    compared
}

/// Whether a packet was seen at this time.
fn moves_at(reference: &Reference, at: Time) -> bool {
    let from = reference.seen.partition_point(|seen| seen.at.saturating_add(TOLERANCE) < at);
    reference.seen.get(from).is_some_and(|seen| seen.at <= at.saturating_add(TOLERANCE))
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
