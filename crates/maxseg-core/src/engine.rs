//! What turns a scenario into an outcome: the closed form, the simulator, the lab.

mod stand_ins;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::framing::Framing;
use crate::outcome::Outcome;
use crate::path::{Discipline, HopSpec, IcmpPolicy, LinkSpec, smallest_mtu};
use crate::scenario::{End, Flow, FlowKind, LabTraffic, MssDecision, Scenario};
use crate::units::{Bytes, Time};
pub use stand_ins::{assumed_by_formulas, assumed_by_simulator};

/// Something that runs scenarios.
pub trait Engine {
    /// What it will only approximate, known before it runs.
    fn caveats(&self, scenario: &Scenario) -> Vec<Caveat>;

    /// Runs `scenario`, reporting to `watch` on the way.
    ///
    /// # Errors
    /// The scenario is beyond this engine, or `watch` put an end to it.
    fn run(&mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Result<Outcome, EngineError>;
}

/// The engines by name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EngineName {
    /// Formulas.
    Model,
    /// Packets in virtual time.
    Sim,
    /// The real kernel, in real time.
    Lab,
    /// A real path: what `maxseg path` measured there. Nothing runs it.
    Measured,
}

impl EngineName {
    /// The word that commands and results use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Sim => "sim",
            Self::Lab => "lab",
            Self::Measured => "measured",
        }
    }

    /// Whether a seed changes what it gives.
    pub const fn uses_chance(self) -> bool {
        match self {
            Self::Model | Self::Measured => false,
            Self::Sim | Self::Lab => true,
        }
    }

    /// Whether another run of it may give another outcome, where in the scenario anything `is_random` or not.
    pub const fn has_chance(self, is_random: bool) -> bool {
        self.is_real_time() || (self.uses_chance() && is_random)
    }

    /// Whether a run takes as long as it says and needs the machine for itself, and no seed brings the same
    /// outcome again: the kernel's timing is chance.
    pub const fn is_real_time(self) -> bool {
        match self {
            Self::Model | Self::Sim => false,
            Self::Lab | Self::Measured => true,
        }
    }
}

impl std::fmt::Display for EngineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// Something to know before relying on a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caveat {
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub text: String,
}

impl Caveat {
    /// A caveat with this code and text.
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into() }
    }
}

/// Why there is no outcome.
#[derive(Debug, Clone, Error)]
pub enum EngineError {
    /// The watcher stopped the run.
    #[error("cancelled")]
    Cancelled,
    /// This machine, or this user, cannot run the scenario.
    #[error("{source}")]
    Unable {
        /// The engine's own error: its type tells the kind.
        source: Arc<dyn std::error::Error + Send + Sync>,
        /// How to fix it.
        hint: Option<String>,
    },
}

/// Follows a run.
pub trait Watch {
    /// The run's clock stands at `now` and will end at `until` at the latest. Called now and then;
    /// [`Continue::Stop`] ends the run with [`EngineError::Cancelled`].
    fn on_progress(&mut self, now: Time, until: Time) -> Continue;

    /// How often [`Watch::on_sample`] wants to be called, in the run's time; `None` for never.
    fn sample_every(&self) -> Option<Time> {
        None
    }

    /// The state of one TCP flow at a point in time.
    fn on_sample(&mut self, _sample: &Sample) {}
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Go,
    /// End the run.
    Stop,
}

/// A watcher that lets the run go on and looks at nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn on_progress(&mut self, _: Time, _: Time) -> Continue {
        Continue::Go
    }
}

/// The state of one TCP flow at a point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When, on the run's clock.
    pub at: Time,
    /// Which flow, counted from 0.
    pub flow: usize,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The window that the peer offers.
    pub window: Bytes,
    /// Unacknowledged bytes, lost ones included.
    pub in_flight: Bytes,
    /// The smoothed round trip; `None` before there is one.
    pub srtt: Option<Time>,
    /// The retransmission timeout.
    pub rto: Time,
    /// How long a packet that came now would wait in the longest queue on its way.
    pub queue: Time,
    /// Payload acknowledged so far.
    pub acknowledged: Bytes,
}

/// What to know of transfers, and of counted requests, that did not come to their end.
pub fn unfinished(scenario: &Scenario, outcome: &Outcome) -> Option<Caveat> {
    let outcomes =
        if outcome.flows.is_empty() { std::slice::from_ref(outcome) } else { &outcome.flows };
    let flows = scenario.flows.iter().zip(outcomes);
    let is_by_iperf3 = outcome.lab.is_some() && scenario.lab.traffic == LabTraffic::Iperf3;
    let bytes = if is_by_iperf3 {
        "bytes received, when iperf3 had written the last"
    } else {
        "bytes acknowledged"
    };
    let done = |(flow, outcome): (&Flow, &Outcome)| match flow.kind {
        FlowKind::Bulk => {
            let wanted = scenario.until.bytes?.get();
            Some((outcome.payload_bytes?, wanted, bytes))
        }
        FlowKind::Request(plan) => Some((outcome.requests?, plan.count?, "requests answered")),
        FlowKind::Cbr { .. } | FlowKind::Ping { .. } => None,
    };
    let short = flows.filter_map(done).filter(|(got, wanted, _)| got < wanted);
    let (got, wanted, of) = short.max_by_key(|(got, wanted, _)| wanted - got)?;
    // iperf3 ends by itself, the others' runs at the time limit.
    let own_end = outcome.elapsed_s.filter(|_| is_by_iperf3).map(rounded);
    let after = own_end.unwrap_or(scenario.until.time);
    Some(Caveat::new(
        "unfinished",
        format!("the run ended after {after} with {got} of {wanted} {of}"),
    ))
}

