//! Zero-window probes, in case the window update is lost (RFC 9293 §3.8.6.1).

use super::{OptionsPool, PendingControl, Segment, Sender, Time};

/// The state while the window is closed and data waits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Persist {
    /// Probes sent.
    probes: u32,
}

impl Sender {
    pub(super) fn begin_persist(&mut self, now: Time) {
        if self.persist.is_none() {
            self.persist = Some(Persist::default());
            self.timer = now + self.rto.current();
        }
    }

    /// Ends probing: the window has opened, or data in flight has a retransmission timer.
    #[inline]
    pub(super) fn end_persist(&mut self, now: Time) {
        if self.persist.is_some() && (self.peer_window > 0 || self.una < self.max) {
            self.persist = None;
            self.restart_timer(now);
        }
    }

    /// Sends a probe when the persist timer expires, and doubles its interval.
    pub(super) fn probe_window(&mut self, now: Time) {
        self.account(now);
        let Some(persist) = &mut self.persist else { return };
        persist.probes += 1;
        self.timer = now + self.rto.backed_off(persist.probes);
        self.pending_control = PendingControl::Probe;
    }

    /// A probe: no payload and an acknowledged sequence number, so that the peer answers and cannot take it for data
    /// (as Linux, `tcp_xmit_probe_skb`).
    pub(super) fn send_probe(&mut self, now: Time, options_pool: &mut OptionsPool) -> Segment {
        self.stats.packets += 1;
        self.stats.window_probes += 1;
        Segment {
            seq: self.una - 1,
            ack: 1,
            options: self.options(now, options_pool),
            ..Segment::EMPTY
        }
    }
}
