//! The holding form: packets move from queue to wire as time passes.

use std::collections::VecDeque;

use super::codel::{self, Codel};
use super::handover::Handover;
use super::impairments::{Admission, Impairments};
use super::queue::{ByteQueue, PendingDeparture, QueueState};
use super::streams::Streams;
use super::wire::Wire;
use super::{Counters, Fate};
use crate::framing::IpPacket;
use crate::path::{Discipline, LinkSpec, QueueLimit};
use crate::units::{Bytes, Time};

/// Whether a packet found a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Offer<P> {
    /// It waits or is on the wire.
    Taken,
    /// The queue was full, or policer or discipline dropped it: here it is again.
    Refused(P),
}

/// A packet whose fate is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidedPacket<P> {
    /// The packet.
    pub packet: P,
    /// What becomes of it: it will arrive at the far end then, whole, marked or damaged, or it was dropped
    /// when it should have left the queue.
    pub fate: Fate,
}

/// One direction of a hop that holds its packets until they have left.
///
/// Offer what arrives at an instant before polling for it: an arrival goes before a departure.
#[derive(Debug, Clone)]
pub struct Staged<P> {
    limit: QueueLimit,
    waiting: VecDeque<Waiting<P>>,
    backlog: u64,
    wire: Wire,
    impairments: Impairments,
    codel: Option<Codel>,
    ecn: bool,
    /// On the wire: when its last bit leaves, and what becomes of it then; nothing is told of what another link
    /// put there, before it became this one.
    sending: Option<(Time, Option<DecidedPacket<P>>)>,
    /// What waits from before the link became this one.
    earlier: Option<Box<ByteQueue>>,
    /// Since when nothing is sent, if nothing is.
    idle_since: Time,
    decided: VecDeque<DecidedPacket<P>>,
    counters: Counters,
}

#[derive(Debug, Clone)]
struct Waiting<P> {
    packet: P,
    shape: IpPacket,
    since: Time,
    ect: bool,
    marked: bool,
}

