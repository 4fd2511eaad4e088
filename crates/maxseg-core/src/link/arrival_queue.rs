//! Packets on their way, in the order in which they arrive.

use crate::units::Time;

/// A queue of packets with known arrival times, earliest first.
///
/// A ring of our own: the simulator asks for the next arrival with every event, and looks at packets
/// where they lie.
#[derive(Debug, Clone)]
pub struct ArrivalQueue<P> {
    /// A power of two of slots.
    slots: Vec<(Time, Option<P>)>,
    head: usize,
    len: usize,
    /// When the first arrives.
    next_arrival: Time,
}

impl<P> Default for ArrivalQueue<P> {
    fn default() -> Self {
        Self { slots: Vec::new(), head: 0, len: 0, next_arrival: Time::NEVER }
    }
}

impl<P> ArrivalQueue<P> {
    /// Put `packet` on its way, to arrive `at`; behind all that arrive then or earlier.
    #[inline(always)]
    pub fn push(&mut self, at: Time, packet: P) {
        self.push_new(at, || packet);
    }

    /// The same for a packet that is made in its place, once there is one: moving it costs every packet.
    #[inline(always)]
    pub fn push_new(&mut self, at: Time, packet: impl FnOnce() -> P) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let index = self.index_of(self.len);
        debug_assert!(self.len == 0 || self.slots[self.index_of(self.len - 1)].0 <= at, "a FIFO");
        if let Some(slot) = self.slots.get_mut(index) {
            slot.0 = at;
            // Whoever took the packet that lay here has left nothing in it that is to be dropped: asking
            // for that costs every packet.
            std::mem::forget(slot.1.replace(packet()));
        }
        if self.len == 0 {
            self.next_arrival = at;
        }
        self.len += 1;
    }

    /// The same for a packet that may arrive before others that were put on their way earlier.
    pub fn insert(&mut self, at: Time, packet: P) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let mut nth = self.len;
        while nth > 0 && self.slots[self.index_of(nth - 1)].0 > at {
            let (to, from) = (self.index_of(nth), self.index_of(nth - 1));
            self.slots.swap(to, from);
            nth -= 1;
        }
        let index = self.index_of(nth);
        self.slots[index] = (at, Some(packet));
        self.len += 1;
        self.next_arrival = self.slots[self.head].0;
    }

    /// The same for one that arrives before all others, or with the first of them.
    pub fn push_first(&mut self, at: Time, packet: P) {
        debug_assert!(at <= self.next_arrival(), "it arrives before all others");
        if self.len == self.slots.len() {
            self.grow();
        }
        self.head = self.index_of(self.slots.len() - 1);
        self.slots[self.head] = (at, Some(packet));
        self.len += 1;
        self.next_arrival = at;
    }

    /// When the next packet arrives; [`Time::NEVER`] when none is on its way.
    #[inline(always)]
    pub fn next_arrival(&self) -> Time {
        self.next_arrival
    }

    /// The next packet, whenever it arrives.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, P)> {
        if self.len == 0 {
            return None;
        }
        let (at, packet) = self.slots.get_mut(self.head)?;
        let front = (*at, packet.take()?);
        self.step();
        Some(front)
    }

    /// Takes the next packet off, to be looked at where it lies until another is put on its way. What it
    /// owns is to be taken out of it: nothing drops it.
    #[inline(always)]
    pub fn take(&mut self) -> Option<&mut P> {
        if self.len == 0 {
            return None;
        }
        let front = self.head;
        self.step();
        self.slots.get_mut(front)?.1.as_mut()
    }

    /// The next packet.
    pub fn first(&self) -> Option<&P> {
        if self.len == 0 {
            return None;
        }
        self.slots.get(self.head)?.1.as_ref()
    }

    /// The next packet, if it arrives at or before `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, P)> {
        if self.next_arrival() <= now { self.pop() } else { None }
    }

    /// When the last packet arrives; the beginning of time when none is on its way.
    pub fn last_arrival(&self) -> Time {
        if self.len == 0 { Time::ZERO } else { self.slots[self.index_of(self.len - 1)].0 }
    }

    /// How many are on their way.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none is on its way.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the `nth` packet is.
    #[inline(always)]
    fn index_of(&self, nth: usize) -> usize {
        (self.head + nth) & (self.slots.len() - 1)
    }

    #[inline(always)]
    fn step(&mut self) {
        self.head = self.index_of(1);
        self.len -= 1;
        self.next_arrival = if self.len == 0 { Time::NEVER } else { self.slots[self.head].0 };
    }

    #[cold]
    fn grow(&mut self) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        let double = (2 * self.slots.len()).max(16);
        self.slots.resize_with(double, || (Time::NEVER, None));
    }
}
