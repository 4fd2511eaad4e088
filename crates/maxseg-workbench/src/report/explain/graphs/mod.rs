//! Sequence numbers, throughput and round trips over time.

mod ladder;
mod others;
mod rates;
mod rows;
mod tables;
mod window;

use maxseg_core::advise::{Case, Headline};
use maxseg_core::evidence::{AckPoint, Direction, Trace};
use maxseg_core::units::Time;

use super::super::chart::{Layer, LayerKind, Packets, Panel, Timeline, Unit};
use super::super::words::{self, grouped};
use super::colors::{ACKED, AGAIN, NOTED, SENT, WINDOW};
use super::filter::connection_filter;
use tables::events_table;
use window::{edges, window};

/// The graphs of the direction that carried the data.
pub(super) fn graphs(headline: &Headline<'_>) -> Timeline {
    let case = &headline.case;
    let clock = Clock { begin: case.evidence.begin };
    let mut panels = vec![sequence(case, clock)];
    panels.extend(rows::limits(case, clock));
    panels.extend(rows::findings(case, clock));
    panels.extend(ladder::ladder(case, clock));
    let note = reckoned(case).unwrap_or_default();
    let with_note = |shown: Panel| {
        let notes = [not_captured(case).unwrap_or_default(), note.as_str()];
        Panel { note: notes.join(" ").trim().to_owned(), ..shown }
    };
    panels.push(with_note(rates::throughput(case, clock)));
    panels.push(round_trips(case, clock));
    panels.push(with_note(window(headline, clock)));
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
        missing: "Nothing of it was captured.",
        table: None,
    }
}

/// Whether the capture has packets of the data's sender.
fn is_sent_known(case: &Case<'_>) -> bool {
    case.data().packets > 0
}

/// Whether it has those of the receiver, which acknowledge.
fn is_acked_known(case: &Case<'_>) -> bool {
    case.acks().packets > 0
}

