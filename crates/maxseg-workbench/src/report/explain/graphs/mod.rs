//! Sequence numbers, throughput, round trips, window and bytes in flight over time.

mod ladder;
mod rows;
mod tables;

use maxseg_core::advise::{Case, Gain, Headline};
use maxseg_core::engine::EngineName;
use maxseg_core::evidence::{AckPoint, Bin, DirectionStats, Trace};
use maxseg_core::units::{Bytes, Time};

use super::super::chart::{Layer, LayerKind, Packets, Panel, Timeline, Unit};
use super::colors::{ACKED, AGAIN, CWND, NOTED, SENT, WINDOW};
use super::filter::connection_filter;
use tables::{bins_table, events_table, joined};

/// The graphs of the direction that carried the data.
pub(super) fn graphs(headline: &Headline<'_>) -> Timeline {
    let case = &headline.case;
    let clock = Clock { begin: case.evidence.begin };
    let data = case.data();
    let mut panels = vec![sequence(case, clock)];
    panels.extend(rows::limits(case, clock));
    panels.extend(rows::findings(case, clock));
    panels.extend(ladder::ladder(case, clock));
    panels.push(throughput(data, clock));
    panels.push(round_trips(data, clock));
    panels.push(window(headline, clock));
    let end = clock.s(case.evidence.end).max(1e-6);
    Timeline { from: 0.0, to: end, panels, filter: connection_filter(case.evidence) }
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
    Layer { label: label.to_owned(), kind, color, is_bound: false, points, packets: None }
}

/// A window, which is far above what is sent where it limits nothing.
fn bound(label: &str, points: Vec<(f64, f64)>) -> Layer {
    Layer { is_bound: true, ..layer(label, LayerKind::Steps, WINDOW, points) }
}

/// A panel without rows, notes or a table.
fn panel(id: &'static str, title: &str, height: f64, unit: Unit, layers: Vec<Layer>) -> Panel {
    Panel {
        id,
        title: title.to_owned(),
        height,
        unit,
        layers,
        rows: Vec::new(),
        note: String::new(),
        table: None,
    }
}

fn sequence(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
    let layers = match &data.trace {
        Some(trace) => from_trace(case, trace, clock),
        None => from_bins(data, clock),
    };
    let title = "Time-sequence graph: bytes since the first";
    let table = events_table(case.evidence, data, clock);
    Panel { table, ..panel("sequence", title, 330.0, Unit::Bytes, layers) }
}

/// The sequence numbers, packet by packet.
fn from_trace(case: &Case<'_>, trace: &Trace, clock: Clock) -> Vec<Layer> {
    let findings = case.diagnosis.findings.iter();
    let mut noted: Vec<u64> = findings.flat_map(|finding| finding.frames.iter().copied()).collect();
    noted.sort_unstable();
    let is_noted = |frame: u64| noted.binary_search(&frame).is_ok();
    let points = |label: &str, kind, color, what, wanted: &dyn Fn(u64, bool) -> bool| {
        let mut packets = Packets { what, ..Packets::default() };
        let mut points = Vec::new();
        let segments = trace.segments.iter();
        for segment in segments.filter(|segment| wanted(segment.frame, segment.is_resent)) {
            points.push((clock.s(segment.at), segment.offset as f64));
            packets.frames.push(segment.frame);
            packets.bytes.push(segment.bytes);
        }
        Layer { packets: Some(packets), ..layer(label, kind, color, points) }
    };
    let edges = trace.acks.iter().map(|ack| (clock.s(ack.at), ack.edge as f64)).collect();
    let segment = "segment from byte";
    vec![
        bound("right window edge", edges),
        points("segments", LayerKind::Dots, SENT, segment, &|_, resent| !resent),
        acknowledged(&trace.acks, clock),
        points(
            "retransmitted",
            LayerKind::Marks,
            AGAIN,
            "retransmitted from byte",
            &|_, resent| resent,
        ),
        points("of a finding", LayerKind::Rings, NOTED, segment, &|frame, _| is_noted(frame)),
    ]
}

