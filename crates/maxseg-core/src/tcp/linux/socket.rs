//! One end of a connection: what it remembers.

use std::collections::VecDeque;

use super::cc::{Congestion, UNLIMITED, View, Window};
use super::clock::Clock;
use super::delayed_ack::DelayedAck;
use super::info::Counters;
use super::packet::{Blocks, Packet};
use super::rack::Rack;
use super::rate::Rate;
use super::receive_buffer::ReceiveBuffer;
use super::reordered::OutOfOrder;
use super::rtt::RoundTrip;
use super::settings::Host;
use super::skb::Skb;
use super::timers::Timers;
use super::write::Writer;
use crate::units::Time;

/// The state of the connection (RFC 9293 §3.3.2), as far as data flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Listen,
    SynSent,
    SynReceived,
    Established,
}

/// `icsk_ca_state`: what the sender thinks of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaState {
    Open = 0,
    Disorder = 1,
    Cwr = 2,
    Recovery = 3,
    Loss = 4,
}

/// One end of a TCP connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state of its own, as in `struct tcp_sock`"
)]
pub struct Socket {
    pub(super) host: Host,
    pub(super) clock: Clock,
    pub(super) state: State,
    pub(super) timers: Timers,
    pub(super) counters: Counters,
    /// Packets that are to go now.
    pub(super) out: VecDeque<Packet>,

    // What the handshake agreed on (`struct tcp_options_received`).
    pub(super) sack_ok: bool,
    pub(super) stamps_ok: bool,
    /// Windows are scaled (`wscale_ok`).
    pub(super) scales_ok: bool,
    pub(super) snd_wscale: u32,
    pub(super) rcv_wscale: u32,
    pub(super) mss_clamp: u64,
    pub(super) advmss: u64,
    /// The peer's latest `TSval`, to be echoed.
    pub(super) ts_recent: u64,
    /// `TSecr` of the packet at hand; 0 where there is none.
    pub(super) rcv_tsecr: u64,

    // The send sequence.
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
    pub(super) write_seq: u64,
    pub(super) pushed_seq: u64,
    /// End of the last small packet: Nagle's (`snd_sml`).
    pub(super) snd_sml: u64,
    pub(super) snd_wl1: u64,
    pub(super) snd_wnd: u64,
    pub(super) max_window: u64,
    pub(super) mss_cache: u64,
    /// Not sent yet (`sk_write_queue`).
    pub(super) write_queue: VecDeque<Skb>,
    /// Sent and not acknowledged (`tcp_rtx_queue`), in order of numbers.
    pub(super) rtx_queue: VecDeque<Skb>,
    /// When a packet was sent last, on the kernel's clock (`tcp_wstamp_ns`).
    pub(super) last_sent_nanos: u64,
    /// The same in jiffies, data only (`lsndtime`).
    pub(super) last_sent_jiffies: u64,
    pub(super) writer: Writer,

    // The scoreboard, in segments.
    pub(super) packets_out: u64,
    pub(super) sacked_out: u64,
    pub(super) lost_out: u64,
    pub(super) retrans_out: u64,
    pub(super) delivered: u64,
    /// Segments ever taken for lost (`lost`).
    pub(super) lost: u64,
    /// End of the highest packet that SACK told of (`highest_sack`).
    pub(super) highest_sack: u64,
    /// Where the search for packets to send again goes on (`retransmit_skb_hint`).
    pub(super) retransmit_hint: Option<u64>,
    /// Where the search for lost packets without RACK goes on, and what was counted up to there
    /// (`lost_skb_hint`, `lost_cnt_hint`).
    pub(super) lost_hint: Option<u64>,
    pub(super) lost_count_hint: u64,
    /// The blocks of the last acknowledgement (`recv_sack_cache`).
    pub(super) last_blocks: Blocks,
    pub(super) reordering: u64,
    pub(super) reord_seen: u64,
    pub(super) is_sack_reneg: bool,
    pub(super) dsack_dups: u64,
    pub(super) rack: Rack,

    // Congestion.
    pub(super) ca_state: CaState,
    pub(super) window: Window,
    pub(super) congestion: Congestion,
    pub(super) prior_ssthresh: u64,
    pub(super) high_seq: u64,
    pub(super) prr_delivered: u64,
    pub(super) prr_out: u64,
    pub(super) undo_marker: Option<u64>,
    /// Segments sent again whose arrival is not explained; negative: none was sent (`undo_retrans`).
    pub(super) undo_retrans: i64,
    /// When the first packet of this episode was sent again, in milliseconds (`retrans_stamp`); 0: none.
    pub(super) retrans_stamp: u64,
    pub(super) frto: bool,
    /// Where the data ended when the tail was probed (`tlp_high_seq`); 0: it was not.
    pub(super) tlp_high_seq: u64,
    pub(super) tlp_retrans: bool,
    pub(super) is_cwnd_limited: bool,
    pub(super) max_packets_out: u64,
    pub(super) cwnd_usage_seq: u64,
    pub(super) snd_cwnd_used: u64,
    pub(super) snd_cwnd_stamp: u64,
    /// In bytes a second (`sk_pacing_rate`).
    pub(super) pacing_rate: u64,

