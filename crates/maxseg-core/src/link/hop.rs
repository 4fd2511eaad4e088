//! The computing form: what becomes of a packet is known when it comes.

use super::handover::Handover;
use super::impairments::{Admission, Impairments};
use super::queue::{ByteQueue, PendingDeparture, QueueState, SlotQueue};
use super::streams::Streams;
use super::wire::Wire;
use super::{Counters, Fate};
use crate::framing::IpPacket;
use crate::path::{LinkSpec, QueueLimit};
use crate::units::Time;

/// One direction of a hop. Holds no packets.
///
/// `CoDel` it does not know: that is decided when a packet leaves
/// ([`LinkSpec::is_foreseeable`]).
#[derive(Debug, Clone)]
pub struct Hop {
    wire: Wire,
    delay: Time,
    /// The waiting room of a plain link.
    slots: SlotQueue,
    /// What a plain link has not.
    impaired: Option<Box<ImpairedLink>>,
    /// When the last bit of the last admitted packet leaves.
    free_at: Time,
    /// When whoever asks for the counters will ask.
    horizon: Time,
    counters: Counters,
}

/// A link that needs more than [`SlotQueue`].
#[derive(Debug, Clone)]
struct ImpairedLink {
    impairments: Impairments,
    room: ByteQueue,
}

impl ImpairedLink {
    fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        let impairments = Impairments::new(spec, seed, name);
        let room = ByteQueue::new(spec.queue, impairments.leaves_first);
        Self { impairments, room }
    }
}

