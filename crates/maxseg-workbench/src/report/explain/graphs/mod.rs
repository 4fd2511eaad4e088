//! Sequence numbers, throughput and round trips over time.

mod ladder;
mod others;
mod rows;
mod tables;
mod window;

use maxseg_core::advise::{Case, Headline};
use maxseg_core::evidence::{AckPoint, Bin, Direction, DirectionStats, Trace};
use maxseg_core::units::Time;

use super::super::chart::{Layer, LayerKind, Packets, Panel, Timeline, Unit, carried};
use super::super::words::{self, grouped};
use super::colors::{ACKED, AGAIN, NOTED, SENT, WINDOW};
use super::filter::connection_filter;
use tables::{bins_table, events_table, joined};
use window::{edges, window};

/// The graphs of the direction that carried the data.
pub(super) fn graphs(headline: &Headline<'_>) -> Timeline {
    let case = &headline.case;
    let clock = Clock { begin: case.evidence.begin };
    let data = case.data();
    let mut panels = vec![sequence(case, clock)];
    panels.extend(rows::limits(case, clock));
    panels.extend(rows::findings(case, clock));
    panels.extend(ladder::ladder(case, clock));
    let note = reckoned(case).unwrap_or_default();
    panels.push(Panel { note: note.clone(), ..throughput(data, clock) });
    panels.push(round_trips(data, clock));
    panels.push(Panel { note, ..window(headline, clock) });
    let end = clock.s(case.evidence.end).max(1e-6);
    let others = others::others(case, clock);
    Timeline { from: 0.0, to: end, panels, others, filter: connection_filter(case.evidence) }
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

/// A way to the sender that is shorter than this share of the path is none.
const NEAR: f64 = 0.1;

/// That acknowledgements count when they reach the sender, where the capture shows them earlier.
fn reckoned(case: &Case<'_>) -> Option<String> {
    let (handshake, path) = (case.evidence.handshake, case.evidence.handshake.rtt()?);
    let to_sender = match case.diagnosis.direction {
        Direction::Forward => handshake.client_rtt,
        Direction::Reverse => handshake.server_rtt,
    }?;
    let is_away = to_sender.as_secs_f64() > NEAR * path.as_secs_f64();
    is_away.then(|| {
        format!(
            "The capture was taken away from the sender, {} from it at first. What is acknowledged and in flight is as the sender \
             knows it, so much later than the acknowledgements of the time-sequence graph passed.",
            words::time(to_sender.as_secs_f64())
        )
    })
}

fn sequence(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
    let layers = match &data.trace {
        Some(trace) => from_trace(case, trace, clock),
        None => from_bins(data, clock),
    };
    let title = "Time-sequence graph: bytes since the first";
    let table = events_table(case.evidence, data, clock);
    let note = data.trace.as_deref().and_then(left_out).unwrap_or_default();
    Panel { note, table, ..panel("sequence", title, 330.0, Unit::Bytes, layers) }
}

/// That packets of a long connection are left out, where some are.
fn left_out(trace: &Trace) -> Option<String> {
    let resent = trace.segments.iter().filter(|segment| segment.is_resent).count();
    let segments = carried(trace.segments.len() - resent) + resent;
    let of = [
        (segments, trace.segments.seen(), "packets with payload"),
        (carried(trace.acks.len()), trace.acks.seen(), "acknowledgements"),
    ];
    let shares: Vec<String> = of
        .into_iter()
        .map(|(shown, seen, what)| (shown as u64, seen, what))
        .filter(|(shown, seen, _)| shown < seen)
        .map(|(shown, seen, what)| format!("{} of {} {what}", grouped(shown), grouped(seen)))
        .collect();
    (!shares.is_empty()).then(|| {
        let resent = if resent > 0 { ", and more of what was sent again" } else { "" };
        format!("The page holds {}, evenly over the connection{resent}.", shares.join(" and "))
    })
}

/// The sequence numbers, packet by packet.
fn from_trace(case: &Case<'_>, trace: &Trace, clock: Clock) -> Vec<Layer> {
    let findings = case.diagnosis.findings.iter();
    let mut noted: Vec<u64> = findings.flat_map(|finding| finding.frames.iter().copied()).collect();
    noted.sort_unstable();
    let is_noted = |frame: u64| noted.binary_search(&frame).is_ok();
    let points = |label: &str, kind, color, what: &str, wanted: &dyn Fn(u64, bool) -> bool| {
        let mut packets = Packets { what: String::from(what), ..Packets::default() };
        let mut points = Vec::new();
        let segments = trace.segments.iter();
        for segment in segments.filter(|segment| wanted(segment.frame, segment.is_resent)) {
            points.push((clock.s(segment.at), segment.offset as f64));
            packets.frames.push(segment.frame);
            packets.bytes.push(segment.bytes);
        }
        Layer { packets: Some(packets), ..layer(label, kind, color, points) }
    };
    let segment = "segment from byte";
    let is_unscaled = window::is_unscaled(case);
    let edge = if is_unscaled { "right window edge, unscaled" } else { "right window edge" };
    vec![
        bound(edge, edges(trace, clock)),
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
        what: "acknowledgement of byte".to_owned(),
        frames: acks.iter().map(|ack| ack.frame).collect(),
        bytes: vec![0; acks.len()],
        windows: acks.iter().map(AckPoint::window).collect(),
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
    joined(&data.bins.whole(), 400)
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
