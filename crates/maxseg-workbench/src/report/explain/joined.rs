//! What two captures show together, as lines of text: shared by the terminal and the page.

use maxseg_core::evidence::{Change, ChangedField, Direction, Evidence, Joined, Passage};

use super::super::words::{self, counted};
use crate::explain::CapturePair;

/// What two captures show together of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BetweenCaptures {
    /// Sentences about both directions: which capture is which, the clocks, the queue, changed headers.
    pub lines: Vec<(&'static str, String)>,
    /// Rows of a table: a label, then the direction of the data and the other.
    pub rows: Vec<(&'static str, String, String)>,
    /// The directions of the two columns.
    pub directions: [Direction; 2],
}

/// What the two captures show of a connection; `None` where there is one capture only.
pub fn between_captures(
    pair: Option<&CapturePair>,
    evidence: &Evidence,
) -> Option<BetweenCaptures> {
    let (pair, joined) = (pair?, evidence.joined.as_deref()?);
    let data = evidence.data_direction();
    let mut lines = vec![("captures", captures(pair, evidence, joined, data))];
    lines.push(("clocks", clocks(joined)));
    lines.extend(queue(evidence, joined).map(|text| ("queue", text)));
    lines.extend(losses(joined.passage(data)).map(|text| ("at the losses", text)));
    let changes = joined.changes.iter().map(|change| ("changed", changed(evidence, change)));
    lines.extend(changes);
    let (there, back) = (joined.passage(data), joined.passage(data.other()));
    let rows = ROWS.iter().filter_map(|(label, of)| {
        let (there, back) = (of(there), of(back));
        let is_empty = |cell: &String| matches!(cell.as_str(), "0" | "–");
        let is_always = matches!(*label, "lost" | "reordered");
        (is_always || !is_empty(&there) || !is_empty(&back)).then_some((*label, there, back))
    });
    Some(BetweenCaptures { lines, rows: rows.collect(), directions: [data, data.other()] })
}

type Row = (&'static str, fn(&Passage) -> String);

/// The rows; those that are 0 in both directions are left out, but for what was lost and reordered.
const ROWS: &[Row] = &[
    ("packets sent", |p| words::grouped(p.sent_packets)),
    ("lost", lost),
    ("payload lost", |p| words::grouped(p.lost_bytes)),
    ("reordered", |p| words::grouped(p.reordered_packets)),
    ("duplicated", |p| words::grouped(p.duplicated_packets)),
    ("retransmitted", |p| words::grouped(p.retransmitted_packets)),
    ("  had arrived before", |p| words::grouped(p.needless_retransmissions)),
    ("least delay", |p| time(p.delay.and_then(|delay| delay.min_s))),
    ("above that, median", |p| time(p.delay.map(|delay| delay.queue_median_s))),
    ("  p99", |p| time(p.delay.map(|delay| delay.queue_p99_s))),
    ("  most", |p| time(p.delay.map(|delay| delay.queue_max_s))),
    ("hops (TTL)", |p| p.hops.map_or_else(dash, |hops| hops.to_string())),
    ("marked CE (ECN)", |p| words::grouped(p.marked_packets)),
    ("ECN cleared", |p| words::grouped(p.bleached_packets)),
    ("missed by the capture at the sender", |p| words::grouped(p.missed_at_sender)),
    ("missed by the capture at the receiver", |p| words::grouped(p.missed_at_receiver)),
    ("sent while only one captured", |p| words::grouped(p.outside_packets)),
];

fn dash() -> String {
    "–".to_owned()
}

fn time(seconds: Option<f64>) -> String {
    seconds.map_or_else(dash, words::time)
}

fn lost(passage: &Passage) -> String {
    match passage.loss_share() {
        Some(share) if passage.lost_packets > 0 => {
            format!("{} ({})", words::grouped(passage.lost_packets), words::percent(share))
        }
        Some(_) => "0".to_owned(),
        None => "unknown".to_owned(),
    }
}

fn captures(pair: &CapturePair, evidence: &Evidence, joined: &Joined, data: Direction) -> String {
    let name = |capture: usize| pair.names.get(capture).map_or("", String::as_str);
    let (client, server) = (joined.client_capture, 1 - joined.client_capture.min(1));
    let (near, far) = if data == Direction::Forward { (client, server) } else { (server, client) };
    format!(
        "{} at the sender, {}; {} at the receiver. Limits and packet numbers are of {}",
        name(near),
        evidence.sender(data),
        name(far),
        name(joined.judged_in)
    )
}

fn clocks(joined: &Joined) -> String {
    let Some(clock) = joined.clock else {
        return "their difference is unknown: packets of one direction only are in both captures"
            .to_owned();
    };
    let ahead = if clock.offset_s < 0.0 { "behind" } else { "ahead of" };
    let skew = match clock.skew_ppm {
        Some(ppm) if ppm > 0.0 => format!(", and faster by {ppm:.1} ppm"),
        Some(ppm) => format!(", and slower by {:.1} ppm", -ppm),
        None => String::new(),
    };
    format!(
        "the server's is {} {ahead} the client's{skew}; ±{}, half the least round trip of {}",
        words::time(clock.offset_s.abs()),
        words::time(clock.uncertainty_s),
        words::time(clock.base_rtt_s)
    )
}

fn queue(evidence: &Evidence, joined: &Joined) -> Option<String> {
    let direction = joined.queued_direction()?;
    let delay = joined.passage(direction).delay?;
    Some(format!(
        "towards {}: packets wait there for {} (median) to {} (p99)",
        evidence.receiver(direction),
        words::time(delay.queue_median_s),
        words::time(delay.queue_p99_s)
    ))
}

fn losses(passage: &Passage) -> Option<String> {
    let at = passage.at_losses;
    let longest = passage.delay?.queue_max_s;
    (at.count > 0).then(|| {
        format!(
            "the packet before had waited {} (median); {} of {} at least half of the longest wait, {}",
            words::time(at.median_s),
            words::grouped(at.high),
            counted(at.count, "time"),
            words::time(longest)
        )
    })
}

fn changed(evidence: &Evidence, change: &Change) -> String {
    let ends =
        format!("{} → {}", evidence.sender(change.direction), evidence.receiver(change.direction));
    let of_syn = |what: &str| match (change.sent.as_str(), change.received.as_str()) {
        ("", _) => format!("{what} was added to the SYN of {ends}"),
        (_, "") => format!("{what} was removed from the SYN of {ends}"),
        (sent, received) => {
            format!("{what} of the SYN {ends}: {sent} was sent, {received} arrived")
        }
    };
    match change.field {
        ChangedField::Mss => of_syn("the MSS option"),
        ChangedField::WindowScale => of_syn("the window scale option"),
        ChangedField::SackPermitted => of_syn("the SACK-permitted option"),
        ChangedField::Timestamps => of_syn("the timestamps option"),
        ChangedField::Option(kind) => of_syn(&format!("option {kind}")),
        ChangedField::EcnSetup => of_syn("the offer of ECN"),
        ChangedField::Addresses => {
            format!("addresses: {} was sent, {} arrived", change.sent, change.received)
        }
        ChangedField::SequenceNumbers => format!("the sequence numbers of {ends}"),
        ChangedField::Window => format!(
            "the receive window of {ends}: {} bytes were sent, {} arrived",
            change.sent, change.received
        ),
    }
}
