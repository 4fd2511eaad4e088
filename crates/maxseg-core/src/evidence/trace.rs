//! Every segment and acknowledgement of a direction, for graphs.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// What a time-sequence graph shows. The number of points is bounded: where there are too many, every
/// second is left out, again and again, but for retransmissions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Segments, in order.
    pub segments: Vec<SegmentPoint>,
    /// Acknowledgements of them, in order.
    pub acks: Vec<AckPoint>,
    /// Round trips of the whole path: when each was measured, and how long it was.
    pub rtts: Vec<(Time, Time)>,
    /// Bytes in flight, whenever a segment was sent.
    pub in_flight: Vec<(Time, u64)>,
}

impl Trace {
    /// Most segments that are kept.
    const MOST: usize = 1 << 17;

    /// Leaves out every second point where there are too many.
    pub fn make_room(&mut self) {
        if self.segments.len() < Self::MOST {
            return;
        }
        let mut n = 0;
        self.segments.retain(|segment| {
            n += 1;
            n % 2 == 0 || segment.is_resent
        });
        every_second(&mut self.acks);
        every_second(&mut self.rtts);
        every_second(&mut self.in_flight);
    }
}

fn every_second<T>(list: &mut Vec<T>) {
    let mut n = 0;
    list.retain(|_| {
        n += 1;
        n % 2 == 0
    });
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
    /// The right edge of the window: the byte that may not be sent yet.
    pub edge: u64,
}
