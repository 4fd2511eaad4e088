//! What a host's administrator and its kernel's build decide: keys have the names of the sysctls.

use super::constants::{INITIAL_CWND, MSS_DEFAULT, OPENS_WINDOW};
use crate::mss::black_hole::MtuSearch;
use crate::mss::default_mss;
use crate::settings::MssOption;
use crate::units::{Mss, Time};

/// Which congestion control a socket has (`TCP_CONGESTION`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `tcp_cubic.c`, with `HyStart` or without (module parameter `hystart`).
    Cubic {
        /// Whether slow start may end before a loss.
        hystart: bool,
    },
    /// `tcp_cong.c`.
    Reno,
    /// `tcp_bbr.c`: BBR v1, paced by the socket itself.
    Bbr,
}

/// The settings of one host and of its socket. [`Default`] is what Linux 6.12 has without any sysctl set
/// (`tcp_sk_init`, `net/ipv4/tcp_ipv4.c`; `tcp_init`, `net/ipv4/tcp.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "sysctls are switches")]
pub struct Host {
    /// Congestion control.
    pub congestion: Algorithm,
    /// What its random numbers are drawn from.
    pub seed: u64,
    /// No round of `HyStart` begins below a window of 16 segments: `cubictcp_acked` of earlier kernels. 6.12.117 has
    /// rounds at any window (`hystart_update`).
    pub hystart_rounds_need_window: bool,
    /// `net.ipv4.tcp_ecn`: 0 never, 1 asks and answers, 2 answers.
    pub tcp_ecn: u8,
    /// `net.ipv4.tcp_sack`.
    pub tcp_sack: bool,
    /// `net.ipv4.tcp_dsack`.
    pub tcp_dsack: bool,
    /// `net.ipv4.tcp_timestamps` is not 0.
    pub tcp_timestamps: bool,
    /// `net.ipv4.tcp_window_scaling`.
    pub tcp_window_scaling: bool,
    /// `net.ipv4.tcp_recovery`, bit 0: losses are found by time (RACK).
    pub tcp_recovery: bool,
    /// `net.ipv4.tcp_early_retrans` is 3 or 4: tail loss probes.
    pub tcp_early_retrans: bool,
    /// `net.ipv4.tcp_frto` is not 0.
    pub tcp_frto: bool,
    /// `net.ipv4.tcp_rto_min_us`, or the route's `rto_min`, in microseconds.
    pub tcp_rto_min_us: u64,
    /// `net.ipv4.tcp_mtu_probing`: 0 never, 1 where full segments vanish, 2 from the start.
    pub tcp_mtu_probing: u8,
    /// `net.ipv4.tcp_base_mss` and the other sysctls of that search.
    pub mtu_search: MtuSearch,
    /// The route's `initcwnd` (`tcp_init_cwnd`), in segments.
    pub initcwnd: u64,
    /// The route's `quickack`: no acknowledgement waits (`dst_quick_ack`).
    pub quickack: bool,
    /// The route's `window`, which the program sets again after each read (`TCP_WINDOW_CLAMP`): the window never opens
    /// further, in bytes.
    pub window_clamp: Option<u32>,
    /// `net.ipv4.tcp_slow_start_after_idle`.
    pub tcp_slow_start_after_idle: bool,
    /// `net.ipv4.tcp_moderate_rcvbuf`.
    pub tcp_moderate_rcvbuf: bool,
    /// `TCP_NODELAY`: no Nagle.
    pub nodelay: bool,
    /// `net.ipv4.tcp_rmem`: minimum, default and maximum in bytes.
    pub tcp_rmem: [u64; 3],
    /// `net.ipv4.tcp_wmem`.
    pub tcp_wmem: [u64; 3],
    /// `SO_RCVBUF` as asked for, in bytes: the kernel doubles it, and keeps it.
    pub rcvbuf: Option<u64>,
    /// `TCP_MAXSEG`.
    pub maxseg: Option<Mss>,
    /// The route's `advmss`.
    pub route_advmss: Option<Mss>,
    /// The MSS option that reaches the peer, where it is not what the host sends.
    pub mss_option: Option<MssOption>,
    /// The MTU of the first link, in bytes.
    pub mtu: u64,
    /// Bytes of IP and TCP headers without options: 40, or 60 of IPv6.
    pub headers: u64,
    /// `net.ipv4.tcp_reordering`, in segments.
    pub tcp_reordering: u64,
    /// `net.ipv4.tcp_max_reordering`.
    pub tcp_max_reordering: u32,
    /// `net.ipv4.tcp_comp_sack_nr`.
    pub tcp_comp_sack_nr: u32,
    /// `net.ipv4.tcp_comp_sack_delay_ns`.
    pub tcp_comp_sack_delay_ns: u64,
    /// `net.ipv4.tcp_comp_sack_slack_ns`.
    pub tcp_comp_sack_slack_ns: u64,
    /// `net.ipv4.tcp_tso_win_divisor`.
    pub tcp_tso_win_divisor: u64,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub tcp_min_tso_segs: u64,
    /// `net.ipv4.tcp_tso_rtt_log`.
    pub tcp_tso_rtt_log: u8,
    /// `net.ipv4.tcp_pacing_ss_ratio`, in percent.
    pub tcp_pacing_ss_ratio: u64,
    /// `net.ipv4.tcp_pacing_ca_ratio`, in percent.
    pub tcp_pacing_ca_ratio: u64,
    /// `net.ipv4.tcp_syn_linear_timeouts`.
    pub tcp_syn_linear_timeouts: u8,
    /// Ticks a second of the kernel's build (`CONFIG_HZ`).
    pub hz: u64,
    /// How long the host has been up when the run begins: where in the timer wheel's turn that is.
    pub up_before: Time,
    /// Whether the first link's queueing discipline is `fq`, which paces what the socket sends.
    pub fq: bool,
    /// Whether somebody looks at `tcp_info`: every acknowledgement makes a sample of the delivery rate then, else only for a congestion
    /// control that goes by it.
    pub is_watched: bool,
    /// `SO_MAX_PACING_RATE` in bytes a second; the largest number for none. The socket itself paces then.
    pub max_pacing_rate: u64,
    /// Whether a packet's data stay where the sender wrote them (scatter and gather, as most devices have it): then
    /// each counts its own length in a receive buffer, and else the block of memory that it was copied to.
    pub scatter_gather: bool,
    /// Room that a packet's head has for headers (`MAX_TCP_HEADER`, `include/net/tcp.h`): 320 bytes where the
    /// build has tunnels or wireless LAN, else 192.
    pub max_tcp_header: u64,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            congestion: Algorithm::Cubic { hystart: true },
            seed: 0,
            hystart_rounds_need_window: false,
            tcp_ecn: 0,
            tcp_sack: true,
            tcp_dsack: true,
            tcp_timestamps: true,
            tcp_window_scaling: true,
            tcp_recovery: true,
            tcp_early_retrans: true,
            tcp_frto: true,
            tcp_rto_min_us: 200_000,
            tcp_mtu_probing: 0,
            mtu_search: MtuSearch::default(),
            initcwnd: INITIAL_CWND,
            quickack: false,
            window_clamp: None,
            tcp_slow_start_after_idle: true,
            tcp_moderate_rcvbuf: true,
            nodelay: false,
            tcp_rmem: [4096, 131_072, 6_291_456],
            tcp_wmem: [4096, 16_384, 4_194_304],
            rcvbuf: None,
            maxseg: None,
            route_advmss: None,
            mss_option: None,
            mtu: 1500,
            headers: 40,
            tcp_reordering: 3,
            tcp_max_reordering: 300,
            tcp_comp_sack_nr: 44,
            tcp_comp_sack_delay_ns: 1_000_000,
            tcp_comp_sack_slack_ns: 100_000,
            tcp_tso_win_divisor: 3,
            tcp_min_tso_segs: 2,
            tcp_tso_rtt_log: 9,
            tcp_pacing_ss_ratio: 200,
            tcp_pacing_ca_ratio: 120,
            tcp_syn_linear_timeouts: 4,
            hz: 250,
            up_before: Time::ZERO,
            fq: false,
            is_watched: false,
            max_pacing_rate: u64::MAX,
            scatter_gather: true,
            max_tcp_header: 320,
        }
    }
}

