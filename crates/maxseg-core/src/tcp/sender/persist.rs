//! A closed window is probed, lest its opening be lost on the way (RFC 9293 §3.8.6.1).

use super::{OptionsPool, PendingControl, Segment, Sender, Time};

/// A window that is closed, with data waiting.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Persist {
    /// How many probes have gone.
    probes: u32,
}

impl Sender {
    pub(super) fn begin_persist(&mut self, now: Time) {
        if self.persist.is_none() {
            self.persist = Some(Persist::default());
            self.timer = now + self.rto.current();
        }
    }

    /// The window has opened, or something is in flight again, whose timer will do.
    #[inline]
    pub(super) fn end_persist(&mut self, now: Time) {
        if self.persist.is_some() && (self.peer_window > 0 || self.una < self.max) {
            self.persist = None;
            self.restart_timer(now);
        }
    }

    /// The timer of a closed window has expired: probe, and wait twice as long for the next.
    pub(super) fn probe_window(&mut self, now: Time) {
        self.account(now);
        let Some(persist) = &mut self.persist else { return };
        persist.probes += 1;
        self.timer = now + self.rto.backed_off(persist.probes);
        self.pending_control = PendingControl::Probe;
    }

    /// A probe: without payload and with a number that was acknowledged, so that it is answered and
    /// cannot be taken for data (as Linux does, `tcp_xmit_probe_skb`).
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
