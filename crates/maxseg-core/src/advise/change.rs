//! A change of a path or of its ends: what it does to a scenario, and how it is called.

use crate::errors::Schedule;
use crate::path::{CodelSettings, Discipline, IcmpPolicy, QueueLimit};
use crate::scenario::Scenario;
use crate::settings::{CongestionName, InitialWindow, WindowScale, WindowSize};
use crate::units::{BitsPerSec, Bytes, Mss, Mtu, Time};

/// A change of the path or of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A receive window of so many bytes, that covers the path or keeps its queue short.
    Window(Bytes),
    /// The largest receive buffer of autotuning, `net.ipv4.tcp_rmem`'s third number.
    ReceiveBuffer(Bytes),
    /// The first receive buffer of autotuning, `net.ipv4.tcp_rmem`'s second number.
    FirstReceiveBuffer(Bytes),
    /// A send buffer that covers the path.
    SendBuffer(Bytes),
    /// Full segments of this size: the MSS option's value.
    SegmentSize(Mss),
    /// Packets of at most this size on the route to the peer.
    Mtu(Mtu),
    /// The MSS option lowered by a gateway on the way.
    Clamp(Mss),
    /// Another congestion control of the sender.
    Congestion(CongestionName),
    /// The initial congestion window, in segments.
    InitialWindow(u32),
    /// The least retransmission timeout.
    RtoMin(Time),
    /// The retransmission timeout before there is an estimate.
    RtoInitial(Time),
    /// At most this rate from the sender.
    Pacing(BitsPerSec),
    /// The sender looks for a smaller size where full segments vanish (RFC 4821).
    MtuProbing,
    /// The congestion window survives pauses.
    NoSlowStartAfterIdle,
    /// The sender tells reordering from loss (RACK, RFC 8985).
    ReorderingTolerance,
    /// A receiving application that reads without delay.
    ReadsAtOnce,
    /// Hops that send ICMP for packets too large for them: no black hole.
    IcmpSent,
    /// A queue before the bottleneck link with room for so much at least.
    Queue(Bytes),
    /// A fair queue before the bottleneck link, which controls the delay of each flow (FQ-CoDel, RFC 8290).
    FairQueue,
    /// No packet errors. No setting achieves that; it shows what the errors cost.
    NoErrors,
}

/// Linux's own limit of `fq_codel` (tc-fq_codel(8)).
const FQ_CODEL_LIMIT: u32 = 10_240;

impl Change {
    /// Whether a host's settings can make it.
    pub const fn is_setting(self) -> bool {
        match self {
            Self::Window(_)
            | Self::ReceiveBuffer(_)
            | Self::FirstReceiveBuffer(_)
            | Self::SendBuffer(_)
            | Self::SegmentSize(_)
            | Self::Mtu(_)
            | Self::Congestion(_)
            | Self::InitialWindow(_)
            | Self::RtoMin(_)
            | Self::RtoInitial(_)
            | Self::Pacing(_)
            | Self::MtuProbing
            | Self::NoSlowStartAfterIdle
            | Self::ReorderingTolerance => true,
            Self::Clamp(_)
            | Self::ReadsAtOnce
            | Self::IcmpSent
            | Self::Queue(_)
            | Self::FairQueue
            | Self::NoErrors => false,
        }
    }

    /// A rate below that of a policer, so that the bursts of the sender find tokens; `None` where no rate is left.
    pub(super) fn pacing_below(policer: BitsPerSec) -> Option<Self> {
        const PERCENT: u64 = 95;
        BitsPerSec::new(policer.get() * PERCENT / 100).map(Self::Pacing)
    }

