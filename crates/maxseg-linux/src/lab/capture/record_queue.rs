//! The queue between a relay thread and the writer of a capture.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use maxseg_core::units::Time;

/// Captured bytes of a packet: more than its headers, 40 bytes of IPv6 and 60 of TCP at most.
pub(crate) const SNAP_LEN: usize = 128;

/// A packet at one end of a link.
#[derive(Debug, Clone)]
pub(crate) struct PacketRecord {
    /// Its time on the run's clock.
    pub(crate) at: Time,
    /// The end of the link.
    pub(crate) place: LinkEnd,
    /// Why the packet does not leave the link, if so.
    pub(crate) loss: Option<Loss>,
    /// Captured length: the used part of `bytes`.
    pub(crate) kept: u8,
    /// Original length in bytes.
    pub(crate) original_len: u32,
    /// The first bytes of the packet.
    pub(crate) bytes: [u8; SNAP_LEN],
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkEnd {
    /// Where packets enter.
    Entering,
    /// Where packets leave.
    Leaving,
}

/// Why a link lost a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Damaged on the wire.
    Damaged,
    /// Dropped before the wire, by queue, discipline or policer.
    Refused,
    /// Larger than the MTU.
    TooBig,
}

/// Records of one relay thread that the writer has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct RecordQueue {
    records: Mutex<Vec<PacketRecord>>,
    /// Records dropped because the queue was full, of packets entering and of packets leaving.
    dropped: [AtomicU64; 2],
    /// All records before this time, in nanoseconds, are in the queue.
    complete_until: AtomicU64,
}

/// Most records in a queue: about 40 MB.
const CAPACITY: usize = 1 << 18;
/// The thread waits: its next records are later than any time at which the writer reads this.
const IDLE: u64 = u64::MAX;

impl RecordQueue {
    /// Adds a batch as far as there is room, and counts the rest as dropped. Does nothing while the writer holds the lock:
    /// a relay never waits.
    pub(crate) fn post(&self, batch: &mut Vec<PacketRecord>) {
        match self.records.try_lock() {
            Ok(mut records) => self.fill(&mut records, batch),
            Err(_) if batch.len() >= CAPACITY => self.drop_all(batch.drain(..)),
            Err(_) => {}
        }
    }

    /// Adds the last batch.
    pub(crate) fn close(&self, batch: &mut Vec<PacketRecord>) {
        self.fill(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner), batch);
        self.idle();
    }

    fn fill(&self, records: &mut Vec<PacketRecord>, batch: &mut Vec<PacketRecord>) {
        let fit = CAPACITY.saturating_sub(records.len()).min(batch.len());
        records.extend(batch.drain(..fit));
        self.drop_all(batch.drain(..));
    }

    fn drop_all(&self, records: impl Iterator<Item = PacketRecord>) {
        for record in records {
            self.dropped[record.place as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Declares that all records before `at` have been posted.
    pub(crate) fn complete_until(&self, at: Time) {
        self.complete_until.store(at.as_nanos(), Ordering::SeqCst);
    }

    /// Declares that all records have been posted, until [`RecordQueue::awake`].
    pub(crate) fn idle(&self) {
        self.complete_until.store(IDLE, Ordering::SeqCst);
    }

    /// Declares that later records are of `now` or later. An earlier bound, of records not posted yet, stays.
    pub(crate) fn awake(&self, now: Time) {
        self.complete_until.fetch_min(now.as_nanos(), Ordering::SeqCst);
    }

    /// The time before which all records are in the queue; `now` is the writer's time, read before this call.
    pub(super) fn complete_until_now(&self, now: Time) -> Time {
        match self.complete_until.load(Ordering::SeqCst) {
            IDLE => now,
            nanos => Time::from_nanos(nanos),
        }
    }

    /// Swaps the records with the empty `into`, so that its memory is reused.
    pub(super) fn take(&self, into: &mut Vec<PacketRecord>) {
        std::mem::swap(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner), into);
    }

    /// Records dropped at this end of the link.
    pub(super) fn dropped(&self, place: LinkEnd) -> u64 {
        self.dropped[place as usize].load(Ordering::Relaxed)
    }
}
