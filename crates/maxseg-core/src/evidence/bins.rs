//! What a sender did, interval by interval.

use serde::{Deserialize, Serialize};

use crate::rng::mix;
use crate::units::Time;

/// What happened in one interval, on the sender's clock: where the capture stands elsewhere, times are
/// shifted by the way between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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
    /// byte sent; `None` where nothing was sent or the window is not known. Of joined intervals it is that of one of them
    /// ([`later_stands`]): with the least of all, a window that was full once would be full for all of their time.
    pub window_left_min: Option<u64>,
    /// Largest window offered while segments were sent.
    pub window_max: u64,
    /// Time while nothing was in flight and the window was open.
    pub idle: Time,
    /// Part of that, after a full segment: whoever has no more to send ends with a short one.
    pub idle_after_full: Time,
    /// Time without more data to send, though the window had room: a short segment ended the flight, and no
    /// acknowledgement triggered the next one (the kernel's `is_app_limited`).
    pub app_limited: Time,
    /// Likewise, but each acknowledgement triggered the next segment: the send buffer was full (`tcp_info`'s
    /// `tcpi_sndbuf_limited`).
    pub sndbuf_limited: Time,
    /// New payload that left at once after an acknowledgement of data had reached the sender: clocked out by it.
    pub clocked_bytes: u64,
    /// Time that was at once after such an acknowledgement. Of payload that leaves by another clock, this share of the
    /// time is clocked by chance.
    pub clock_time: Time,
    /// Time while the receive window had no room for a full segment (`tcpi_rwnd_limited`).
    pub rwnd_limited: Time,
    /// Part of that, with a window of 0: shut, whatever its scale.
    pub zero_window: Time,
    /// Time that ended with a retransmission by timeout.
    pub rto_wait: Time,
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
        let next_stands = self.window_left_min.is_none()
            || next.window_left_min.is_some() && later_stands([self.at, next.at, next.end()]);
        if next_stands {
            self.window_left_min = next.window_left_min;
        }
        self.duration = next.end().since(self.at);
        self.sent_bytes = self.sent_bytes.saturating_add(next.sent_bytes);
        self.resent_bytes = self.resent_bytes.saturating_add(next.resent_bytes);
        self.acked_bytes = self.acked_bytes.saturating_add(next.acked_bytes);
        self.segments = self.segments.saturating_add(next.segments);
        self.losses = self.losses.saturating_add(next.losses);
        self.in_flight_max = self.in_flight_max.max(next.in_flight_max);
        self.window_max = self.window_max.max(next.window_max);
        self.idle = self.idle.saturating_add(next.idle);
        self.idle_after_full = self.idle_after_full.saturating_add(next.idle_after_full);
        self.app_limited = self.app_limited.saturating_add(next.app_limited);
        self.sndbuf_limited = self.sndbuf_limited.saturating_add(next.sndbuf_limited);
        self.clocked_bytes = self.clocked_bytes.saturating_add(next.clocked_bytes);
        self.clock_time = self.clock_time.saturating_add(next.clock_time);
        self.rwnd_limited = self.rwnd_limited.saturating_add(next.rwnd_limited);
        self.zero_window = self.zero_window.saturating_add(next.zero_window);
        self.rto_wait = self.rto_wait.saturating_add(next.rto_wait);
        self.rtt_count = self.rtt_count.saturating_add(next.rtt_count);
        self.rtt_sum = self.rtt_sum.saturating_add(next.rtt_sum);
        self.rtt_min = least(self.rtt_min, next.rtt_min);
    }
}

/// Whether of two intervals, from the first time to the second and from there to the third, the later stands for both: drawn by their
/// times, as often as it is long, so that of many joined ones as many are of a kind as before, by time.
pub fn later_stands([begin, middle, end]: [Time; 3]) -> bool {
    let (all, later) = (end.since(begin).as_nanos(), end.since(middle).as_nanos());
    let drawn = mix(begin.as_nanos() ^ end.as_nanos().rotate_left(32));
    let at = (u128::from(drawn) * u128::from(all)) >> 64;
    at < u128::from(later)
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The intervals of a direction, in order and without gaps. Where something happens they are equally long; what is
/// between is one interval, however long it took. Their number is bounded: where there are too many, neighbours
/// are joined, and new ones are twice as long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    list: Vec<Bin>,
    origin: Time,
    width: Time,
    /// The one that was asked for last: the next is mostly the same.
    current: usize,
}

/// Between these numbers of intervals memory grows by so many: who keeps those before elsewhere has no more of them.
const FEW: usize = 4;
const MANY: usize = 16;
const MORE: usize = 8;

impl Bins {
    /// Most intervals that are kept.
    pub const MOST: usize = 2048;

    /// None yet; the first begins at `origin`, and each is `width` long, which is not zero.
    pub const fn new(origin: Time, width: Time) -> Self {
        Self { list: Vec::new(), origin, width, current: 0 }
    }

    /// Windows turn out to be so many times as large as was taken for granted: what was left of each grows by that, and
    /// none was full but those of 0.
    pub fn scale_windows(&mut self, times: u64) {
        for bin in &mut self.list {
            let more = bin.window_max.saturating_mul(times.saturating_sub(1));
            bin.window_left_min = bin.window_left_min.map(|left| left.saturating_add(more));
            bin.window_max = bin.window_max.saturating_add(more);
            bin.rwnd_limited = bin.zero_window;
        }
    }