impl<P> Staged<P> {
    /// A link by `spec`, its random numbers drawn from streams of `name` under `seed`.
    pub fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        let largest = spec.wire_bytes(spec.mtu.bytes()).get();
        Self {
            limit: spec.queue,
            waiting: VecDeque::new(),
            backlog: 0,
            wire: Wire::new(spec, seed, name),
            impairments: Impairments::new(spec, seed, name),
            codel: match spec.discipline {
                Discipline::Codel(settings) => Some(Codel::new(settings, largest)),
                Discipline::TailDrop | Discipline::Red(_) => None,
            },
            ecn: spec.ecn,
            sending: None,
            earlier: None,
            idle_since: Time::ZERO,
            decided: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// The link that another leaves its packets to at `now`: by `spec`.
    pub(super) fn taking_over(
        from: Handover,
        now: Time,
        spec: &LinkSpec,
        streams: Streams<'_>,
    ) -> Self {
        let mut link = Self::new(spec, streams.seed, streams.name);
        link.wire = from.wire.respec(spec, now.max(from.free_at), streams);
        if let Some(impairments) = from.impairments {
            link.impairments = impairments.respec(spec, streams);
        }
        if let (Some(codel), Discipline::Codel(settings)) = (from.codel, spec.discipline) {
            link.codel = Some(codel.respec(settings, spec.wire_bytes(spec.mtu.bytes()).get()));
        }
        if let Some(last) = from.promised.last() {
            let leaves_first = link.impairments.leaves_first;
            let earlier = ByteQueue::holding(spec.queue, leaves_first, &from.promised);
            link.sending = Some((last.departs, None));
            link.earlier = Some(Box::new(earlier));
        }
        link.idle_since = from.free_at;
        link.counters = from.counters;
        link
    }

    /// What this link leaves behind: what becomes of every packet in it is decided now, as if no other came,
    /// and is there to be polled.
    pub(super) fn hand_over(&mut self, now: Time) -> Handover {
        self.advance_before_arrival(now);
        self.earlier(now);
        let mut promised = match (&self.sending, &mut self.earlier) {
            (Some((done, _)), Some(earlier)) => earlier.promised(now, *done),
            (Some((done, _)), None) => vec![PendingDeparture { departs: *done, bytes: 0 }],
            (None, _) => Vec::new(),
        };
        while let Some((done, delivery)) = self.sending.take() {
            self.decided.extend(delivery);
            self.idle_since = done;
            let Some(next) = self.next_to_send(done) else { break };
            let bytes = u64::from(self.wire.bytes(next.shape));
            self.send(done, true, next);
            if let Some((departs, _)) = &self.sending {
                promised.push(PendingDeparture { departs: *departs, bytes });
            }
        }
        Handover {
            wire: self.wire.clone(),
            impairments: Some(self.impairments.clone()),
            codel: self.codel.clone(),
            promised,
            free_at: self.idle_since,
            horizon: Time::NEVER,
            counters: self.counters,
        }
    }

    /// The link that it is.
    pub(super) fn spec(&self) -> &LinkSpec {
        self.wire.spec()
    }

    /// Packets and bytes that wait from before the link became this one.
    fn earlier(&mut self, now: Time) -> (usize, u64) {
        let Some(room) = &mut self.earlier else { return (0, 0) };
        let there = room.occupancy(now);
        if there.0 == 0 {
            self.earlier = None;
        }
        there
    }

    /// A packet comes at `now`, for the link a packet of this `shape`, one that knows ECN (`ect`) or not.
    pub fn offer(
        &mut self,
        now: Time,
        packet: P,
        shape: impl Into<IpPacket>,
        ect: bool,
    ) -> Offer<P> {
        let shape = shape.into();
        self.advance_before_arrival(now);
        let bytes = self.wire.bytes(shape);
        let idle = self.sending.is_none();
        let (earlier, earlier_bytes) = self.earlier(now);
        let queue = QueueState {
            packets: self.waiting.len() + earlier,
            bytes: self.backlog + earlier_bytes,
            idle_since: idle.then_some(self.idle_since),
        };
        let entry = self.impairments.admission.judge(now, bytes, ect, queue);
        if self.counters.refuse(entry) {
            return Offer::Refused(packet);
        }
        let marked = entry == Admission::Marked;
        let newcomer = Waiting { packet, shape, since: now, ect, marked };
        if idle {
            self.send(now, false, newcomer);
            return Offer::Taken;
        }
        let backlog = self.backlog + u64::from(bytes);
        let (packets, all) = (queue.packets + 1, Bytes::new(backlog + earlier_bytes));
        if !self.limit.holds(packets, all) {
            self.counters.refused += 1;
            return Offer::Refused(newcomer.packet);
        }
        self.backlog = backlog;
        self.waiting.push_back(newcomer);
        Offer::Taken
    }

    /// Whether the next packet to enter does so twice, the copy right behind.
    pub fn is_duplicated(&mut self) -> bool {
        let twice = self.impairments.is_duplicated();
        self.counters.doubled += u64::from(twice);
        twice
    }

    /// The next packet whose fate was decided at or before `now`: its last bit has left, or it was
    /// dropped. They come in the order of the queue.
    pub fn poll(&mut self, now: Time) -> Option<DecidedPacket<P>> {
        self.advance(|done| done <= now);
        self.decided.pop_front()
    }

    /// When a packet's fate is decided next.
    pub fn next_event(&self) -> Time {
        match (self.decided.is_empty(), &self.sending) {
            (false, _) => Time::ZERO,
            (true, Some((done, _))) => *done,
            (true, None) => Time::NEVER,
        }
    }

    /// Packets that wait, are on the wire, or have not been polled.
    pub fn held(&self) -> usize {
        let sending = self.sending.as_ref().is_some_and(|(_, delivery)| delivery.is_some());
        self.waiting.len() + usize::from(sending) + self.decided.len()
    }

    /// What this link did.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Time on the wire up to `now`.
    pub fn busy_until(&self, now: Time) -> Time {
        let left = self.sending.as_ref().map_or(Time::ZERO, |(done, _)| done.since(now));
        self.counters.busy.since(left)
    }

    /// What this link did up to `now`, and how many packets wait.
    pub fn counters_at(&self, now: Time) -> (Counters, u64) {
        let so_far = self.waiting.iter().map(|packet| now.since(packet.since));
        let mut counters = Counters { busy: self.busy_until(now), ..self.counters };
        so_far.for_each(|waited| counters.add_wait(waited));
        (counters, self.waiting.len() as u64)
    }

    /// How long a packet that came at `now` would wait for the wire, if none before it is dropped.
    pub fn backlog(&self, now: Time) -> Time {
        let left = self.sending.as_ref().map_or(Time::ZERO, |(done, _)| done.since(now));
        left.saturating_add(self.wire.time_for(self.backlog))
    }

    /// Whoever is gone when a packet comes at `now`.
    fn advance_before_arrival(&mut self, now: Time) {
        if self.impairments.leaves_first {
            self.advance(|done| done <= now);
        } else {
            self.advance(|done| done < now);
        }
    }

    /// Take every packet off the wire whose last bit has left, and put the next on it.
    fn advance(&mut self, has_left: impl Fn(Time) -> bool) {
        while let Some((done, delivery)) = self.sending.take_if(|(done, _)| has_left(*done)) {
            self.decided.extend(delivery);
            self.idle_since = done;
            // At `done`, not at `now`: late polling loses no time.
            if let Some(next) = self.next_to_send(done) {
                self.send(done, true, next);
            }
        }
    }

    /// The next in the queue that its discipline lets go.
    fn next_to_send(&mut self, now: Time) -> Option<Waiting<P>> {
        while let Some(mut head) = self.waiting.pop_front() {
            self.backlog -= u64::from(self.wire.bytes(head.shape));
            let Some(codel) = &mut self.codel else {
                return Some(head);
            };
            match codel.judge(now, now.since(head.since), self.backlog, self.ecn && head.ect) {
                codel::Decision::Send => return Some(head),
                codel::Decision::Mark => {
                    head.marked = true;
                    return Some(head);
                }
                codel::Decision::Drop => {
                    self.counters.early += 1;
                    let fate = Fate::Refused(now);
                    self.decided.push_back(DecidedPacket { packet: head.packet, fate });
                }
            }
        }
        if let Some(codel) = &mut self.codel {
            codel.on_empty();
        }
        None
    }

    fn send(&mut self, start: Time, back_to_back: bool, next: Waiting<P>) {
        let sent = self.wire.send_any(start, back_to_back, next.shape);
        self.counters.take(&sent, start.since(next.since));
        let arrives = self.impairments.propagation.arrives(sent.departs, sent.late);
        let fate = if sent.damaged {
            Fate::Damaged(arrives)
        } else if next.marked {
            self.counters.marked += 1;
            Fate::Marked(arrives)
        } else {
            Fate::Arrives(arrives)
        };
        self.sending = Some((sent.departs, Some(DecidedPacket { packet: next.packet, fate })));
    }
}
