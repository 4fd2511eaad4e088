//! A path, two endpoints, their traffic and a stop rule: everything an engine needs, from one file.
//!
//! ```text
//! text → Draft (TOML, --set and sweep values by key) → ScenarioSpec (serde) → Scenario (checked)
//! ```
//! Values are changed in the TOML document, before it is read, so that `--set`, `--axis` and `[sweep]`
//! reach every key there is, and every error names the place where its value was written.

mod agreed;
mod draft;
mod error;
mod examples;
mod hop_range;
mod host;
mod host_rules;
mod key;
mod lab;
mod link_entries;
mod locate;
mod meaning;
mod misread;
mod mss;
mod problem;
mod request;
mod resolve;
mod resolve_flow;
mod resolve_link;
mod spec;
mod stack_file;
mod sweep;
mod syntax;
mod tunnel;
mod values;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

pub use draft::Draft;
pub use error::{Excerpt, Location, ScenarioError};
pub use hop_range::HopRange;
pub use host::Host;
pub use lab::{LabBackend, LabOptions, LabTraffic};
pub use mss::{MssDecision, MssSearch, NoProbe};
pub use request::RequestPlan;
pub use spec::{ConnectionUse, FlowKindName, ScenarioSpec};
pub use stack_file::StackFile;
pub use sweep::{Axis, Point, Sweep};
pub use tunnel::TunnelEntry;

use crate::framing::IpVersion;
use crate::path::{HopSpec, LinkSpec, Path};
use crate::settings::{CongestionName, Settings};
use crate::units::{BitsPerSec, Bytes, Time};

/// One experiment, complete and checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// What it is called.
    #[serde(skip)]
    pub name: String,
    /// Where randomness begins.
    #[serde(skip)]
    pub seed: u64,
    /// IPv4 or IPv6.
    #[serde(serialize_with = "as_number")]
    pub ip: IpVersion,
    /// What lies between the hosts.
    pub path: Path,
    /// The host on the path's first hop.
    pub sender: Settings,
    /// The host behind its last hop.
    pub receiver: Settings,
    /// The traffic; at least one flow.
    pub flows: Vec<Flow>,
    /// When it ends.
    pub until: Until,
    /// How the lab is to run it.
    #[serde(skip_serializing_if = "LabOptions::is_default")]
    pub lab: LabOptions,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_number<S: Serializer>(ip: &IpVersion, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(ip.number())
}

/// Traffic between the two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Flow {
    /// What is sent.
    pub kind: FlowKind,
    /// Who sends it; of requests, who asks.
    pub from: End,
    /// The hops that it crosses.
    pub hops: HopRange,
    /// When it begins.
    pub start: Time,
    /// When it sends no more: datagrams, echo requests and requests only.
    pub stop: Time,
}

impl Flow {
    /// The same with its ends changed over: of a request flow, the way of its replies.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.from.other(), ..self }
    }
}

/// What a flow sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowKind {
    /// One TCP connection with as much data as it can carry.
    Bulk,
    /// Datagrams of one size at a constant rate.
    Cbr {
        /// Payload of each datagram.
        size: Bytes,
        /// Header bytes of each: IP and UDP.
        header: Bytes,
        /// How fast it sends.
        rate: BitsPerSec,
        /// Bytes of each datagram that count towards the rate.
        counted: Bytes,
    },
    /// Echo requests, answered by the other host.
    Ping {
        /// Payload of each request.
        size: Bytes,
        /// Header bytes of each: IP and ICMP.
        header: Bytes,
        /// Time from one request to the next.
        interval: Time,
    },
    /// Requests over TCP, answered by the other host.
    Request(RequestPlan),
}

