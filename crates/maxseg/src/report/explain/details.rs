//! Full detail of one connection.

use maxseg_core::advise::{Case, Remedy, remedies};
use maxseg_core::diagnose::Finding;
use maxseg_core::evidence::{DirectionStats, Evidence};

use super::parts::{bar, wrapped};

use crate::printer::Printer;
use crate::report::{Column, Grid};
use maxseg_workbench::report::explain::{finding_text, host_systems, packets, shares};
use maxseg_workbench::report::words;

/// Both directions side by side.
pub(super) fn directions(evidence: &Evidence, width: usize, printer: Printer) -> String {
    let towards = |from, to| Column::number(format!("{from}\n→ {to}"));
    let ways =
        [towards(evidence.client, evidence.server), towards(evidence.server, evidence.client)];
    let mut table = Grid::new([Column::word("")], ways);
    // Where two places saw each packet, what looks like sent again is not counted; where one direction is missing, nothing is known to
    // have arrived.
    let is_told = |name: &str| {
        let of_repeats = evidence.capture.is_merged && OF_REPEATS.contains(&name);
        let of_both = evidence.marks.one_way && name == IN_FLIGHT;
        !of_repeats && !of_both
    };
    for (name, of) in LINES.iter().filter(|(name, _)| is_told(name)) {
        let (forward, reverse) = (of(&evidence.forward), of(&evidence.reverse));
        if forward != reverse || !matches!(forward.as_str(), "0" | "–") {
            table.push([(*name).to_owned(), forward, reverse]);
        }
    }
    format!("{}\n{}", printer.bold("Directions"), table.text(width))
}

/// The systems that both hosts probably are.
pub(super) fn hosts(case: &Case<'_>, width: usize, printer: Printer) -> String {
    let mut text = format!("{}\n", printer.bold("Hosts"));
    for (label, line) in host_systems(case) {
        text += &labelled(label, &line, width);
    }
    text
}

/// A label, and what stands behind it.
type Line = (&'static str, fn(&DirectionStats) -> String);

const IN_FLIGHT: &str = "in flight, max";

/// The lines of [`directions`]; those that are zero in both directions are left out.
const LINES: &[Line] = &[
    ("packets", |d| words::grouped(d.packets)),
    ("with payload", |d| words::grouped(d.data_packets)),
    ("payload bytes", |d| words::grouped(d.payload_bytes)),
    ("acknowledged bytes", |d| words::grouped(d.acked_bytes)),
    ("bytes not captured", |d| words::grouped(d.unseen_bytes)),
    ("goodput", |d| known(d.goodput_bps, words::rate)),
    ("payload share", |d| known(d.efficiency, words::percent)),
    ("MSS option", |d| number(d.mss_option_bytes)),
    ("MSS used", |d| number(d.mss_used_bytes)),
    ("largest segment", |d| words::grouped(u64::from(d.largest_segment_bytes))),
    ("offloaded packets", |d| words::grouped(d.offloaded_packets)),
    ("window scale", |d| number(d.window_scale)),
    ("SACK permitted", |d| yes(d.sack_permitted)),
    ("timestamps", |d| yes(d.timestamps)),
    ("window, min", |d| d.window_min_bytes.map_or_else(dash, words::grouped)),
    ("window, max", |d| d.window_max_bytes.map_or_else(dash, words::grouped)),
    ("zero windows", |d| words::grouped(d.zero_windows)),
    ("zero-window probes", |d| words::grouped(d.zero_window_probes)),
    ("window full", |d| words::grouped(d.window_full)),
    (IN_FLIGHT, |d| words::grouped(d.in_flight_max_bytes)),
    ("RTT min, here", |d| known(d.rtt_min_s, words::time)),
    ("RTT mean, here", |d| known(d.rtt_mean_s, words::time)),
    ("RTT min, whole path", |d| known(d.path_rtt_min_s, words::time)),
    ("RTT mean, whole path", |d| known(d.path_rtt_mean_s, words::time)),
    ("rate of packet trains", |d| known(d.capacity_bps, words::rate)),
    ("retransmitted", |d| words::grouped(d.retransmitted_packets)),
    ("  timeout", |d| words::grouped(d.resent.rto)),
    ("  fast retransmit", |d| words::grouped(d.resent.fast)),
    ("  SACK", |d| words::grouped(d.resent.sack)),
    ("  tail loss probe", |d| words::grouped(d.resent.tail_probe)),
    ("  SYN or FIN", |d| words::grouped(d.resent.control)),
    ("  too large for a hop", |d| words::grouped(d.resent.too_large)),
    ("  cause unknown", |d| words::grouped(d.resent.unknown)),
    ("spurious", |d| words::grouped(d.spurious_retransmissions)),
    ("out of order", |d| words::grouped(d.out_of_order_packets)),
    ("duplicate ACKs", |d| words::grouped(d.duplicate_acks)),
    ("D-SACKs", |d| words::grouped(d.dsack_acks)),
    ("capture duplicates", |d| words::grouped(d.capture_duplicates)),
    ("keep-alives", |d| words::grouped(d.keep_alives)),
    ("fragmented", |d| words::grouped(d.fragmented_packets)),
    ("congestion marks (ECN)", |d| words::grouped(d.congestion_marks)),
    ("idle", |d| words::time(d.idle_s)),
    ("longest gap", |d| words::time(d.longest_gap_s)),
];

/// The lines of what is sent again, or out of order.
const OF_REPEATS: [&str; 9] = [
    "retransmitted",
    "  timeout",
    "  fast retransmit",
    "  SACK",
    "  tail loss probe",
    "  SYN or FIN",
    "  cause unknown",
    "spurious",
    "out of order",
];

fn dash() -> String {
    "–".to_owned()
}

fn known(value: Option<f64>, write: fn(f64) -> String) -> String {
    value.map_or_else(dash, write)
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(dash, |value| value.to_string())
}

fn yes(yes: bool) -> String {
    if yes { "yes".to_owned() } else { dash() }
}

/// The limits as a bar with a letter for each.
pub(super) fn limits(case: &Case<'_>, width: usize, printer: Printer) -> String {
    if case.diagnosis.limits.is_empty() {
        return String::new();
    }
    let bar: String = bar(&case.diagnosis.limits, (width - 4).min(72))
        .into_iter()
        .map(|(kind, cells)| letter(kind).repeat(cells))
        .collect();
    let legend: Vec<String> = case
        .diagnosis
        .limits
        .iter()
        .map(|limit| format!("{} {}", letter(limit.kind), shares(std::slice::from_ref(limit))))
        .filter(|legend| legend.len() > 2)
        .collect();
    let title = "Limits: shares of the time from first data to last acknowledgement, largest first";
    format!(
        "{}\n  {bar}\n{}",
        printer.bold(wrapped(title, width, "").trim_end()),
        wrapped(&legend.join("   "), width, "  ")
    )
}

/// Each limit has a letter of its own, so that the bar needs no colour.
const fn letter(kind: maxseg_core::outcome::LimitedBy) -> &'static str {
    use maxseg_core::outcome::LimitedBy;
    match kind {
        LimitedBy::Application => "a",
        LimitedBy::Paced => "p",
        LimitedBy::StartUp => "s",
        LimitedBy::ReceiveWindow => "W",
        LimitedBy::SendBuffer => "S",
        LimitedBy::Bandwidth => "B",
        LimitedBy::Congestion => "C",
        LimitedBy::Host => "H",
        LimitedBy::PathMtu => "M",
        LimitedBy::Rto => "T",
        LimitedBy::Unknown => "?",
    }
}

