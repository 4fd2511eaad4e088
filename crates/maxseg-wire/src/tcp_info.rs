//! What Linux knows of one TCP connection: `struct tcp_info`, as `getsockopt(TCP_INFO)` and `inet_diag`
//! give it (`include/uapi/linux/tcp.h`; filled by `tcp_get_info` in `net/ipv4/tcp.c`).
//!
//! The structure has grown with the kernel and only ever at its end. What an older kernel does not give
//! is `None`; what a newer one gives beyond this list is passed over. The numbers are of the machine's
//! own byte order.

use std::time::Duration;

use maxseg_core::framing::TCP_TIMESTAMPS;

use crate::numbers::Numbers;
use crate::{DecodeError, Layer};

mod parts;
mod rates;
#[cfg(test)]
mod tests;

pub use parts::{CaState, NegotiatedOptions, State, TcpInfoFlags, WindowScales};

/// Fields of this structure alone. No number needs padding before it.
impl Numbers<'_> {
    fn options(&mut self) -> Option<NegotiatedOptions> {
        self.u8().map(NegotiatedOptions)
    }

    fn scales(&mut self) -> Option<WindowScales> {
        self.u8().map(WindowScales::from_byte)
    }

    fn flags(&mut self) -> Option<TcpInfoFlags> {
        self.u8().map(TcpInfoFlags::from_byte)
    }

    /// 32 bits of microseconds, all ones where nothing has been measured.
    fn measured_micros(&mut self) -> Option<Duration> {
        self.u32()
            .filter(|&count| count != u32::MAX)
            .map(|count| Duration::from_micros(count.into()))
    }

    /// 64 bits of microseconds.
    fn long_micros(&mut self) -> Option<Duration> {
        self.u64().map(Duration::from_micros)
    }

    /// A threshold of `TCP_INFINITE_SSTHRESH` (`include/net/tcp.h`) is none.
    #[expect(clippy::option_option, reason = "the outer: not there; the inner: no threshold yet")]
    fn threshold(&mut self) -> Option<Option<u32>> {
        self.u32().map(|segments| (segments < 0x7fff_ffff).then_some(segments))
    }
}