/// To milliseconds.
fn rounded(seconds: f64) -> Time {
    Time::from_secs_f64(libm::round(seconds * 1e3) / 1e3)
}

/// Says of each flow of an outcome which flow of the scenario it is.
pub fn name_flows(outcome: &mut Outcome, scenario: &Scenario) {
    for (index, (flow, spec)) in outcome.flows.iter_mut().zip(&scenario.flows).enumerate() {
        flow.kind = Some(spec.kind.word().to_owned());
        flow.name = Some(format!("flow.{index}"));
    }
}

/// What becomes of packets that are not what was asked for, or too large for a hop, where every sender that probes for a
/// smaller path MTU finds it.
pub fn size_caveats(scenario: &Scenario) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = scenario
        .flows
        .iter()
        .flat_map(|flow| match flow.kind {
            FlowKind::Bulk | FlowKind::Request(_) => flow
                .ways_of_data()
                .iter()
                .filter_map(|way| mss_caveat(scenario, way, &scenario.mss(way)))
                .collect(),
            FlowKind::Cbr { size, header, .. } => {
                packet_caveat(scenario, flow, size + header).into_iter().collect::<Vec<_>>()
            }
            FlowKind::Ping { size, header, .. } => {
                let request = packet_caveat(scenario, flow, size + header);
                let arrives = !scenario.is_too_big(flow, size + header);
                let reply = arrives.then(|| reply_caveat(scenario, flow, size + header)).flatten();
                request.into_iter().chain(reply).collect()
            }
        })
        .collect();
    for flow in scenario.flows.iter().filter(|flow| flow.kind.is_tcp()) {
        caveats.extend(buffer_caveats(scenario, flow));
    }
    if scenario.sender.ns2.is_some() != scenario.receiver.ns2.is_some() {
        let text = format!(
            "one end uses an ns-2 stack ({}), the other does not ({}): ns-2 counts windows and ACKs in packets",
            scenario.sender.stack, scenario.receiver.stack
        );
        caveats.push(Caveat::new("mixed-stacks", text));
    }
    let marks = scenario.path.hops.iter().flat_map(HopSpec::links).any(|link| link.ecn);
    if marks && !(scenario.sender.ecn && scenario.receiver.ecn) {
        let text = "the hosts do not both negotiate ECN: packets are dropped instead of marked";
        caveats.push(Caveat::new("ecn", text));
    }
    let is_blind = |link: &LinkSpec| {
        link.ecn && link.discipline == Discipline::TailDrop && link.policer.is_none()
    };
    for hop in &scenario.path.hops {
        if hop.links().into_iter().any(is_blind) {
            let text = format!(
                "hop `{}` marks nothing with ecn = true: a tail-drop queue only drops; a queue discipline or a policer marks",
                hop.label()
            );
            caveats.push(Caveat::new("ecn", text));
        }
    }
    let compresses_and_damages =
        |link: &LinkSpec| link.framing == Framing::SerialVj && link.errors.is_random();
    if scenario.path.hops.iter().flat_map(HopSpec::links).any(compresses_and_damages) {
        let text = "after a damaged packet, a receiver of compressed headers discards packets up to the next \
                    retransmission (RFC 1144 section 4); here only the damaged packet is lost";
        caveats.push(Caveat::new("header-compression", text));
    }
    caveats.dedup();
    caveats
}

/// Buffers that the rules of a host's stack have made others than what was asked for.
fn buffer_caveats(scenario: &Scenario, flow: &Flow) -> Vec<Caveat> {
    let ((sender, receiver), in_use) = (scenario.endpoints(flow), scenario.settings_in_use(flow));
    let mss = scenario.mss(flow).initial.bytes();
    let of_sender = sender.freebsd.and_then(|rules| {
        let buffers = [sender.send_buffer?, in_use.0.send_buffer?];
        resized("the sender's send buffer", buffers, "sendpipe", rules.sendpipe)
    });
    let of_receiver = receiver.freebsd.and_then(|rules| {
        let windows = [receiver.window, in_use.1.window].map(|window| window.bytes(mss));
        resized("the receiver's window", windows, "recvpipe", rules.recvpipe)
    });
    of_sender.into_iter().chain(of_receiver).collect()
}

