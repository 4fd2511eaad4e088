//! Explicit congestion notification (RFC 3168; `tcp_ecn_*`, `net/ipv4/tcp_input.c`, `tcp_output.c`).

use super::Socket;
use super::State;
use super::packet::{Flags, Packet};

/// The sender's window may be small: so many acknowledgements go at once (`__tcp_ecn_check_ce`).
const QUICK_AFTER_MARK: u64 = 2;

/// What an end knows of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ecn {
    /// Both ends agreed on it (`TCP_ECN_OK`).
    pub(super) ok: bool,
    /// The next new data tell that the window was cut (`TCP_ECN_QUEUE_CWR`).
    pub(super) tells_of_cut: bool,
    /// A mark has come and the peer has not answered it (`TCP_ECN_DEMAND_CWR`).
    pub(super) echoes: bool,
}

impl Socket {
    /// A SYN asks for it, a SYN-ACK agrees (`tcp_ecn_send_syn`, `tcp_ecn_make_synack`).
    pub(super) fn flags_of_syn(&self) -> Flags {
        let asks = self.state == State::SynSent && self.host.tcp_ecn == 1;
        Flags::NONE.with(Flags::ECE, asks || self.ecn.ok).with(Flags::CWR, asks)
    }

    /// The SYN-ACK's answer (`tcp_ecn_rcv_synack`).
    pub(super) fn take_ecn_answer(&mut self, packet: &Packet) {
        self.ecn.ok =
            self.host.tcp_ecn == 1 && packet.flags.has(Flags::ECE) && !packet.flags.has(Flags::CWR);
    }

    /// New data may be marked, and tell of a cut (`tcp_ecn_send`).
    #[inline]
    pub(super) fn flags_of_data(&mut self, repeated: bool) -> Flags {
        if !self.ecn.ok {
            return Flags::NONE;
        }
        let cwr = !repeated && std::mem::take(&mut self.ecn.tells_of_cut);
        Flags::NONE
            .with(Flags::ECE, self.ecn.echoes)
            .with(Flags::CWR, cwr)
            .with(Flags::ECT, !repeated)
    }

    /// What data say of marks (`tcp_ecn_accept_cwr`, `tcp_data_ecn_check`).
    #[inline]
    pub(super) fn take_marks(&mut self, packet: &Packet) {
        if !self.ecn.ok {
            return;
        }
        if packet.flags.has(Flags::CWR) {
            self.ecn.echoes = false;
            self.ack.now = true;
        }
        if packet.flags.has(Flags::CE) && !self.ecn.echoes {
            self.ecn.echoes = true;
            self.enter_quick_mode(QUICK_AFTER_MARK);
        }
    }
}
