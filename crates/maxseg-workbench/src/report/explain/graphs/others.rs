//! Packets that no graph draws: they are named beside the time that is looked at.

use maxseg_core::advise::Case;
use maxseg_core::evidence::{ControlKind, ControlPoint, Direction, SegmentPoint};

use super::super::super::chart::{Layer, LayerKind, Packets};
use super::super::colors::BACK;
use super::{Clock, layer};

/// What each end sent besides the data: the payload of the other end, and what opens or ends the connection or probes it.
pub(super) fn others(case: &Case<'_>, clock: Clock) -> Vec<Layer> {
    let data = case.diagnosis.direction;
    let mut layers = payload(case, data.other(), clock);
    for direction in [Direction::Forward, Direction::Reverse] {
        layers.extend(controls(case, direction, clock));
    }
    layers
}

/// Who sends a direction's packets.
const fn end(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "client",
        Direction::Reverse => "server",
    }
}

fn payload(case: &Case<'_>, direction: Direction, clock: Clock) -> Vec<Layer> {
    let Some(trace) = &case.evidence.stats(direction).trace else { return Vec::new() };
    let of = |is_resent: bool, word: &str| {
        let what = format!("{}'s {word} from byte", end(direction));
        let wanted = trace.segments.iter().filter(|segment| segment.is_resent == is_resent);
        packets(what, wanted, |segment: &SegmentPoint| {
            (clock.s(segment.at), segment.offset as f64, segment.frame, segment.bytes)
        })
    };
    vec![of(false, "segment"), of(true, "retransmission")]
}

fn controls(case: &Case<'_>, direction: Direction, clock: Clock) -> Vec<Layer> {
    let Some(trace) = &case.evidence.stats(direction).trace else { return Vec::new() };
    let kinds = [
        ControlKind::Syn,
        ControlKind::SynAck,
        ControlKind::Fin,
        ControlKind::Rst,
        ControlKind::Probe,
        ControlKind::KeepAlive,
    ];
    let of = |kind: ControlKind| {
        let what = format!("{}'s {}", end(direction), kind.word());
        let wanted = trace.controls.iter().filter(|control| control.kind == kind);
        packets(what, wanted, |control: &ControlPoint| (clock.s(control.at), 0.0, control.frame, 0))
    };
    kinds.into_iter().map(of).collect()
}

fn packets<'a, T: 'a>(
    what: String,
    wanted: impl Iterator<Item = &'a T>,
    place: impl Fn(&T) -> (f64, f64, u64, u32),
) -> Layer {
    let mut packets = Packets { what, ..Packets::default() };
    let mut points = Vec::new();
    for (at, value, frame, bytes) in wanted.map(place) {
        points.push((at, value));
        packets.frames.push(frame);
        packets.bytes.push(bytes);
    }
    Layer { packets: Some(packets), ..layer("", LayerKind::Dots, BACK, points) }
}
