//! Segments in the order of their times, where the capture stored them in another: several queues of a card, or
//! interfaces whose packets were merged as they came.
//!
//! A capture in order passes at once. From the first segment on that is older than the one before, segments wait in a
//! bounded window, and the oldest leaves first; so they do at the beginning, until it is clear that order is kept.

use std::collections::VecDeque;

use super::Seen;
use super::owned_segment::OwnedSegment;

/// The window.
#[derive(Debug)]
pub(super) struct TimeOrder {
    /// In the order of their times.
    waiting: VecDeque<OwnedSegment>,
    newest: u64,
    /// Segments that came in order since the last that did not; `None` where nothing waits any more.
    in_order: Option<u32>,
}

/// How long a segment waits for an older one, in nanoseconds. What is older than that by its time was stamped by
/// another clock, or after the clock was set back.
pub(super) const WINDOW: u64 = 50_000_000;
/// Most segments that wait.
const MOST: usize = 2048;
/// Segments in order after which they are taken to be so: at the beginning, and after one that was not.
const AT_FIRST: u32 = 256;
const AGAIN: u32 = 1 << 16;

/// What to do with a segment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is its turn.
    Now,
    /// It waits; others may leave.
    Waits,
}

impl TimeOrder {
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), newest: 0, in_order: Some(AGAIN - AT_FIRST) }
    }

    /// A segment comes.
    #[inline]
    pub(super) fn on_segment(&mut self, seen: &Seen<'_>, fragments: u32) -> Turn {
        let at = seen.at_nanos;
        if at >= self.newest && self.in_order.is_none() {
            self.newest = at;
            return Turn::Now;
        }
        self.on_disorder(seen, fragments)
    }

    #[cold]
    fn on_disorder(&mut self, seen: &Seen<'_>, fragments: u32) -> Turn {
        let at = seen.at_nanos;
        if self.in_order.is_none() && at.saturating_add(WINDOW) < self.newest {
            self.newest = at;
            return Turn::Now;
        }
        self.wait(seen, fragments);
        Turn::Waits
    }

    #[inline(never)]
    fn wait(&mut self, seen: &Seen<'_>, fragments: u32) {
        let at = seen.at_nanos;
        let is_late = at < self.newest;
        let count = self.in_order.get_or_insert(0);
        *count = if is_late { 0 } else { count.saturating_add(1) };
        let is_other_clock = at.saturating_add(WINDOW) < self.newest;
        // All that waits is from before the clock was set back, and leaves first.
        let place = if is_other_clock {
            self.waiting.len()
        } else {
            let behind = self
                .waiting
                .iter()
                .rev()
                .take_while(|other| other.at() > at && other.at() <= at.saturating_add(WINDOW));
            self.waiting.len() - behind.count()
        };
        let mut segment = OwnedSegment::of(seen, fragments);
        segment.is_late = is_late;
        self.waiting.insert(place, segment);
        self.newest = if is_other_clock { at } else { self.newest.max(at) };
    }

    /// The next segment whose turn it is.
    pub(super) fn next(&mut self) -> Option<OwnedSegment> {
        let first = self.waiting.front()?.at();
        let is_full = self.waiting.len() > MOST;
        let is_old = first.saturating_add(WINDOW) < self.newest || first > self.newest;
        let is_over = self.in_order.is_none_or(|count| count >= AGAIN);
        if is_over {
            self.in_order = None;
        }
        if is_full || is_old || is_over { self.waiting.pop_front() } else { None }
    }

    /// Nothing more comes: the rest in order.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = OwnedSegment> + use<> {
        std::mem::take(&mut self.waiting).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::segment;

    /// The times in which segments leave that come at these times.
    fn order(micros: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let zero = segment(0).at_nanos;
        let mut order = TimeOrder::new();
        let mut out = Vec::new();
        let mut leave = |at: u64| out.push((at - zero) / 1000);
        for at in micros {
            let seen = segment(at);
            if order.on_segment(&seen, 0) == Turn::Now {
                leave(seen.at_nanos);
            }
            while let Some(next) = order.next() {
                leave(next.at());
            }
        }
        order.finish().for_each(|rest| leave(rest.at()));
        out
    }

    #[test]
    fn neighbours_change_places() {
        assert_eq!(order([1, 3, 2, 5, 4, 6]), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_the_order() {
        let times = [5_000_000, 5_000_100, 2_000_000, 2_000_200, 2_000_100];
        assert_eq!(order(times), [5_000_000, 5_000_100, 2_000_000, 2_000_100, 2_000_200]);
    }

    #[test]
    fn what_is_in_order_does_not_wait_for_ever() {
        let mut order = TimeOrder::new();
        for at in 0..u64::from(AT_FIRST) {
            assert_eq!(order.on_segment(&segment(at), 0), Turn::Waits);
        }
        let mut left = 0;
        while order.next().is_some() {
            left += 1;
        }
        assert_eq!(left, AT_FIRST);
        assert_eq!(order.on_segment(&segment(1000), 0), Turn::Now);
        assert_eq!(order.on_segment(&segment(999), 0), Turn::Waits, "order was not kept after all");
    }

    #[test]
    fn the_window_is_bounded() {
        let backwards = (0..10_000).rev();
        let out = order(backwards);
        assert_eq!(out.len(), 10_000);
    }
}
