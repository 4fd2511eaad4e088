//! Packets on their way, in the order in which they arrive.

use std::collections::VecDeque;

use crate::units::Time;

/// A queue of packets with known arrival times, earliest first.
#[derive(Debug, Clone)]
pub struct Lane<P> {
    packets: VecDeque<(Time, P)>,
}

impl<P> Default for Lane<P> {
    fn default() -> Self {
        Self { packets: VecDeque::new() }
    }
}

impl<P> Lane<P> {
    /// Put `packet` on its way, to arrive `at`; behind all that arrive then or earlier.
    #[inline]
    pub fn push(&mut self, at: Time, packet: P) {
        debug_assert!(self.packets.back().is_none_or(|(last, _)| *last <= at), "a lane is a FIFO");
        self.packets.push_back((at, packet));
    }

    /// The same for a packet that may arrive before others that were put on their way earlier.
    pub fn insert(&mut self, at: Time, packet: P) {
        let behind = self.packets.iter().rev().take_while(|(other, _)| *other > at).count();
        self.packets.insert(self.packets.len() - behind, (at, packet));
    }

    /// The same for one that arrives before all others, or with the first of them.
    pub fn push_first(&mut self, at: Time, packet: P) {
        debug_assert!(at <= self.next_arrival(), "it arrives before all others");
        self.packets.push_front((at, packet));
    }

    /// When the next packet arrives; [`Time::NEVER`] when none is on its way.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The next packet, whenever it arrives.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, P)> {
        self.packets.pop_front()
    }

    /// The next packet, where it lies.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut P> {
        self.packets.front_mut().map(|(_, packet)| packet)
    }

    /// The next packet is done with.
    #[inline]
    pub fn drop_front(&mut self) {
        self.packets.pop_front();
    }

    /// The next packet, if it arrives at or before `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, P)> {
        if self.next_arrival() <= now { self.packets.pop_front() } else { None }
    }

    /// How many are on their way.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether none is on its way.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
