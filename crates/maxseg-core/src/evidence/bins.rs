//! What a sender did, interval by interval.

use crate::units::Time;

/// What happened in one interval, on the sender's clock: where the capture stands elsewhere, times are
/// shifted by the way between.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bin {
    /// When it begins.
    pub at: Time,
    /// How long it takes.
    pub duration: Time,
    /// Payload that was sent for the first time.
    pub sent_bytes: u64,
    /// Payload that was sent again.
    pub resent_bytes: u64,
    /// Payload that was acknowledged.
    pub acked_bytes: u64,
    /// Segments that were sent.
    pub segments: u32,
    /// Segments that were sent again, or filled a gap that a loss had left.
    pub losses: u32,
    /// Most bytes that were sent and not acknowledged.
    pub in_flight_max: u64,
    /// Least window that was left after a segment was sent: the right edge of the window less the highest
    /// byte sent; `None` where nothing was sent or the window is not known.
    pub window_left_min: Option<u64>,
    /// Largest window offered while segments were sent.
    pub window_max: u64,
    /// Time while nothing was in flight and the window was open.
    pub idle: Time,
    /// Time while the last segment sent was a short one, so that there was no more to send, and no
    /// acknowledgement brought the next one out.
    pub drained: Time,
    /// Likewise, but each time an acknowledgement brought the next segment out: there was room again in
    /// the sender's buffer.
    pub buffer_full: Time,
    /// Time while the window had no room for a whole segment.
    pub window_shut: Time,
    /// Time that ended with a retransmission by the timer.
    pub stalled: Time,
    /// Round trips: how many were measured,
    pub rtt_count: u32,
    /// their sum,
    pub rtt_sum: Time,
    /// and the least.
    pub rtt_min: Option<Time>,
}

impl Bin {
    /// When it ends.
    pub fn end(&self) -> Time {
        self.at.saturating_add(self.duration)
    }

    /// Mean of the round trips.
    pub fn rtt_mean(&self) -> Option<Time> {
        (self.rtt_count > 0)
            .then(|| Time::from_nanos(self.rtt_sum.as_nanos() / u64::from(self.rtt_count)))
    }

    /// Joins what follows at once.
    pub fn join(&mut self, next: &Self) {
        self.duration = next.end().since(self.at);
        self.sent_bytes = self.sent_bytes.saturating_add(next.sent_bytes);
        self.resent_bytes = self.resent_bytes.saturating_add(next.resent_bytes);
        self.acked_bytes = self.acked_bytes.saturating_add(next.acked_bytes);
        self.segments = self.segments.saturating_add(next.segments);
        self.losses = self.losses.saturating_add(next.losses);
        self.in_flight_max = self.in_flight_max.max(next.in_flight_max);
        self.window_left_min = least(self.window_left_min, next.window_left_min);
        self.window_max = self.window_max.max(next.window_max);
        self.idle = self.idle.saturating_add(next.idle);
        self.drained = self.drained.saturating_add(next.drained);
        self.buffer_full = self.buffer_full.saturating_add(next.buffer_full);
        self.window_shut = self.window_shut.saturating_add(next.window_shut);
        self.stalled = self.stalled.saturating_add(next.stalled);
        self.rtt_count = self.rtt_count.saturating_add(next.rtt_count);
        self.rtt_sum = self.rtt_sum.saturating_add(next.rtt_sum);
        self.rtt_min = least(self.rtt_min, next.rtt_min);
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The intervals of a direction, in order and without gaps, all but the last equally long. Their number is
/// bounded: where there are too many, neighbours are joined and each is twice as long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bins {
    list: Vec<Bin>,
    width: Time,
}

impl Bins {
    /// Most intervals that are kept.
    pub const MOST: usize = 2048;

    /// None yet, each to be `width` long.
    pub const fn new(width: Time) -> Self {
        Self { list: Vec::new(), width }
    }

    /// How long each is; zero where there are none.
    pub const fn width(&self) -> Time {
        self.width
    }

    /// Adds a whole interval behind the last.
    pub fn push(&mut self, bin: Bin) {
        if self.list.len() >= Self::MOST {
            self.halve();
        }
        self.list.push(bin);
    }

    /// Joins neighbours, so that there are half as many, twice as long.
    fn halve(&mut self) {
        let joined = self.list.chunks(2).filter_map(|pair| {
            let (first, rest) = pair.split_first()?;
            let mut bin = *first;
            for next in rest {
                bin.join(next);
            }
            Some(bin)
        });
        self.list = joined.collect();
        self.width = self.width.times(2);
    }

    /// In order.
    pub fn as_slice(&self) -> &[Bin] {
        &self.list
    }
}
