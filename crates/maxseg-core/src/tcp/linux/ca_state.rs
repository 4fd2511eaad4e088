//! What the sender thinks of the path, and what follows from that alone.

use super::Socket;

/// `icsk_ca_state`: what the sender thinks of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaState {
    Open = 0,
    Disorder = 1,
    Cwr = 2,
    Recovery = 3,
    Loss = 4,
}

impl Socket {
    /// `tcp_in_cwnd_reduction`.
    #[inline]
    pub(super) fn in_cwnd_reduction(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// The threshold to remember of the window at hand (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u64 {
        if self.in_cwnd_reduction() {
            self.window.ssthresh
        } else {
            self.window.ssthresh.max(self.window.cwnd / 2 + self.window.cwnd / 4)
        }
    }
}
