//! TCP as Linux 6.12 has it, sans-IO: one [`Socket`] is one end of a connection, with data in both directions.
//!
//! ```text
//! on_packet(now, packet)     what arrives
//! on_timer(now)              what next_timer() said is due
//! write · read               what the application does; a write may have to wait for room
//! poll_transmit()            what to send, until None
//! ```
//! Each file is one concern and names the kernel's functions whose rules it follows; windows and counters are in segments and
//! the fields have the kernel's names, so that a trace of `tcp_info` reads like the fields here. Numbers are 64-bit and do not
//! wrap. Time enters as the run's; `clock` makes jiffies of it, because most timers and CUBIC's curve count in them.

mod ack;
mod ca_state;
mod cc;
mod chrono;
mod clean;
mod clock;
mod constants;
mod delayed_ack;
mod ecn;
mod ending;
mod fair_queue;
mod flags;
mod gap_buffer;
mod handshake;
mod info;
mod mtu_probing;
mod ordinary_ack;
mod outbox;
mod output;
mod pace;
mod packet;
mod path_mtu;
mod prr;
mod queue;
mod rack;
mod rate;
mod receive;
mod receive_buffer;
mod recovery;
mod reordered;
mod retransmit;
mod rtt;
mod sack;
mod segmentation;
mod settings;
mod shift;
mod short_queue;
mod skb;
mod socket_options;
#[cfg(test)]
mod tests;
mod timers;
mod tlp;
mod undo;
mod unused_window;
mod user_timeout;
mod view;
mod windowed;
mod write;

pub use packet::{Blocks, Flags, Packet, Stamps, SynOptions};
pub use settings::{Algorithm, Host};

use std::collections::VecDeque;

use crate::units::Time;
use ca_state::CaState;
use cc::{Congestion, UNLIMITED, Window};
use chrono::Chrono;
use clock::Clock;
use delayed_ack::DelayedAck;
use ecn::Ecn;
use ending::Ending;
use fair_queue::FairQueue;
use info::Counters;
use mtu_probing::MtuProbing;
use outbox::Outbox;
use rack::Rack;
use rate::Rate;
use receive_buffer::ReceiveBuffer;
use reordered::OutOfOrder;
use rtt::RoundTrip;
use skb::Skb;
use timers::Timers;
use user_timeout::WindowProbes;
use write::Writer;

/// The state of the connection (RFC 9293 §3.3.2), as far as data flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Listen,
    SynSent,
    SynReceived,
    Established,
    Closed,
}

/// One end of a TCP connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state of its own, as in `struct tcp_sock`"
)]
pub struct Socket {
    host: Host,
    /// What a packet in the send queue counts besides its payload (`Host::skb_overhead`).
    skb_overhead: u64,
    clock: Clock,
    state: State,
    timers: Timers,
    counters: Counters,
    out: Outbox,
    /// Packets that wait at the first link, where that has `fq`.
    fair_queue: FairQueue,

    // What the handshake agreed on (`struct tcp_options_received`).
    sack_ok: bool,
    stamps_ok: bool,
    /// Windows are scaled (`wscale_ok`).
    scales_ok: bool,
    snd_wscale: u32,
    rcv_wscale: u32,
    mss_clamp: u64,
    advmss: u64,
    /// The peer's latest `TSval`, to be echoed.
    ts_recent: u64,
    /// `TSecr` of the packet at hand; 0 where there is none.
    rcv_tsecr: u64,

    // The send sequence.
    snd_una: u64,
    snd_nxt: u64,
    write_seq: u64,
    pushed_seq: u64,
    /// End of the last small packet: Nagle's (`snd_sml`).
    snd_sml: u64,
    snd_wl1: u64,
    snd_wnd: u64,
    max_window: u64,
    mss_cache: u64,
    mtu_probing: Option<Box<MtuProbing>>,
    /// Not sent yet (`sk_write_queue`).
    write_queue: VecDeque<Skb>,
    /// Sent and not acknowledged (`tcp_rtx_queue`), in order of numbers.
    rtx_queue: VecDeque<Skb>,
    /// When a packet was sent last, or may be sent where packets are paced, on the kernel's clock
    /// (`tcp_wstamp_ns`).
    last_sent_nanos: u64,
    /// The same in jiffies, data only (`lsndtime`).
    last_sent_jiffies: u64,
    writer: Writer,
    chrono: Chrono,
    ending: Ending,
    ecn: Ecn,
    /// The link takes no packet now.
    is_refused: bool,