    // Round trips and timeouts.
    pub(super) rtt: RoundTrip,
    /// What the last acknowledgement showed, in microseconds.
    pub(super) last_round_trip: Option<u64>,
    /// `icsk_rto`, in jiffies.
    pub(super) rto: u64,
    pub(super) backoff: u32,
    /// `icsk_retransmits`: timeouts since the last progress.
    pub(super) retransmits: u64,
    pub(super) total_rto: u64,
    pub(super) rate: Rate,

    // The receive sequence.
    pub(super) rcv_nxt: u64,
    pub(super) copied_seq: u64,
    pub(super) rcv_wup: u64,
    pub(super) ack: DelayedAck,
    pub(super) buffer: ReceiveBuffer,
    pub(super) out_of_order: OutOfOrder,
    /// What the duplicate that came last took, to be told (`duplicate_sack`).
    pub(super) dsack: Option<(u64, u64)>,
    pub(super) last_oow_ack: Option<u64>,
}

impl Socket {
    /// A socket of this host, as `tcp_init_sock` (`net/ipv4/tcp.c`) leaves it.
    fn new(host: Host, now: Time, state: State) -> Self {
        let clock = Clock::new(host.hz, host.up_before, now);
        Self {
            clock,
            state,
            timers: Timers::default(),
            counters: Counters::default(),
            out: VecDeque::new(),
            sack_ok: false,
            stamps_ok: false,
            scales_ok: false,
            snd_wscale: 0,
            rcv_wscale: 0,
            mss_clamp: host.maxseg.unwrap_or(super::output::MSS_DEFAULT),
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
            mss_cache: super::output::MSS_DEFAULT,
            write_queue: VecDeque::new(),
            rtx_queue: VecDeque::new(),
            last_sent_nanos: 0,
            last_sent_jiffies: clock.jiffies,
            writer: Writer::new(&host),
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            delivered: 0,
            lost: 0,
            highest_sack: 0,
            retransmit_hint: None,
            lost_hint: None,
            lost_count_hint: 0,
            last_blocks: Blocks::default(),
            reordering: host.tcp_reordering,
            reord_seen: 0,
            is_sack_reneg: false,
            dsack_dups: 0,
            rack: Rack::default(),
            ca_state: CaState::Open,
            window: Window { cwnd: 10, ssthresh: UNLIMITED, count: 0, prior_cwnd: 0 },
            congestion: Congestion::new(host.congestion),
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
            backoff: 0,
            retransmits: 0,
            total_rto: 0,
            rate: Rate::default(),
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

    /// The next packet to send now, if there is one.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Packet> {
        self.out.pop_front()
    }

    /// Whether data can flow.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// What the congestion control sees of it now.
    pub(super) fn view(&self) -> View {
        View {
            micros: self.clock.micros,
            jiffies: self.clock.jiffies,
            hz: self.host.hz,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            last_sent_jiffies: self.last_sent_jiffies,
            pacing_rate: self.pacing_rate,
            is_paced: false,
            gso_max_size: self.host.gso_max_size(),
        }
    }

    /// `tcp_packets_in_flight`.
    #[inline]
    pub(super) const fn in_flight(&self) -> u64 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// `tcp_wnd_end`.
    #[inline]
    pub(super) const fn window_end(&self) -> u64 {
        self.snd_una + self.snd_wnd
    }

    /// Where the highest packet that SACK told of ends (`tcp_highest_sack_seq`).
    #[inline]
    pub(super) fn highest_sack_seq(&self) -> u64 {
        if self.sacked_out == 0 { self.snd_una } else { self.highest_sack }
    }

    /// `tcp_in_cwnd_reduction`.
    #[inline]
    pub(super) fn in_cwnd_reduction(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// The threshold to remember of the window at hand (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u64 {
        if self.in_cwnd_reduction() {
            self.window.ssthresh
        } else {
            self.window.ssthresh.max(self.window.cwnd / 2 + self.window.cwnd / 4)
        }
    }

    /// `tcp_set_ca_state`.
    pub(super) fn set_ca_state(&mut self, state: CaState) {
        if state == CaState::Loss {
            use super::cc::CongestionControl;
            let view = self.view();
            self.congestion.on_timeout(&view);
        }
        self.ca_state = state;
    }
}