/// What of the packets was not captured: nothing of it is shown, rather than zero.
fn not_captured(case: &Case<'_>) -> Option<&'static str> {
    match (is_sent_known(case), is_acked_known(case)) {
        (true, true) => None,
        (true, false) => Some(
            "Not captured: the receiver's packets, which acknowledge the data and advertise the window.",
        ),
        (false, true) => Some("Not captured: the packets of the data's sender."),
        (false, false) => Some("Not captured: the packets of both ends."),
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
        None => from_bins(case, clock),
    };
    let title = "Time-sequence graph: bytes since the first";
    let table = events_table(case.evidence, data, clock);
    let note = data.trace.as_deref().and_then(|trace| left_out(trace, &layers)).unwrap_or_default();
    let missing = not_captured(case).unwrap_or("No payload was captured.");
    Panel { note, missing, table, ..panel("sequence", title, 330.0, Unit::Bytes, layers) }
}

/// That packets of a long connection are left out, where some are.
fn left_out(trace: &Trace, layers: &[Layer]) -> Option<String> {
    let carried = |kinds: &[LayerKind]| -> usize {
        let packets = layers.iter().filter(|layer| layer.packets.is_some());
        packets.filter(|layer| kinds.contains(&layer.kind)).map(Layer::carried).sum()
    };
    let resent = carried(&[LayerKind::Marks]);
    let segments = carried(&[LayerKind::Dots]) + resent;
    let of = [
        (segments, trace.segments.seen(), "packets with payload"),
        (carried(&[LayerKind::Steps]), trace.acks.seen(), "acknowledgements"),
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
    let points = |label: &str, kind, color, what: &str, is_resent: bool| {
        let mut packets = Packets { what: String::from(what), ..Packets::default() };
        let mut points = Vec::new();
        let segments = trace.segments.iter();
        for segment in segments.filter(|segment| segment.is_resent == is_resent) {
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
        points("segments", LayerKind::Dots, SENT, segment, false),
        acknowledged(&trace.acks, clock),
        points("retransmitted", LayerKind::Marks, AGAIN, "retransmitted from byte", true),
        noted_packets(case, trace, clock),
    ]
}

/// The packets that findings name: segments, acknowledgements, and what opens or ends the connection.
fn noted_packets(case: &Case<'_>, trace: &Trace, clock: Clock) -> Layer {
    let findings = case.diagnosis.findings.iter();
    let mut noted: Vec<u64> = findings.flat_map(|finding| finding.frames.iter().copied()).collect();
    noted.sort_unstable();
    let segments = trace.segments.iter().map(|one| (one.at, one.offset, one.frame));
    let acks = trace.acks.iter().map(|one| (one.at, one.offset, one.frame));
    let ends = [case.data(), case.acks()];
    let controls = ends.into_iter().filter_map(|end| end.trace.as_ref());
    // They have no byte of their own: they stand where the data was then.
    let byte_then = |at: Time| {
        let before = trace.segments.partition_point(|segment| segment.at <= at);
        let last = before.checked_sub(1).map(|last| trace.segments[last]);
        last.map_or(0, |last| last.offset + u64::from(last.bytes))
    };
    let controls = controls.flat_map(|trace| trace.controls.iter());
    let controls = controls.map(|one| (one.at, byte_then(one.at), one.frame));
    let all = segments.chain(acks).chain(controls);
    let mut shown: Vec<_> = all.filter(|(.., frame)| noted.binary_search(frame).is_ok()).collect();
    shown.sort_unstable();
    let points = shown.iter().map(|(at, byte, _)| (clock.s(*at), *byte as f64)).collect();
    layer("of a finding", LayerKind::Rings, NOTED, points)
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
fn from_bins(case: &Case<'_>, clock: Clock) -> Vec<Layer> {
    let data = case.data();
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
    if !is_sent_known(case) {
        sent_line.clear();
    }
    if !is_acked_known(case) {
        acked_line.clear();
    }
    vec![
        layer("sent", LayerKind::Line, SENT, sent_line),
        layer("acknowledged", LayerKind::Line, ACKED, acked_line),
        layer("retransmitted", LayerKind::Marks, AGAIN, again),
    ]
}

fn round_trips(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
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
    let missing = not_captured(case)
        .unwrap_or("Not known: no packet tells how long a round trip of the whole path took.");
    let title = "Round trip of the whole path";
    Panel { missing, ..panel("round-trip", title, 150.0, Unit::Time, layers) }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::{ControlKind, ControlPoint, DirectionStats};
    use maxseg_testkit::{at, traced, windowed};

    use super::*;

    const CLOCK: fn() -> Clock = || Clock { begin: at(0) };

    #[test]
    fn graphs_of_what_was_not_captured_say_so() {
        let mut evidence = windowed(0);
        evidence.reverse = DirectionStats::default();
        for bin in 0..300 {
            evidence.forward.bins.at(at(100 * bin)).rtt_count = 0;
            evidence.forward.bins.at(at(100 * bin)).rtt_min = None;
        }
        let case = Case::of(&evidence);
        let panel = round_trips(&case, CLOCK());
        assert!(panel.layers.iter().all(|layer| layer.points.is_empty()));
        assert!(panel.missing.contains("the receiver's packets"), "{}", panel.missing);
        let sequence = sequence(&case, CLOCK());
        let names = sequence.layers.iter().filter(|layer| !layer.points.is_empty());
        let names: Vec<&str> = names.map(|layer| layer.label.as_str()).collect();
        assert_eq!(names, ["sent"], "no acknowledged bytes that stay at zero");
    }

    /// A SYN that is sent again, an acknowledgement that shuts the window: their packets are ringed as segments are.
    #[test]
    fn packets_of_findings_are_ringed_whatever_they_are() {
        let mut evidence = traced(windowed(0));
        let syn = ControlPoint { at: at(1), frame: 1, kind: ControlKind::Syn };
        evidence.forward.trace.as_mut().unwrap().controls.note(syn, true);
        let mut case = Case::of(&evidence);
        let mut finding = case.diagnosis.findings[0].clone();
        // A segment, an acknowledgement and the SYN; and a packet that no trace has.
        finding.frames = vec![10, 2000, 1, 999_999];
        case.diagnosis.findings = vec![finding];
        let trace = evidence.forward.trace.as_deref().unwrap();
        let rings = noted_packets(&case, trace, CLOCK());
        assert_eq!(rings.points.len(), 3, "{:?}", rings.points);
    }
}