/// `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))` on 64 bits (`include/linux/skbuff.h`).
const SHARED_INFO: u64 = 320;
/// `SKB_DATA_ALIGN(sizeof(struct sk_buff))`.
const SK_BUFF: u64 = 256;
/// What a packet can hold behind its head at most (`GSO_LEGACY_MAX_SIZE`, `include/linux/netdevice.h`).
const GSO_LEGACY_MAX_SIZE: u64 = 65_536;
/// What such a packet counts (`SKB_TRUESIZE(GSO_LEGACY_MAX_SIZE)`).
pub(super) const LONGEST_PACKET: u64 = GSO_LEGACY_MAX_SIZE + SK_BUFF + SHARED_INFO;
/// A cache line: what `SKB_SMALL_HEAD_CACHE_SIZE` adds to a power of two (`net/core/skbuff.c`).
const CACHE_LINE: u64 = 64;

/// What a received packet takes, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// What it counts when it comes (`truesize`).
    pub(super) counted: u64,
    /// What it counts among packets out of order (`skb_condense`).
    pub(super) condensed: u64,
    /// Room behind its data (`skb_tailroom`).
    pub(super) room: u64,
}

impl Host {
    /// What a peer without an MSS option is sent: `TCP_MSS_DEFAULT`, and over IPv6 what 1280 bytes hold
    /// (`tcp_v6_conn_request`).
    pub(super) fn mss_without_option(&self) -> u64 {
        u64::from(default_mss(self.ip()))
    }

