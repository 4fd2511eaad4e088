//! Reno in segments (`net/ipv4/tcp_cong.c`).

use super::{CongestionControl, Flow, Ticks, Window};

#[derive(Debug)]
pub(in super::super) struct Reno;

impl CongestionControl for Reno {
    fn on_open(&mut self, _window: &mut Window, _flow: &Flow) {}

    /// `tcp_reno_ssthresh`.
    fn ssthresh_after_loss(&mut self, window: &Window) -> u64 {
        (window.cwnd / 2).max(2)
    }

    /// `tcp_reno_cong_avoid`.
    #[inline]
    fn on_delivery(&mut self, window: &mut Window, _ticks: Ticks, delivered: u64) {
        let mut left = delivered;
        if window.in_slow_start() {
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        window.additive_increase(window.cwnd, left);
    }
}
