//! The time-sequence graph of a direction: segments, what acknowledges them, and the right edge of the window.

use std::collections::HashSet;

use maxseg_core::advise::Case;
use maxseg_core::evidence::{AckPoint, Direction, SackPoint, SegmentPoint, Trace};
use maxseg_core::units::Time;

use super::super::super::chart::{Layer, LayerKind, Panel, Unit};
use super::super::super::words::grouped;
use super::super::colors::{ACKED, AGAIN, NOTED, SENT};
use super::tables::events_table;
use super::window::{edges, is_unscaled};
use super::{Clock, bound, end, layer, not_captured, packet_layer, panel};

/// Names of layers in the legend.
const SEGMENTS: &str = "segments";
const RETRANSMITTED: &str = "retransmitted";
const ACKNOWLEDGED: &str = "acknowledged";
const SACK: &str = "SACK";
const D_SACK: &str = "D-SACK";

/// The graph of the direction that carried the data.
pub(super) fn sequence(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
    let title = "Time-sequence graph: bytes since the first";
    let (layers, note) = match &data.trace {
        Some(trace) => {
            let layers = from_trace(case, case.diagnosis.direction, trace, &trace.acks, clock);
            let note = left_out(trace, &layers, trace.acks.seen());
            (layers, note.unwrap_or_default())
        }
        None => (from_bins(case, clock), String::new()),
    };
    let table = events_table(case.evidence, data, clock);
    let missing = not_captured(case).unwrap_or("No payload was captured.");
    Panel { note, missing, table, ..panel("sequence", title, 330.0, Unit::Bytes, layers) }
}

/// A direction with fewer segments needs no graph of its own: a request or two.
const FEW_SEGMENTS: u64 = 20;

/// The graph of the other direction, if it carried more than a few segments.
pub(super) fn sequence_back(case: &Case<'_>, clock: Clock) -> Option<Panel> {
    let direction = case.diagnosis.direction.other();
    let stats = case.evidence.stats(direction);
    let trace = stats.trace.as_deref().filter(|trace| trace.segments.seen() >= FEW_SEGMENTS)?;
    // Each segment of the data acknowledges as well; most of them tell nothing new.
    let mut acks = trace.acks.to_vec();
    let data = case.data().trace.iter().flat_map(|trace| trace.segments.iter());
    let data: HashSet<u64> = data.map(|segment| segment.frame).collect();
    acks.dedup_by(|ack, before| {
        (ack.offset, ack.edge) == (before.offset, before.edge) && data.contains(&ack.frame)
    });
    let layers = from_trace(case, direction, trace, &acks, clock);
    let note = left_out(trace, &layers, acks.len() as u64).unwrap_or_default();
    let table = events_table(case.evidence, stats, clock);
    let title = format!("Time-sequence graph of the other direction, from the {}", end(direction));
    Some(Panel { note, table, ..panel("sequence-back", &title, 240.0, Unit::Bytes, layers) })
}

/// That packets of a long connection are left out, where some are.
fn left_out(trace: &Trace, layers: &[Layer], acks: u64) -> Option<String> {
    let carried = |labels: &[&str]| -> usize {
        let packets = layers.iter().filter(|layer| layer.packets.is_some());
        packets.filter(|layer| labels.contains(&layer.label.as_str())).map(Layer::carried).sum()
    };
    let resent = carried(&[RETRANSMITTED]);
    let of = [
        (carried(&[SEGMENTS]) + resent, trace.segments.seen(), "packets with payload"),
        (carried(&[ACKNOWLEDGED]), acks, "acknowledgements"),
        (carried(&[SACK, D_SACK]), trace.sacks.seen(), "SACK blocks"),
    ];
    let shares: Vec<String> = of
        .into_iter()
        .map(|(shown, seen, what)| (shown as u64, seen, what))
        .filter(|(shown, seen, _)| shown < seen)
        .map(|(shown, seen, what)| format!("{} of {} {what}", grouped(shown), grouped(seen)))
        .collect();
    let listed = match &shares[..] {
        [] => return None,
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    };
    let resent = if resent > 0 { ", and more of what was sent again" } else { "" };
    Some(format!("The page holds {listed}, evenly over the connection{resent}."))
}

