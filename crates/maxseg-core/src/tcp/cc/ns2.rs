use super::{AckSample, Congestion, CongestionControl, CongestionSample};
use crate::settings::{FirstLoss, InitialSsthresh, Ns2Rules};
use crate::tcp::Config;
use crate::units::Bytes;

/// Reno as ns-2 computes it (`tcp.cc`: `opencwnd`, `slowdown`): the window is a floating-point number
/// of packets, grows with every acknowledgement whether it was used or not, and is cut from its own
/// size, not from what is outstanding.
#[derive(Debug, Clone)]
pub struct Ns2Reno {
    mss: u64,
    rules: Ns2Rules,
    initial_window: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Packets added in fast recovery (`dupwnd_`).
    inflation: u64,
    /// Window and threshold before the last cut.
    before: (f64, f64),
}

impl Ns2Reno {
    /// Ready for the handshake.
    pub fn new(config: &Config) -> Self {
        let mss = config.mss().get();
        let packets = |bytes: Bytes| (bytes.get() / mss) as f64;
        Self {
            mss,
            rules: config
                .sender
                .ns2
                .unwrap_or(Ns2Rules { exact_halves: true, first_loss: FirstLoss::Always }),
            initial_window: packets(config.sender.initial_window.bytes(config.mss())),
            cwnd: 1.0,
            ssthresh: match config.sender.initial_ssthresh {
                InitialSsthresh::Unlimited => f64::MAX,
                InitialSsthresh::Window => packets(config.receiver.window.bytes(config.mss())),
            },
            inflation: 0,
            before: (1.0, f64::MAX),
        }
    }

    /// Half the usable window. Does not touch what it halves.
    fn half(&self, at: &CongestionSample) -> f64 {
        let limit = (at.peer_window.get() / self.mss) as f64;
        let window = self.cwnd.min(limit);
        if self.rules.exact_halves { window / 2.0 } else { libm::floor(libm::floor(window) / 2.0) }
    }
}

impl CongestionControl for Ns2Reno {
    fn on_established(&mut self, lost_syn: bool) {
        let cautious = lost_syn && self.rules.first_loss == FirstLoss::Always;
        self.cwnd = if cautious { 1.0 } else { self.initial_window };
    }

    #[inline]
    fn on_ack(&mut self, _: AckSample) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
    }

    fn on_congestion(&mut self, what: Congestion, at: &CongestionSample) {
        self.before = (self.cwnd, self.ssthresh);
        match what {
            Congestion::Loss | Congestion::LossBySack | Congestion::Mark => {
                let half = self.half(at);
                self.ssthresh = libm::floor(half).max(2.0);
                self.cwnd = half;
                self.inflation = if what == Congestion::Loss { 3 } else { 0 };
            }
            // Also for a SYN, and each time again: then ssthresh ends at 2.
            Congestion::Timeout | Congestion::RepeatedTimeout | Congestion::LostSyn => {
                self.cwnd = self.cwnd.max(1.0);
                self.ssthresh = libm::floor(self.half(at)).max(2.0);
                self.cwnd = 1.0;
                self.inflation = 0;
            }
        }
    }

    fn on_duplicate_ack(&mut self) {
        self.inflation += 1;
    }

    fn on_partial_ack(&mut self, acked: Bytes) {
        // `partial_window_deflation_`: by what was acknowledged, first from the inflation.
        let acked = acked.get() / self.mss;
        if self.inflation > acked {
            self.inflation -= acked.saturating_sub(1);
        } else {
            self.cwnd = (self.cwnd - (acked - self.inflation) as f64).max(1.0);
            self.inflation = 1;
        }
    }

    fn on_recovered(&mut self, ack: AckSample) {
        self.inflation = 0;
        self.on_ack(ack);
    }

    fn on_spurious_cut(&mut self) {
        self.cwnd = self.cwnd.max(self.before.0);
        self.ssthresh = self.ssthresh.max(self.before.1);
        self.inflation = 0;
    }

    fn on_mss(&mut self, mss: Bytes) {
        self.mss = mss.get();
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the window is positive and far below 2^32; `int(cwnd_)` is what ns-2 uses"
    )]
    fn cwnd(&self) -> Bytes {
        Bytes::new((u64::from(self.cwnd as u32) + self.inflation) * self.mss)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "never negative, and saturation stands for no limit"
    )]
    fn ssthresh(&self) -> Bytes {
        Bytes::new((self.ssthresh as u64).saturating_mul(self.mss))
    }
}
