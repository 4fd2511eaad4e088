//! What an endpoint does: segment size, windows, timers, congestion control, acknowledgements.
//!
//! A *stack* is a complete profile in a data file; a scenario names one and overrides single keys.

mod error;
mod freebsd;
mod linux;
mod memory;
mod mss_option;
mod mtu_probing;
mod slow_reader;
mod spec;
mod stack;
mod values;
mod window;

use serde::Serialize;

pub use error::SettingsError;
pub use freebsd::{FreeBsdRules, FreeBsdSpec};
pub use linux::{LinuxRules, LinuxSpec};
pub(crate) use memory::RMEM_MAX;
pub use memory::SocketMemory;
pub use mss_option::MssOption;
pub use mtu_probing::MtuProbing;
pub use slow_reader::SlowReader;
pub use spec::{FirstLoss, Ns2Spec, RtoRuleName, RtoSpec, SettingsSpec};
pub use stack::{DEFAULT as DEFAULT_STACK, Stack, StackError, builtin_stacks, stack};
pub(crate) use stack::{ROOT as ROOT_STACK, is_file as is_stack_file};
pub use values::{
    CongestionName, DelayedAckSpec, InitialSsthresh, InitialWindow, RecoveryName, WindowScale,
    WindowSize,
};

pub use window::OfferedWindow;

use crate::units::{BitsPerSec, Bytes, Mss, Mtu, Time};
use crate::window::MEMORY_PER_PAYLOAD;

/// An endpoint's settings, complete.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Settings {
    /// The profile that these began as.
    pub stack: String,
    /// The MSS option's value, where it is set; otherwise it follows from the MTU.
    pub mss: Option<Mss>,
    /// The MSS option that reaches the peer; `None` for the one that the host sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss_option: Option<MssOption>,
    /// The largest segment towards a host on another subnet, whatever that host offers; `None` for no such rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_subnet_mss: Option<Mss>,
    /// Whether packets carry DF, so that hops must not fragment them (IPv4).
    pub df: bool,
    /// The receive window.
    pub window: WindowSize,
    /// How the window is carried (RFC 7323 §2).
    pub window_scale: WindowScale,
    /// How much may be sent and not acknowledged; `None` where memory is no limit, or is `linux.tcp_wmem`'s.
    pub send_buffer: Option<Bytes>,
    /// Who decides how much may be in flight.
    pub congestion: CongestionName,
    /// What is sent again after a loss, and when.
    pub recovery: RecoveryName,
    /// Most segments sent upon one acknowledgement while recovering; `None` for no bound.
    pub recovery_burst: Option<u32>,
    /// The window with which a connection begins.
    pub initial_window: InitialWindow,
    /// Where slow start first ends.
    pub initial_ssthresh: InitialSsthresh,
    /// Whether the first two duplicate acknowledgements let new data out (RFC 3042).
    pub limited_transmit: bool,
    /// Whether the handshake ends with a packet of its own.
    pub handshake_ack: bool,
    /// How acknowledgements are delayed; `None` for one per packet, at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Whether acknowledgements name what was received beyond them (RFC 2018), where the peer is
    /// willing too; losses are then repaired by RFC 6675, whatever `recovery` says.
    pub sack: bool,
    /// Whether segments carry timestamps (RFC 7323), where the peer is willing too.
    pub timestamps: bool,
    /// Whether queues may mark packets instead of dropping them (RFC 3168), where the peer is willing
    /// too.
    pub ecn: bool,
    /// When the sizes of segments show the path MTU (RFC 4821).
    pub mtu_probing: MtuProbing,
    /// How fast the application reads; `None` for at once.
    pub read_rate: Option<BitsPerSec>,
    /// What the host's one processor takes for each packet that it sends or receives, never zero; `None`
    /// for no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_cost: Option<Time>,
    /// What ns-2 does otherwise than the RFCs; `None` in other stacks.
    pub ns2: Option<Ns2Rules>,
    /// The retransmission timer.
    pub rto: RtoSettings,
    /// What Linux's own TCP goes by; `None` in other stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linux: Option<LinuxRules>,
    /// By what FreeBSD sizes segments and buffers; `None` in other stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freebsd: Option<FreeBsdRules>,
}

