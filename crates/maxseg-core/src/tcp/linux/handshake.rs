//! Opening a connection (`tcp_connect`, `tcp_rcv_synsent_state_process`, `tcp_conn_request`,
//! `tcp_create_openreq_child`).

use super::Socket;
use super::State;
use super::ack::Verdict;
use super::cc::{CongestionControl, UNLIMITED};
use super::constants::{MIN_MSS, MSS_DEFAULT, STAMPS_LEN};
use super::flags::SYN_ACKED;
use super::packet::{Blocks, Flags, Packet, Stamps, SynOptions};
use super::rtt::RoundTrips;
use super::skb::{ANY_RETRANSMISSION, Skb};
use super::timers::Retransmit;
use crate::mss::Cause;
use crate::mss::linux::advertised;
use crate::units::Mss;

/// The largest window that is not scaled (`U16_MAX`).
const UNSCALED: u64 = 65_535;

impl Socket {
    /// What the MSS option says.
    fn mss_option(&self) -> u64 {
        let route = (self.host.known_mtu(), Cause::InterfaceMtu);
        let advmss = self.host.route_advmss.map(Mss::get);
        advertised(self.host.ip(), route, advmss, self.host.maxseg).value().get()
    }

    /// `TCP_MAXSEG`, in bytes.
    fn maxseg(&self) -> Option<u64> {
        self.host.maxseg.map(|mss| mss.bytes().get())
    }

    /// What every segment carries takes room of its payload.
    fn leave_room_for_stamps(&mut self) {
        if self.stamps_ok {
            self.advmss = self.advmss.saturating_sub(STAMPS_LEN);
        }
    }

    /// The MSS option that reaches the peer.
    fn mss_option_on_the_wire(&self) -> Option<u64> {
        self.host.mss_option.map_or_else(
            || Some(self.mss_option()),
            |written| written.value().map(|mss| mss.bytes().get()),
        )
    }

    /// Whether segments carry timestamps, or will once the peer agrees.
    pub(super) const fn uses_stamps(&self) -> bool {
        match self.state {
            State::Listen | State::SynSent => self.host.tcp_timestamps,
            State::SynReceived | State::Established | State::Closed => self.stamps_ok,
        }
    }

    /// `tcp_initialize_rcv_mss`.
    fn initialize_rcv_mss(&mut self) {
        let hint = self.advmss.min(self.mss_cache).min(self.buffer.rcv_wnd / 2);
        self.ack.rcv_mss = hint.clamp(MIN_MSS, MSS_DEFAULT);
    }

    /// The SYN goes, and is queued like data (`tcp_connect`).
    pub(super) fn send_syn(&mut self) {
        self.advmss = self.mss_option();
        self.init_mtu_probing();
        self.sync_mss();
        self.select_initial_window(self.advmss);
        self.initialize_rcv_mss();
        let truesize = self.skb_overhead;
        let mut syn = Skb { end_seq: 1, segments: 1, truesize, is_syn: true, ..Skb::default() };
        self.writer.queued += truesize;
        self.retrans_stamp = super::clock::Clock::millis_of(self.clock.nanos);
        // It counts as out before it goes (`tcp_connect_queue_skb`), and makes no sample of the rate for that.
        self.packets_out = 1;
        self.transmit(&mut syn);
        self.write_seq = 1;
        self.snd_nxt = 1;
        self.pushed_seq = 1;
        self.snd_sml = 1;
        self.rtx_queue.push_back(syn);
        self.timers.set_retransmit(&self.clock, Retransmit::Timeout, self.rto);
    }

    /// Puts a SYN on the wire.
    pub(super) fn emit_syn(&mut self, skb: &Skb) {
        let options = SynOptions {
            mss: self.mss_option_on_the_wire(),
            window_scale: self.host.tcp_window_scaling.then_some(self.rcv_wscale),
            sack_permitted: self.host.tcp_sack,
        };
        let value = super::clock::Clock::millis_of(skb.sent_nanos);
        self.put_syn(options, self.host.tcp_timestamps.then_some(Stamps { value, echo: 0 }), skb);
    }