/// The structure in the order of its fields: what a field is here, and how it is read. From `always` on
/// every kernel has it, a field under `since` is `None` before that version.
macro_rules! tcp_info {
    (
        always { $( $(#[$doc:meta])* $name:ident: $ty:ty = $read:ident, )* }
        since { $( $(#[$later_doc:meta])* $later:ident: $later_ty:ty = $later_read:ident, )* }
    ) => {
        /// One connection's state, as the kernel gives it. Counters count from the connection's begin;
        /// `u32` ones wrap.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct TcpInfo {
            $( $(#[$doc])* pub $name: $ty, )*
            $( $(#[$later_doc])* pub $later: Option<$later_ty>, )*
        }

        impl TcpInfo {
            // Inlined where the length is known, so that not every field is asked whether it is there.
            #[inline(always)]
            fn read(numbers: &mut Numbers<'_>) -> Option<Self> {
                Some(Self {
                    $( $name: numbers.$read()?, )*
                    $( $later: numbers.$later_read(), )*
                })
            }
        }
    };
}

tcp_info! {
    always {
        /// Where the connection stands: a number of `include/net/tcp_states.h`; see [`TcpInfo::state`].
        state: u8 = u8,
        /// What the congestion control is doing: a number of `enum tcp_ca_state`; see [`TcpInfo::ca_state`].
        ca_state: u8 = u8,
        /// Timeouts in a row that no acknowledgement has answered.
        retransmits: u8 = u8,
        /// Probes of a closed window, or keep-alives, that nothing has answered.
        probes: u8 = u8,
        /// How often the retransmission timer has been doubled since the last acknowledgement.
        backoff: u8 = u8,
        /// What the two ends agreed on.
        options: NegotiatedOptions = options,
        /// The window scales of both directions (RFC 7323 §2.2).
        window_scales: WindowScales = scales,
        /// What does not fill a byte of its own; zero before Linux 4.9.
        flags: TcpInfoFlags = flags,
        /// The retransmission timeout, back-off included.
        rto: Duration = micros,
        /// How long an acknowledgement may be delayed at present.
        ato: Duration = micros,
        /// Payload bytes of the largest segment that is sent: TCP options and the path's MTU are taken
        /// off. It is brought up to date when something is sent.
        snd_mss: u32 = u32,
        /// Payload bytes of the peer's segments, as guessed from what has arrived.
        rcv_mss: u32 = u32,
        /// Segments sent and not acknowledged; of a listening socket the connections that wait.
        unacked: u32 = u32,
        /// Segments that selective acknowledgements cover; of a listening socket the limit of waiting ones.
        sacked: u32 = u32,
        /// Segments taken for lost.
        lost: u32 = u32,
        /// Segments sent again and not acknowledged.
        retrans: u32 = u32,
        /// Once the segments up to the highest selective acknowledgement; zero since Linux 4.15.
        fackets: u32 = u32,
        /// Since data was last sent.
        last_data_sent: Duration = millis,
        /// Never filled in.
        last_ack_sent: Duration = millis,
        /// Since data last arrived.
        last_data_recv: Duration = millis,
        /// Since an acknowledgement last arrived.
        last_ack_recv: Duration = millis,
        /// The path MTU that the connection goes by, bytes.
        pmtu: u32 = u32,
        /// Up to how many bytes the advertised window may grow.
        rcv_ssthresh: u32 = u32,
        /// The smoothed round-trip time (RFC 6298).
        rtt: Duration = micros,
        /// The round-trip time's mean deviation.
        rttvar: Duration = micros,
        /// The slow-start threshold, segments; `None` until a loss has set one.
        snd_ssthresh: Option<u32> = threshold,
        /// The congestion window, segments.
        snd_cwnd: u32 = u32,
        /// The MSS that was advertised, less the options of every segment: 12 bytes below the number in
        /// the SYN where timestamps are on.
        advmss: u32 = u32,
        /// After how many later segments one counts as lost.
        reordering: u32 = u32,
        /// The receiver's estimate of the round-trip time; zero where it has none.
        rcv_rtt: Duration = micros,
        /// Bytes that the application took within a round trip: what the window's growth goes by.
        rcv_space: u32 = u32,
        /// Segments sent again, ever.
        total_retrans: u32 = u32,
    }
    since {
        /// At what rate segments are spaced, bytes a second; all ones for without pacing. Linux 3.15.
        pacing_rate: u64 = u64,
        /// The application's limit of it (`SO_MAX_PACING_RATE`); all ones for none. Linux 3.15.
        max_pacing_rate: u64 = u64,
        /// Bytes acknowledged, the SYN's among them (RFC 4898 tcpEStatsAppHCThruOctetsAcked). Linux 4.1.
        bytes_acked: u64 = u64,
        /// Bytes received in order (RFC 4898 tcpEStatsAppHCThruOctetsReceived). Linux 4.1.
        bytes_received: u64 = u64,
        /// Segments sent, repeated ones included (RFC 4898 tcpEStatsPerfSegsOut). Linux 4.2.
        segs_out: u32 = u32,
        /// Segments received (RFC 4898 tcpEStatsPerfSegsIn). Linux 4.2.
        segs_in: u32 = u32,
        /// Bytes that wait to be sent for the first time. Linux 4.6.
        notsent_bytes: u32 = u32,
        /// The least round-trip time of late (within `net.ipv4.tcp_min_rtt_wlen`); `None` too where
        /// there is no sample. Linux 4.6.
        min_rtt: Duration = measured_micros,
        /// Segments with data received (RFC 4898 tcpEStatsDataSegsIn). Linux 4.6.
        data_segs_in: u32 = u32,
        /// Segments with data sent, repeated ones included (RFC 4898 tcpEStatsDataSegsOut). Linux 4.6.
        data_segs_out: u32 = u32,
        /// The latest rate at which data arrived, bytes a second; see
        /// [`TcpInfoFlags::delivery_rate_app_limited`]. Linux 4.9.
        delivery_rate: u64 = u64,
        /// Time during which there was data to send or to be acknowledged. Linux 4.10.
        busy_time: Duration = long_micros,
        /// Time of it during which the receiver's window was the limit. Linux 4.10.
        rwnd_limited: Duration = long_micros,
        /// Time of it during which the send buffer was the limit. Linux 4.10.
        sndbuf_limited: Duration = long_micros,
        /// Segments delivered, those that arrived twice included. Linux 4.18.
        delivered: u32 = u32,
        /// Segments of them whose acknowledgement echoed a congestion mark. Linux 4.18.
        delivered_ce: u32 = u32,
        /// Payload bytes sent, repeated ones included (RFC 4898 tcpEStatsPerfHCDataOctetsOut). Linux 4.19.
        bytes_sent: u64 = u64,
        /// Payload bytes sent again (RFC 4898 tcpEStatsPerfOctetsRetrans). Linux 4.19.
        bytes_retrans: u64 = u64,
        /// Duplicates that the peer reported (RFC 4898 tcpEStatsStackDSACKDups). Linux 4.19.
        dsack_dups: u32 = u32,
        /// Times that an acknowledgement showed reordering. Linux 4.19.
        reord_seen: u32 = u32,
        /// Segments that arrived out of order. Linux 5.4.
        rcv_ooopack: u32 = u32,
        /// The window that the peer last advertised, scaled, bytes. Linux 5.4.
        snd_wnd: u32 = u32,
        /// The window that was last advertised to the peer, scaled, bytes. Linux 6.2.
        rcv_wnd: u32 = u32,
        /// Times that the flow was given another hash, for another path, after timeouts. Linux 6.2.
        rehash: u32 = u32,
        /// Timeouts (RFC 6298 §5), those of the SYN included. Linux 6.7.
        total_rto: u16 = u16,
        /// Recoveries from timeouts that have come to their end. Linux 6.7.
        total_rto_recoveries: u16 = u16,
        /// Time spent in such recoveries. Linux 6.7.
        total_rto_time: Duration = millis,
        /// Segments received with a congestion mark. This and what follows: Accurate ECN (RFC 9768), Linux 6.18.
        received_ce: u32 = u32,
        /// Bytes sent with ECT(1) that arrived so.
        delivered_e1_bytes: u32 = u32,
        /// Bytes sent with ECT(0) that arrived so.
        delivered_e0_bytes: u32 = u32,
        /// Bytes sent that arrived with a congestion mark.
        delivered_ce_bytes: u32 = u32,
        /// Bytes received with ECT(1).
        received_e1_bytes: u32 = u32,
        /// Bytes received with ECT(0).
        received_e0_bytes: u32 = u32,
        /// Bytes received with a congestion mark. The four bytes that follow mean one thing in Linux 6.18
        /// and another in later ones, and are not read.
        received_ce_bytes: u32 = u32,
    }
}

impl TcpInfo {
    /// Bytes that every kernel gives: up to and with `total_retrans`.
    pub const LEAST: usize = 104;
    /// Bytes of the structure in Linux 6.18: what to offer room for.
    pub const LEN: usize = 280;

    /// The structure at the head of `bytes`, as much of it as is there.
    ///
    /// # Errors
    /// There are fewer than [`TcpInfo::LEAST`] bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let short =
            DecodeError::Short { layer: Layer::TcpInfo, have: bytes.len(), need: Self::LEAST };
        let info = match bytes.first_chunk::<{ Self::LEN }>() {
            Some(whole) => Self::read(&mut Numbers(whole)),
            None => Self::read(&mut Numbers(bytes)),
        };
        info.ok_or(short)
    }

    /// Where the connection stands (RFC 9293 §3.3.2); `None` for a number that is no such state.
    pub fn state(&self) -> Option<State> {
        State::from_number(self.state)
    }

    /// What the congestion control is doing; `None` for a number that is no such state.
    pub fn ca_state(&self) -> Option<CaState> {
        CaState::ALL.into_iter().find(|state| *state as u8 == self.ca_state)
    }

    /// Bytes of TCP options in every segment: those of timestamps, where they are agreed on.
    pub fn option_bytes(&self) -> u32 {
        let timestamps = u32::try_from(TCP_TIMESTAMPS.get()).unwrap_or(u32::MAX);
        if self.options.timestamps() { timestamps } else { 0 }
    }

    /// Whether losses are being repaired (`TCP_CA_Recovery`, `TCP_CA_Loss`).
    pub fn is_recovering(&self) -> bool {
        matches!(self.ca_state(), Some(CaState::Recovery | CaState::Loss))
    }
}
