//! Sequence numbers, throughput, round trips, window and bytes in flight over time.

use std::fmt::Write as _;

use maxseg_core::advise::Case;
use maxseg_core::evidence::{Bin, DirectionStats, EventKind, Evidence};
use maxseg_core::units::Time;

use super::super::chart::{Layer, LayerKind, Panel, Span, Timeline};
use super::super::escaped::Escaped;
use super::super::words::{self, rounded, size};

/// Most rows of a table.
const MOST_ROWS: usize = 200;
/// Where the sequence graph has no trace, so many intervals are joined into one row of a table.
const ROWS_OF_BINS: usize = 100;

/// The graphs of the direction that carried the data.
pub(super) fn graphs(case: &Case<'_>) -> Timeline {
    let clock = Clock { begin: case.evidence.begin };
    let data = case.data();
    let mut panels = vec![sequence(case, clock)];
    panels.extend(limits(case, clock));
    panels.extend(findings(case, clock));
    panels.push(throughput(data, clock));
    panels.push(round_trips(data, clock));
    panels.push(window(data, clock));
    let end = clock.s(case.evidence.end).max(1e-6);
    Timeline { from: 0.0, to: end, panels }
}

/// Seconds since a connection's first packet.
#[derive(Debug, Clone, Copy)]
struct Clock {
    begin: Time,
}

impl Clock {
    fn s(self, at: Time) -> f64 {
        at.since(self.begin).as_secs_f64()
    }
}

fn layer(label: &str, kind: LayerKind, color: &'static str, points: Vec<(f64, f64)>) -> Layer {
    Layer { label: label.to_owned(), kind, color, points }
}

fn write_size(bytes: f64) -> String {
    size(rounded(bytes))
}

fn sequence(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
    let layers = match &data.trace {
        Some(trace) => {
            let of = |resent: bool| {
                let wanted = trace.segments.iter().filter(|segment| segment.is_resent == resent);
                wanted.map(|segment| (clock.s(segment.at), segment.offset as f64)).collect()
            };
            let acks = trace.acks.iter().map(|ack| (clock.s(ack.at), ack.offset as f64)).collect();
            let edge = trace.acks.iter().map(|ack| (clock.s(ack.at), ack.edge as f64)).collect();
            let mut noted: Vec<u64> = case
                .diagnosis
                .findings
                .iter()
                .flat_map(|finding| finding.frames.iter().copied())
                .collect();
            noted.sort_unstable();
            let rings = trace
                .segments
                .iter()
                .filter(|segment| noted.binary_search(&segment.frame).is_ok())
                .map(|segment| (clock.s(segment.at), segment.offset as f64))
                .collect();
            vec![
                layer("right window edge", LayerKind::Steps, "--s2", edge),
                layer("segments", LayerKind::Dots, "--s0", of(false)),
                layer("acknowledged", LayerKind::Steps, "--s1", acks),
                layer("retransmitted", LayerKind::Marks, "--again", of(true)),
                layer("of a finding", LayerKind::Rings, "--s3", rings),
            ]
        }
        None => from_bins(data, clock),
    };
    Panel {
        title: "Time-sequence graph: bytes since the first".to_owned(),
        height: 330.0,
        write: write_size,
        layers,
        spans: Vec::new(),
        table: events_table(case.evidence, data, clock),
    }
}