    // The scoreboard, in segments.
    packets_out: u64,
    sacked_out: u64,
    lost_out: u64,
    retrans_out: u64,
    delivered: u64,
    /// Segments ever taken for lost (`lost`).
    lost: u64,
    /// End of the highest SACKed packet (`highest_sack`).
    highest_sack: u64,
    /// Packets from this number on are no SYN, were sent once and have no tag of the scoreboard.
    untagged_from: u64,
    /// Where in the queue the last SACK block ended.
    sacked_index: usize,
    /// Where the search for packets to send again goes on (`retransmit_skb_hint`).
    retransmit_hint: Option<u64>,
    /// Where in the queue that was.
    retransmit_index: usize,
    /// Where the search for lost packets without RACK goes on, and what was counted up to there
    /// (`lost_skb_hint`, `lost_cnt_hint`).
    lost_hint: Option<u64>,
    lost_count_hint: u64,
    /// The blocks of the last acknowledgement (`recv_sack_cache`).
    last_blocks: Blocks,
    reordering: u64,
    reord_seen: u64,
    is_sack_reneg: bool,
    dsack_dups: u64,
    rack: Rack,

    // Congestion.
    ca_state: CaState,
    /// A timeout, and no router's word of a smaller MTU, began the state `Loss`.
    is_timed_out: bool,
    window: Window,
    congestion: Congestion,
    prior_ssthresh: u64,
    high_seq: u64,
    prr_delivered: u64,
    prr_out: u64,
    undo_marker: Option<u64>,
    /// Segments sent again whose arrival is not explained; negative: none was sent (`undo_retrans`).
    undo_retrans: i64,
    /// When the first packet of this episode was sent again, in milliseconds (`retrans_stamp`); 0: none.
    retrans_stamp: u64,
    frto: bool,
    /// Where the data ended when the tail was probed (`tlp_high_seq`); 0: it was not.
    tlp_high_seq: u64,
    tlp_retrans: bool,
    is_cwnd_limited: bool,
    max_packets_out: u64,
    cwnd_usage_seq: u64,
    snd_cwnd_used: u64,
    snd_cwnd_stamp: u64,
    /// In bytes a second (`sk_pacing_rate`).
    pacing_rate: u64,
    /// Anything paces what is sent: the socket or its first link (`sk_pacing_status`).
    is_paced: bool,

    // Round trips and timeouts.
    rtt: RoundTrip,
    /// What the last acknowledgement showed, in microseconds.
    last_round_trip: Option<u64>,
    /// `icsk_rto`, in jiffies.
    rto: u64,
    /// `tcp_rto_min`, in jiffies.
    rto_min: u64,
    backoff: u32,
    /// `icsk_retransmits`: timeouts since the last progress.
    retransmits: u64,
    total_rto: u64,
    window_probes: WindowProbes,
    /// `icsk_user_timeout`, in milliseconds; 0: none.
    user_timeout: u64,
    has_timed_out: bool,
    rate: Rate,

    // The receive sequence.
    rcv_nxt: u64,
    copied_seq: u64,
    rcv_wup: u64,
    ack: DelayedAck,
    buffer: ReceiveBuffer,
    out_of_order: OutOfOrder,
    /// What the duplicate that came last took, to be told (`duplicate_sack`).
    dsack: Option<(u64, u64)>,
    last_oow_ack: Option<u64>,
}

