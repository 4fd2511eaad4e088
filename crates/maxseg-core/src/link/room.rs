//! Waiting rooms of the computing form: as much of them as it takes to refuse a newcomer.

use std::collections::VecDeque;

use crate::path::QueueLimit;
use crate::units::{Bytes, Time};

/// A room for so many packets: of each of the last `limit + 1`, the first instant when it is gone from
/// the wire, in nanoseconds. The oldest of them decides about a newcomer.
#[derive(Debug, Clone)]
pub(super) struct Places {
    gone: Box<[u64]>,
    oldest: usize,
}

impl Places {
    pub(super) fn new(limit: u32) -> Self {
        // Zeroed memory is mapped when touched: a limit far above the traffic costs nothing.
        Self { gone: vec![0; limit as usize + 1].into_boxed_slice(), oldest: 0 }
    }

    /// The place that a packet coming at `now` would take, if there is one: what stands there is over.
    #[inline(always)]
    pub(super) fn free_at(&mut self, now: Time) -> Option<&mut u64> {
        let last = self.gone.len() - 1;
        let place = &mut self.gone[self.oldest];
        if *place > now.as_nanos() {
            return None;
        }
        self.oldest = self.oldest.checked_sub(1).unwrap_or(last);
        Some(place)
    }
}

/// A room whose packets and bytes are counted.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    limit: QueueLimit,
    /// When each packet that waits goes on the wire, and its bytes.
    waiting: VecDeque<(Time, u64)>,
    backlog: u64,
    /// Whether who goes on the wire at the instant of an arrival waits no more.
    leaves_first: bool,
}

impl Counted {
    pub(super) fn new(limit: QueueLimit, leaves_first: bool) -> Self {
        Self { limit, waiting: VecDeque::new(), backlog: 0, leaves_first }
    }

    /// Packets and bytes that wait at `now`.
    pub(super) fn occupancy(&mut self, now: Time) -> (usize, u64) {
        while let Some((start, bytes)) = self.waiting.front()
            && (*start < now || (self.leaves_first && *start == now))
        {
            self.backlog -= bytes;
            self.waiting.pop_front();
        }
        (self.waiting.len(), self.backlog)
    }

    /// Whether a packet of `bytes` on the wire may wait as well.
    pub(super) fn holds(&self, bytes: u32) -> bool {
        let backlog = self.backlog + u64::from(bytes);
        self.limit.holds(self.waiting.len() + 1, Bytes::new(backlog))
    }

    /// A packet of `bytes` waits until `start`.
    pub(super) fn enter(&mut self, start: Time, bytes: u32) {
        self.waiting.push_back((start, u64::from(bytes)));
        self.backlog += u64::from(bytes);
    }
}