impl FlowKind {
    /// The word of the scenario file.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Cbr { .. } => "cbr",
            Self::Ping { .. } => "ping",
            Self::Request(_) => "request",
        }
    }

    /// Whether it goes over TCP.
    pub const fn is_tcp(&self) -> bool {
        match self {
            Self::Bulk | Self::Request(_) => true,
            Self::Cbr { .. } | Self::Ping { .. } => false,
        }
    }

    /// Seconds from one packet to the next; `None` for a flow that is not steady.
    pub fn interval_s(&self) -> Option<f64> {
        match self {
            Self::Bulk | Self::Request(_) => None,
            Self::Cbr { rate, counted, .. } => Some(counted.bits() as f64 / rate.get() as f64),
            Self::Ping { interval, .. } => Some(interval.as_secs_f64()),
        }
    }
}

/// One of the two hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// On the path's first hop.
    #[default]
    Sender,
    /// Behind its last hop.
    Receiver,
}

impl End {
    /// The host at the other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    /// The key of its settings in a scenario.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

/// When a run ends: whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Until {
    /// After so long.
    pub time: Time,
    /// When each bulk flow has so much acknowledged.
    pub bytes: Option<Bytes>,
}

/// To be raised when the same scenario gives other results: stored rows are then not taken for fresh ones.
/// `cargo xtask test` fails where results change and it is not (`testdata/results-guard`).
pub const RESULTS_VERSION: u32 = 21;