/// What has become of a buffer of FreeBSD, and by what; `None` where it is as asked for.
fn resized(
    what: &str,
    [asked, in_use]: [Bytes; 2],
    pipe: &str,
    on_route: Option<Bytes>,
) -> Option<Caveat> {
    let why = match on_route {
        Some(size) if in_use < asked => format!("the route's {pipe} of {size} replaces it"),
        Some(size) if size > asked => format!("the route's {pipe} is {size}"),
        Some(_) | None => "whole segments, and at most sb_max".to_owned(),
    };
    (asked != in_use).then(|| {
        Caveat::new("freebsd-buffers", format!("{what} of {asked} becomes {in_use}: {why}"))
    })
}

/// What becomes of packets larger than some link on their way.
fn packet_caveat(scenario: &Scenario, flow: &Flow, packet: Bytes) -> Option<Caveat> {
    let df = scenario.forbids_fragments_of(flow, flow.from);
    above_mtu(scenario, flow, df, ("packets", packet))
}

/// The same of the replies to the echo requests of `flow`.
fn reply_caveat(scenario: &Scenario, flow: &Flow, packet: Bytes) -> Option<Caveat> {
    let df = scenario.forbids_fragments_of(flow, flow.from.other());
    above_mtu(scenario, &flow.reversed(), df, ("echo replies", packet))
}

fn above_mtu(
    scenario: &Scenario,
    flow: &Flow,
    df: bool,
    (what, packet): (&str, Bytes),
) -> Option<Caveat> {
    let links = scenario.links_from_sender_of(flow);
    let index = links.iter().position(|link| packet > link.mtu.bytes())?;
    let link = links[index];
    let hops = scenario.hops(flow);
    let hop = match flow.from {
        End::Sender => &hops[index],
        End::Receiver => &hops[hops.len() - 1 - index],
    };
    let fate = match (df, link.icmp) {
        (false, _) => "is fragmented there; fragments are queued and lost one by one",
        (true, IcmpPolicy::Send) => {
            "is dropped there because of DF; the sender gets an ICMP message, but its packet size is fixed"
        }
        (true, IcmpPolicy::Drop) => {
            "is dropped there because of DF, without an ICMP message: a black hole"
        }
    };
    let text = format!(
        "{what} of {packet} exceed the MTU of hop `{}`, {}: each {fate}",
        hop.label(),
        link.mtu
    );
    Some(Caveat::new("packet-above-mtu", text))
}

fn mss_caveat(scenario: &Scenario, flow: &Flow, mss: &MssDecision) -> Option<Caveat> {
    let asked = mss.asked.map_or("the interface's MTU".to_owned(), |mss| mss.to_string());
    let offered = mss.offered().map_or_else(|| "none".to_owned(), |mss| mss.to_string());
    let options = format!("MSS asked {asked}, advertised {offered}");
    let decision = format!("{options}, effective {}", mss.effective);
    let mtu = smallest_mtu(scenario.hops(flow));
    if mss.is_too_large() {
        let fate = if mss.clears_df {
            "Linux, which takes no router's word for less than 552 bytes (net.ipv4.route.min_pmtu), sends that much without DF: \
             full segments are fragmented; fragments are queued and lost one by one"
        } else if scenario.forbids_fragments(flow.from) {
            "full segments are dropped without an ICMP message: a black hole"
        } else {
            "full segments are fragmented; fragments are queued and lost one by one"
        };
        let text = format!("{decision}: the path's smallest MTU is {mtu}, so {fate}");
        return Some(Caveat::new("mss-above-mtu", text));
    }
    if mss.is_lowered_by_path() {
        let how = match mss.timeouts {
            0 => "which the sender learns by ICMP; it sends its first segments twice".to_owned(),
            _ if scenario.runs_linux(flow) => {
                "without an ICMP message; Linux finds a smaller size at the first timeout that comes 3 s or more after the \
                 first retransmission (tcp_retries1), and nothing arrives until then; probes find a larger one while its window \
                 has 11 segments or more"
                    .to_owned()
            }
            n => format!(
                "without an ICMP message; the sender finds a smaller size after {n} consecutive timeouts, and \
                 nothing arrives until then"
            ),
        };
        let text = format!("{decision}: the path's smallest MTU is {mtu}, {how}");
        return Some(Caveat::new("mss-lowered", text));
    }
    if mss.is_lowered_by_window() {
        let text = format!(
            "{decision}: Linux puts at most half of the receiver's window into a segment (tcp_bound_to_half_wnd)"
        );
        return Some(Caveat::new("mss-lowered", text));
    }
    let asked = mss.asked.filter(|asked| mss.effective < *asked)?;
    let reason = if mss.offered_by_receiver.is_none() {
        "the receiver sends no MSS option".to_owned()
    } else if mss.offered_by_receiver.is_some_and(|offered| offered < asked) {
        "the receiver's MSS option is smaller".to_owned()
    } else if mss.effective.bytes() + mss.options == asked.bytes() {
        format!("options take {} of every segment", mss.options)
    } else {
        "the first link's MTU is smaller".to_owned()
    };
    Some(Caveat::new("mss-lowered", format!("{decision}: {reason}")))
}