    fn put_syn(&mut self, options: SynOptions, stamps: Option<Stamps>, skb: &Skb) {
        self.put(Packet {
            seq: 0,
            ack: self.rcv_nxt,
            len: 0,
            window: self.buffer.rcv_wnd.min(UNSCALED),
            push: false,
            flags: self.flags_of_syn(),
            syn: Some(options),
            stamps,
            sack: Blocks::default(),
            repeated: skb.is(ANY_RETRANSMISSION),
            alone: true,
        });
    }

    /// The peer's SYN says what it can (`tcp_parse_options`).
    fn agree(&mut self, packet: &Packet, options: SynOptions) {
        self.sack_ok = options.sack_permitted && self.host.tcp_sack;
        self.stamps_ok = packet.stamps.is_some() && self.host.tcp_timestamps;
        match options.window_scale.filter(|_| self.host.tcp_window_scaling) {
            Some(scale) => {
                self.snd_wscale = scale;
                self.scales_ok = true;
            }
            None => self.rcv_wscale = 0,
        }
        let offered = options.mss.unwrap_or_else(|| self.host.mss_without_option());
        self.mss_clamp = self.maxseg().map_or(offered, |most| most.min(offered));
        if let Some(stamps) = packet.stamps.filter(|_| self.stamps_ok) {
            self.ts_recent = stamps.value;
        }
    }

    /// What awaits a SYN gets one (`tcp_conn_request`).
    pub(super) fn on_syn(&mut self, packet: &Packet) {
        let Some(options) = packet.syn.filter(|_| packet.ack == 0) else { return };
        self.agree(packet, options);
        self.ecn.ok =
            self.host.tcp_ecn > 0 && packet.flags.has(Flags::ECE) && packet.flags.has(Flags::CWR);
        self.state = State::SynReceived;
        self.rcv_nxt = 1;
        self.advmss = self.mss_option();
        let stamps = if self.stamps_ok { STAMPS_LEN } else { 0 };
        self.select_initial_window(self.advmss.saturating_sub(stamps).max(1));
        if !self.scales_ok {
            self.rcv_wscale = 0;
        }
        self.snd_nxt = 1;
        self.write_seq = 1;
        self.pushed_seq = 1;
        self.send_syn_ack(false);
        self.timers.set_retransmit(&self.clock, Retransmit::Timeout, self.rto);
    }

    /// `tcp_make_synack`; a repetition counts as one (`inet_rtx_syn_ack`, `tcp_rtx_synack`).
    fn send_syn_ack(&mut self, is_repeated: bool) {
        let options = SynOptions {
            mss: self.mss_option_on_the_wire(),
            window_scale: self.scales_ok.then_some(self.rcv_wscale),
            sack_permitted: self.sack_ok,
        };
        let value = super::clock::Clock::millis_of(self.clock.nanos);
        let stamps = self.stamps_ok.then_some(Stamps { value, echo: self.ts_recent });
        let mut skb = Skb { sent_nanos: self.clock.nanos, ..Skb::default() };
        if is_repeated {
            skb.sacked = ANY_RETRANSMISSION;
            self.counters.retransmitted_segments += 1;
            self.counters.retransmitted_syns += 1;
        } else {
            // When the first went is what the round trip counts from, and what its answer echoes (`snt_synack`).
            self.last_sent_nanos = self.clock.nanos;
            self.retrans_stamp = value;
        }
        self.put_syn(options, stamps, &skb);
    }

    /// The SYN-ACK is not acknowledged in time (`reqsk_timer_handler`, `net/ipv4/inet_connection_sock.c`).
    pub(super) fn repeat_syn_ack(&mut self) {
        self.retransmits += 1;
        self.counters.timeouts += 1;
        self.send_syn_ack(true);
        let rto = self.rto << self.retransmits.min(16);
        self.timers.set_retransmit(&self.clock, Retransmit::Timeout, rto);
    }

