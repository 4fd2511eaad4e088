//! How long an end waits for an answer.

use maxseg_core::evidence::Outage;
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

/// Segments of an end that call for an answer, since the last packet of the other end.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Unanswered {
    /// When the other end's last packet passed; 0 before.
    pub(super) since: u64,
    /// When the last of them passed.
    pub(super) last: u64,
    pub(super) retransmissions: u32,
    pub(super) probes: u32,
    /// When the first payload was sent since everything before was acknowledged.
    asked: u64,
    /// The longest time that ended with an answer: nothing of the other end, and retransmissions.
    pub(super) longest: Option<Outage>,
}

impl Unanswered {
    /// A packet of the other end passes.
    #[inline]
    pub(super) fn on_answer(&mut self, at: u64) {
        if self.retransmissions > 0 {
            self.on_outage(at);
        }
        *self = Self { since: at, asked: self.asked, longest: self.longest, ..Self::default() };
    }

    /// An answer at last.
    #[cold]
    fn on_outage(&mut self, at: u64) {
        let from = self.since.max(self.asked);
        if self.asked == 0 {
            return; // a SYN
        }
        let outage = Outage {
            from: Time::from_nanos(from),
            to: Time::from_nanos(at),
            retransmissions: self.retransmissions,
            of_payload: false,
        };
        if self.longest.is_none_or(|longest| longest.seconds() < outage.seconds()) {
            self.longest = Some(outage);
        }
    }

    /// New payload is sent; `is_alone` where nothing else is outstanding.
    #[inline]
    pub(super) const fn on_payload(&mut self, at: u64, is_alone: bool) {
        if is_alone {
            self.asked = at;
        }
    }

    /// A segment is retransmitted; `is_first` where it is the first that is not acknowledged: one for each timeout.
    pub(super) fn on_retransmission(&mut self, at: u64, is_first: bool) {
        self.retransmissions += u32::from(is_first);
        self.last = at;
    }

    /// A hole in the capture: whether it was answered is not known.
    pub(super) fn pass_hole(&mut self) {
        *self = Self { longest: self.longest, ..Self::default() };
    }

    pub(super) fn on_probe(&mut self, at: u64) {
        self.probes += 1;
        self.last = at;
    }
}