    /// The word for its kind, in JSON and in the names of advice.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Window(_) => "window",
            Self::ReceiveBuffer(_) => "receive-buffer",
            Self::FirstReceiveBuffer(_) => "first-receive-buffer",
            Self::SendBuffer(_) => "send-buffer",
            Self::SegmentSize(_) => "mss",
            Self::Mtu(_) => "mtu",
            Self::Clamp(_) => "clamp",
            Self::Congestion(_) => "congestion",
            Self::InitialWindow(_) => "initial-window",
            Self::RtoMin(_) => "rto-min",
            Self::RtoInitial(_) => "rto-initial",
            Self::Pacing(_) => "pacing",
            Self::MtuProbing => "mtu-probing",
            Self::NoSlowStartAfterIdle => "slow-start-after-idle",
            Self::ReorderingTolerance => "reordering",
            Self::ReadsAtOnce => "read-at-once",
            Self::IcmpSent => "icmp",
            Self::Queue(_) => "queue",
            Self::FairQueue => "fair-queue",
            Self::NoErrors => "no-errors",
        }
    }

    /// As a user would try it, or in words.
    pub fn describe(self) -> String {
        match self {
            Self::Window(bytes) => format!("receiver.window = \"{bytes}\""),
            Self::ReceiveBuffer(bytes) => format!("receiver.linux.tcp_rmem up to {bytes}"),
            Self::FirstReceiveBuffer(bytes) => format!("receiver.linux.tcp_rmem from {bytes} on"),
            Self::SendBuffer(bytes) => format!("sender.send_buffer = \"{bytes}\""),
            Self::SegmentSize(mss) => format!("sender.mss = {}", mss.get()),
            Self::Mtu(mtu) => format!("packets of at most {} bytes", mtu.get()),
            Self::Clamp(mss) => format!("the MSS clamped to {} at the gateway", mss.get()),
            Self::Congestion(name) => format!("sender.congestion = \"{}\"", name.word()),
            Self::InitialWindow(segments) => {
                format!("sender.initial_window = \"{segments} segments\"")
            }
            Self::RtoMin(time) => format!("sender.rto.min = \"{time}\""),
            Self::RtoInitial(time) => format!("sender.rto.initial = \"{time}\""),
            Self::Pacing(rate) => format!("at most {rate} from the sender"),
            Self::MtuProbing => "sender.mtu_probing = true".to_owned(),
            Self::NoSlowStartAfterIdle => "linux.tcp_slow_start_after_idle = false".to_owned(),
            Self::ReorderingTolerance => "reordering is told from loss (RACK)".to_owned(),
            Self::ReadsAtOnce => "the receiver reads without delay".to_owned(),
            Self::IcmpSent => "every hop sends ICMP for packets too large for it".to_owned(),
            Self::Queue(bytes) => format!("hop.path.queue = \"{bytes}\""),
            Self::FairQueue => "a fair queue before the bottleneck link".to_owned(),
            Self::NoErrors => "no packet damaged on the path".to_owned(),
        }
    }

    /// Several as one line; `none` in the place of none.
    pub fn describe_all(changes: &[Self], none: &str) -> String {
        if changes.is_empty() {
            return none.to_owned();
        }
        changes.iter().map(|change| change.describe()).collect::<Vec<_>>().join(", ")
    }

    /// Makes it in a scenario.
    pub fn apply(self, scenario: &mut Scenario) {
        match self {
            Self::Window(bytes) => {
                scenario.receiver.window = WindowSize::Bytes(bytes);
                if needs_scaling(scenario, bytes) {
                    scenario.receiver.window_scale = WindowScale::Auto;
                }
            }
            Self::ReceiveBuffer(bytes) => {
                if let Some(rules) = &mut scenario.receiver.linux {
                    rules.tcp_rmem[2] = rules.tcp_rmem[2].max(bytes.get());
                    let most = Bytes::new(rules.tcp_rmem[2] / 2);
                    scenario.receiver.window = WindowSize::Auto { most };
                    if needs_scaling(scenario, most) {
                        scenario.receiver.window_scale = WindowScale::Auto;
                    }
                }
            }
            Self::FirstReceiveBuffer(bytes) => {
                if let Some(rules) = &mut scenario.receiver.linux {
                    rules.tcp_rmem[1] = rules.tcp_rmem[1].max(bytes.get());
                    rules.tcp_rmem[2] = rules.tcp_rmem[2].max(bytes.get());
                }
            }
            Self::SendBuffer(bytes) => scenario.sender.send_buffer = Some(bytes),
            Self::SegmentSize(mss) | Self::Clamp(mss) => set_mss(scenario, mss),
            Self::Mtu(mtu) => {
                if let Some(mss) = mss_within(scenario, mtu) {
                    set_mss(scenario, mss);
                }
            }
            Self::Congestion(name) => scenario.sender.congestion = name,
            Self::InitialWindow(segments) => {
                scenario.sender.initial_window = InitialWindow::Segments(segments);
            }
            Self::RtoMin(time) => {
                scenario.sender.rto.min = time;
                scenario.sender.rto.initial = scenario.sender.rto.initial.max(time);
            }
            Self::RtoInitial(time) => scenario.sender.rto.initial = time,
            // The simulator's senders have no rate of their own, and theirs is RACK already.
            Self::Pacing(_) | Self::ReorderingTolerance => {}
            Self::MtuProbing => scenario.sender.mtu_probing = true,
            Self::NoSlowStartAfterIdle => {
                for host in [&mut scenario.sender, &mut scenario.receiver] {
                    if let Some(rules) = &mut host.linux {
                        rules.tcp_slow_start_after_idle = false;
                    }
                }
            }
            Self::ReadsAtOnce => scenario.receiver.read_rate = None,
            Self::IcmpSent => {
                for hop in &mut scenario.path.hops {
                    hop.forward.icmp = IcmpPolicy::Send;
                    hop.reverse.icmp = IcmpPolicy::Send;
                }
            }
            Self::Queue(bytes) => {
                for hop in &mut scenario.path.hops {
                    // It is room for so much at least.
                    if !matches!(hop.forward.queue, QueueLimit::Bytes(room) if room > bytes) {
                        hop.forward.queue = QueueLimit::Bytes(bytes);
                    }
                }
            }
            Self::FairQueue => {
                for hop in &mut scenario.path.hops {
                    // One flow has a queue of its own, with CoDel (RFC 8290 §4).
                    hop.forward.discipline = Discipline::Codel(CodelSettings::default());
                    hop.forward.queue = QueueLimit::Packets(FQ_CODEL_LIMIT);
                }
            }
            Self::NoErrors => {
                for hop in &mut scenario.path.hops {
                    hop.forward.errors = Schedule::default();
                    hop.reverse.errors = Schedule::default();
                }
            }
        }
    }
}

/// The scenario with these changes made.
pub fn changed(scenario: &Scenario, changes: &[Change]) -> Scenario {
    let mut scenario = scenario.clone();
    for change in changes {
        change.apply(&mut scenario);
    }
    scenario
}

/// Whether no field of the receiver's header, as it is set, carries this window (RFC 7323 §2).
pub(super) fn needs_scaling(scenario: &Scenario, window: Bytes) -> bool {
    match scenario.receiver.window_scale {
        WindowScale::Off => window.get() > crate::window::FIELD,
        WindowScale::Shift(shift) => window.get() > crate::window::FIELD << shift,
        WindowScale::Auto | WindowScale::Unlimited => false,
    }
}

/// The MSS option for packets of this size: it does not count TCP's own options (RFC 6691).
fn mss_within(scenario: &Scenario, mtu: Mtu) -> Option<Mss> {
    Mss::new(mtu.bytes().saturating_sub(scenario.tcp_ip_headers()).get()).ok()
}

fn set_mss(scenario: &mut Scenario, mss: Mss) {
    scenario.sender.mss = Some(mss);
    scenario.receiver.mss = Some(mss);
}
