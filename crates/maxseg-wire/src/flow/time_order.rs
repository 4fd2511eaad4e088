//! Segments in the order of their times, where the capture stored them in another: several queues of a card, or
//! interfaces whose packets were merged as they came.
//!
//! A capture in order passes at once. From the first segment on that is older than the one before, segments wait in a
//! bounded window, and the oldest leaves first; so they do at the beginning, until it is clear that order is kept.
//!
//! dumpcap, and Wireshark with it, reads each of several interfaces a block at a time: what one received stands behind what
//! another received up to a quarter of a second later. Each interface alone is in order then, which tells this from a clock that
//! was set back.

use std::collections::BTreeMap;

use maxseg_core::evidence::UnreachableEvent;

use super::owned_segment::OwnedSegment;
use super::small_setting::{Descent, Verdict};
use super::{Seen, TooBig};

/// The window.
#[derive(Debug)]
pub(super) struct TimeOrder {
    /// In the order in which they leave.
    waiting: BTreeMap<Place, Waiting>,
    newest: u64,
    /// Segments that came in order since the last that did not; `None` where nothing waits any more.
    in_order: Option<u32>,
    /// How often the clock was set back: all that waits from before leaves first.
    settings: u32,
    /// The times went back by little, and it is not known yet whether the clock was set: all that comes waits until it is, behind a
    /// clock that was set.
    descent: Option<Descent>,
    /// Whether it was set back by little an odd number of times.
    is_set: bool,
    /// What came so far, so that what has one time keeps its order.
    count: u64,
    /// The newest times of the interfaces, where the file has several.
    interfaces: Option<Vec<(u32, u64)>>,
}

/// Where something stands among what waits: how often the clock had been set back, its time, and its place in the file.
type Place = (u32, u64, u64);

/// What waits for its turn.
#[derive(Debug)]
pub(super) enum Waiting {
    Segment(OwnedSegment),
    TooBig(Box<TooBig>),
    Unreachable(UnreachableEvent),
}

