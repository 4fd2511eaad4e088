//! Path-MTU black holes: full segments lost without ICMP may be too large for a hop (RFC 2923 §2.1, RFC 4821 §7.7).

use super::{Bytes, CongestionControl, Sender};
use crate::mss::black_hole::{BASE, MtuSearch, SUSPICIOUS, Search};
use crate::units::Mss;

/// Reduces the segment size to sizes that Linux takes with `tcp_mtu_probing = 1`, at the third timeout in a row and each further one.
/// Linux goes by the time instead ([`timeouts_of_linux`](crate::mss::black_hole::timeouts_of_linux)).
#[derive(Debug, Clone, Copy)]
pub(super) struct BlackHoleDetector {
    in_a_row: u32,
    at: u64,
    search: Search,
}

impl BlackHoleDetector {
    /// `clamp`: see [`Search::new`].
    pub(super) fn new(clamp: Mss) -> Self {
        Self { in_a_row: 0, at: 0, search: Search::new(MtuSearch::default(), clamp) }
    }
}

impl Sender {
    /// Called when the timer expired for the first unacknowledged segment.
    pub(super) fn suspect_black_hole(&mut self) {
        let una = self.una;
        let established = self.established;
        let Some(hole) = self.black_hole.as_mut().filter(|_| established) else { return };
        if hole.at != una {
            (hole.in_a_row, hole.at) = (0, una);
        }
        hole.in_a_row += 1;
        if hole.in_a_row < SUSPICIOUS || self.max - una < self.mss.min(BASE) {
            return;
        }
        if let Some(largest) = hole.search.on_suspicion().filter(|largest| *largest < self.mss) {
            self.mss = largest;
            self.cc.on_mss(Bytes::new(largest));
        }
    }
}