/// The sequence numbers from intervals, without a trace.
fn from_bins(data: &DirectionStats, clock: Clock) -> Vec<Layer> {
    let (mut sent, mut acked) = (0_u64, 0_u64);
    let (mut sent_line, mut acked_line, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for bin in data.bins.as_slice() {
        let end = clock.s(bin.end());
        sent += bin.sent_bytes;
        acked += bin.acked_bytes;
        sent_line.push((end, sent as f64));
        acked_line.push((end, acked as f64));
        if bin.resent_bytes > 0 {
            again.push((end, sent as f64));
        }
    }
    vec![
        layer("sent", LayerKind::Line, "--s0", sent_line),
        layer("acknowledged", LayerKind::Line, "--s1", acked_line),
        layer("retransmitted", LayerKind::Marks, "--again", again),
    ]
}

/// The limit at each time: a line for each limit.
fn limits(case: &Case<'_>, clock: Clock) -> Option<Panel> {
    let kinds: Vec<_> = case.diagnosis.limits.iter().map(|limit| limit.kind).collect();
    if kinds.is_empty() || case.diagnosis.spans.is_empty() {
        return None;
    }
    let spans = case.diagnosis.spans.iter().filter_map(|span| {
        let row = kinds.iter().position(|kind| *kind == span.kind)?;
        Some(Span {
            from: clock.s(span.from),
            to: clock.s(span.to),
            row,
            label: format!("{} from {}", span.kind, words::time(clock.s(span.from))),
            color: COLORS[row % COLORS.len()],
        })
    });
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    Some(Panel {
        title: format!("Limits, from the top: {}", words.join(", ")),
        height: rows_height(kinds.len()),
        write: |_| String::new(),
        layers: Vec::new(),
        spans: spans.collect(),
        table: String::new(),
    })
}

const COLORS: [&str; 5] = ["--s0", "--again", "--s1", "--s3", "--s2"];

/// What so many rows of spans take.
fn rows_height(rows: usize) -> f64 {
    16.0 + 22.0 * rows.saturating_sub(1) as f64
}

/// When each finding held.
fn findings(case: &Case<'_>, clock: Clock) -> Option<Panel> {
    let findings = &case.diagnosis.findings;
    if findings.is_empty() {
        return None;
    }
    let spans = findings.iter().enumerate().map(|(index, finding)| Span {
        from: clock.s(finding.from),
        to: clock.s(finding.to),
        row: index,
        label: format!("{}: {}", finding.kind.word(), finding.text),
        color: COLORS[index % COLORS.len()],
    });
    let words: Vec<&str> = findings.iter().map(|finding| finding.kind.word()).collect();
    Some(Panel {
        title: format!("Findings, from the top: {}", words.join(", ")),
        height: rows_height(findings.len()),
        write: |_| String::new(),
        layers: Vec::new(),
        spans: spans.collect(),
        table: String::new(),
    })
}

fn throughput(data: &DirectionStats, clock: Clock) -> Panel {
    let rate = |bytes: u64, bin: &Bin| 8.0 * bytes as f64 / bin.duration.as_secs_f64().max(1e-9);
    let bins = rates(data);
    let line = |of: fn(&Bin) -> u64| -> Vec<(f64, f64)> {
        bins.iter().map(|bin| (clock.s(bin.at), rate(of(bin), bin))).collect()
    };
    let again: Vec<(f64, f64)> =
        line(|bin| bin.resent_bytes).into_iter().filter(|(_, rate)| *rate > 0.0).collect();
    Panel {
        title: "Throughput".to_owned(),
        height: 170.0,
        write: words::round_rate,
        layers: vec![
            layer(
                "sent, without retransmissions",
                LayerKind::Steps,
                "--s0",
                line(|bin| bin.sent_bytes),
            ),
            layer("acknowledged", LayerKind::Steps, "--s1", line(|bin| bin.acked_bytes)),
            layer("retransmitted", LayerKind::Marks, "--again", again),
        ],
        spans: Vec::new(),
        table: bins_table(data, clock),
    }
}

/// Intervals that are long enough for a rate: some hundred.
fn rates(data: &DirectionStats) -> Vec<Bin> {
    joined(data.bins.as_slice(), 400)
}

fn joined(bins: &[Bin], most: usize) -> Vec<Bin> {
    let together = bins.len().div_ceil(most).max(1);
    let join = |chunk: &[Bin]| {
        let (first, rest) = chunk.split_first()?;
        let mut bin = *first;
        for next in rest {
            bin.join(next);
        }
        Some(bin)
    };
    bins.chunks(together).filter_map(join).collect()
}

fn round_trips(data: &DirectionStats, clock: Clock) -> Panel {
    let measured = data.trace.as_ref().filter(|trace| !trace.rtts.is_empty());
    let layers = if let Some(trace) = measured {
        let points = trace.rtts.iter().map(|(at, rtt)| (clock.s(*at), rtt.as_secs_f64()));
        vec![layer("each measured", LayerKind::Dots, "--s0", points.collect())]
    } else {
        let means = data.bins.as_slice().iter();
        let mean =
            means.clone().filter_map(|bin| Some((clock.s(bin.at), bin.rtt_mean()?.as_secs_f64())));
        let least = means.filter_map(|bin| Some((clock.s(bin.at), bin.rtt_min?.as_secs_f64())));
        vec![
            layer("mean", LayerKind::Line, "--s0", mean.collect()),
            layer("least", LayerKind::Line, "--s1", least.collect()),
        ]
    };
    Panel {
        title: "Round trip of the whole path".to_owned(),
        height: 150.0,
        write: words::time,
        layers,
        spans: Vec::new(),
        table: String::new(),
    }
}

fn window(data: &DirectionStats, clock: Clock) -> Panel {
    let bins = data.bins.as_slice();
    let window = bins
        .iter()
        .filter(|bin| bin.segments > 0)
        .map(|bin| (clock.s(bin.at), bin.window_max as f64));
    let flight = match data.trace.as_ref().filter(|trace| !trace.in_flight.is_empty()) {
        Some(trace) => {
            trace.in_flight.iter().map(|(at, bytes)| (clock.s(*at), *bytes as f64)).collect()
        }
        None => bins.iter().map(|bin| (clock.s(bin.at), bin.in_flight_max as f64)).collect(),
    };
    Panel {
        title: "Advertised window and bytes in flight".to_owned(),
        height: 170.0,
        write: write_size,
        layers: vec![
            layer("advertised window", LayerKind::Steps, "--s2", window.collect()),
            layer("in flight", LayerKind::Line, "--s0", flight),
        ],
        spans: Vec::new(),
        table: String::new(),
    }
}

/// The events, packet by packet.
fn events_table(evidence: &Evidence, data: &DirectionStats, clock: Clock) -> String {
    let events = data.events.as_slice();
    if events.is_empty() {
        return String::new();
    }
    let mut table = String::from(
        "<table><thead><tr><th>time</th><th>packet</th><th>byte</th><th>payload</th><th class=\"word\">event</th></tr></thead><tbody>\n",
    );
    for event in events.iter().take(MOST_ROWS) {
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>",
            Escaped(&words::time(clock.s(event.at))),
            event.frame,
            words::grouped(event.offset),
            event.bytes,
            event_word(event.kind)
        );
    }
    table += "</tbody></table>\n";
    let _ = writeln!(
        table,
        "<p class=\"note\">The first of each kind; times since the first packet of connection {}.</p>",
        evidence.id
    );
    table
}

