//! What the flags of ECN tell of marks that were made elsewhere (RFC 3168 §6.1): ECE of the receiver reports one, and the CWR of its
//! sender answers it. A CWR alone tells of no mark: it follows a reduction for a loss as well.

use serde::{Deserialize, Serialize};

use super::Seen;
use crate::tcp::Flags;

/// Congestion experienced: the mark of a router (RFC 3168 §5).
pub(crate) const CE: u8 = 3;

/// Whether an end reports a mark that the other one has not answered yet.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct MarkEcho {
    reports: bool,
    /// Number of the last segment of the other end with CWR.
    answered: Option<u32>,
}

impl MarkEcho {
    /// A segment of this end with ECE. Until a CWR reaches it, it reports the same mark.
    pub(super) fn on_echo(&mut self, seen: &Seen<'_>) {
        let is_behind = |answered: u32| seen.ack.wrapping_sub(answered).wrapping_sub(1) < 1 << 31;
        self.reports |= self.answered.is_none_or(is_behind);
    }

    /// A data segment of the other end with CWR. Gives whether it answers a report.
    pub(super) const fn on_reduced(&mut self, seen: &Seen<'_>) -> bool {
        self.answered = Some(seen.seq);
        std::mem::replace(&mut self.reports, false)
    }
}

/// The flags that carry ECN beside the IP header.
pub(super) const FLAGS: u16 = Flags::ECE.bits() | Flags::CWR.bits();

#[cfg(test)]
mod tests {
    use super::super::made::segment;
    use super::*;

    fn echo(ack: u32) -> Seen<'static> {
        Seen { ack, flags: Flags::ACK | Flags::ECE, ..segment(0) }
    }

    fn reduced(seq: u32) -> Seen<'static> {
        Seen { seq, payload_len: 100, flags: Flags::ACK | Flags::CWR, ..segment(0) }
    }

    #[test]
    fn a_reduction_without_a_report_is_no_mark() {
        assert!(!MarkEcho::default().on_reduced(&reduced(1000)));
    }

    #[test]
    fn a_report_counts_once_however_often_it_is_repeated() {
        let mut marks = MarkEcho::default();
        marks.on_echo(&echo(1000));
        marks.on_echo(&echo(1100));
        assert!(marks.on_reduced(&reduced(2000)));
        // They left before the CWR came.
        marks.on_echo(&echo(1200));
        marks.on_echo(&echo(2000));
        assert!(!marks.on_reduced(&reduced(3000)), "for a loss");
        marks.on_echo(&echo(3100));
        assert!(marks.on_reduced(&reduced(4000)), "another mark");
    }

    #[test]
    fn numbers_wrap() {
        let mut marks = MarkEcho::default();
        assert!(!marks.on_reduced(&reduced(u32::MAX - 50)));
        marks.on_echo(&echo(49));
        assert!(marks.on_reduced(&reduced(500)));
    }
}