/// Findings, each in a line or two; with everything about them where `full`.
pub(super) fn findings(case: &Case<'_>, full: bool, width: usize, printer: Printer) -> String {
    let mut text = String::new();
    for (finding, remedy) in case.diagnosis.findings.iter().zip(remedies(case)) {
        text += &one(case, finding, &remedy, (full, width), printer);
    }
    text
}

fn one(
    case: &Case<'_>,
    finding: &Finding,
    remedy: &Remedy,
    (full, width): (bool, usize),
    printer: Printer,
) -> String {
    let head = format!("{:<8} {}", finding.severity.word(), finding.kind.word());
    let mut text = format!("  {}\n", printer.bold(&head));
    text += &wrapped(&finding_text(case, finding), width, "    ");
    if !full {
        return text;
    }
    let since =
        |time: maxseg_core::units::Time| words::time(time.since(case.evidence.begin).as_secs_f64());
    let numbers: Vec<String> =
        finding.evidence.iter().map(|n| format!("{} {}", n.name, words::digits(n.value))).collect();
    let mut facts = vec![(
        "when",
        format!("{} to {} after the first packet", since(finding.from), since(finding.to)),
    )];
    if !numbers.is_empty() {
        facts.push(("numbers", numbers.join(", ")));
    }
    if !finding.frames.is_empty() {
        facts.push(("packets", packets(&finding.frames)));
    }
    facts.push(("why", finding.why.to_owned()));
    facts.push(("change", remedy.sentence()));
    facts.push(("source", finding.source.to_owned()));
    for (label, fact) in facts {
        text += &labelled(label, &fact, width);
    }
    text
}

/// `    why      A sender may not …`, the rest of the text below its beginning.
pub(super) fn labelled(label: &str, text: &str, width: usize) -> String {
    let indent = " ".repeat(LABEL + 4);
    let text = wrapped(text, width, &indent);
    format!("    {label:<LABEL$}{}", text.get(indent.len()..).unwrap_or_default())
}

const LABEL: usize = 14;