const fn event_word(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Retransmission(_) => "retransmitted",
        EventKind::Spurious(_) => "spurious retransmission",
        EventKind::OutOfOrder => "out of order",
        EventKind::ZeroWindow => "zero window",
        EventKind::WindowFull => "window full",
        EventKind::CaptureDuplicate => "capture duplicate",
        EventKind::Fragmented => "fragmented",
        EventKind::KeepAlive => "keep-alive",
    }
}

/// Throughput, round trip, window and flight, interval by interval.
fn bins_table(data: &DirectionStats, clock: Clock) -> String {
    let rows = joined(data.bins.as_slice(), ROWS_OF_BINS);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = String::from(
        "<table><thead><tr><th>from</th><th>acknowledged</th><th>retransmitted</th><th>round trip</th><th>in flight</th><th>window</th></tr></thead><tbody>\n",
    );
    for bin in &rows {
        let rate = 8.0 * bin.acked_bytes as f64 / bin.duration.as_secs_f64().max(1e-9);
        let rtt =
            bin.rtt_mean().map_or_else(|| "–".to_owned(), |rtt| words::time(rtt.as_secs_f64()));
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(&words::time(clock.s(bin.at))),
            Escaped(&words::rate(rate)),
            words::grouped(bin.resent_bytes),
            Escaped(&rtt),
            words::grouped(bin.in_flight_max),
            words::grouped(bin.window_max)
        );
    }
    table += "</tbody></table>\n";
    table
}