fn acknowledged(acks: &[AckPoint], clock: Clock) -> Layer {
    let packets = Packets {
        what: "acknowledgement of byte",
        frames: acks.iter().map(|ack| ack.frame).collect(),
        bytes: vec![0; acks.len()],
    };
    let points = acks.iter().map(|ack| (clock.s(ack.at), ack.offset as f64)).collect();
    Layer { packets: Some(packets), ..layer("acknowledged", LayerKind::Steps, ACKED, points) }
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
        layer("sent", LayerKind::Line, SENT, sent_line),
        layer("acknowledged", LayerKind::Line, ACKED, acked_line),
        layer("retransmitted", LayerKind::Marks, AGAIN, again),
    ]
}

fn throughput(data: &DirectionStats, clock: Clock) -> Panel {
    let rate = |bytes: u64, bin: &Bin| 8.0 * bytes as f64 / bin.duration.as_secs_f64().max(1e-9);
    let bins = rates(data);
    let line = |of: fn(&Bin) -> u64| -> Vec<(f64, f64)> {
        bins.iter().map(|bin| (clock.s(bin.at), rate(of(bin), bin))).collect()
    };
    let again: Vec<(f64, f64)> =
        line(|bin| bin.resent_bytes).into_iter().filter(|(_, rate)| *rate > 0.0).collect();
    let layers = vec![
        layer("sent, without retransmissions", LayerKind::Steps, SENT, line(|bin| bin.sent_bytes)),
        layer("acknowledged", LayerKind::Steps, ACKED, line(|bin| bin.acked_bytes)),
        layer("retransmitted", LayerKind::Marks, AGAIN, again),
    ];
    let table = bins_table(data, clock);
    Panel { table, ..panel("throughput", "Throughput", 170.0, Unit::Rate, layers) }
}

/// Intervals that are long enough for a rate: some hundred.
fn rates(data: &DirectionStats) -> Vec<Bin> {
    joined(data.bins.as_slice(), 400)
}

fn round_trips(data: &DirectionStats, clock: Clock) -> Panel {
    let measured = data.trace.as_ref().filter(|trace| !trace.rtts.is_empty());
    let layers = if let Some(trace) = measured {
        let points = trace.rtts.iter().map(|(at, rtt)| (clock.s(*at), rtt.as_secs_f64()));
        vec![layer("each measured", LayerKind::Dots, SENT, points.collect())]
    } else {
        let means = data.bins.as_slice().iter();
        let mean =
            means.clone().filter_map(|bin| Some((clock.s(bin.at), bin.rtt_mean()?.as_secs_f64())));
        let least = means.filter_map(|bin| Some((clock.s(bin.at), bin.rtt_min?.as_secs_f64())));
        vec![
            layer("mean", LayerKind::Line, SENT, mean.collect()),
            layer("least", LayerKind::Line, ACKED, least.collect()),
        ]
    };
    panel("round-trip", "Round trip of the whole path", 150.0, Unit::Time, layers)
}

fn window(headline: &Headline<'_>, clock: Clock) -> Panel {
    let data = headline.case.data();
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
    let layers = vec![
        bound("advertised window", window.collect()),
        layer("in flight", LayerKind::Line, SENT, flight),
        Layer {
            is_bound: true,
            ..layer("cwnd of the rerun", LayerKind::Steps, CWND, cwnd(headline, clock))
        },
    ];
    panel("window", "Advertised window and bytes in flight", 170.0, Unit::Bytes, layers)
}

/// The congestion window of the simulator's run of the observed path as it is, laid on the time of the capture; nothing
/// where that run does not come close to the observed goodput.
fn cwnd(headline: &Headline<'_>, clock: Clock) -> Vec<(f64, f64)> {
    let leading = headline.gain.as_ref().ok().and_then(Gain::leading);
    let explains = leading.is_some_and(|prediction| prediction.engine == EngineName::Sim);
    let begin = headline.case.data().first_data;
    let (Some(rerun), Some(begin), true) = (&headline.rerun, begin, explains) else {
        return Vec::new();
    };
    let point = |(since, window): (Time, Bytes)| {
        (clock.s(begin) + since.as_secs_f64(), window.get() as f64)
    };
    let end = clock.s(headline.case.evidence.end);
    let points = rerun.congestion_window().into_iter().map(point);
    points.filter(|(at, _)| *at <= end).collect()
}
