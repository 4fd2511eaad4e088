//! Queues of the computing form: as much of their state as it takes to refuse a packet.

use std::collections::VecDeque;

use crate::path::QueueLimit;
use crate::units::{Bytes, Time};

/// A packet that will leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingDeparture {
    /// When its last bit does.
    pub(super) departs: Time,
    /// Its bytes on the wire.
    pub(super) bytes: u64,
}

/// A queue as an arriving packet finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueState {
    /// Packets that wait.
    pub(super) packets: usize,
    /// Their bytes on the wire.
    pub(super) bytes: u64,
    /// Since when nothing waits and nothing is sent, if so.
    pub(super) idle_since: Option<Time>,
}

/// A queue limited in packets: of each of the last `limit + 1`, the first instant when it is gone from
/// the wire, in nanoseconds. The oldest of them decides whether the next packet is admitted.
#[derive(Debug, Clone)]
pub(super) struct SlotQueue {
    gone: Box<[u64]>,
    oldest: usize,
}

impl SlotQueue {
    pub(super) fn new(limit: u32) -> Self {
        // Zeroed memory is mapped when touched: a limit far above the traffic costs nothing.
        Self { gone: vec![0; limit as usize + 1].into_boxed_slice(), oldest: 0 }
    }

    /// The same with these packets in the system.
    pub(super) fn holding(limit: u32, promised: &[PendingDeparture]) -> Self {
        let mut slots = Self::new(limit);
        let newest_first = promised.iter().rev();
        for (slot, packet) in slots.gone.iter_mut().zip(newest_first) {
            *slot = packet.departs.as_nanos() + 1;
        }
        slots.oldest = slots.gone.len() - 1;
        slots
    }

    /// When each packet leaves that has not left before `now`, in order.
    pub(super) fn departures(&self, now: Time) -> Vec<Time> {
        let (older, newer) = self.gone.split_at(self.oldest + 1);
        let newest_first = newer.iter().chain(older);
        let here = newest_first.take_while(|gone| **gone > now.as_nanos());
        let mut departures: Vec<Time> = here.map(|gone| Time::from_nanos(gone - 1)).collect();
        departures.reverse();
        departures
    }

    /// When each packet goes on the wire that has not by `now`: when the one before it leaves.
    pub(super) fn starts_after(&self, now: Time) -> Vec<Time> {
        let mut departures = self.departures(now);
        departures.pop();
        departures.retain(|start| *start > now);
        departures
    }

    /// The place that a packet coming at `now` would take, if there is one: what stands there is over.
    #[inline(always)]
    pub(super) fn free_at(&mut self, now: Time) -> Option<&mut u64> {
        let last = self.gone.len() - 1;
        let slot = &mut self.gone[self.oldest];
        if *slot > now.as_nanos() {
            return None;
        }
        self.oldest = self.oldest.checked_sub(1).unwrap_or(last);
        Some(slot)
    }
}

/// A queue that counts its packets and bytes.
#[derive(Debug, Clone)]
pub(super) struct ByteQueue {
    limit: QueueLimit,
    /// When each packet that waits goes on the wire, and its bytes.
    waiting: VecDeque<(Time, u64)>,
    backlog: u64,
    /// Whether a packet that goes on the wire at the instant of an arrival has left the queue.
    leaves_first: bool,
}

impl ByteQueue {
    pub(super) fn new(limit: QueueLimit, leaves_first: bool) -> Self {
        Self { limit, waiting: VecDeque::new(), backlog: 0, leaves_first }
    }

    /// The same with these packets in the system, of which the first is on the wire.
    pub(super) fn holding(
        limit: QueueLimit,
        leaves_first: bool,
        promised: &[PendingDeparture],
    ) -> Self {
        let mut room = Self::new(limit, leaves_first);
        for pair in promised.windows(2) {
            room.waiting.push_back((pair[0].departs, pair[1].bytes));
            room.backlog += pair[1].bytes;
        }
        room
    }

    /// What waits at `now`, behind what is on the wire then, if the last of all leaves at `free_at`.
    pub(super) fn promised(&mut self, now: Time, free_at: Time) -> Vec<PendingDeparture> {
        self.occupancy(now);
        let is_here = if self.leaves_first { free_at > now } else { free_at >= now };
        if !is_here {
            return Vec::new();
        }
        let starts = self.waiting.iter().map(|(start, _)| *start);
        let departures = starts.chain(std::iter::once(free_at));
        // Who is on the wire takes no room.
        let bytes = std::iter::once(0).chain(self.waiting.iter().map(|(_, bytes)| *bytes));
        departures.zip(bytes).map(|(departs, bytes)| PendingDeparture { departs, bytes }).collect()
    }

    /// When each packet goes on the wire that has not by `now`.
    pub(super) fn starts_after(&self, now: Time) -> Vec<Time> {
        self.waiting.iter().map(|(start, _)| *start).filter(|start| *start > now).collect()
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
