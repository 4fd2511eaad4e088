//! What a socket tells of itself: `tcp_info` and what the kernel counts beside it.

use super::Socket;
use super::cc::UNLIMITED;
use super::constants::AFTER_SYN;
use crate::evidence::SocketInfo;
use crate::units::Time;

/// Counts of what a socket did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    /// Segments with payload that were sent, again or not.
    pub data_segments: u64,
    /// Segments that were sent again, the SYN too (`tcpi_total_retrans`).
    pub retransmitted_segments: u64,
    /// Of those the SYNs.
    pub retransmitted_syns: u64,
    /// Their payload bytes.
    pub retransmitted_bytes: u64,
    /// Packets of any kind.
    pub packets: u64,
    /// Recoveries entered (`TCPSackRecovery`, `TCPRenoRecovery`).
    pub recoveries: u64,
    /// Timeouts (`TCPTimeouts`).
    pub timeouts: u64,
    /// Those found to have been for nothing by F-RTO (`TCPSpuriousRTOs`).
    pub spurious_timeouts: u64,
    /// Probes of the tail (`TCPLossProbes`).
    pub loss_probes: u64,
    /// Retransmissions found to be lost (`TCPLostRetransmit`).
    pub lost_retransmissions: u64,
    /// Cuts taken back.
    pub undone: u64,
    /// Payload bytes that came though they had come before.
    pub duplicate_bytes: u64,
    /// Packets that brought nothing else.
    pub duplicate_packets: u64,
}

impl Socket {
    /// Its state when it was looked at last.
    pub fn info(&self) -> SocketInfo {
        self.info_at_jiffy(self.clock.jiffies)
    }

    /// Its state now.
    pub fn info_at(&self, now: Time) -> SocketInfo {
        let mut clock = self.clock;
        clock.refresh(now);
        self.info_at_jiffy(clock.jiffies)
    }

    fn info_at_jiffy(&self, jiffies: u64) -> SocketInfo {
        let [busy, window, buffer] = self.chrono.until(jiffies);
        let known = |micros: u64| if micros == u64::MAX { 0 } else { micros };
        SocketInfo {
            timestamps: self.stamps_ok,
            sack: self.sack_ok,
            ca_state: self.ca_state as u8,
            cwnd: self.window.cwnd,
            ssthresh: (self.window.ssthresh < UNLIMITED).then_some(self.window.ssthresh),
            srtt: self.rtt.srtt8 >> 3,
            rttvar: self.rtt.mdev >> 2,
            min_rtt: known(self.rtt.min()),
            rto: self.clock.micros_of_jiffies(self.rto),
            unacked: self.packets_out,
            sacked: self.sacked_out,
            lost: self.lost_out,
            retrans: self.retrans_out,
            delivered: self.delivered,
            bytes_acked: self.snd_una,
            snd_wnd: self.snd_wnd,
            notsent: self.write_seq.saturating_sub(self.snd_nxt),
            pacing_rate: self.pacing_rate,
            reordering: self.reordering,
            reord_seen: self.reord_seen,
            snd_mss: self.mss_cache,
            advmss: self.advmss,
            backoff: self.backoff,
            last_data_sent: self
                .clock
                .micros_of_jiffies(jiffies.saturating_sub(self.last_sent_jiffies)),
            last_data_recv: self
                .clock
                .micros_of_jiffies(jiffies.saturating_sub(self.ack.received_at)),
            busy_time: self.clock.micros_of_jiffies(busy + window + buffer),
            rwnd_limited: self.clock.micros_of_jiffies(window),
            sndbuf_limited: self.clock.micros_of_jiffies(buffer),
            delivery_rate: self.rate.bytes_per_second(self.mss_cache),
            is_app_limited: self.rate.is_app_limited,
            bytes_sent: self.snd_nxt.saturating_sub(1) + self.counters.retransmitted_bytes,
            bytes_retrans: self.counters.retransmitted_bytes,
            data_segs_out: self.counters.data_segments,
            total_retrans: self.counters.retransmitted_segments,
            retransmits: self.retransmits,
            bbr_pacing_gain: self.congestion.pacing_gain(),
            wmem_queued: self.writer.queued,
            sndbuf: self.writer.sndbuf,
        }
    }

    /// Payload bytes that are acknowledged.
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.snd_una.saturating_sub(1)
    }

    /// Payload bytes that have arrived, each once, with those behind a hole.
    pub(crate) fn arrived(&self) -> u64 {
        self.rcv_nxt.saturating_sub(1) + self.out_of_order.payload()
    }

    /// Payload bytes that are sent and not acknowledged: `FlightSize` (RFC 5681 §2), lost ones included.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.snd_nxt.saturating_sub(self.snd_una.max(AFTER_SYN))
    }

    /// Whether nothing has ended its start-up: no threshold was ever set, or `HyStart` set it and neither loss nor mark has reduced
    /// the window since. BBR's start-up ends with a threshold, and reduces no window.
    pub(crate) const fn is_in_start_up(&self) -> bool {
        let is_reduced = self.window.prior_cwnd > 0 || self.congestion.is_rate_based();
        self.window.ssthresh >= UNLIMITED || !is_reduced
    }

    /// Whether nothing is out (`tcp_rtx_queue_empty`).
    pub(crate) fn is_all_acknowledged(&self) -> bool {
        self.rtx_queue.is_empty()
    }

    /// What it did so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The round trip that the last acknowledgement showed, once, in microseconds.
    pub(crate) fn take_round_trip(&mut self) -> Option<u64> {
        self.last_round_trip.take()
    }

    /// Whether it has data that it has not sent yet, and what its peer's window leaves of room for them.
    pub(crate) fn unsent(&self) -> (bool, u64) {
        (!self.write_queue.is_empty(), self.window_end().saturating_sub(self.snd_nxt))
    }

    /// Whether its application waits for room in the send buffer, of which all is in flight (`TCP_CHRONO_SNDBUF_LIMITED`).
    pub(crate) fn waits_for_buffer(&self) -> bool {
        self.writer.no_space && self.write_queue.is_empty()
    }

    /// Whether the peer's window is smaller than the congestion window: the latter does not hold the sender back then, whatever it waits
    /// for with room for a segment, such as a larger burst (`tcp_tso_should_defer`).
    pub(crate) fn peer_window_is_smaller(&self) -> bool {
        self.snd_wnd < self.window.cwnd * self.mss_cache
    }

    /// Payload of a full segment now.
    pub(crate) fn mss(&self) -> u64 {
        self.mss_cache
    }

    /// Payload bytes that have come in order.
    pub const fn received(&self) -> u64 {
        self.rcv_nxt.saturating_sub(1)
    }
}
