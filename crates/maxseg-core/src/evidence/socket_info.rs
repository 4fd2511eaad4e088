//! What a simulated socket tells of itself.

use serde::{Deserialize, Serialize};

/// The state of a socket as `tcp_info` has it: windows in segments, times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SocketInfo {
    /// Whether timestamps (RFC 7323 §3) are agreed on.
    pub timestamps: bool,
    /// Whether SACK (RFC 2018) is.
    pub sack: bool,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `None`: none was set.
    pub ssthresh: Option<u64>,
    /// Smoothed round trip.
    pub srtt: u64,
    /// Its mean deviation.
    pub rttvar: u64,
    /// Least round trip.
    pub min_rtt: u64,
    /// Retransmission timeout.
    pub rto: u64,
    /// Segments out.
    pub unacked: u64,
    /// SACKed segments.
    pub sacked: u64,
    /// Segments taken for lost.
    pub lost: u64,
    /// Segments sent again and on their way.
    pub retrans: u64,
    /// Segments delivered.
    pub delivered: u64,
    /// Bytes acknowledged, the SYN counted.
    pub bytes_acked: u64,
    /// The peer's window in bytes.
    pub snd_wnd: u64,
    /// Bytes written and not sent.
    pub notsent: u64,
    /// Bytes a second.
    pub pacing_rate: u64,
    /// How many segments packets may overtake.
    pub reordering: u64,
    /// How often packets were seen to overtake others.
    pub reord_seen: u64,
    /// Payload of a full segment to the peer, in bytes.
    pub snd_mss: u64,
    /// What was offered, less what options take.
    pub advmss: u64,
    /// Doublings of the timeout.
    pub backoff: u32,
    /// Since data went last.
    pub last_data_sent: u64,
    /// Since data came last.
    pub last_data_recv: u64,
    /// Time with data out or waiting; of it, with too small a window of the peer, and with a full send buffer.
    pub busy_time: u64,
    /// Time that the peer's window limited.
    pub rwnd_limited: u64,
    /// Time that the send buffer limited.
    pub sndbuf_limited: u64,
    /// The last sample of the rate at which data arrive, bytes a second; 0 where none is kept.
    pub delivery_rate: u64,
    /// Whether the application held that sample down (`tcpi_delivery_rate_app_limited`).
    pub is_app_limited: bool,
    /// Payload bytes sent, again or not.
    pub bytes_sent: u64,
    /// Payload bytes sent again.
    pub bytes_retrans: u64,
    /// Segments with payload sent, again or not.
    pub data_segs_out: u64,
    /// Segments sent again, the SYN too.
    pub total_retrans: u64,
    /// Timeouts in a row that nothing has answered.
    pub retransmits: u64,
    /// The gain at which BBR paces; `None` for other congestion controls.
    pub bbr_pacing_gain: Option<f64>,
    /// Bytes of the send buffer that are used, in the kernel's accounting (`INET_DIAG_SKMEMINFO`).
    pub wmem_queued: u64,
    /// Most that the send buffer takes.
    pub sndbuf: u64,
}
