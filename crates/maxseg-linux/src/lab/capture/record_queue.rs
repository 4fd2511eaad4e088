//! Where a relay's thread leaves what it saw.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use maxseg_core::units::Time;

/// Bytes that are kept of a packet: no headers are longer than 40 of IPv6 and 60 of TCP.
pub(crate) const SNAP_LEN: usize = 128;

/// A packet of the wire at one end of a link.
#[derive(Debug, Clone)]
pub(crate) struct PacketRecord {
    /// When, on the run's clock.
    pub(crate) at: Time,
    /// Which end.
    pub(crate) place: LinkEnd,
    /// Why it is seen no further.
    pub(crate) loss: Option<Loss>,
    /// How many of `bytes` there are.
    pub(crate) kept: u8,
    /// How long it was.
    pub(crate) original_len: u32,
    /// Its beginning.
    pub(crate) bytes: [u8; SNAP_LEN],
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkEnd {
    /// Where packets come to it.
    Entering,
    /// Where they leave it.
    Leaving,
}

/// Why a packet goes no further than the beginning of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It is damaged on the wire.
    Damaged,
    /// It does not come on the wire: queue, discipline or policer.
    Refused,
    /// It is larger than the MTU.
    TooBig,
}

/// What one thread of the relay has seen and the writer has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct RecordQueue {
    records: Mutex<Vec<PacketRecord>>,
    /// How many were entering, and leaving, and found no room.
    dropped: [AtomicU64; 2],
    /// Nothing that is recorded before this time, in nanoseconds, is still to come.
    complete_until: AtomicU64,
}

/// Room for so many records: some 40 MB.
const ROOM: usize = 1 << 18;
/// The thread waits: what it will record is later than the writer's look at it.
const IDLE: u64 = u64::MAX;

impl RecordQueue {
    /// Takes a batch, as far as there is room, and counts the rest. Does nothing while the writer looks
    /// inside: a relay waits for nobody.
    pub(crate) fn post(&self, batch: &mut Vec<PacketRecord>) {
        match self.records.try_lock() {
            Ok(mut records) => self.fill(&mut records, batch),
            Err(_) if batch.len() >= ROOM => self.drop_all(batch.drain(..)),
            Err(_) => {}
        }
    }

    /// Takes the last batch.
    pub(crate) fn close(&self, batch: &mut Vec<PacketRecord>) {
        self.fill(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner), batch);
        self.idle();
    }

    fn fill(&self, records: &mut Vec<PacketRecord>, batch: &mut Vec<PacketRecord>) {
        let fit = ROOM.saturating_sub(records.len()).min(batch.len());
        records.extend(batch.drain(..fit));
        self.drop_all(batch.drain(..));
    }

    fn drop_all(&self, records: impl Iterator<Item = PacketRecord>) {
        for record in records {
            self.dropped[record.place as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All that is recorded before `at` has been posted.
    pub(crate) fn complete_until(&self, at: Time) {
        self.complete_until.store(at.as_nanos(), Ordering::SeqCst);
    }

    /// All that is recorded has been posted, and the thread waits until it says [`RecordQueue::awake`].
    pub(crate) fn idle(&self) {
        self.complete_until.store(IDLE, Ordering::SeqCst);
    }

    /// The thread goes on at `now`. If older records are still with it, so they are known to be.
    pub(crate) fn awake(&self, now: Time) {
        self.complete_until.fetch_min(now.as_nanos(), Ordering::SeqCst);
    }

    /// Until when everything is here, for a writer whose clock showed `now` before it asks.
    pub(super) fn is_complete_until(&self, now: Time) -> Time {
        match self.complete_until.load(Ordering::SeqCst) {
            IDLE => now,
            nanos => Time::from_nanos(nanos),
        }
    }

    /// Moves what is here to the empty `into`, whose room it gets.
    pub(super) fn take(&self, into: &mut Vec<PacketRecord>) {
        std::mem::swap(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner), into);
    }

    /// How many found no room at this end.
    pub(super) fn dropped(&self, place: LinkEnd) -> u64 {
        self.dropped[place as usize].load(Ordering::Relaxed)
    }
}
