//! What the kernel tells of a socket: counters over a time, and its state at the end of it.

use super::{Bin, RatePoint, RateSpread};
use crate::units::Time;

/// A connection as the kernel knows it (`tcp_info`, `inet_diag`): what it counted between two samples, or since the
/// connection's beginning where there is one sample alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SocketEvidence {
    /// What happened. Without an earlier sample its duration is the time with data to send or to be acknowledged: how
    /// long the connection has been there the kernel does not tell.
    pub bin: Bin,
    /// Payload that arrived in order.
    pub received_bytes: u64,
    /// Whether there is no earlier sample.
    pub is_since_start: bool,
    /// How much its rate and its congestion window vary; `None` where it was not looked at often enough.
    pub spread: Option<RateSpread>,
    /// The share of these looks at which losses were being repaired; `None` where it was not looked at often enough.
    pub recovering_share: Option<f64>,
    /// What other connections of this host to the same address deliver meanwhile in the same queue, held by neither a window nor a
    /// buffer, in bits per second; 0 where none is known.
    pub beside_bps: f64,
    /// The state at the end.
    pub state: SocketState,
}

impl SocketEvidence {
    /// Adds what several looks between the two samples show.
    #[must_use]
    pub fn with_looks(self, points: &[RatePoint]) -> Self {
        let recovering_share = RateSpread::recovering_share(points);
        Self { spread: RateSpread::of(points), recovering_share, ..self }
    }
}

/// The state of a socket at one time. `None` where the kernel does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SocketState {
    /// Whether the handshake is not complete yet.
    pub is_opening: bool,
    /// How far the connection is closed, where an end has closed it.
    pub closing: Option<Closing>,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// The congestion window.
    pub cwnd_segments: u32,
    /// The congestion window in the earlier sample.
    pub cwnd_before_segments: Option<u32>,
    /// The slow-start threshold; `None` until a loss or `HyStart` has set one.
    pub ssthresh_segments: Option<u32>,
    /// Segments in flight: sent, and neither acknowledged nor taken for lost (RFC 6675's pipe).
    pub in_flight_segments: u32,
    /// Segments that were sent and are not acknowledged, those that SACK names among them.
    pub unacked_segments: u32,
    /// Those of them that SACK names.
    pub sacked_segments: u32,
    /// Payload acknowledged, ever; the SYN counts as a byte.
    pub ever_acked_bytes: Option<u64>,
    /// Segments that arrived, ever; the SYN counts as one.
    pub ever_delivered_segments: Option<u32>,
    /// Bytes that wait to be sent for the first time.
    pub unsent_bytes: Option<u32>,
    /// The window that the peer last advertised.
    pub window_bytes: Option<u32>,
    /// The smoothed round-trip time.
    pub rtt: Time,
    /// Its mean deviation.
    pub rtt_deviation: Time,
    /// The least round-trip time of late.
    pub min_rtt: Option<Time>,
    /// The retransmission timeout.
    pub rto: Option<Time>,
    /// How long ago it sent last, while what it sent is not acknowledged.
    pub unanswered_for: Option<Time>,
    /// Timeouts in a row that nothing has answered.
    pub timeouts_in_a_row: u32,
    /// Probes of a closed window in a row that nothing has opened.
    pub window_probes: u32,
    /// Segments sent again, ever.
    pub ever_retransmitted: u32,
    /// Whether losses are being repaired (`TCP_CA_Recovery`, `TCP_CA_Loss`): what is in flight is less than the congestion window then,
    /// whoever writes.
    pub is_recovering: bool,
    /// Whether SACK (RFC 2018) is agreed on: without it one loss is repaired in each round trip, and reordering is not seen.
    pub has_sack: bool,
    /// Times that an acknowledgement showed reordering, ever: a packet that overtook others has no true round trip, and the least
    /// may be its.
    pub reorderings: u32,
    /// Whether the application's lack of data kept the last sample of the delivery rate down.
    pub is_app_limited: Option<bool>,
    /// The last sample of the delivery rate, bits a second.
    pub delivery_bps: Option<f64>,
    /// The application's limit of the rate (`SO_MAX_PACING_RATE`), bits a second; `None` for no limit.
    pub pacing_limit_bps: Option<f64>,
    /// The gain at which BBR paces; `None` for other congestion controls.
    pub bbr_pacing_gain: Option<f64>,
    /// The send buffer.
    pub send_buffer: Option<BufferFill>,
    /// Whether the kernel would grow it for a writer that waits: the program has not set it, and it is below the largest of `tcp_wmem`.
    pub send_buffer_grows: Option<bool>,
    /// Whether the program has set it (`SO_SNDBUF`); `None` where that is not known.
    pub send_buffer_is_set: Option<bool>,
    /// What arrived and was not read.
    pub receive_buffer: Option<BufferFill>,
    /// Whether the program has set it (`SO_RCVBUF`); `None` where that is not known.
    pub receive_buffer_is_set: Option<bool>,
    /// Whether autotuning may still widen the window that is offered: the program has not set the buffer, it is below the largest of
    /// `tcp_rmem`, and the window scale carries more. `None` where that is not known.
    pub receive_window_grows: Option<bool>,
    /// The round-trip time as the receiver of data sees it (`tcpi_rcv_rtt`).
    pub receive_rtt: Option<Time>,
    /// Bytes that arrived in order and were not read.
    pub unread_bytes: u32,
    /// The window that was last advertised to the peer.
    pub advertised_window_bytes: Option<u32>,
}

/// The state of a connection that an end has closed (RFC 9293 §3.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The peer has closed it, the process here has not.
    CloseWait,
    /// The process here has closed it, and the peer has not acknowledged that.
    FinWait1,
    /// The peer has acknowledged that, and has not closed it.
    FinWait2,
    /// Both have closed it, at once.
    Closing,
    /// Both have closed it, the peer first.
    LastAck,
}

impl SocketState {
    /// The congestion window would let more go, and no whole segment waits for it.
    pub fn has_room(&self) -> bool {
        let has_sent_all = self.unsent_bytes.is_some_and(|unsent| unsent < self.mss_bytes.max(1));
        has_sent_all && self.in_flight_segments < self.cwnd_segments && !self.is_recovering
    }

    /// The send buffer is full of what is not acknowledged, and the congestion window would let more go.
    pub fn fills_send_buffer(&self) -> bool {
        self.has_room() && self.send_buffer.is_some_and(BufferFill::is_full)
    }

    /// What waits is less than a segment, and something before it is not acknowledged: Nagle's algorithm (RFC 9293 §3.7.4)
    /// holds it, unless the program does (`TCP_CORK`, `MSG_MORE`).
    pub fn holds_small_segment(&self) -> bool {
        self.has_room()
            && self.unsent_bytes.is_some_and(|unsent| unsent > 0)
            && self.unacked_segments > 0
    }
}

/// How full a buffer is, in the kernel's accounting: with headers and the slack of its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferFill {
    /// Bytes in it.
    pub used: u32,
    /// Most that it takes.
    pub limit: u32,
}

impl BufferFill {
    /// The share that is used.
    pub fn share(self) -> f64 {
        if self.limit == 0 { 0.0 } else { f64::from(self.used) / f64::from(self.limit) }
    }

    /// Of a send buffer: the kernel wakes no writer until a third of it is free (`sk_stream_wspace`, `sk_stream_is_writeable` in
    /// `include/net/sock.h`).
    pub fn is_full(self) -> bool {
        const FULL: f64 = 2.0 / 3.0;
        self.share() >= FULL
    }
}
