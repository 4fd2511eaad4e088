//! What congestion controls see of a socket.

use super::Socket;
use super::cc::{Flow, View};

impl Socket {
    /// What the congestion control sees of it now.
    #[inline]
    pub(super) fn view(&self) -> View {
        View {
            micros: self.clock.micros,
            jiffies: self.clock.jiffies,
            hz: self.host.hz,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            last_sent_jiffies: self.last_sent_jiffies,
            pacing_rate: self.pacing_rate,
            is_paced: self.is_paced,
            gso_max_size: self.host.gso_max_size(),
        }
    }

    /// The same for one that measures the path.
    pub(super) fn flow(&self) -> Flow {
        Flow {
            view: self.view(),
            mss: self.mss_cache,
            srtt8: self.rtt.srtt8,
            min_round_trip: self.rtt.min(),
            delivered: self.delivered,
            delivered_at: self.rate.delivered_at,
            lost: self.lost,
            in_flight: self.in_flight(),
            ca_state: self.ca_state,
            nanos: self.clock.nanos,
            next_send_nanos: self.last_sent_nanos,
            is_app_limited: self.rate.app_limited > 0,
        }
    }
}