impl Hop {
    /// A link by `spec`, its errors drawn from the stream `name` under `seed`.
    pub fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        let (slots, is_plain) = match spec.queue {
            QueueLimit::Packets(limit) if !Impairments::is_needed(spec) => {
                (SlotQueue::new(limit), true)
            }
            QueueLimit::Packets(_) | QueueLimit::Bytes(_) => (SlotQueue::new(0), false),
        };
        Self {
            wire: Wire::new(spec, seed, name),
            delay: spec.delay,
            slots,
            impaired: (!is_plain).then(|| Box::new(ImpairedLink::new(spec, seed, name))),
            free_at: Time::ZERO,
            horizon: Time::NEVER,
            counters: Counters::default(),
        }
    }

    /// The same, for a run that ends at `horizon` at the latest.
    #[must_use]
    pub fn until(self, horizon: Time) -> Self {
        Self { horizon, ..self }
    }

    /// The hop that another form's or another link's leaves its packets to at `now`: by `spec`.
    pub(super) fn taking_over(
        from: Handover,
        now: Time,
        spec: &LinkSpec,
        streams: Streams<'_>,
    ) -> Self {
        let mut hop = Self::new(spec, streams.seed, streams.name).until(from.horizon);
        hop.wire = from.wire.respec(spec, now.max(from.free_at), streams);
        match (&mut hop.impaired, spec.queue) {
            (None, QueueLimit::Packets(limit)) => {
                hop.slots = SlotQueue::holding(limit, &from.promised);
            }
            (None, QueueLimit::Bytes(_)) => {} // never plain
            (Some(impaired), limit) => {
                if let Some(impairments) = from.impairments {
                    impaired.impairments = impairments.respec(spec, streams);
                }
                let leaves_first = impaired.impairments.leaves_first;
                impaired.room = ByteQueue::holding(limit, leaves_first, &from.promised);
            }
        }
        hop.free_at = from.free_at;
        hop.counters = from.counters;
        hop
    }

    /// What this link leaves behind at `now`.
    pub(super) fn hand_over(&self, now: Time) -> Handover {
        let mut impaired = self.impaired.clone();
        let promised = match &mut impaired {
            None => self.promised(now),
            Some(link) if self.counters.sent > 0 => link.room.promised(now, self.free_at),
            Some(_) => Vec::new(),
        };
        Handover {
            wire: self.wire.clone(),
            impairments: impaired.map(|link| link.impairments),
            codel: None,
            promised,
            free_at: self.free_at,
            horizon: self.horizon,
            counters: self.counters,
        }
    }

    /// What has not left a plain link: one follows the other, so that its time on the wire tells its length.
    fn promised(&self, now: Time) -> Vec<PendingDeparture> {
        let departures = self.slots.departures(now);
        let mut before = departures.first().copied().unwrap_or_default();
        let promise = |departs: Time| {
            let bytes = self.wire.bytes_in(departs.since(before));
            before = departs;
            PendingDeparture { departs, bytes }
        };
        departures.into_iter().map(promise).collect()
    }

    /// The link that it is.
    pub(super) fn spec(&self) -> &LinkSpec {
        self.wire.spec()
    }

    /// A packet comes at `now`; packets come in order of time.
    ///
    /// The caller must not pass packets above the link's MTU: they are sent as all others are. A [`Route`](super::Route) cuts them, or tells
    /// [`Fate::TooBig`].
    pub fn admit(&mut self, now: Time, packet: impl Into<IpPacket>) -> Fate {
        self.admit_any(now, packet, false)
    }

    /// Whether packets do no more than wait, and be sent, and be damaged.
    pub(super) fn is_plain(&self) -> bool {
        self.impaired.is_none()
    }

    /// The same on a plain link: when the packet arrives, or how it is lost.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Time, packet: IpPacket) -> Result<Time, Fate> {
        debug_assert!(self.is_plain(), "a link does what it has been given");
        let Some(slot) = self.slots.free_at(now) else {
            self.counters.refused += 1;
            return Err(Fate::Refused(now));
        };
        // At the same instant an arrival goes before a departure: who leaves now still stands here. Before all
        // others one at the beginning of time waits for nobody, and for no time.
        let mut start = now;
        if self.free_at >= now {
            start = self.free_at;
            self.counters.add_wait(start.min(self.horizon).since(now));
        } else {
            self.wire.on_idle();
        }
        let departs = self.wire.send(start, packet);
        *slot = departs.as_nanos() + 1;
        self.free_at = departs;
        self.counters.sent += 1;
        self.counters.busy += departs - start;
        let arrives = departs + self.delay;
        if self.wire.damages(packet, start) {
            self.counters.damaged += 1;
            return Err(Fate::Damaged(arrives));
        }
        Ok(arrives)
    }

    /// The same for any link, and for a packet that knows ECN (`ect`) or not.
    pub fn admit_any(&mut self, now: Time, packet: impl Into<IpPacket>, ect: bool) -> Fate {
        let packet = packet.into();
        let Some(mut impaired) = self.impaired.take() else {
            return self.pass(now, packet).map_or_else(|lost| lost, Fate::Arrives);
        };
        let fate = self.admit_impaired(&mut impaired, now, packet, ect);
        self.impaired = Some(impaired);
        fate
    }

    fn admit_impaired(
        &mut self,
        ImpairedLink { impairments, room }: &mut ImpairedLink,
        now: Time,
        packet: IpPacket,
        ect: bool,
    ) -> Fate {
        let here = if impairments.leaves_first { self.free_at > now } else { self.free_at >= now };
        let waits = here && self.counters.sent > 0;
        let wire_bytes = self.wire.bytes(packet);
        let (packets, bytes) = room.occupancy(now);
        let queue = QueueState { packets, bytes, idle_since: (!waits).then_some(self.free_at) };
        let entry = impairments.admission.judge(now, wire_bytes, ect, queue);
        if self.counters.refuse(entry) {
            return Fate::Refused(now);
        }
        let start = now.max(self.free_at);
        if waits {
            if !room.holds(wire_bytes) {
                self.counters.refused += 1;
                return Fate::Refused(now);
            }
            room.enter(start, wire_bytes);
        }
        let sent = self.wire.send_any(start, waits, packet);
        self.free_at = sent.departs;
        self.counters.take(&sent, start.min(self.horizon).since(now));
        let arrives = impairments.propagation.arrives(sent.departs, sent.late);
        if sent.damaged {
            Fate::Damaged(arrives)
        } else if entry == Admission::Marked {
            self.counters.marked += 1;
            Fate::Marked(arrives)
        } else {
            Fate::Arrives(arrives)
        }
    }

    /// Whether the next packet to enter does so twice, the copy right behind.
    pub fn is_duplicated(&mut self) -> bool {
        let twice = self.impaired.as_mut().is_some_and(|link| link.impairments.is_duplicated());
        self.counters.doubled += u64::from(twice);
        twice
    }

    /// What this link did.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// From the last bit's departure to its arrival.
    pub(super) fn delay(&self) -> Time {
        self.delay
    }

    /// Time on the wire up to `now`, of what was admitted so far.
    pub fn busy_until(&self, now: Time) -> Time {
        self.counters.busy.since(self.free_at.since(now))
    }

    /// What this link did up to `now`, and how many packets wait: they have been counted as if they had left.
    pub fn counters_at(&self, now: Time) -> (Counters, u64) {
        let to_come = match &self.impaired {
            None => self.slots.starts_after(now),
            Some(link) => link.room.starts_after(now),
        };
        let waiting = to_come.len() as u64;
        // The horizon has cut the waits already.
        let left = to_come.iter().map(|start| start.min(&self.horizon).since(now));
        let left = left.fold(Time::ZERO, Time::saturating_add);
        let counters = Counters {
            sent: self.counters.sent - waiting,
            busy: self.busy_until(now),
            waited: self.counters.waited.since(left),
            ..self.counters
        };
        (counters, waiting)
    }

    /// How long a packet that came at `now` would wait for the wire.
    pub fn backlog(&self, now: Time) -> Time {
        self.free_at.since(now)
    }
}