    /// In order.
    pub fn as_slice(&self) -> &[Bin] {
        &self.list
    }

    /// When the first begins, whether there is one or not.
    pub const fn origin(&self) -> Time {
        self.origin
    }

    /// Forgets the first ones, which are kept elsewhere.
    pub fn forget_first(&mut self, count: usize) {
        self.list.drain(..count.min(self.list.len()));
        self.current = self.current.saturating_sub(count);
    }

    /// Takes others in place of its intervals: in order and without gaps as well.
    pub fn replace(&mut self, list: Vec<Bin>) {
        (self.list, self.current) = (list, 0);
    }

    /// The same, but that the last is as long as it would have been: what came in all of it counts in it, behind the end as well.
    pub fn whole(&self) -> Vec<Bin> {
        let mut list = self.list.clone();
        if let Some(last) = list.last_mut() {
            let width = self.width.as_nanos().max(1);
            let begun = last.at.since(self.origin).as_nanos() % width;
            last.duration = last.duration.max(Time::from_nanos(width - begun));
        }
        list
    }

    /// The interval that `at` lies in; the first for what is before it.
    #[inline]
    pub fn at(&mut self, at: Time) -> &mut Bin {
        if !self.is_current(at) {
            self.current = self.reach(at);
        }
        &mut self.list[self.current]
    }

    /// Where the interval that `at` lies in is; it is there then.
    fn reach(&mut self, at: Time) -> usize {
        if self.list.len() >= Self::MOST {
            self.halve();
        }
        let at = at.max(self.origin);
        let end = self.list.last().map_or(self.origin, Bin::end);
        if at >= end {
            self.extend(end, at);
        }
        // Nearly always it is one of the last two.
        let near = self.list.iter().rev().take(2).position(|bin| bin.at <= at);
        match near {
            Some(back) => self.list.len() - 1 - back,
            None => self.list.partition_point(|bin| bin.at <= at).saturating_sub(1),
        }
    }

    /// Adds the interval that `at` lies in, and one for all that is between it and the present end.
    fn extend(&mut self, end: Time, at: Time) {
        let width = self.width.as_nanos().max(1);
        let slots = at.since(self.origin).as_nanos() / width;
        let slot = self.origin.saturating_add(Time::from_nanos(slots.saturating_mul(width)));
        let begin = slot.max(end);
        if (FEW..MANY).contains(&self.list.len()) && self.list.len() + 1 >= self.list.capacity() {
            self.list.reserve_exact(MORE);
        }
        if begin > end {
            self.list.push(Bin { at: end, duration: begin.since(end), ..Bin::default() });
        }
        let until = slot.saturating_add(Time::from_nanos(width));
        self.list.push(Bin { at: begin, duration: until.since(begin), ..Bin::default() });
    }

    /// Whether [`at`](Self::at) was asked for this interval last.
    #[inline]
    pub fn is_current(&self, at: Time) -> bool {
        // What is before the interval is far behind it, modulo 2⁶⁴.
        let is_in =
            |bin: &Bin| at.as_nanos().wrapping_sub(bin.at.as_nanos()) < bin.duration.as_nanos();
        self.list.get(self.current).is_some_and(is_in)
    }

    /// Gives each interval between `from` and `to` its part of that time.
    pub fn spread(&mut self, from: Time, to: Time, add: impl FnMut(&mut Bin, Time)) {
        let from = from.max(self.origin);
        if to <= from {
            return;
        }
        self.at(from);
        self.at(to);
        self.spread_over(from, to, add);
    }

    /// The same, of intervals that are there, from the first on.
    pub fn spread_over(&mut self, from: Time, to: Time, mut add: impl FnMut(&mut Bin, Time)) {
        let behind = self.list.iter().rev().take_while(|bin| bin.end() > from).count();
        let first = self.list.len() - behind;
        for bin in self.list[first..].iter_mut().take_while(|bin| bin.at < to) {
            let part = bin.end().min(to).since(bin.at.max(from));
            add(bin, part);
        }
    }

    /// Nothing more comes: the last interval ends at `end`, and what is behind that is dropped.
    pub fn finish(&mut self, end: Time) {
        while self.list.last().is_some_and(|last| last.at >= end && last.at > self.origin) {
            self.list.pop();
        }
        if let Some(last) = self.list.last_mut() {
            last.duration = end.since(last.at).min(last.duration);
        }
        self.list.shrink_to_fit();
        self.current = 0;
    }

    /// Joins neighbours until there are at most so many, at least one.
    pub fn coarsen(&mut self, most: usize) {
        while self.list.len() > most.max(1) {
            self.halve();
        }
    }

    /// Joins neighbours, so that there are half as many; new ones are twice as long.
    pub fn halve(&mut self) {
        self.width = self.width.times(2);
        // In place: connections by the thousand do this again and again, and memory that is new has to be cleared.
        let mut kept = 0;
        for first in (0..self.list.len()).step_by(2) {
            let mut bin = self.list[first];
            if let Some(next) = self.list.get(first + 1) {
                bin.join(next);
            }
            self.list[kept] = bin;
            kept += 1;
        }
        self.list.truncate(kept);
        self.current = 0;
    }
}

#[cfg(test)]
mod tests;