/// How long a segment waits for an older one, in nanoseconds. What is older than that by its time was stamped by
/// another clock, or after the clock was set back.
pub(super) const WINDOW: u64 = 50_000_000;
/// The same between interfaces: dumpcap waits for a block for 250 ms (`CAP_READ_TIMEOUT`), and then for its turn.
const BETWEEN_INTERFACES: u64 = 500_000_000;
/// Most segments that wait: of one interface, and of several, whose blocks may hold a quarter of a second of a fast link.
const MOST: usize = 2048;
const MOST_OF_SEVERAL: usize = 1 << 16;
/// Most interfaces whose times are kept; those beyond are taken to be in order.
const MOST_INTERFACES: usize = 64;
/// Segments in order after which they are taken to be so: at the beginning, and after one that was not or with several interfaces.
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
        Self {
            waiting: BTreeMap::new(),
            newest: 0,
            in_order: Some(AGAIN - AT_FIRST),
            settings: 0,
            descent: None,
            is_set: false,
            count: 0,
            interfaces: None,
        }
    }

    /// The file has several interfaces: what one of them received may stand long behind what another did.
    #[inline]
    pub(super) fn expect_several_interfaces(&mut self) {
        if self.interfaces.is_none() {
            self.interfaces = Some(Vec::new());
            self.in_order = self.in_order.map(|_| 0);
        }
    }

    /// Whether the clock was set back by little an odd number of times, before what passes now.
    pub(super) const fn is_set(&self) -> bool {
        self.is_set
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
        let mut segment = OwnedSegment::of(seen, fragments);
        segment.is_set = self.is_set;
        if self.descends(at) {
            segment.is_set = !self.is_set;
            self.keep_behind(at, segment);
            return;
        }
        let is_late = at < self.newest;
        let count = self.in_order.get_or_insert(0);
        *count = if is_late { 0 } else { count.saturating_add(1) };
        if self.is_of_other_clock(at, seen.interface) {
            self.settings = self.settings.saturating_add(1);
            self.newest = at;
            self.interfaces.iter_mut().for_each(Vec::clear);
        }
        self.newest = self.newest.max(at);
        if let Some(interfaces) = &mut self.interfaces {
            let is_own = |(interface, _): &&mut (u32, u64)| *interface == seen.interface;
            if let Some((_, newest)) = interfaces.iter_mut().find(is_own) {
                *newest = at.max(*newest);
            } else if interfaces.len() < MOST_INTERFACES {
                interfaces.push((seen.interface, at));
            }
        }
        segment.is_late = is_late;
        self.keep(at, Waiting::Segment(segment));
    }

    /// Whether a time belongs behind a clock that may have been set back by little.
    fn descends(&mut self, at: u64) -> bool {
        let Some(descent) = &mut self.descent else {
            let was_in_order = self.in_order.is_none_or(|count| count >= AT_FIRST);
            let is_possible = was_in_order
                && self.interfaces.is_none()
                && at < self.newest
                && !self.is_of_other_clock(at, 0);
            self.descent = Descent::new(self.newest, at).filter(|_| is_possible);
            let descends = self.descent.is_some();
            if descends {
                // What follows waits as well.
                self.in_order = Some(0);
            }
            return descends;
        };
        match descent.on_time(at) {
            Verdict::Open => true,
            verdict @ (Verdict::Set | Verdict::Disorder) => {
                self.judge(verdict);
                verdict == Verdict::Set
            }
        }
    }

    /// Keeps a segment behind a clock that may have been set back, or was.
    fn keep_behind(&mut self, at: u64, mut segment: OwnedSegment) {
        if self.descent.is_none() {
            // It was, and that is known by now.
            segment.is_set = self.is_set;
            self.keep(at, Waiting::Segment(segment));
            return;
        }
        self.count += 1;
        self.waiting.insert((self.settings + 1, at, self.count), Waiting::Segment(segment));
        if self.waiting.len() > MOST_OF_SEVERAL {
            self.judge(Verdict::Disorder);
        }
    }

    /// It is known whether the clock was set back by little.
    #[cold]
    fn judge(&mut self, verdict: Verdict) {
        let Some(descent) = self.descent.take() else { return };
        self.in_order = Some(0);
        if verdict == Verdict::Set {
            self.settings += 1;
            self.is_set = !self.is_set;
            self.newest = descent.newest();
            return;
        }
        for ((_, at, count), mut waiting) in self.waiting.split_off(&(self.settings + 1, 0, 0)) {
            if let Waiting::Segment(segment) = &mut waiting {
                segment.is_set = self.is_set;
                segment.is_late = descent.is_before(at);
            }
            self.waiting.insert((self.settings, at, count), waiting);
        }
        self.newest = self.newest.max(descent.newest());
    }

    /// Whether a time is of another clock than the newest, or of the same after it was set back.
    fn is_of_other_clock(&self, at: u64, interface: u32) -> bool {
        let is_behind = |newest: u64, window| at.saturating_add(window) < newest;
        let Some(interfaces) = &self.interfaces else { return is_behind(self.newest, WINDOW) };
        let own = interfaces.iter().find(|(other, _)| *other == interface);
        is_behind(self.newest, BETWEEN_INTERFACES)
            || own.is_some_and(|(_, newest)| is_behind(*newest, WINDOW))
    }

    /// Whether a notice that passed among the segments waits as they do, since what is older may follow.
    pub(super) fn has_wait(&self) -> bool {
        self.interfaces.is_some() && !self.waiting.is_empty()
    }

    /// Something waits that passed at this time.
    pub(super) fn keep(&mut self, at: u64, what: Waiting) {
        self.count += 1;
        self.waiting.insert((self.settings, at, self.count), what);
    }

    /// The next whose turn it is.
    pub(super) fn next(&mut self) -> Option<Waiting> {
        if self.descent.is_some() {
            return None;
        }
        let ((settings, first, _), _) = self.waiting.first_key_value()?;
        let (window, most) = match self.interfaces {
            Some(_) => (BETWEEN_INTERFACES, MOST_OF_SEVERAL),
            None => (WINDOW, MOST),
        };
        let is_full = self.waiting.len() > most;
        let is_old = first.saturating_add(window) < self.newest || *settings < self.settings;
        let is_over = self.in_order.is_none_or(|count| count >= AGAIN);
        if is_over {
            self.in_order = None;
        }
        let (_, next) =
            (is_full || is_old || is_over).then(|| self.waiting.pop_first()).flatten()?;
        Some(next)
    }

    /// Nothing more comes: the rest in order.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Waiting> + use<> {
        if let Some(descent) = self.descent {
            self.judge(descent.at_end());
        }
        std::mem::take(&mut self.waiting).into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::segment;

    /// The times in which segments leave that come at these times.
    fn order(micros: impl IntoIterator<Item = u64>) -> Vec<u64> {
        ordered(TimeOrder::new(), micros.into_iter().map(|at| (at, 0)))
    }

    /// The same in a file of several interfaces: times, each with its interface.
    fn order_of_several(micros: impl IntoIterator<Item = (u64, u32)>) -> Vec<u64> {
        let mut order = TimeOrder::new();
        order.expect_several_interfaces();
        ordered(order, micros)
    }

    fn ordered(mut order: TimeOrder, micros: impl IntoIterator<Item = (u64, u32)>) -> Vec<u64> {
        let zero = segment(0).at_nanos;
        let mut out = Vec::new();
        let mut leave = |at: u64| out.push((at - zero) / 1000);
        let time = |what: &Waiting| match what {
            Waiting::Segment(segment) => segment.at(),
            Waiting::TooBig(_) | Waiting::Unreachable(_) => 0,
        };
        for (at, interface) in micros {
            let seen = Seen { interface, ..segment(at) };
            if order.on_segment(&seen, 0) == Turn::Now {
                leave(seen.at_nanos);
            }
            while let Some(next) = order.next() {
                leave(time(&next));
            }
        }
        order.finish().for_each(|rest| leave(time(&rest)));
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

    /// The clock goes back by 20 ms in a stream of a packet each millisecond: none of those behind it passes before one before it.
    #[test]
    fn a_clock_that_is_set_back_by_little_keeps_the_order() {
        let times: Vec<u64> = (0..300).chain(280..500).map(|ms| ms * 1000).collect();
        assert_eq!(order(times.clone()), times);
        // Blocks of two queues, over and over.
        let blocks = (0..10).flat_map(|n| (0..2).flat_map(move |_| n * 20_000..n * 20_000 + 20));
        let mut sorted: Vec<u64> = blocks.clone().collect();
        sorted.sort_unstable();
        assert_eq!(order(blocks), sorted);
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

    /// Blocks of 230 ms, as dumpcap stores them: first those of one interface, then what another received meanwhile.
    #[test]
    fn blocks_of_interfaces_are_put_in_order() {
        let block = |number: u64, interface: u32| {
            (0..230).map(move |n| ((number * 230 + n) * 1000 + u64::from(interface), interface))
        };
        let times: Vec<_> =
            (0..20).flat_map(|number| block(number, 0).chain(block(number, 1))).collect();
        let mut sorted: Vec<u64> = times.iter().map(|(at, _)| *at).collect();
        sorted.sort_unstable();
        assert_eq!(order_of_several(times), sorted);
    }

    #[test]
    fn a_clock_that_is_set_back_is_that_of_every_interface() {
        let times = [(500_000, 0), (500_100, 1), (300_000, 0), (300_100, 1), (300_050, 0)];
        assert_eq!(order_of_several(times), [500_000, 500_100, 300_000, 300_050, 300_100]);
    }
}
