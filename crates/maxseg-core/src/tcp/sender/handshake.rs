//! The handshake of an active open (RFC 9293 §3.5).

use super::{CongestionControl, OptionsPool, PendingControl, Segment, Sender, Time};

impl Sender {
    pub(super) fn send_syn(&mut self, now: Time, options_pool: &mut OptionsPool) -> Segment {
        self.nxt = 1;
        let repeated = self.max > 0;
        if !repeated {
            self.max = 1;
            self.timed = Some((1, now));
        }
        self.stats.packets += 1;
        self.start_timer(now);
        Segment { syn: true, repeated, options: self.options(now, options_pool), ..Segment::EMPTY }
    }

    #[cold]
    pub(super) fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        if segment.ack == 0 {
            return;
        }
        let lost_syn = self.timed.is_none();
        self.established = true;
        self.una = 1;
        self.nxt = 1;
        self.peer_window = u64::from(segment.window);
        self.take_sample(now, 1, segment.timestamps());
        if lost_syn {
            self.rto.after_lost_syn();
        }
        self.timer = Time::NEVER;
        self.cc.on_established(lost_syn);
        self.pending_control =
            if self.handshake_ack { PendingControl::HandshakeAck } else { PendingControl::Nothing };
        self.open_up(u32::MAX, 0);
    }
}
