//! Full segments that vanish without a word may be too large for a hop that does not say so
//! (RFC 2923 §2.1, RFC 4821 §7.7).

use super::{Bytes, CongestionControl, Sender};

/// Watches for timeouts in a row. As Linux does with `tcp_mtu_probing = 1` (`tcp_mtu_probing` in
/// `net/ipv4/tcp_timer.c`): after `tcp_retries1` of them the segment size falls to `tcp_base_mss`, and
/// to half of what it is with each one more.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlackHole {
    in_a_row: u32,
    at: u64,
}

/// Linux's `tcp_retries1`.
const SUSPICIOUS: u32 = 3;
/// Linux's `tcp_base_mss`.
const BASE: u64 = 1024;
/// Linux's `tcp_mtu_probe_floor`.
const FLOOR: u64 = 48;

impl Sender {
    /// The timer expired for what is at the front.
    pub(super) fn suspect_black_hole(&mut self) {
        let una = self.una;
        let established = self.established;
        let Some(hole) = self.black_hole.as_mut().filter(|_| established) else { return };
        if hole.at != una {
            *hole = BlackHole { in_a_row: 0, at: una };
        }
        hole.in_a_row += 1;
        if hole.in_a_row < SUSPICIOUS || self.max - una < self.mss.min(BASE) {
            return;
        }
        let smaller = if self.mss > BASE { BASE } else { (self.mss / 2).max(FLOOR) };
        if smaller < self.mss {
            self.mss = smaller;
            self.cc.on_mss(Bytes::new(smaller));
        }
    }
}