impl Socket {
    /// A socket of this host, as `tcp_init_sock` (`net/ipv4/tcp.c`) leaves it.
    fn new(host: Host, now: Time, state: State) -> Self {
        let clock = Clock::new(host.hz, host.up_before, now);
        let congestion = Congestion::new(&host);
        let rate = Rate::new(host.is_watched, congestion.is_rate_based());
        Self {
            skb_overhead: host.skb_overhead(),
            clock,
            state,
            timers: Timers::default(),
            counters: Counters::default(),
            out: Outbox::default(),
            fair_queue: FairQueue::default(),
            sack_ok: false,
            stamps_ok: false,
            scales_ok: false,
            snd_wscale: 0,
            rcv_wscale: 0,
            mss_clamp: host.maxseg.map_or(constants::MSS_DEFAULT, |mss| mss.bytes().get()),
            advmss: 0,
            ts_recent: 0,
            rcv_tsecr: 0,
            snd_una: 0,
            snd_nxt: 0,
            write_seq: 0,
            pushed_seq: 0,
            snd_sml: 0,
            snd_wl1: 0,
            snd_wnd: 0,
            max_window: 0,
            mss_cache: constants::MSS_DEFAULT,
            mtu_probing: None,
            write_queue: VecDeque::new(),
            rtx_queue: VecDeque::new(),
            last_sent_nanos: 0,
            last_sent_jiffies: clock.jiffies,
            writer: Writer::new(&host),
            chrono: Chrono::default(),
            ending: Ending::default(),
            ecn: Ecn::default(),
            is_refused: false,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            delivered: 0,
            lost: 0,
            highest_sack: 0,
            untagged_from: 1,
            sacked_index: 0,
            retransmit_hint: None,
            retransmit_index: 0,
            lost_hint: None,
            lost_count_hint: 0,
            last_blocks: Blocks::default(),
            reordering: host.tcp_reordering,
            reord_seen: 0,
            is_sack_reneg: false,
            dsack_dups: 0,
            rack: Rack::default(),
            ca_state: CaState::Open,
            is_timed_out: false,
            window: Window { cwnd: 10, ssthresh: UNLIMITED, count: 0, prior_cwnd: 0 },
            is_paced: host.fq || congestion.is_rate_based() || host.max_pacing_rate < u64::MAX,
            congestion,
            prior_ssthresh: 0,
            high_seq: 0,
            prr_delivered: 0,
            prr_out: 0,
            undo_marker: None,
            undo_retrans: -1,
            retrans_stamp: 0,
            frto: false,
            tlp_high_seq: 0,
            tlp_retrans: false,
            is_cwnd_limited: false,
            max_packets_out: 0,
            cwnd_usage_seq: 0,
            snd_cwnd_used: 0,
            snd_cwnd_stamp: clock.jiffies,
            pacing_rate: u64::MAX,
            rtt: RoundTrip::new(&clock),
            last_round_trip: None,
            rto: clock.seconds(1, 1),
            rto_min: (host.tcp_rto_min_us * host.hz).div_ceil(1_000_000),
            backoff: 0,
            retransmits: 0,
            total_rto: 0,
            window_probes: WindowProbes::default(),
            user_timeout: 0,
            has_timed_out: false,
            rate,
            rcv_nxt: 0,
            copied_seq: 0,
            rcv_wup: 0,
            ack: DelayedAck::default(),
            buffer: ReceiveBuffer::new(&host),
            out_of_order: OutOfOrder::default(),
            dsack: None,
            last_oow_ack: None,
            host,
        }
    }

    /// The passive end, which waits for a SYN.
    pub fn listen(host: Host, now: Time) -> Self {
        Self::new(host, now, State::Listen)
    }

    /// The active end; its SYN goes at once.
    pub fn connect(host: Host, now: Time) -> Self {
        let mut socket = Self::new(host, now, State::SynSent);
        socket.send_syn();
        socket
    }

    /// Whether data can flow.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Segments in flight, as far as is known (`tcp_packets_in_flight`).
    #[inline]
    pub(crate) const fn in_flight(&self) -> u64 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// `tcp_wnd_end`.
    #[inline]
    const fn window_end(&self) -> u64 {
        self.snd_una + self.snd_wnd
    }
}
