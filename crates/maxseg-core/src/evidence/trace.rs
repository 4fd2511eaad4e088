//! Every segment and acknowledgement of a direction, for graphs.

use serde::{Deserialize, Serialize};

use super::points::Points;
use crate::units::Time;

/// What a time-sequence graph shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Segments, in order; those that repeat payload are notable.
    pub segments: Points<SegmentPoint>,
    /// Acknowledgements of them, in order; those that shut the window, or open it again, are notable.
    pub acks: Points<AckPoint>,
    /// Round trips of the whole path: when each was measured, and how long it was.
    pub rtts: Points<(Time, Time)>,
    /// Bytes in flight, as the sender knows them, whenever a segment was sent or an acknowledgement reached it; none is notable.
    pub in_flight: Points<(Time, u64)>,
    /// When the first segment was sent, and the window then, where it was known.
    pub first_window: Option<(Time, u64)>,
    /// Packets of its sender that are neither segments nor mere acknowledgements.
    pub controls: Points<ControlPoint>,
}

impl Trace {
    /// A segment passes, with so much in flight behind it.
    pub fn on_segment(&mut self, segment: SegmentPoint, in_flight: u64) {
        self.segments.note(segment, segment.is_resent);
        self.note_flight(segment.at, in_flight);
    }

    /// An acknowledgement passes.
    pub fn on_ack(&mut self, ack: AckPoint) {
        let was_shut = self.acks.last().is_some_and(|last| last.window() == Some(0));
        let is_shut = ack.window() == Some(0);
        self.acks.note(ack, is_shut != was_shut);
    }

    /// An acknowledgement has reached the sender, with so much in flight behind it.
    pub fn on_arrived(&mut self, at: Time, in_flight: u64) {
        if self.in_flight.last().is_none_or(|(_, before)| *before != in_flight) {
            self.note_flight(at, in_flight);
        }
    }

    /// That nothing is in flight holds through a pause, however long: it is notable.
    fn note_flight(&mut self, at: Time, in_flight: u64) {
        self.in_flight.note((at, in_flight), in_flight == 0);
    }

    /// Windows are so many times as large as was taken for granted.
    pub fn scale_windows(&mut self, times: u64) {
        if let Some((_, window)) = &mut self.first_window {
            *window = window.saturating_mul(times);
        }
        for ack in self.acks.iter_mut() {
            let window = ack.window().map(|window| window.saturating_mul(times));
            ack.edge = window.map(|window| ack.offset.saturating_add(window));
        }
    }
}

/// A segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentPoint {
    /// When it was seen.
    pub at: Time,
    /// Which packet of the capture, counted from 1.
    pub frame: u64,
    /// First byte of payload, counted from the beginning of its direction.
    pub offset: u64,
    /// Bytes of payload.
    pub bytes: u32,
    /// Whether it repeats payload.
    pub is_resent: bool,
}

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckPoint {
    /// When it was seen.
    pub at: Time,
    /// Which packet of the capture, counted from 1.
    pub frame: u64,
    /// The byte that it expects next, counted from the beginning of the direction.
    pub offset: u64,
    /// The right edge of the window: the byte that may not be sent yet; `None` while the scale of windows is not known.
    pub edge: Option<u64>,
}

impl AckPoint {
    /// The window that it advertises, in bytes.
    pub fn window(&self) -> Option<u64> {
        self.edge.map(|edge| edge.saturating_sub(self.offset))
    }
}

/// A packet that opens or ends a connection, or asks whether the other end is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlPoint {
    /// When it was seen.
    pub at: Time,
    /// Which packet of the capture, counted from 1.
    pub frame: u64,
    /// What it is.
    pub kind: ControlKind,
}

/// What such a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControlKind {
    /// SYN.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// FIN, perhaps with payload.
    Fin,
    /// RST.
    Rst,
    /// A zero window probe.
    Probe,
    /// A keep-alive.
    KeepAlive,
}

impl ControlKind {
    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Syn => "SYN",
            Self::SynAck => "SYN, ACK",
            Self::Fin => "FIN",
            Self::Rst => "RST",
            Self::Probe => "zero-window probe",
            Self::KeepAlive => "keep-alive",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies of one segment with pauses: of what is drawn as a step, half is of each value.
    #[test]
    fn pauses_stay_between_many_replies() {
        let mut trace = Trace::default();
        for n in 0..50_000 {
            let at = |ms| Time::from_millis(70 * n + ms);
            let (offset, frame) = (1000 * n, 2 * n + 1);
            let segment = SegmentPoint { at: at(0), frame, offset, bytes: 1000, is_resent: false };
            trace.on_segment(segment, 1000);
            trace.on_arrived(at(20), 0);
        }
        let mut empty = Time::ZERO;
        for pair in trace.in_flight.windows(2) {
            if pair[0].1 == 0 {
                empty = empty.saturating_add(pair[1].0.since(pair[0].0));
            }
        }
        let share = empty.as_secs_f64() / (50_000.0 * 0.070);
        assert!((0.7..0.8).contains(&share), "5 of 7: {share}");
    }
}
