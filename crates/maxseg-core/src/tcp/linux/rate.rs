//! Samples of the delivery rate (`net/ipv4/tcp_rate.c`).

use super::Socket;
use super::skb::{ACKED, Skb};

/// What a sender remembers between samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rate {
    /// `first_tx_mstamp`: when the first packet of the sample was sent, in microseconds.
    pub(super) first_tx: u64,
    /// `delivered_mstamp`.
    pub(super) delivered_at: u64,
    /// The count of delivered segments up to which samples are the application's; 0: none is.
    pub(super) app_limited: u64,
    /// Every acknowledgement makes a sample: the congestion control goes by it, or somebody looks at the socket.
    pub(super) is_sampled: bool,
    /// Somebody looks.
    is_shown: bool,
    /// The sample that `tcp_info` shows, segments in microseconds, and whether the application held it down (`rate_delivered`,
    /// `rate_interval_us`, `rate_app_limited`).
    shown: (u64, u64),
    pub(super) is_app_limited: bool,
}

impl Rate {
    /// Whether somebody looks at the socket, and whether its congestion control goes by samples.
    pub(super) fn new(is_shown: bool, is_rate_based: bool) -> Self {
        let is_sampled = is_shown || is_rate_based;
        Self { is_sampled, is_shown, is_app_limited: true, ..Self::default() }
    }

    /// `tcp_compute_delivery_rate` (`net/ipv4/tcp.c`); 0 without a sample.
    pub(super) fn bytes_per_second(&self, mss: u64) -> u64 {
        let (delivered, micros) = self.shown;
        (delivered * mss * 1_000_000).checked_div(micros).unwrap_or(0)
    }

    /// The last sample that the application did not hold down is shown, or a higher one (`tcp_rate_gen`).
    #[inline]
    fn show(&mut self, delivered: u64, sample: &RateSample) {
        let (shown, micros) = self.shown;
        if !sample.is_app_limited || delivered * micros >= shown * sample.interval {
            self.shown = (delivered, sample.interval);
            self.is_app_limited = sample.is_app_limited;
        }
    }
}

/// One sample, as an acknowledgement makes it (`struct rate_sample`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RateSample {
    pub(super) prior_delivered: u64,
    pub(super) prior_at: u64,
    pub(super) last_end_seq: u64,
    pub(super) interval_sent: u64,
    pub(super) is_app_limited: bool,
    /// Segments delivered over `interval`; `None` where nobody knows since when.
    pub(super) delivered: Option<u64>,
    /// Microseconds; 0 where it is shorter than any round trip, and tells nothing.
    pub(super) interval: u64,
    /// Segments newly acknowledged, and newly taken for lost.
    pub(super) acked_sacked: u64,
    pub(super) losses: u64,
    /// The round trip for congestion control, in microseconds, and whether the receiver may have waited with its
    /// acknowledgement (`is_ack_delayed`).
    pub(super) rtt: Option<u64>,
    pub(super) may_be_delayed: bool,
    /// Segments that were in flight before.
    pub(super) prior_in_flight: u64,
}

impl RateSample {
    /// Segments delivered over an interval that is known.
    pub(super) fn valid_delivered(&self) -> Option<u64> {
        self.delivered.filter(|_| self.interval > 0)
    }
}

/// Whether one packet was sent after another (`tcp_skb_sent_after`, `include/net/tcp.h`).
#[inline]
pub(super) const fn sent_after(at: u64, other_at: u64, end: u64, other_end: u64) -> bool {
    at > other_at || (at == other_at && end > other_end)
}

impl Socket {
    /// A packet goes (`tcp_rate_skb_sent`).
    #[inline]
    pub(super) fn note_rate_at_send(&mut self, skb: &mut Skb) {
        if self.packets_out == 0 {
            self.rate.first_tx = skb.sent_micros();
            self.rate.delivered_at = skb.sent_micros();
        }
        skb.first_tx_micros = self.rate.first_tx;
        skb.delivered_micros = self.rate.delivered_at;
        skb.delivered = self.delivered;
        skb.app_limited = self.rate.app_limited > 0;
    }

    /// A packet has arrived, as an acknowledgement says (`tcp_rate_skb_delivered`). Its tags are the new
    /// ones.
    #[inline]
    pub(super) fn sample_delivery(&mut self, skb: &mut Skb, sample: &mut RateSample) {
        if skb.delivered_micros == 0 {
            return;
        }
        let sent = skb.sent_micros();
        if sample.prior_delivered == 0
            || sent_after(sent, self.rate.first_tx, skb.end_seq, sample.last_end_seq)
        {
            sample.prior_delivered = skb.delivered;
            sample.prior_at = skb.delivered_micros;
            sample.is_app_limited = skb.app_limited;
            sample.last_end_seq = skb.end_seq;
            self.rate.first_tx = sent;
            sample.interval_sent = sent - skb.first_tx_micros;
        }
        if skb.is(ACKED) {
            skb.delivered_micros = 0;
        }
    }

    /// So many segments more are delivered.
    #[inline]
    pub(super) fn note_delivery(&mut self, delivered: u64) {
        if self.rate.app_limited > 0 && self.delivered > self.rate.app_limited {
            self.rate.app_limited = 0;
        }
        if delivered > 0 {
            self.rate.delivered_at = self.clock.micros;
        }
    }

    /// The sample of an acknowledgement is complete (`tcp_rate_gen`).
    #[inline(always)]
    pub(super) fn complete_sample(
        &mut self,
        delivered: u64,
        lost: u64,
        is_sack_reneg: bool,
        sample: &mut RateSample,
    ) {
        self.note_delivery(delivered);
        sample.acked_sacked = delivered;
        sample.losses = lost;
        if sample.prior_at == 0 || is_sack_reneg {
            return;
        }
        let since = self.delivered - sample.prior_delivered;
        sample.delivered = Some(since);
        let interval = sample.interval_sent.max(self.clock.micros.saturating_sub(sample.prior_at));
        if interval >= self.rtt.min() {
            sample.interval = interval;
            if self.rate.is_shown {
                self.rate.show(since, sample);
            }
        }
    }

    /// Before a write: does the application hold the connection back (`tcp_rate_check_app_limited`)?
    pub(super) fn check_app_limited(&mut self) {
        if self.write_seq - self.snd_nxt < self.mss_cache
            && self.in_flight() < self.window.cwnd
            && self.lost_out <= self.retrans_out
            && self.fair_queue.is_empty()
        {
            self.rate.app_limited = (self.delivered + self.in_flight()).max(1);
        }
    }
}