    /// The third packet of the handshake, or data that came instead of it (`tcp_check_req`,
    /// `tcp_create_openreq_child`, `tcp_rcv_state_process`).
    pub(super) fn on_handshake_ack(&mut self, packet: &Packet) {
        if packet.syn.is_some() {
            // The SYN-ACK was lost: it goes again, and its timer starts anew.
            self.send_syn_ack(true);
            let rto = self.rto << self.retransmits.min(16);
            return self.timers.set_retransmit(&self.clock, Retransmit::Timeout, rto);
        }
        if packet.ack != 1 {
            return;
        }
        self.timers.pending = None;
        self.snd_una = 1;
        self.snd_sml = 1;
        self.rcv_nxt = 1;
        self.rcv_wup = 1;
        self.copied_seq = 1;
        self.snd_wnd = packet.window;
        self.snd_wl1 = packet.seq;
        self.max_window = packet.window;
        self.state = State::Established;
        self.sync_mss();
        if self.retransmits > 0 {
            self.undo_marker = Some(0);
            self.try_undo_spurious_syn();
        }
        self.retrans_stamp = 0;
        self.take_round_trip_of_syn_ack();
        if let Some(stamps) = packet.stamps.filter(|_| self.stamps_ok) {
            self.ts_recent = stamps.value;
        }
        self.delivered += 1;
        self.leave_room_for_stamps();
        self.init_mtu_probing();
        self.init_transfer();
        self.update_pacing_rate();
        self.last_sent_jiffies = self.clock.jiffies;
        self.ack.received_at = self.clock.jiffies;
        self.initialize_rcv_mss();
        if packet.len > 0 {
            self.process(packet);
        }
    }

    /// `tcp_synack_rtt_meas`.
    fn take_round_trip_of_syn_ack(&mut self) {
        let is_first = self.counters.retransmitted_segments == 0;
        let trip = is_first.then(|| (self.clock.nanos - self.last_sent_nanos) / 1000);
        let trips = RoundTrips { first: trip, sacked: None, last: trip };
        self.take_round_trips(trips, SYN_ACKED > 0, false);
        self.retransmits = 0;
    }

    /// The first copy of a SYN or a SYN-ACK was answered: its timeout was too early (`tcp_try_undo_spurious_syn`).
    fn try_undo_spurious_syn(&mut self) {
        if self.retrans_stamp != 0 && self.rcv_tsecr == self.retrans_stamp {
            self.undo_marker = None;
        }
    }

    /// The SYN is answered (`tcp_rcv_synsent_state_process`).
    pub(super) fn on_syn_ack(&mut self, packet: &Packet) {
        let Some(options) = packet.syn.filter(|_| packet.ack == 1) else { return };
        self.agree(packet, options);
        self.take_ecn_answer(packet);
        self.snd_wl1 = packet.seq;
        self.try_undo_spurious_syn();
        if self.on_ack(packet) == Verdict::Invalid {
            return;
        }
        self.rcv_nxt = 1;
        self.rcv_wup = 1;
        self.copied_seq = 1;
        self.snd_wnd = packet.window;
        if !self.scales_ok {
            self.rcv_wscale = 0;
            self.buffer.window_clamp = self.buffer.window_clamp.min(UNSCALED);
        }
        self.leave_room_for_stamps();
        self.state = State::Established;
        self.init_mtu_probing();
        self.sync_mss();
        self.initialize_rcv_mss();
        self.ack.received_at = self.clock.jiffies;
        self.init_transfer();
        self.last_sent_jiffies = self.clock.jiffies;
        self.send_ack();
        self.send_pending();
    }

    /// Data may flow (`tcp_init_transfer`, `tcp_init_metrics`).
    fn init_transfer(&mut self) {
        self.window.ssthresh = UNLIMITED;
        if self.rtt.srtt8 == 0 {
            self.rtt.fall_back();
            self.rto = self.clock.seconds(3, 1);
        }
        let is_late = self.counters.retransmitted_segments > 1 && self.undo_marker.is_some();
        self.window.cwnd = if is_late { 1 } else { self.host.initcwnd };
        self.snd_cwnd_stamp = self.clock.jiffies;
        self.prior_ssthresh = 0;
        let flow = self.flow();
        self.congestion.on_open(&mut self.window, &flow);
        if self.congestion.is_rate_based() {
            self.update_pacing_rate();
        }
        self.init_buffer_space();
    }
}
