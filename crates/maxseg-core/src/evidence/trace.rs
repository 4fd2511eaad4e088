//! Every segment and acknowledgement of a direction, for graphs.

use serde::{Deserialize, Serialize};

use super::points::Points;
use crate::units::Time;

/// What a time-sequence graph shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Segments, in order; those that repeat payload are notable.
    pub segments: Points<SegmentPoint>,
    /// Acknowledgements of them, in order; those that shut the window, or open it again, and those before long pauses are notable.
    pub acks: Points<AckPoint>,
    /// Blocks of their SACK options that are new, in order.
    pub sacks: Points<SackPoint>,
    /// Round trips of the whole path: when each was measured, and how long it was.
    pub rtts: Points<(Time, Time)>,
    /// Bytes in flight, as the sender knows them, whenever a segment was sent or an acknowledgement reached it; those before long
    /// pauses are notable.
    pub in_flight: Points<(Time, u64)>,
    /// When the first segment was sent, and the window then, where it was known.
    pub first_window: Option<(Time, u64)>,
    /// Packets of its sender that are neither segments nor acknowledgements of `acks` of the other direction.
    pub controls: Points<ControlPoint>,
}

/// A pause is long that is a greater part of all time until then: a value that held for it is seen.
const LONG_PAUSE: u64 = 1024;

/// Whether it is long until a point comes, given the times of the first and of the last one.
fn is_long_pause(times: Option<[Time; 2]>, at: Time) -> bool {
    times.is_some_and(|[first, last]| {
        at.since(last).as_nanos().saturating_mul(LONG_PAUSE) > at.since(first).as_nanos()
    })
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
        let times =
            self.acks.first().zip(self.acks.last()).map(|(first, last)| [first.at, last.at]);
        if is_long_pause(times, ack.at) {
            self.acks.keep_last();
        }
        self.acks.note(ack, is_shut != was_shut);
    }

    /// A block of a SACK option passes; one that only repeats the last is left out.
    pub fn on_sack(&mut self, block: SackPoint) {
        let is_repeated = |last: &SackPoint| {
            (last.offset, last.bytes, last.is_duplicate)
                == (block.offset, block.bytes, block.is_duplicate)
        };
        if !self.sacks.last().is_some_and(is_repeated) {
            self.sacks.note(block, block.is_duplicate);
        }
    }

    /// An acknowledgement has reached the sender, with so much in flight behind it.
    pub fn on_arrived(&mut self, at: Time, in_flight: u64) {
        if self.in_flight.last().is_none_or(|(_, before)| *before != in_flight) {
            self.note_flight(at, in_flight);
        }
    }

    fn note_flight(&mut self, at: Time, in_flight: u64) {
        let ends = self.in_flight.first().zip(self.in_flight.last());
        if is_long_pause(ends.map(|((first, _), (last, _))| [*first, *last]), at) {
            self.in_flight.keep_last();
        }
        self.in_flight.note((at, in_flight), false);
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

/// A block of a SACK option (RFC 2018).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SackPoint {
    /// When it was seen.
    pub at: Time,
    /// Which packet of the capture, counted from 1.
    pub frame: u64,
    /// Its left edge, counted from the beginning of the direction.
    pub offset: u64,
    /// Bytes up to its right edge.
    pub bytes: u32,
    /// Whether it tells of bytes that came twice (D-SACK, RFC 2883).
    pub is_duplicate: bool,
}

/// A packet that opens or ends a connection, asks whether the other end is there, or acknowledges nothing that is new.
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
    /// An acknowledgement alone that was overtaken by later ones, or of no data.
    Ack,
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
            Self::Ack => "acknowledgement",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies of one segment: of what is drawn as a step both values are left, and pauses however short or long.
    #[test]
    fn pauses_stay_between_many_replies() {
        for (count, pause_every) in [(20_000, 1_000_000), (200_000, 1_000_000), (200_000, 50_000)] {
            let mut trace = Trace::default();
            let mut paused = 0;
            for n in 0..count {
                // Of 70 ms the segment is in flight for 20; now and then nothing comes for an hour.
                paused += if n % pause_every == pause_every - 1 { 3_600_000 } else { 0 };
                let at = |ms| Time::from_millis(70 * n + ms + paused);
                let (offset, frame) = (1000 * n, 2 * n + 1);
                let segment =
                    SegmentPoint { at: at(0), frame, offset, bytes: 1000, is_resent: false };
                trace.on_segment(segment, 1000);
                trace.on_arrived(at(20), 0);
            }
            let shown = |value: u64| {
                let pairs = trace.in_flight.windows(2).filter(|pair| pair[0].1 == value);
                pairs.map(|pair| pair[1].0.since(pair[0].0).as_secs_f64()).sum::<f64>()
            };
            let kept = trace.in_flight.iter().filter(|(_, bytes)| *bytes == 0).count();
            assert!(2 * kept + 10 > trace.in_flight.len() && kept > 10_000, "{kept}");
            let all = shown(0) + shown(1000);
            let least = 50.0 / 70.0 * 0.070 * count as f64 + paused as f64 / 1000.0;
            assert!(shown(0) >= least * 0.999 && shown(1000) > 0.0, "{} of {all}", shown(0));
        }
    }

    /// A window that is 0 for an hour, among many acknowledgements.
    #[test]
    fn the_window_of_a_long_pause_stays() {
        let mut trace = Trace::default();
        for n in 0..300_000_u64 {
            let at = Time::from_millis(n + if n > 150_001 { 3_600_000 } else { 0 });
            let window = if n == 150_001 { 7 } else { 9_999 };
            trace.on_ack(AckPoint { at, frame: n, offset: n, edge: Some(n + window) });
        }
        assert!(trace.acks.is_thinned());
        assert!(trace.acks.iter().any(|ack| ack.window() == Some(7)));
    }
}