/// The sequence numbers of a direction, packet by packet.
fn from_trace(
    case: &Case<'_>,
    direction: Direction,
    trace: &Trace,
    acks: &[AckPoint],
    clock: Clock,
) -> Vec<Layer> {
    let is_unscaled = is_unscaled(case.evidence, direction);
    let edge = if is_unscaled { "right window edge, unscaled" } else { "right window edge" };
    // Bytes of the other direction are told from those of the data.
    let is_data = direction == case.diagnosis.direction;
    let byte = if is_data { "byte".to_owned() } else { format!("the {}'s byte", end(direction)) };
    let segments = |label, kind, color, what: &str, is_resent| {
        let wanted = trace.segments.iter().filter(|segment| segment.is_resent == is_resent);
        let place = |one: &SegmentPoint| (clock.s(one.at), one.offset as f64, one.frame, one.bytes);
        packet_layer(label, kind, color, format!("{what} {byte}"), wanted.map(place))
    };
    let sacked = |label, color, is_duplicate| {
        let wanted = trace.sacks.iter().filter(|block| block.is_duplicate == is_duplicate);
        let place = |one: &SackPoint| (clock.s(one.at), one.offset as f64, one.frame, one.bytes);
        let what = format!("{label} from {byte}");
        packet_layer(label, LayerKind::Dots, color, what, wanted.map(place))
    };
    vec![
        bound(edge, edges(trace, clock)),
        segments(SEGMENTS, LayerKind::Dots, SENT, "segment from", false),
        sacked(SACK, ACKED, false),
        sacked(D_SACK, AGAIN, true),
        acknowledged(acks, format!("acknowledgement of {byte}"), clock),
        segments(RETRANSMITTED, LayerKind::Marks, AGAIN, "retransmitted from", true),
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

fn acknowledged(acks: &[AckPoint], what: String, clock: Clock) -> Layer {
    let place = |one: &AckPoint| (clock.s(one.at), one.offset as f64, one.frame, 0);
    let places = acks.iter().map(place);
    let mut layer = packet_layer(ACKNOWLEDGED, LayerKind::Steps, ACKED, what, places);
    if let Some(packets) = &mut layer.packets {
        packets.windows = acks.iter().map(AckPoint::window).collect();
    }
    layer
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
    if data.packets == 0 {
        sent_line.clear();
    }
    if case.acks().packets == 0 {
        acked_line.clear();
    }
    vec![
        layer("sent", LayerKind::Line, SENT, sent_line),
        layer(ACKNOWLEDGED, LayerKind::Line, ACKED, acked_line),
        layer(RETRANSMITTED, LayerKind::Marks, AGAIN, again),
    ]
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::{ControlKind, ControlPoint, DirectionStats};
    use maxseg_testkit::{at, traced, windowed};

    use super::*;

    const CLOCK: fn() -> Clock = || Clock { begin: at(0) };

    fn names(panel: &Panel) -> Vec<&str> {
        let shown = panel.layers.iter().filter(|layer| !layer.points.is_empty());
        shown.map(|layer| layer.label.as_str()).collect()
    }

    #[test]
    fn what_was_not_captured_has_no_line_at_zero() {
        let mut evidence = windowed(0);
        evidence.reverse = DirectionStats::default();
        let sequence = sequence(&Case::of(&evidence), CLOCK());
        assert_eq!(names(&sequence), ["sent"]);
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

    #[test]
    fn sack_blocks_are_drawn_and_those_of_duplicates_apart() {
        let mut evidence = traced(windowed(0));
        let trace = evidence.forward.trace.as_mut().unwrap();
        for (n, is_duplicate) in [(1, false), (2, false), (3, true)] {
            let (offset, bytes) = (1448 * n, 1448);
            trace.on_sack(SackPoint { at: at(n), frame: n, offset, bytes, is_duplicate });
        }
        let panel = sequence(&Case::of(&evidence), CLOCK());
        let of = |label: &str| panel.layers.iter().find(|layer| layer.label == label).unwrap();
        assert_eq!(of(SACK).points, [(0.001, 1448.0), (0.002, 2896.0)]);
        assert_eq!(of(D_SACK).packets.as_ref().unwrap().frames, [3]);
    }

    #[test]
    fn the_other_direction_has_a_graph_once_it_carries_more_than_a_request() {
        let mut evidence = traced(windowed(0));
        assert!(sequence_back(&Case::of(&evidence), CLOCK()).is_none());
        let mut back = Trace::default();
        for n in 0..FEW_SEGMENTS {
            let offset = 100 * n;
            let one = SegmentPoint { at: at(n), frame: n, offset, bytes: 100, is_resent: n == 7 };
            back.on_segment(one, 100);
        }
        evidence.reverse.trace = Some(Box::new(back));
        let panel = sequence_back(&Case::of(&evidence), CLOCK()).unwrap();
        assert_eq!(names(&panel), [SEGMENTS, RETRANSMITTED]);
        assert!(panel.title.ends_with("from the server"), "{}", panel.title);
    }
}
