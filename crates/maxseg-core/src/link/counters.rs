//! What a link counts.

use super::impairments::Admission;
use super::wire::Transmission;
use crate::units::Time;

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
    /// Packets that exceeded the policer's rate and were dropped.
    pub policed: u64,
    /// Packets that the queue discipline dropped.
    pub early: u64,
    /// Packets that policer or discipline marked.
    pub marked: u64,
    /// Units (frames, or packets on a link without frames) that were sent again.
    pub repeats: u64,
    /// Packets that entered twice.
    pub doubled: u64,
    /// Time on the wire, all packets together: none of what tokens of a bucket let go at once.
    pub busy: Time,
    /// Time in the queue, all packets together.
    pub waited: Time,
}

impl Counters {
    /// Counts what the entrance says of a packet; gives whether it says no.
    pub(super) fn refuse(&mut self, entry: Admission) -> bool {
        match entry {
            Admission::Pass | Admission::Marked => return false,
            Admission::Policed => self.policed += 1,
            Admission::Early => self.early += 1,
        }
        true
    }

    /// Counts a packet that goes on the wire after having waited.
    pub(super) fn take(&mut self, sent: &Transmission, waited: Time) {
        self.sent += 1;
        self.damaged += u64::from(sent.damaged);
        self.repeats += u64::from(sent.repeats);
        self.busy += sent.busy;
        self.add_wait(waited);
    }

    /// A sum over packets may exceed what a time holds, unlike the time on the wire.
    #[inline(always)]
    pub(super) fn add_wait(&mut self, waited: Time) {
        self.waited = self.waited.saturating_add(waited);
    }
}
