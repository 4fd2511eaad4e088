//! Path-MTU black holes: full segments lost without ICMP may be too large for a hop (RFC 2923 §2.1, RFC 4821 §7.7).

use super::{Bytes, CongestionControl, Sender};
use crate::mss::black_hole::{BASE, SUSPICIOUS, smaller};

/// Detects a black hole as Linux does with `tcp_mtu_probing = 1`: after three consecutive timeouts the segment size
/// is reduced to the base size, and halved at each further timeout.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlackHoleDetector {
    in_a_row: u32,
    at: u64,
}

impl Sender {
    /// Called when the timer expired for the first unacknowledged segment.
    pub(super) fn suspect_black_hole(&mut self) {
        let una = self.una;
        let established = self.established;
        let Some(hole) = self.black_hole.as_mut().filter(|_| established) else { return };
        if hole.at != una {
            *hole = BlackHoleDetector { in_a_row: 0, at: una };
        }
        hole.in_a_row += 1;
        if hole.in_a_row < SUSPICIOUS || self.max - una < self.mss.min(BASE) {
            return;
        }
        if let Some(smaller) = smaller(self.mss) {
            self.mss = smaller;
            self.cc.on_mss(Bytes::new(smaller));
        }
    }
}
