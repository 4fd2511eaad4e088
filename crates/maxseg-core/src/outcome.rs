//! What came of a scenario. `None` means that the source cannot know, never zero.

mod lab;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Histogram;
use crate::units::Time;
pub use lab::{LabFlow, LabLink, LabProof, Lateness, LatenessBucket};

/// The result of one run. SI units, named in the keys.
///
/// Packets and bytes are counted where each end sends, lost and repeated ones included. With several
/// flows this holds their sums (and means over all their samples), and `flows` each one's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Acknowledged payload (TCP) or delivered payload (datagrams, replies) ÷ elapsed time, in bits per
    /// second; handshake and slow start included.
    pub goodput_bps: Option<f64>,
    /// From the run's beginning to its end.
    pub elapsed_s: Option<f64>,
    /// Payload acknowledged (TCP) or delivered (datagrams, replies to requests).
    pub payload_bytes: Option<u64>,
    /// Packets with payload, repeated ones included.
    pub data_packets: Option<u64>,
    /// Packets that only acknowledge.
    pub ack_packets: Option<u64>,
    /// All packets, both directions.
    pub packets: Option<u64>,
    /// All bytes on each sender's own wire, framing included, both directions.
    pub wire_bytes: Option<u64>,
    /// Packets that repeat payload.
    pub retransmitted_packets: Option<u64>,
    /// The payload that they repeat.
    pub retransmitted_bytes: Option<u64>,
    /// Payload that arrived again.
    pub duplicate_bytes: Option<u64>,
    /// Expiries of retransmission timers.
    pub timeouts: Option<u64>,
    /// Fast retransmits.
    pub fast_retransmits: Option<u64>,
    /// Repeated segments that arrived and brought nothing new.
    pub spurious_retransmissions: Option<u64>,
    /// Share of the packets with payload that was lost on the way.
    pub segment_loss: Option<f64>,
    /// Least round trip of a timed segment.
    pub rtt_min_s: Option<f64>,
    /// Mean round trip of the timed segments.
    pub rtt_mean_s: Option<f64>,
    /// 99 of 100 timed segments took no longer.
    pub rtt_p99_s: Option<f64>,
    /// Mean round trip of the echo requests.
    pub ping_mean_s: Option<f64>,
    /// 99 of 100 echo requests took no longer.
    pub ping_p99_s: Option<f64>,
    /// Requests whose whole reply has come.
    pub requests: Option<u64>,
    /// Mean time from a request to its whole reply; where each opens a connection, from its SYN.
    pub request_mean_s: Option<f64>,
    /// Half of the requests took no longer.
    pub request_p50_s: Option<f64>,
    /// 99 of 100 requests took no longer.
    pub request_p99_s: Option<f64>,
    /// Bytes in flight, averaged over time.
    pub in_flight_mean_bytes: Option<f64>,
    /// Time that a packet towards the data's receiver spends in queues, on average.
    pub queue_mean_s: Option<f64>,
    /// Payload of a full segment.
    pub mss_used_bytes: Option<u64>,
    /// What kept the flow from being faster, in the words of `explain`.
    pub limited_by: Option<LimitedBy>,
    /// The shares of the time that each limit held, largest first; only where every moment is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitShare>,
    /// CPU time for each gigabit carried; only where something real carried it.
    pub cpu_s_per_gbit: Option<f64>,
    /// The formula that gave the goodput; only of the model.
    #[serde(default)]
    pub formula: Option<String>,
    /// What a lab run proves of itself; only of the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<Box<LabProof>>,
    /// The flows one by one, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Outcome>,
}

impl Outcome {
    /// Why a lab run proves nothing; empty where it is valid, and for every other engine.
    pub fn invalid_because(&self) -> &[String] {
        self.lab.as_ref().map_or(&[], |lab| &lab.invalid_because)
    }

    /// Whether it can be believed.
    pub fn is_valid(&self) -> bool {
        self.invalid_because().is_empty()
    }

    /// The goodput by which results are shown and compared, in bits per second: that of the TCP flows, without
    /// the datagrams of cross traffic. [`goodput_bps`](Self::goodput_bps), the sum of all flows, where none is
    /// TCP. `None` where that of a TCP flow is unknown.
    pub fn headline_goodput_bps(&self) -> Option<f64> {
        if self.has_cross_traffic() {
            self.flows.iter().filter(|flow| flow.is_of_tcp()).map(|flow| flow.goodput_bps).sum()
        } else {
            self.goodput_bps
        }
    }

    /// Whether TCP flows share the path with datagrams, whose payload is in the sum of the goodputs.
    pub fn has_cross_traffic(&self) -> bool {
        let datagrams = |flow: &Self| !flow.is_of_tcp() && flow.goodput_bps.is_some();
        self.flows.iter().any(Self::is_of_tcp) && self.flows.iter().any(datagrams)
    }

    /// Whether this is what came of one TCP flow: nothing else has segments or repeats them.
    fn is_of_tcp(&self) -> bool {
        self.mss_used_bytes.is_some() || self.retransmitted_packets.is_some()
    }
}

impl Outcome {
    /// An outcome of which only this is known: how long echoes took, and requests, where there are any.
    pub fn of_times(pings: &Histogram, requests: Option<&Histogram>) -> Self {
        let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
        Self {
            ping_mean_s: seconds(pings.mean()),
            ping_p99_s: seconds(pings.quantile(0.99)),
            requests: requests.map(Histogram::count),
            request_mean_s: seconds(requests.and_then(Histogram::mean)),
            request_p50_s: seconds(requests.and_then(|times| times.quantile(0.5))),
            request_p99_s: seconds(requests.and_then(|times| times.quantile(0.99))),
            ..Self::default()
        }
    }
}

/// How long a limit held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitShare {
    /// Which.
    pub kind: LimitedBy,
    /// Its share of the time, from 0 to 1.
    pub share: f64,
}

/// What kept a flow from being faster.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// There was no more to send.
    Application,
    /// Start-up: handshake and slow start. Older stored results may call it `opportunity`.
    #[serde(alias = "opportunity")]
    StartUp,
    /// The window that the receiver offers.
    ReceiveWindow,
    /// The sender's buffer.
    SendBuffer,
    /// The slowest link was full.
    Bandwidth,
    /// Losses kept the congestion window down.
    Congestion,
    /// A host was busy with packets.
    Host,
    /// Packets too large for the path.
    PathMtu,
    /// Waiting for the retransmission timer.
    Rto,
    /// It cannot be told.
    Unknown,
}

impl LimitedBy {
    /// The word that reports and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::StartUp => "start-up",
            Self::ReceiveWindow => "receive-window",
            Self::SendBuffer => "send-buffer",
            Self::Bandwidth => "bandwidth",
            Self::Congestion => "congestion",
            Self::Host => "host",
            Self::PathMtu => "path-mtu",
            Self::Rto => "rto",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}
