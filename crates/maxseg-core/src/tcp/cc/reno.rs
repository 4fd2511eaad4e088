use super::{AckSample, Congestion, CongestionControl, CongestionSample};
use crate::settings::InitialSsthresh;
use crate::tcp::Config;
use crate::units::Bytes;

/// RFC 5681 with the window arithmetic of RFC 6582 for partial acknowledgements, in bytes.
#[derive(Debug, Clone)]
pub struct Reno {
    mss: u64,
    initial_window: u64,
    cwnd: u64,
    /// What congestion avoidance has earned beyond whole bytes of the window, in bytes².
    earned: u64,
    ssthresh: u64,
    /// Window and threshold before the last cut.
    before: (u64, u64),
}

impl Reno {
    /// Ready for the handshake.
    pub fn new(config: &Config) -> Self {
        let mss = config.mss().get();
        Self {
            mss,
            initial_window: config.sender.initial_window.bytes(config.mss()).get(),
            cwnd: mss,
            earned: 0,
            ssthresh: match config.sender.initial_ssthresh {
                InitialSsthresh::Unlimited => u64::MAX,
                InitialSsthresh::Window => config.receiver.offered_window(config.mss()).get(),
            },
            before: (mss, u64::MAX),
        }
    }

    /// §3.1 equation 4: half of what was outstanding, at least two segments.
    fn half(&self, at: &CongestionSample) -> u64 {
        (at.in_flight.get() / 2).max(2 * self.mss)
    }
}

impl CongestionControl for Reno {
    fn on_established(&mut self, lost_syn: bool) {
        // §3.1: after a lost SYN, at most one segment.
        self.cwnd = if lost_syn { self.mss } else { self.initial_window };
    }

    fn on_ack(&mut self, ack: AckSample) {
        // RFC 7661 §4.4: a window that was not used has proved nothing.
        if !ack.was_limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += ack.acked.get().min(self.mss); // §3.1 equation 2
        } else {
            // §3.1 equation 3, its remainder kept: rounding up to a byte, as the RFC has it, makes small
            // segments grow many times too fast in a large window.
            self.earned += self.mss * self.mss;
            let whole_bytes = self.earned / self.cwnd;
            self.earned -= whole_bytes * self.cwnd;
            self.cwnd += whole_bytes;
        }
    }

    fn on_congestion(&mut self, what: Congestion, at: &CongestionSample) {
        if what != Congestion::RepeatedTimeout {
            self.before = (self.cwnd, self.ssthresh);
        }
        match what {
            Congestion::Loss => {
                self.ssthresh = self.half(at);
                self.cwnd = self.ssthresh + 3 * self.mss; // §3.2 step 3: three segments have left
            }
            Congestion::LossBySack | Congestion::Mark => {
                self.ssthresh = self.half(at);
                self.cwnd = self.ssthresh; // RFC 6675 §5 step 4.2
            }
            Congestion::Timeout => {
                self.ssthresh = self.half(at);
                self.cwnd = self.mss;
            }
            // §3.1: ssthresh is held when the segment was resent by a timeout before.
            Congestion::RepeatedTimeout => self.cwnd = self.mss,
            // Nothing was in flight to be too much; `on_established` begins with one segment.
            Congestion::LostSyn => {}
        }
    }

    fn on_duplicate_ack(&mut self) {
        self.cwnd += self.mss; // §3.2 step 4
    }

    fn on_partial_ack(&mut self, acked: Bytes) {
        // RFC 6582 §3.2: deflate by what was acknowledged; add back a segment if at least one was.
        self.cwnd = self.cwnd.saturating_sub(acked.get()).max(self.mss);
        if acked.get() >= self.mss {
            self.cwnd += self.mss;
        }
    }

    fn on_recovered(&mut self, ack: AckSample) {
        // RFC 6582 §3.2 step 3, first option: no burst when little is outstanding.
        let outstanding = ack.in_flight.get().saturating_sub(ack.acked.get());
        self.cwnd = self.ssthresh.min(outstanding.max(self.mss) + self.mss);
    }

    fn on_spurious_cut(&mut self) {
        self.cwnd = self.cwnd.max(self.before.0);
        self.ssthresh = self.ssthresh.max(self.before.1);
    }

    fn on_mss(&mut self, mss: Bytes) {
        self.mss = mss.get();
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd)
    }

    fn ssthresh(&self) -> Bytes {
        Bytes::new(self.ssthresh)
    }
}