impl Settings {
    /// The window as the header carries it, for segments of `mss`.
    pub fn window_field(&self, mss: Bytes) -> OfferedWindow {
        window::offered(self.window.bytes(mss), self.window_scale)
    }

    /// The most that may be sent and not acknowledged, as formulas take it; `None` where memory is no limit.
    pub fn largest_send_buffer(&self) -> Option<Bytes> {
        self.send_buffer.or_else(|| self.linux.map(|rules| Bytes::new(rules.tcp_wmem[2])))
    }

    /// The largest send buffer in the unit of `SO_SNDBUF` and of `send_buffer`: that of autotuning is half of `tcp_wmem`, which is memory
    /// (the kernel doubles what it is asked for, socket(7)); `None` where memory is no limit.
    pub fn send_buffer_as_asked(&self) -> Option<Bytes> {
        self.send_buffer
            .or_else(|| self.linux.map(|rules| Bytes::new(rules.tcp_wmem[2] / MEMORY_PER_PAYLOAD)))
    }

    /// The MTU of the route to the peer: the interface's, or the route's own where that is smaller.
    pub fn route_mtu(&self, interface: Mtu) -> Mtu {
        let of_route = self.linux.and_then(|rules| rules.route_mtu);
        of_route.map_or(interface, |mtu| mtu.min(interface))
    }

    /// The window that a sender of `mss`-sized segments sees once the connection stands.
    pub fn offered_window(&self, mss: Bytes) -> Bytes {
        Bytes::new(u64::from(self.window_field(mss).afterwards))
    }
}

/// When an acknowledgement waits for company (RFC 5681 §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DelayedAck {
    /// The longest wait.
    pub timeout: Time,
    /// In-order segments that end the wait.
    pub every: u32,
    /// Whether the first segment is acknowledged at once, so that a window of one segment opens without
    /// waiting for the timer (ns-3 does so).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first_at_once: bool,
}

impl DelayedAck {
    /// Segments that count as waiting for an acknowledgement before the first has come.
    pub(crate) fn ahead(self) -> u32 {
        if self.first_at_once { self.every.saturating_sub(1) } else { 0 }
    }
}

/// Departures of ns-2 that carry its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ns2Rules {
    /// Whether half a window keeps its fraction (`precisionReduce_`).
    pub exact_halves: bool,
    /// Fast retransmit and the initial window around a lost first packet (`bugfix_ss_`).
    pub first_loss: FirstLoss,
}

/// The retransmission timer's rule and bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RtoSettings {
    /// How the round trip is estimated.
    pub rule: RtoRule,
    /// Before there is an estimate.
    pub initial: Time,
    /// The least value, before back-off.
    pub min: Time,
    /// The largest value, back-off included.
    pub max: Time,
    /// The back-off factor beyond which the estimate is given up; `None` for never.
    pub forget_after: Option<u32>,
}

/// How a retransmission timer estimates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum RtoRule {
    /// RFC 6298 §2 with a clock of this granularity: SRTT + max(G, 4·RTTVAR).
    Rfc6298 {
        /// The clock's granularity, G.
        granularity: Time,
    },
    /// 4.3BSD's integers on a coarse clock (ns-2): round trips in whole ticks, SRTT in eighths,
    /// RTTVAR in quarters.
    Ticks {
        /// The clock's tick.
        tick: Time,
        /// Where in its tick the clock stands when the run begins.
        phase: Time,
    },
    /// Linux's integers in microseconds: SRTT + a variation that is never below the timer's `min`, in
    /// whole ticks (jiffies).
    Linux {
        /// A jiffy.
        tick: Time,
    },
}