    /// The widest window that its receive buffer grows to, in bytes, where full segments of this payload come: the payload's
    /// share of what they count (`scaling_ratio`, `tcp_win_from_space`).
    pub(crate) fn widest_window(&self, mss: u64) -> f64 {
        let counted = self.received(mss, true, self.skb_overhead()).counted;
        self.tcp_rmem[2] as f64 * mss as f64 / counted as f64
    }

    /// As [`Self::widest_window`], where no received packet is longer than segments that are as small as a receiver expects them at first
    /// (`tcp_initialize_rcv_mss`), without GRO: `scaling_ratio` stays at the half that it begins with, and small packets open the window so
    /// far only (`__tcp_grow_window`); what is shorter than [`OPENS_WINDOW`] does not open it at all. Infinite for larger segments.
    pub(crate) fn window_of_small_segments(&self, mss: u64) -> f64 {
        if mss > MSS_DEFAULT {
            return f64::INFINITY;
        }
        if mss < OPENS_WINDOW {
            return self.tcp_rmem[1] as f64 / 2.0;
        }
        let mut share = self.received(mss, true, self.skb_overhead()).counted as f64 / 2.0;
        let mut window = self.tcp_rmem[2] as f64 / 2.0;
        while share > mss as f64 {
            share /= 2.0;
            window /= 2.0;
        }
        window
    }

    /// What its send buffer holds at its largest, in bytes, when a program that waits for room writes again, because a third is free
    /// (`sk_stream_min_wspace`, `include/net/sock.h`), and when it is full.
    pub(crate) fn send_buffer_levels(&self) -> (f64, f64) {
        let full = self.tcp_wmem[2] as f64;
        (full * 2.0 / 3.0, full)
    }

    /// What a packet in the send queue counts besides its payload: `tcp_stream_alloc_skb`'s `truesize`.
    #[inline]
    pub(super) fn skb_overhead(&self) -> u64 {
        let small_head = self.max_tcp_header + SHARED_INFO;
        let cache = if small_head.is_power_of_two() { small_head + CACHE_LINE } else { small_head };
        (cache - SHARED_INFO) + SK_BUFF + SHARED_INFO
    }

    /// What the send buffer grants for each segment of the window (`tcp_sndbuf_expand`).
    pub(super) fn sndbuf_per_segment(&self, mss: u64) -> u64 {
        (mss + self.max_tcp_header + SHARED_INFO).next_power_of_two() + SK_BUFF
    }

    /// What a packet takes in the receiver's memory. Its data lie in one block of the allocator, behind a head:
    /// `skb_segment` made it where it was cut from a longer packet, `__pskb_pull_tail` where it was queued `alone`
    /// (devices without scatter and gather, `net/core/skbuff.c`). `overhead` is [`Self::skb_overhead`].
    #[inline]
    pub(super) fn received(&self, payload: u64, alone: bool, overhead: u64) -> Memory {
        if self.scatter_gather {
            let counted = payload + overhead;
            return Memory { counted, condensed: counted, room: 0 };
        }
        self.received_in_one_block(payload, alone, overhead)
    }

    fn received_in_one_block(&self, payload: u64, alone: bool, overhead: u64) -> Memory {
        // `__pskb_pull_tail` leaves room for more.
        let asked = self.max_tcp_header + payload + if alone { 128 } else { 0 };
        let block = (asked.next_multiple_of(CACHE_LINE) + SHARED_INFO).next_power_of_two();
        Memory {
            // What was queued alone still counts what its sender took for it.
            counted: if alone { payload + overhead } else { block + SK_BUFF },
            condensed: block + SK_BUFF,
            room: block - SHARED_INFO - self.max_tcp_header - payload,
        }
    }

    /// `sk_gso_max_size` (`sk_dst_gso_max_size`, `net/core/sock.c`).
    pub(super) const fn gso_max_size(&self) -> u64 {
        GSO_LEGACY_MAX_SIZE - (self.max_tcp_header + 1)
    }
}