impl Scenario {
    /// The scenario in `text`, which was read from `name`, before any sweep.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ScenarioError> {
        Draft::parse(name, text)?.scenario()
    }

    /// The same, where a host that names no stack has that called `stack`.
    ///
    /// # Errors
    /// As [`Self::from_toml`], or there is no such stack.
    pub fn from_toml_over(stack: &str, name: &str, text: &str) -> Result<Self, ScenarioError> {
        let mut draft = Draft::parse(name, text)?;
        for end in [End::Sender, End::Receiver] {
            if draft.stack_of(end).is_none() {
                draft.set_argument(&format!("{}.stack=\"{stack}\"", end.word()))?;
            }
        }
        draft.scenario()
    }

    /// Identifies the experiment, whatever it is called and from whichever seed it starts: equal
    /// hashes mean equal results of an engine under the same seed.
    ///
    /// # Panics
    /// Never: a scenario is plain data.
    pub fn content_hash(&self) -> String {
        let canonical = serde_json::to_vec(self).expect("a scenario is plain data");
        let mut hash = Sha256::new();
        hash.update(format!("maxseg results {RESULTS_VERSION}\n"));
        hash.update(canonical);
        let digest = hash.finalize();
        let high =
            digest.iter().take(16).fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        format!("{high:032x}")
    }

    /// The settings of the host that sends `flow`'s data, and of the one that receives it.
    pub fn endpoints(&self, flow: &Flow) -> (&Settings, &Settings) {
        match flow.from {
            End::Sender => (&self.sender, &self.receiver),
            End::Receiver => (&self.receiver, &self.sender),
        }
    }

    /// Whether both ends of `flow` have Linux's own TCP, as far as it is built: bulk data, and requests and replies
    /// that are read at once.
    pub fn runs_linux(&self, flow: &Flow) -> bool {
        let (sender, receiver) = self.endpoints(flow);
        let is_built = match flow.kind {
            FlowKind::Bulk => true,
            FlowKind::Request(_) => sender.read_rate.is_none() && receiver.read_rate.is_none(),
            FlowKind::Cbr { .. } | FlowKind::Ping { .. } => false,
        };
        is_built && sender.linux.is_some() && receiver.linux.is_some()
    }

    /// The hops that `flow` crosses, from the sender's side.
    pub fn hops(&self, flow: &Flow) -> &[HopSpec] {
        &self.path.hops[flow.hops.first..=flow.hops.last]
    }

    /// Whether every flow crosses the whole path.
    pub fn is_end_to_end(&self) -> bool {
        self.flows.iter().all(|flow| flow.hops == HopRange::all(&self.path))
    }

    /// Whether hops must not fragment what the host at `end` sends: DF is set, or it is IPv6.
    pub fn forbids_fragments(&self, end: End) -> bool {
        let host = match end {
            End::Sender => &self.sender,
            End::Receiver => &self.receiver,
        };
        host.df || self.ip == IpVersion::V6
    }

    /// Whether hops must not fragment what the host at `end` sends of `flow`. An echo reply of IPv4 has no DF, whatever
    /// the host's other packets have (Linux: `icmp_sk_init` of `net/ipv4/icmp.c`, `IP_PMTUDISC_DONT`).
    pub fn forbids_fragments_of(&self, flow: &Flow, end: End) -> bool {
        let is_reply = matches!(flow.kind, FlowKind::Ping { .. }) && end != flow.from;
        self.forbids_fragments(end) && !(is_reply && self.ip == IpVersion::V4)
    }

    /// Whether hops must not fragment the packets of `flow` once its sender knows the path.
    pub fn keeps_df(&self, flow: &Flow) -> bool {
        self.forbids_fragments(flow.from) && !(flow.kind.is_tcp() && self.mss(flow).clears_df)
    }

    /// The links that the packets of `flow` cross from its sender, in that order.
    pub fn links_from_sender_of(&self, flow: &Flow) -> Vec<&LinkSpec> {
        let hops = self.hops(flow);
        match flow.from {
            End::Sender => hops.iter().map(|hop| &hop.forward).collect(),
            End::Receiver => hops.iter().rev().map(|hop| &hop.reverse).collect(),
        }
    }

    /// Whether packets of this length from the sender of `flow` are too large for a link on their way,
    /// and must not be fragmented.
    pub fn is_too_big(&self, flow: &Flow, length: Bytes) -> bool {
        let fits = |link: &&LinkSpec| length <= link.mtu.bytes();
        self.forbids_fragments(flow.from) && !self.links_from_sender_of(flow).iter().all(fits)
    }

    /// The links on which the sender of `flow` puts its packets, and its receiver.
    pub fn first_links(&self, flow: &Flow) -> (&LinkSpec, &LinkSpec) {
        let (first, last) = (&self.path.hops[flow.hops.first], &self.path.hops[flow.hops.last]);
        match flow.from {
            End::Sender => (&first.forward, &last.reverse),
            End::Receiver => (&last.reverse, &first.forward),
        }
    }

    /// When flows start whose links others use before, the latest first: how busy these kept them is not of the flow's time.
    pub fn starts_behind_others(&self) -> Vec<Time> {
        let is_behind = |flow: &&Flow| {
            self.flows.iter().any(|other| other.start < flow.start && other.hops.meets(flow.hops))
        };
        let mut starts: Vec<Time> =
            self.flows.iter().filter(is_behind).map(|flow| flow.start).collect();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        starts.dedup();
        starts
    }

    /// Whether any draw of chance can change the outcome: of a link, or of Linux's BBR, which draws the phase in which it begins to
    /// probe (`bbr_reset_probe_bw_mode`, `net/ipv4/tcp_bbr.c`).
    pub fn is_random(&self) -> bool {
        let draws_phase = |flow: &Flow| {
            let (from, to) = self.endpoints(flow);
            let is_bbr = |end: &Settings| end.congestion == CongestionName::Bbr;
            self.runs_linux(flow) && (is_bbr(from) || flow.kind != FlowKind::Bulk && is_bbr(to))
        };
        self.path.hops.iter().flat_map(HopSpec::links).any(LinkSpec::is_random)
            || self.flows.iter().any(draws_phase)
    }

    /// The slowest link from the sender to the receiver.
    ///
    /// # Panics
    /// Never: a checked scenario has a hop.
    pub fn bottleneck_rate(&self) -> BitsPerSec {
        self.path
            .hops
            .iter()
            .map(|hop| hop.forward.rate)
            .min()
            .expect("a checked scenario has a hop")
    }
}

#[cfg(test)]
mod tests;
