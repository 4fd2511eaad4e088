//! The computing form: what becomes of a packet is known when it comes.

use std::collections::VecDeque;

use super::wire::Wire;
use crate::framing::IpPacket;
use crate::path::{LinkSpec, QueueLimit};
use crate::units::Time;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the far end whole, then.
    Arrives(Time),
    /// It reaches the far end damaged, then, and vanishes.
    Damaged(Time),
    /// It found the queue full, then, and never went on the wire.
    Refused(Time),
}

/// What one link did, as far as it was decided: of a packet that waits beyond the link's horizon only
/// the time before it counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that went, or will go, on the wire.
    pub sent: u64,
    /// Those of them that were damaged.
    pub damaged: u64,
    /// Packets that found the queue full.
    pub refused: u64,
    /// Time on the wire, all packets together.
    pub busy: Time,
    /// Time in the queue, all packets together.
    pub waited: Time,
}

/// One direction of a hop. Holds no packets.
#[derive(Debug, Clone)]
pub struct Hop {
    room: Room,
    wire: Wire,
    delay: Time,
    /// When the last bit of the last admitted packet leaves.
    free_at: Time,
    /// When whoever asks for the counters will ask.
    horizon: Time,
    counters: Counters,
}

impl Hop {
    /// A link by `spec`, its errors drawn from the stream `name` under `seed`.
    pub fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        Self {
            room: Room::new(spec.queue),
            wire: Wire::new(spec, seed, name),
            delay: spec.delay,
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

    /// A packet comes at `now`; packets come in order of time.
    #[inline]
    pub fn admit(&mut self, now: Time, packet: impl Into<IpPacket>) -> Fate {
        let packet = packet.into();
        // At the same instant an arrival goes before a departure: who leaves now still stands here.
        let waits = self.free_at >= now && self.counters.sent > 0;
        if !self.room.has_place(now, waits, packet, &mut self.wire) {
            self.counters.refused += 1;
            return Fate::Refused(now);
        }
        let start = now.max(self.free_at);
        let (departs, damaged) = self.wire.send(start, waits, packet);
        self.room.enter(waits, start, departs);
        self.free_at = departs;
        self.counters.sent += 1;
        self.counters.busy += departs - start;
        self.counters.waited += start.min(self.horizon).since(now);
        let arrives = departs + self.delay;
        if damaged {
            self.counters.damaged += 1;
            Fate::Damaged(arrives)
        } else {
            Fate::Arrives(arrives)
        }
    }

    /// What this link did.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Time on the wire up to `now`, of what was admitted so far.
    pub fn busy_until(&self, now: Time) -> Time {
        self.counters.busy.since(self.free_at.since(now))
    }

    /// How long a packet that came at `now` would wait for the wire.
    pub fn backlog(&self, now: Time) -> Time {
        self.free_at.since(now)
    }
}

/// The waiting room, as far as it must be known to refuse a newcomer.
#[derive(Debug, Clone)]
enum Room {
    /// For each of the last `limit + 1` packets the first instant when it is gone from the wire; the
    /// oldest of them decides.
    Packets { gone: Box<[u64]>, oldest: usize },
    /// Those that wait: when each goes on the wire, and its bytes.
    Bytes { limit: u64, waiting: VecDeque<(Time, u64)>, backlog: u64, newcomer: u64 },
}

impl Room {
    fn new(limit: QueueLimit) -> Self {
        match limit {
            // Zeroed memory is mapped when touched: a limit far above the traffic costs nothing.
            QueueLimit::Packets(n) => {
                Self::Packets { gone: vec![0; n as usize + 1].into_boxed_slice(), oldest: 0 }
            }
            QueueLimit::Bytes(bytes) => Self::Bytes {
                limit: bytes.get(),
                waiting: VecDeque::new(),
                backlog: 0,
                newcomer: 0,
            },
        }
    }

    #[inline]
    fn has_place(&mut self, now: Time, waits: bool, packet: IpPacket, wire: &mut Wire) -> bool {
        match self {
            Self::Packets { gone, oldest } => gone[*oldest] <= now.as_nanos(),
            Self::Bytes { limit, waiting, backlog, newcomer } => {
                while let Some((start, bytes)) = waiting.front()
                    && *start < now
                {
                    *backlog -= bytes;
                    waiting.pop_front();
                }
                *newcomer = u64::from(wire.bytes(packet));
                !waits || *backlog + *newcomer <= *limit
            }
        }
    }

    #[inline]
    fn enter(&mut self, waits: bool, start: Time, departs: Time) {
        match self {
            Self::Packets { gone, oldest } => {
                gone[*oldest] = departs.as_nanos() + 1;
                *oldest = if *oldest + 1 == gone.len() { 0 } else { *oldest + 1 };
            }
            Self::Bytes { waiting, backlog, newcomer, .. } => {
                if waits {
                    waiting.push_back((start, *newcomer));
                    *backlog += *newcomer;
                }
            }
        }
    }
}

/// One direction of a path: hops in the order in which a packet meets them.
///
/// The whole way is computed when a packet is sent. That is exact because every hop is a FIFO and all
/// traffic of the direction enters at its first hop.
#[derive(Debug, Clone)]
pub struct Route {
    hops: Vec<Hop>,
}

impl Route {
    /// A route over these hops.
    pub fn new(hops: Vec<Hop>) -> Self {
        Self { hops }
    }

    /// A packet enters the first hop at `now`.
    #[inline]
    pub fn admit(&mut self, now: Time, packet: impl Into<IpPacket>) -> Fate {
        self.admit_seen(now, packet.into(), |_, _, _| ())
    }

    /// The same, telling of each hop that the packet comes to which it is, when, and what becomes of
    /// the packet there.
    #[inline]
    pub fn admit_seen(
        &mut self,
        now: Time,
        packet: IpPacket,
        mut seen: impl FnMut(usize, Time, Fate),
    ) -> Fate {
        let mut at = now;
        for (index, hop) in self.hops.iter_mut().enumerate() {
            let fate = hop.admit(at, packet);
            seen(index, at, fate);
            match fate {
                Fate::Arrives(then) => at = then,
                lost @ (Fate::Damaged(_) | Fate::Refused(_)) => return lost,
            }
        }
        Fate::Arrives(at)
    }

    /// The hops in order.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// Mean time that a packet spends in the queues of this route.
    pub fn mean_wait(&self) -> Time {
        let per_hop = self
            .hops
            .iter()
            .filter(|hop| hop.counters.sent > 0)
            .map(|hop| hop.counters.waited.as_nanos() / hop.counters.sent);
        Time::from_nanos(per_hop.sum())
    }

    /// How long a packet that entered at `now` would wait in the longest queue on its way.
    pub fn backlog(&self, now: Time) -> Time {
        let (mut at, mut longest) = (now, Time::ZERO);
        for hop in &self.hops {
            let wait = hop.backlog(at);
            longest = longest.max(wait);
            at = at.saturating_add(wait).saturating_add(hop.delay);
        }
        longest
    }
}
