//! A change of a path or of its ends: what it does to a scenario, and how it is called.

mod names;

use super::data_flow::{data_from, data_hosts, data_hosts_mut};
use super::mss_caps::{lift, lifted_keys};
use crate::errors::Schedule;
use crate::mss::freebsd::Release;
use crate::path::{CodelSettings, Discipline, HopSpec, IcmpPolicy, LinkSpec, QueueLimit};
use crate::scenario::{End, Scenario};
use crate::settings::{
    CongestionName, FreeBsdRules, InitialWindow, MtuProbing, Settings, WindowScale, WindowSize,
};
use crate::units::{BitsPerSec, Bytes, Mss, Mtu, Time};
use crate::window::MEMORY_PER_PAYLOAD;

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
    /// `CoDel` in the place of tail drop in every queue of the path, of both directions: one queue for all flows (RFC 8289).
    Codel,
    /// No packet errors. No setting achieves that; it shows what the errors cost.
    NoErrors,
}

/// Linux's own limit of `fq_codel` (tc-fq_codel(8)).
const FQ_CODEL_LIMIT: u32 = 10_240;

/// Whether fewer losses are what some of these changes bring.
pub(super) fn mend_losses(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::NoErrors | Change::Queue(_)))
}

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
            | Self::Codel
            | Self::NoErrors => false,
        }
    }

    /// So much of a policer's rate, so that the bursts of the sender find tokens; `None` where no rate is left. Linux's TCP
    /// counts payload (`tcp_update_skb_after_send`, `net/ipv4/tcp_output.c`), and a policer what a full packet is on the wire.
    pub(super) fn pacing_below(
        policer: BitsPerSec,
        percent: u32,
        payload: Bytes,
        on_wire: Bytes,
    ) -> Option<Self> {
        let of_payload =
            u128::from(policer.get()) * u128::from(percent) * u128::from(payload.get());
        let rate = of_payload / (100 * u128::from(on_wire.get().max(1)));
        BitsPerSec::new(u64::try_from(rate).ok()?).map(Self::Pacing)
    }

    /// As a user would try it, or in words, where the data comes from the path's first end.
    pub fn describe(self) -> String {
        self.describe_from(End::Sender)
    }

    /// The same in this scenario: keys of the end that sends its data and of the one that receives it.
    pub fn describe_in(self, scenario: &Scenario) -> String {
        let [sending, receiving] = data_hosts(scenario);
        let from = data_from(scenario);
        if let Self::Window(bytes) = self
            && has_pipe(receiving, |rules| rules.recvpipe)
        {
            return format!("{}.freebsd.recvpipe = \"{bytes}\"", from.other().word());
        }
        if let Self::SendBuffer(bytes) = self
            && has_pipe(sending, |rules| rules.sendpipe)
        {
            return format!("{}.freebsd.sendpipe = \"{bytes}\"", from.word());
        }
        if let Self::SegmentSize(mss) = self {
            let lifted = lifted_keys(scenario, mss).into_iter();
            return lifted.fold(self.describe_from(from), |keys, key| format!("{keys}, {key}"));
        }
        self.describe_from(from)
    }

    /// Whether it is of the queue before the bottleneck link.
    pub(super) const fn is_of_queue(self) -> bool {
        matches!(self, Self::Queue(_) | Self::FairQueue)
    }

    /// Whether it lets the receiver offer a window that needs scaling which the ends of the data do not have yet.
    pub(super) fn needs_scaling(self, scenario: &Scenario) -> bool {
        self.window().is_some_and(|window| needs_scaling(data_hosts(scenario), window))
    }

    /// The receive window that it lets the receiver offer.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other change is of a window")]
    const fn window(self) -> Option<Bytes> {
        match self {
            Self::Window(window) => Some(window),
            Self::ReceiveBuffer(buffer) => Some(Bytes::new(buffer.get() / 2)),
            _ => None,
        }
    }

    fn describe_from(self, from: End) -> String {
        let (sender, receiver) = (from.word(), from.other().word());
        match self {
            Self::Window(bytes) => format!("{receiver}.window = \"{bytes}\""),
            Self::ReceiveBuffer(bytes) => format!("{receiver}.linux.tcp_rmem up to {bytes}"),
            Self::FirstReceiveBuffer(bytes) => format!("{receiver}.linux.tcp_rmem from {bytes} on"),
            Self::SendBuffer(bytes) => format!("{sender}.send_buffer = \"{bytes}\""),
            // Both, as they are run: what a host offers bounds what it receives.
            Self::SegmentSize(mss) => {
                format!("{sender}.mss = {mss}, {receiver}.mss = {mss}", mss = mss.get())
            }
            Self::Mtu(mtu) => format!("packets of at most {} bytes", mtu.get()),
            Self::Clamp(mss) => format!("the MSS clamped to {} at the gateway", mss.get()),
            Self::Congestion(name) => format!("{sender}.congestion = \"{}\"", name.word()),
            Self::InitialWindow(segments) => {
                format!("{sender}.initial_window = \"{segments} segments\"")
            }
            Self::RtoMin(time) => format!("{sender}.rto.min = \"{time}\""),
            Self::RtoInitial(time) => format!("{sender}.rto.initial = \"{time}\""),
            Self::Pacing(rate) => format!("at most {rate} from the {sender}"),
            Self::MtuProbing => format!("{sender}.mtu_probing = true"),
            Self::NoSlowStartAfterIdle => "linux.tcp_slow_start_after_idle = false".to_owned(),
            Self::ReorderingTolerance => "reordering is told from loss (RACK)".to_owned(),
            Self::ReadsAtOnce => format!("the {receiver} reads without delay"),
            Self::IcmpSent => "every hop sends ICMP for packets too large for it".to_owned(),
            Self::Queue(bytes) => format!("hop.path.queue = \"{bytes}\""),
            Self::FairQueue => "a fair queue before the bottleneck link".to_owned(),
            Self::Codel => "CoDel in every queue of the path".to_owned(),
            Self::NoErrors => "no packet damaged on the path".to_owned(),
        }
    }

    /// Makes it in a scenario: at the ends of its data, whichever of them sends it.
    pub fn apply(self, scenario: &mut Scenario) {
        let from = data_from(scenario);
        let [sending, receiving] = data_hosts_mut(scenario);
        match self {
            Self::Window(bytes) => {
                set_window(receiving, bytes);
                scale_for([sending, receiving], bytes);
            }
            Self::ReceiveBuffer(bytes) => {
                if let Some(rules) = &mut receiving.linux {
                    rules.tcp_rmem[2] = rules.tcp_rmem[2].max(bytes.get());
                    let most = Bytes::new(rules.tcp_rmem[2] / MEMORY_PER_PAYLOAD);
                    receiving.window = WindowSize::Auto { most };
                    scale_for([sending, receiving], most);
                }
            }
            Self::FirstReceiveBuffer(bytes) => {
                if let Some(rules) = &mut receiving.linux {
                    rules.tcp_rmem[1] = rules.tcp_rmem[1].max(bytes.get());
                    rules.tcp_rmem[2] = rules.tcp_rmem[2].max(bytes.get());
                }
            }
            Self::SendBuffer(bytes) => set_send_buffer(sending, bytes),
            Self::SegmentSize(mss) => {
                lift(scenario, mss);
                set_mss(scenario, mss);
            }
            Self::Clamp(mss) => set_mss(scenario, mss),
            Self::Mtu(mtu) => {
                if let Some(mss) = mss_within(scenario, mtu) {
                    set_mss(scenario, mss);
                }
            }
            Self::Congestion(name) => sending.congestion = name,
            Self::InitialWindow(segments) => {
                sending.initial_window = InitialWindow::Segments(segments);
            }
            Self::RtoMin(time) => {
                sending.rto.min = time;
                sending.rto.initial = sending.rto.initial.max(time);
            }
            Self::RtoInitial(time) => sending.rto.initial = time,
            Self::Pacing(rate) => scenario.lab.pacing_rate = Some(rate),
            // Simulated senders have RACK already.
            Self::ReorderingTolerance => {}
            // One that probes from the start does so in a black hole too.
            Self::MtuProbing => {
                sending.mtu_probing = sending.mtu_probing.max(MtuProbing::InBlackHole);
            }
            Self::NoSlowStartAfterIdle => {
                for host in [sending, receiving] {
                    if let Some(rules) = &mut host.linux {
                        rules.tcp_slow_start_after_idle = false;
                    }
                }
            }
            Self::ReadsAtOnce => receiving.read_rate = None,
            Self::IcmpSent => {
                for hop in &mut scenario.path.hops {
                    hop.forward.icmp = IcmpPolicy::Send;
                    hop.reverse.icmp = IcmpPolicy::Send;
                }
            }
            Self::Queue(bytes) => {
                for link in scenario.path.hops.iter_mut().map(|hop| link_from_mut(hop, from)) {
                    // It is room for so much at least.
                    if !matches!(link.queue, QueueLimit::Bytes(room) if room > bytes) {
                        link.queue = QueueLimit::Bytes(bytes);
                    }
                }
            }
            Self::FairQueue => {
                for link in scenario.path.hops.iter_mut().map(|hop| link_from_mut(hop, from)) {
                    // One flow has a queue of its own, with CoDel (RFC 8290 §4).
                    link.discipline = Discipline::Codel(CodelSettings::default());
                    link.queue = QueueLimit::Packets(FQ_CODEL_LIMIT);
                }
            }
            Self::Codel => {
                for hop in &mut scenario.path.hops {
                    for link in [&mut hop.forward, &mut hop.reverse] {
                        if link.discipline == Discipline::TailDrop {
                            link.discipline = Discipline::Codel(CodelSettings::default());
                        }
                    }
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

fn link_from_mut(hop: &mut HopSpec, from: End) -> &mut LinkSpec {
    match from {
        End::Sender => &mut hop.forward,
        End::Receiver => &mut hop.reverse,
    }
}

/// A window that is in effect: where a route's size replaces it, that one is set.
fn set_window(receiving: &mut Settings, bytes: Bytes) {
    if let Some(pipe) = receive_pipe(receiving) {
        *pipe = bytes;
    } else {
        receiving.window = WindowSize::Bytes(bytes);
    }
}

/// A send buffer that is in effect.
fn set_send_buffer(sending: &mut Settings, bytes: Bytes) {
    if let Some(pipe) = send_pipe(sending) {
        *pipe = bytes;
    } else {
        sending.send_buffer = Some(bytes);
    }
}

/// Window scaling at both ends, where the window needs it.
fn scale_for([sending, receiving]: [&mut Settings; 2], window: Bytes) {
    if !needs_scaling([&*sending, &*receiving], window) {
        return;
    }
    if !carries(receiving.window_scale, window) {
        receiving.window_scale = WindowScale::Auto;
    }
    if sending.window_scale == WindowScale::Off {
        sending.window_scale = WindowScale::Auto;
    }
}

/// FreeBSD's rules where a route's size replaces that of a socket's buffer (problem report 6032).
fn replacing(host: &mut Settings) -> Option<&mut FreeBsdRules> {
    host.freebsd.as_mut().filter(|rules| rules.release == Release::V22)
}

/// Whether a size of the route replaces that of a socket's buffer on this host.
pub(super) fn has_route_sizes(host: &Settings) -> bool {
    has_pipe(host, |rules| rules.recvpipe.or(rules.sendpipe))
}

fn has_pipe(host: &Settings, pipe: fn(&FreeBsdRules) -> Option<Bytes>) -> bool {
    host.freebsd.is_some_and(|rules| rules.release == Release::V22 && pipe(&rules).is_some())
}

fn receive_pipe(host: &mut Settings) -> Option<&mut Bytes> {
    replacing(host)?.recvpipe.as_mut()
}

fn send_pipe(host: &mut Settings) -> Option<&mut Bytes> {
    replacing(host)?.sendpipe.as_mut()
}

/// Whether no field of the receiver's header, as both ends of the data are set, carries this window (RFC 7323 §2.2).
fn needs_scaling([sending, receiving]: [&Settings; 2], window: Bytes) -> bool {
    let is_refused = sending.window_scale == WindowScale::Off
        && receiving.window_scale != WindowScale::Unlimited
        && !carries(WindowScale::Off, window);
    is_refused || !carries(receiving.window_scale, window)
}

const fn carries(scale: WindowScale, window: Bytes) -> bool {
    match scale {
        WindowScale::Off => window.get() <= crate::window::FIELD,
        WindowScale::Shift(shift) => window.get() <= crate::window::FIELD << shift,
        WindowScale::Auto | WindowScale::Unlimited => true,
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
