//! Packets that no graph draws: they are named beside the time that is looked at.

use std::collections::HashSet;

use maxseg_core::advise::Case;
use maxseg_core::evidence::{AckPoint, ControlKind, ControlPoint, Direction, SegmentPoint};

use super::super::super::chart::{Layer, LayerKind};
use super::super::colors::BACK;
use super::{Clock, end, packet_layer};

/// What each end sent besides the data: what opens or ends the connection or probes it, acknowledgements that say nothing new, and the
/// payload of the other end, with what acknowledges it, unless it has a graph of its own.
pub(super) fn others(case: &Case<'_>, has_graph_back: bool, clock: Clock) -> Vec<Layer> {
    let back = case.diagnosis.direction.other();
    let mut layers = if has_graph_back { Vec::new() } else { payload(case, back, clock) };
    for direction in [Direction::Forward, Direction::Reverse] {
        layers.extend(controls(case, direction, clock));
    }
    layers
}

fn payload(case: &Case<'_>, direction: Direction, clock: Clock) -> Vec<Layer> {
    let Some(trace) = &case.evidence.stats(direction).trace else { return Vec::new() };
    let of = |is_resent: bool, word: &str| {
        let what = format!("{}'s {word} from byte", end(direction));
        let wanted = trace.segments.iter().filter(|segment| segment.is_resent == is_resent);
        let place = |one: &SegmentPoint| (clock.s(one.at), one.offset as f64, one.frame, one.bytes);
        packet_layer("", LayerKind::Dots, BACK, what, wanted.map(place))
    };
    vec![of(false, "segment"), of(true, "retransmission"), acknowledgements(case, direction, clock)]
}

/// Acknowledgements of a direction's payload that are no segments of the other direction.
fn acknowledgements(case: &Case<'_>, direction: Direction, clock: Clock) -> Layer {
    let what = format!("{}'s acknowledgement of byte", end(direction.other()));
    let [trace, peer] =
        [direction, direction.other()].map(|it| case.evidence.stats(it).trace.as_ref());
    let segments = peer.into_iter().flat_map(|trace| trace.segments.iter());
    let segments: HashSet<u64> = segments.map(|segment| segment.frame).collect();
    let acks = trace.into_iter().flat_map(|trace| trace.acks.iter());
    let alone = acks.filter(|ack| !segments.contains(&ack.frame));
    let place = |one: &AckPoint| (clock.s(one.at), one.offset as f64, one.frame, 0);
    packet_layer("", LayerKind::Dots, BACK, what, alone.map(place))
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
        ControlKind::Ack,
    ];
    let of = |kind: ControlKind| {
        let what = format!("{}'s {}", end(direction), kind.word());
        let wanted = trace.controls.iter().filter(|control| control.kind == kind);
        let place = |one: &ControlPoint| (clock.s(one.at), 0.0, one.frame, 0);
        packet_layer("", LayerKind::Dots, BACK, what, wanted.map(place))
    };
    kinds.into_iter().map(of).collect()
}
