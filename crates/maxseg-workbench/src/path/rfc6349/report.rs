//! What the report holds: the ten requirements, in the order of `docs/rfc6349.md`.

use maxseg_core::framing::Framing;
use maxseg_core::outcome::LimitShare;
use maxseg_core::rfc6349::{Check, Interpretation, RunMetrics, Thresholds, TrainsFound, Verdict};
use maxseg_linux::far_end::{BulkResult, Granted};
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::MtuReport;

/// The report of RFC 6349.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rfc6349Report {
    /// When it began: seconds since 1970.
    pub began_s: f64,
    /// How long its transfers were to take.
    pub planned_s: f64,
    /// How often the run in equilibrium was made.
    pub repeats: u32,
    /// What the RFC wants to be known before (§1, §3).
    pub preconditions: Preconditions,
    /// This host's operating system and architecture: the RFC wants the TCP that is tested identified (§3).
    pub system: String,
    /// The release of its kernel; null where it cannot be told.
    pub kernel: Option<String>,
    /// The path MTU (§3.1).
    pub path_mtu: PathMtuEntry,
    /// The round trip without load (§3.2.1).
    pub baseline: BaselineEntry,
    /// What the ends agreed on; null where the sockets do not tell.
    pub negotiated: Option<NegotiatedEntry>,
    /// What had to be reached; the RFC has no thresholds.
    pub thresholds: Thresholds,
    /// Both directions, one after the other.
    pub directions: Vec<DirectionReport>,
    /// Both at once (§3.3); null where the far end cannot.
    pub both_at_once: Option<BothAtOnce>,
}

/// What the RFC wants to be known before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Preconditions {
    /// Whether the path passed a test of layers 2 and 3, as the user says.
    pub is_layer_2_tested: bool,
    /// The bandwidth that the provider states.
    pub stated_bps: Option<u64>,
    /// The framing of the link that it is of.
    pub stated_framing: Option<Framing>,
    /// The share of small packets that were lost before; above 0.05 throughput says little of the path (§3).
    pub loss_share: Option<f64>,
    /// The 99th percentile of round trips before, less the least; above 0.15 throughput says little of the path (§3).
    pub jitter_s: Option<f64>,
}

/// The path MTU.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PathMtuEntry {
    /// Towards the far end.
    pub forward_bytes: Option<u32>,
    /// From it.
    pub reverse_bytes: Option<u32>,
    /// How it was found.
    pub method: Option<String>,
    /// How sure it is.
    pub confidence: String,
}

/// The round trip without load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BaselineEntry {
    /// It.
    pub rtt_s: f64,
    /// How it was measured.
    pub method: String,
    /// Packets sent for it.
    pub sent: usize,
}

/// What the ends agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NegotiatedEntry {
    /// Window scales of this host's and the far end's windows (RFC 7323); null without.
    pub window_scales: Option<[u8; 2]>,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
}

/// Buffers and windows of the run in equilibrium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BuffersEntry {
    /// Send buffer and window that were asked for; null: the kernels' own autotuning.
    pub asked_bytes: Option<u32>,
    /// The sender's when the run began, as its kernel accounts it.
    pub send_bytes: Option<u32>,
    /// The receiver's when the run began, as its kernel accounts it.
    pub receive_bytes: Option<u32>,
    /// The largest window that the receiver advertised.
    pub window_bytes: Option<u64>,
    /// The sender's congestion control.
    pub congestion: Option<String>,
}

/// A step of the window sweep (§3.3.1, §5.2).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepStep {
    /// The window by the product of bandwidth and delay.
    pub of_bdp: f64,
    /// The window that the receiver was to advertise.
    pub window_bytes: u32,
    /// Connections.
    pub connections: u16,
    /// The window a round trip, at most the ideal throughput.
    pub expected_bps: Option<f64>,
    /// What was measured; null where nothing was transferred.
    pub run: Option<RunMetrics>,
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DirectionReport {
    /// `upload` or `download`.
    pub direction: String,
    /// The bottleneck bandwidth (§3.2.2), of IP packets: what trains of datagrams showed, or the most that any run reached.
    pub bottleneck_bps: f64,
    /// How it was measured.
    pub bottleneck_method: String,
    /// How sure it is: `confirmed`, `one-method` or `at-least`.
    pub bottleneck_confidence: String,
    /// Whether windows, buffers, hosts or losses kept the connections from filling the path, and nothing else tells what it carries.
    pub is_lower_bound: bool,
    /// What trains of datagrams showed; null where the far end sends none, and where too few arrived.
    pub trains: Option<TrainsFound>,
    /// The product of bandwidth and delay (§3.3.1).
    pub bdp_bytes: f64,
    /// The least window that fills the path: the same.
    pub least_window_bytes: f64,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Bytes of its packet.
    pub packet_bytes: u32,
    /// The ideal throughput: whole packets of this size in a second, their payload (§4.1.1).
    pub ideal_bps: Option<f64>,
    /// Buffers, asked for and granted (§3.3.1).
    pub buffers: BuffersEntry,
    /// The window sweep (§3.3.1, §5.2).
    pub sweep: Vec<SweepStep>,
    /// One connection in equilibrium (§1.3), each repeat (§3.3, §4).
    pub runs: Vec<RunMetrics>,
    /// When each of them began: seconds since 1970; null where that is not known.
    pub runs_began_s: Vec<Option<f64>>,
    /// Several connections (§3.3, §5.1).
    pub many: RunMetrics,
    /// What limited the sender of the run of median throughput, by its socket.
    pub limits: Vec<LimitShare>,
    /// Thresholds, against the run of median throughput.
    pub checks: Vec<Check>,
    /// What it means (§5.2).
    pub interpretation: Option<Interpretation>,
}

/// Both directions at once, several connections each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BothAtOnce {
    /// Towards the far end; null where nothing was transferred.
    pub upload: Option<RunMetrics>,
    /// From it.
    pub download: Option<RunMetrics>,
}

impl Rfc6349Report {
    /// Whether a threshold was not met, or not measured in a direction.
    pub fn has_failed(&self) -> bool {
        let has_thresholds = self.thresholds != Thresholds::default();
        let is_met = |direction: &DirectionReport| {
            !direction.checks.is_empty()
                && direction.checks.iter().all(|check| check.verdict == Verdict::Pass)
        };
        has_thresholds && (self.directions.len() < 2 || !self.directions.iter().all(is_met))
    }
}

impl PathMtuEntry {
    pub(super) fn of(mtu: &MtuReport) -> Self {
        Self {
            forward_bytes: mtu.forward_bytes,
            reverse_bytes: mtu.reverse_bytes(),
            method: mtu.method.map(|method| method.word().to_owned()),
            confidence: mtu.confidence.word().to_owned(),
        }
    }
}

impl NegotiatedEntry {
    pub(super) fn of(result: &BulkResult) -> Option<Self> {
        if !result.has_sockets {
            return None;
        }
        let info = result.series.first()?.samples.last()?.sample.info;
        let scales = info.window_scales;
        Some(Self {
            window_scales: info.options.window_scaling().then_some([scales.receive, scales.send]),
            sack: info.options.sack(),
            timestamps: info.options.timestamps(),
            ecn: info.options.ecn(),
        })
    }
}

impl BuffersEntry {
    pub(super) fn of(granted: &Granted, run: &RunMetrics, asked: Option<u32>) -> Self {
        Self {
            asked_bytes: asked,
            send_bytes: granted.send_buffer,
            receive_bytes: granted.receive_buffer,
            window_bytes: run.window_bytes,
            congestion: granted.congestion.clone(),
        }
    }
}
