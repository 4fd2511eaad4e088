//! The holding form: packets move from stage to stage as time passes.

use std::collections::VecDeque;

use super::Lane;
use super::wire::Wire;
use crate::framing::IpPacket;
use crate::path::{LinkSpec, QueueLimit};
use crate::units::{Bytes, Time};

/// Whether a packet found a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Offer<P> {
    /// It waits or is on the wire.
    Taken,
    /// The queue was full: here it is again.
    Refused(P),
}

/// A packet at the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<P> {
    /// When its last bit arrived.
    pub at: Time,
    /// The packet.
    pub packet: P,
    /// Whether it is damaged, and so of no use.
    pub damaged: bool,
}

/// One direction of a hop that holds its packets.
///
/// Offer what arrives at an instant before polling for it: an arrival goes before a departure.
#[derive(Debug, Clone)]
pub struct Staged<P> {
    limit: QueueLimit,
    waiting: VecDeque<(P, IpPacket)>,
    backlog: Bytes,
    wire: Wire,
    /// On the wire: when its last bit leaves, whether it is damaged.
    sending: Option<(Time, bool, P)>,
    delay: Time,
    pipe: Lane<(P, bool)>,
}

impl<P> Staged<P> {
    /// A link by `spec`, its errors drawn from the stream `name` under `seed`.
    pub fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        Self {
            limit: spec.queue,
            waiting: VecDeque::new(),
            backlog: Bytes::ZERO,
            wire: Wire::new(spec, seed, name),
            sending: None,
            delay: spec.delay,
            pipe: Lane::default(),
        }
    }

    /// A packet comes at `now`, for the link a packet of this `shape`.
    pub fn offer(&mut self, now: Time, packet: P, shape: impl Into<IpPacket>) -> Offer<P> {
        let shape = shape.into();
        self.advance(|done| done < now);
        if self.sending.is_none() {
            self.send(now, false, packet, shape);
            return Offer::Taken;
        }
        let bytes = Bytes::new(u64::from(self.wire.bytes(shape)));
        if !self.limit.holds(self.waiting.len() + 1, self.backlog + bytes) {
            return Offer::Refused(packet);
        }
        self.backlog += bytes;
        self.waiting.push_back((packet, shape));
        Offer::Taken
    }

    /// The next packet to reach the far end at or before `now`.
    pub fn poll(&mut self, now: Time) -> Option<Delivery<P>> {
        self.advance(|done| done <= now);
        let (at, (packet, damaged)) = self.pipe.pop_due(now)?;
        Some(Delivery { at, packet, damaged })
    }

    /// When the next thing happens by itself: a departure or an arrival.
    pub fn next_event(&self) -> Time {
        let departure = self.sending.as_ref().map_or(Time::NEVER, |(done, ..)| *done);
        departure.min(self.pipe.next_arrival())
    }

    /// Packets between the two ends.
    pub fn held(&self) -> usize {
        self.waiting.len() + usize::from(self.sending.is_some()) + self.pipe.len()
    }

    /// Move every packet whose last bit has left from the wire into the pipe.
    fn advance(&mut self, has_left: impl Fn(Time) -> bool) {
        while let Some((done, damaged, packet)) = self.sending.take_if(|(done, ..)| has_left(*done))
        {
            self.pipe.push(done + self.delay, (packet, damaged));
            if let Some((next, shape)) = self.waiting.pop_front() {
                self.backlog = self.backlog - Bytes::new(u64::from(self.wire.bytes(shape)));
                // At `done`, not at `now`: late polling loses no time.
                self.send(done, true, next, shape);
            }
        }
    }

    fn send(&mut self, start: Time, back_to_back: bool, packet: P, shape: IpPacket) {
        let (done, damaged) = self.wire.send(start, back_to_back, shape);
        self.sending = Some((done, damaged, packet));
    }
}
