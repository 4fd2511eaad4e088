//! How much of the send queue goes as one packet: segmentation offload, Nagle, and waiting for more
//! (`net/ipv4/tcp_output.c`).

use super::CaState;
use super::Socket;
use super::cc::CongestionControl;
use super::constants::{Nagle, PACING_SHIFT};
use super::skb::Skb;

/// `GSO_MAX_SEGS` (`include/linux/netdevice.h`).
const GSO_MAX_SEGMENTS: u64 = 65_535;
/// A millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Why nothing goes now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// The packet is to be larger, for which the congestion window has to grow, or the peer's.
    ByCwnd,
    ByWindow,
    Other,
}

/// What sizes a burst.
#[derive(Debug, Clone, Copy)]
pub(super) struct BurstSize {
    /// Payload of a segment.
    mss: u64,
    /// Segments of the least burst.
    least: u64,
    /// In bytes a second.
    pacing_rate: u64,
}

impl Socket {
    /// What sizes the bursts of one pass over the send queue: what is sent in it does not change them.
    #[inline]
    pub(super) fn burst_size(&self, mss: u64) -> BurstSize {
        let least = self.congestion.least_burst().unwrap_or(self.host.tcp_min_tso_segs);
        BurstSize { mss, least, pacing_rate: self.pacing_rate }
    }

    /// Segments of the largest burst (`tcp_tso_segs`, `tcp_tso_autosize`).
    fn most_segments(&self, size: BurstSize) -> u64 {
        let most = self.host.gso_max_size();
        let mut bytes = size.pacing_rate >> PACING_SHIFT;
        // Nearby peers get larger bursts: they cost less there.
        let distance = self.rtt.min() >> self.host.tcp_tso_rtt_log;
        if distance < 32 {
            bytes += most >> distance;
        }
        (bytes.min(most) / size.mss).max(size.least).min(GSO_MAX_SEGMENTS)
    }

    /// So many segments, as far as one burst takes them. Where the window leaves little, the least burst tells.
    #[inline]
    pub(super) fn within_burst(&self, segments: u64, size: BurstSize) -> u64 {
        if segments <= size.least { segments } else { segments.min(self.most_segments(size)) }
    }

    /// Whether a packet that is no full segment waits (`tcp_nagle_check`).
    pub(super) fn nagle_holds(&self, partial: bool, nagle: Nagle) -> bool {
        let waits_for_ack =
            || self.packets_out > 0 && self.snd_sml > self.snd_una && self.snd_sml <= self.snd_nxt;
        partial && (nagle == Nagle::Cork || (nagle == Nagle::On && waits_for_ack()))
    }

    /// How many bytes of a packet of more than one segment go (`tcp_mss_split_point`).
    pub(super) fn split_point(
        &self,
        skb: &Skb,
        is_last: bool,
        mss: u64,
        segments: u64,
        nagle: Nagle,
    ) -> u64 {
        let window = self.window_end() - skb.seq;
        let most = mss * segments;
        if most <= window && !is_last {
            return most;
        }
        let needed = skb.len().min(window);
        if most <= needed {
            return most;
        }
        let partial = needed % mss;
        if self.nagle_holds(partial != 0, nagle) { needed - partial } else { needed }
    }

    /// A packet may wait for a larger window, so that it can be larger (`tcp_tso_should_defer`).
    #[inline]
    pub(super) fn may_defer(&self, skb: &Skb, is_last: bool, size: BurstSize) -> Result<(), Hold> {
        if self.ca_state >= CaState::Recovery
            || self.clock.nanos > self.last_sent_nanos + MILLISECOND
        {
            return Ok(());
        }
        self.defer_now(skb, is_last, self.most_segments(size))
    }

    /// The same while the last burst has just gone.
    fn defer_now(&self, skb: &Skb, is_last: bool, most: u64) -> Result<(), Hold> {
        let by_window = self.window_end() - skb.seq;
        let by_cwnd = (self.window.cwnd - self.in_flight()) * self.mss_cache;
        let limit = by_window.min(by_cwnd);
        if limit >= most * self.mss_cache || (!is_last && limit >= skb.len()) {
            return Ok(());
        }
        let chunk = self.snd_wnd.min(self.window.cwnd * self.mss_cache)
            / self.host.tcp_tso_win_divisor.max(1);
        if limit >= chunk {
            return Ok(());
        }
        let Some(head) = self.rtx_queue.front() else { return Ok(()) };
        // Is an acknowledgement near that would let more go?
        let srtt = self.rtt.srtt8 * 125;
        let expected = head.sent_nanos + srtt;
        let threshold = (srtt / 2).min(MILLISECOND);
        if expected > self.clock.nanos + threshold {
            return Ok(());
        }
        if by_cwnd < by_window {
            if by_cwnd <= skb.len() {
                return Err(Hold::ByCwnd);
            }
        } else if by_window <= skb.len() {
            return Err(Hold::ByWindow);
        }
        // Nothing more comes to this packet after a FIN; else there may be more to come from the application.
        if skb.is_fin { Ok(()) } else { Err(Hold::Other) }
    }
}
