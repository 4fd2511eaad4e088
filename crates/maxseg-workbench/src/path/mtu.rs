//! What is found of the path MTU, hop by hop.

use std::net::IpAddr;

use maxseg_core::path_mtu::{Confidence, LossEstimate, MOST_ERROR, Refusal, Search};

/// The least MTU that `maxseg tune` gives a route of IPv4: the kernel takes less, and learns no less (`net.ipv4.route.min_pmtu`).
pub(super) const LEAST_ROUTE_MTU: u32 = 552;

/// How a path MTU was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MtuMethod {
    /// UDP datagrams that must not be fragmented; the destination's port unreachable shows arrival.
    Udp,
    /// ICMP echoes that must not be fragmented; a reply has the same size, so silence may be of the way back.
    IcmpEcho,
    /// TCP connections, each with segments of one size.
    TcpSegments,
    /// Old bytes of a TCP connection once more, in a packet of the size; a D-SACK shows arrival.
    TcpDsack,
    /// A far end says what arrived.
    FarEnd,
}

impl MtuMethod {
    /// As documents have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::IcmpEcho => "icmp-echo",
            Self::TcpSegments => "tcp-segments",
            Self::TcpDsack => "tcp-dsack",
            Self::FarEnd => "far-end",
        }
    }
}

/// The path MTU and what shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct MtuReport {
    /// Towards the destination, bytes.
    pub forward_bytes: Option<u32>,
    /// From it: a far end alone can tell.
    pub reverse: Option<ReverseMtu>,
    /// The MTU of this host's interface.
    pub interface_bytes: Option<u32>,
    /// How it was found.
    pub method: Option<MtuMethod>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why it is no surer.
    pub reason: Option<String>,
    /// The chance that it is wrong by losses alone.
    pub error_chance: Option<f64>,
    /// What has this MTU: `WireGuard over 1500 (IPv6 outside)`.
    pub well_known: Vec<String>,
    /// What the kernel has learnt from the test.
    pub taught_the_kernel: Option<TaughtKernel>,
    /// The hops, the first router's first.
    pub hops: Vec<HopReport>,
    /// Where large packets vanish without a message.
    pub black_hole: Option<BlackHole>,
    /// Routers' messages that this host drops before its own sockets receive them.
    pub dropped_here: Option<DroppedHere>,
    /// The flows that were tried: ports, and the MTU of each.
    pub flows: Vec<FlowMtu>,
    /// A router's message that a packet contradicts which arrived, in a sentence.
    pub wrong_message: Option<String>,
    /// A router's message that does not lead to what arrives.
    pub misleading: Option<Misleading>,
    /// How many packets of that size are lost, where that was counted.
    pub large_loss: Option<LargeLoss>,
}

/// Losses of large packets, beside small ones that were sent between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargeLoss {
    /// The large ones, bytes.
    pub size_bytes: u32,
    /// What became of them.
    pub large: LossEstimate,
    /// What became of the small ones.
    pub small: LossEstimate,
    /// Whether they are echoes, whose replies have their size: they may be lost on the way back.
    pub is_both_ways: bool,
    /// The sizes between which the losses begin, where that was looked for.
    pub boundary: Option<LossBoundary>,
}

/// Two sizes: of packets of the one none was lost, of those of the other some were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LossBoundary {
    /// The smaller size, bytes.
    pub none_lost_bytes: u32,
    /// Packets of it that were sent.
    pub none_lost_sent: u32,
    /// The larger size, bytes.
    pub some_lost_bytes: u32,
    /// Packets of it that were sent.
    pub some_lost_sent: u32,
    /// Those of them that were lost.
    pub some_lost: u32,
}

/// A share of lost packets that shows.
pub(super) const MUCH_LOSS: f64 = 0.1;
/// Small packets that are lost this often, against large ones, make losses no matter of the size.
const FEWER: f64 = 0.25;
/// So many more large packets than small ones are lost, by chance.
const BY_CHANCE: f64 = 1.0;

impl LargeLoss {
    /// The share of the large packets that are lost.
    pub(super) fn share(&self) -> f64 {
        self.large.share()
    }

    /// Whether losses go by the size, as chance does not explain.
    pub(super) fn is_certain(&self) -> bool {
        let share = self.share();
        share >= MUCH_LOSS
            && self.small.share() <= FEWER * share
            && self.large.excess_chance(self.small) <= MOST_ERROR
    }

    /// Whether no more large packets are lost than chance explains.
    pub(super) fn is_by_chance(&self) -> bool {
        let expected = self.small.share() * f64::from(self.large.sent);
        f64::from(self.large.lost) <= expected + BY_CHANCE
    }
}

/// The path MTU of the way back.
#[derive(Debug, Clone, PartialEq)]
pub struct ReverseMtu {
    /// The largest packet that arrives here, bytes.
    pub bytes: Option<u32>,
    /// How sure it is.
    pub confidence: Confidence,
    /// The chance that it is wrong by losses alone.
    pub error_chance: Option<f64>,
    /// Packets of this size vanish, and the far end's kernel has learnt of no limit, bytes.
    pub vanishes_bytes: Option<u32>,
    /// The path MTU to this host that the far end's kernel has learnt of routers, bytes.
    pub learnt_there_bytes: Option<u32>,
    /// Why it is no surer.
    pub reason: Option<String>,
}

impl ReverseMtu {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self {
        bytes: None,
        confidence: Confidence::Unknown,
        error_chance: None,
        vanishes_bytes: None,
        learnt_there_bytes: None,
        reason: None,
    };
}

/// Names that are told of an MTU.
const MOST_NAMES: usize = 3;

impl MtuReport {
    /// What has the MTU, as a clause; nothing where that is not known. Another link may be set to the same.
    pub(super) fn name(&self) -> String {
        let names: Vec<&str> =
            self.well_known.iter().map(String::as_str).take(MOST_NAMES).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(", as for example with {}", names.join(", or "))
        }
    }

    /// The largest packet that arrives from the far end, bytes.
    pub fn reverse_bytes(&self) -> Option<u32> {
        self.reverse.as_ref().and_then(|reverse| reverse.bytes)
    }
}

impl Default for MtuReport {
    fn default() -> Self {
        Self {
            forward_bytes: None,
            reverse: None,
            interface_bytes: None,
            method: None,
            confidence: Confidence::Unknown,
            reason: None,
            error_chance: None,
            well_known: Vec::new(),
            taught_the_kernel: None,
            hops: Vec::new(),
            black_hole: None,
            dropped_here: None,
            flows: Vec::new(),
            wrong_message: None,
            misleading: None,
            large_loss: None,
        }
    }
}

/// A path MTU that the kernel remembers: it shrinks every connection to the destination.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct TaughtKernel {
    /// The MTU.
    pub mtu_bytes: u32,
    /// Until when, seconds since 1970.
    pub until_s: f64,
    /// Whether the kernel changes it no more until then, so that `path --forget` cannot remove it.
    pub is_locked: bool,
}

/// A hop.
#[derive(Debug, Clone, PartialEq)]
pub struct HopReport {
    /// Its number: 1 for the first router.
    pub hop: u8,
    /// Its address; `None` of one that does not answer.
    pub address: Option<IpAddr>,
    /// The least round trip to it, seconds.
    pub rtt_s: Option<f64>,
    /// The largest packet that comes to it, bytes; `None` where that is not known.
    pub mtu_bytes: Option<u32>,
    /// The MTU that it states for the next link, bytes.
    pub stated_mtu_bytes: Option<u32>,
    /// What else there is to know.
    pub note: Option<String>,
}

/// A place where large packets vanish without a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlackHole {
    /// The last hop that they reach, 0 for this host: the one that should send the message. `None` where it was not found.
    pub after_hop: Option<u8>,
    /// Its address.
    pub after_address: Option<IpAddr>,
    /// The first hop that they do not reach.
    pub before_hop: Option<u8>,
    /// Its address.
    pub before_address: Option<IpAddr>,
    /// The largest packet that passes, bytes.
    pub passes_bytes: u32,
    /// The packets that vanish, bytes.
    pub vanishes_bytes: u32,
    /// What somebody on the way says of them, without an MTU: that a rule prohibits them, for one.
    pub said: Option<String>,
}

impl BlackHole {
    /// Whether packets vanish on the link of this host: no router is there that could say anything. Behind it may be hops of which none
    /// answers.
    pub(super) fn is_on_first_link(&self) -> bool {
        (self.after_hop, self.before_hop) == (Some(0), Some(1))
    }
}

/// A message that a packet is too big which does not lead to what arrives: its MTU is no smaller than the packet (RFC 1191 §4 has that
/// of the next hop), which is sent again and again; or it has none, and Linux goes down to the least that it learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misleading {
    /// The packets that are refused, bytes.
    pub size_bytes: u32,
    /// The MTU that is stated for them, bytes; 0 where none is.
    pub stated_mtu_bytes: u32,
    /// Who states it, as far as it is known.
    pub router: Option<IpAddr>,
    /// Its number on the path, where it is known.
    pub hop: Option<u8>,
}

impl Misleading {
    /// That of a search, if any.
    pub(super) fn of(search: &Search) -> Option<Self> {
        let found = search.dead_end().or_else(|| search.unstated());
        // Where no more arrives, what Linux goes down to is fragmented on the way, and arrives.
        let is_told = |refusal: &Refusal| refusal.mtu > 0 || search.at_least() > LEAST_ROUTE_MTU;
        found.filter(|(_, refusal)| is_told(refusal)).map(|(size_bytes, refusal)| Self {
            size_bytes,
            stated_mtu_bytes: refusal.mtu,
            router: refusal.router,
            hop: refusal.hop,
        })
    }
}

/// Messages that packets are too big, which came to this host, and none of which its sockets received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedHere {
    /// Who sent them; `None` where this user may not hear them.
    pub router: Option<IpAddr>,
    /// Its number on the path, where it is known.
    pub hop: Option<u8>,
    /// The MTU that they state; 0 of an IPv4 router that does not say.
    pub stated_mtu_bytes: u32,
    /// The packets that they are about, bytes.
    pub size_bytes: u32,
    /// How many came.
    pub messages: usize,
    /// Whether they were heard; else counters alone show that something is dropped whenever packets of that size are sent.
    pub is_certain: bool,
    /// What drops them.
    pub by: DroppedBy,
    /// The interface by which they came, which need not be the one by which packets leave; `None` where that is not known.
    pub interface: Option<String>,
}

/// What drops messages to this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DroppedBy {
    /// A firewall of this host.
    Firewall,
    /// The kernel's check of the way back to the sender (`net.ipv4.conf.*.rp_filter`).
    ReversePathFilter,
}

/// The path MTU of one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct FlowMtu {
    /// The source port.
    pub source_port: u16,
    /// The destination port.
    pub destination_port: u16,
    /// Its path MTU; null where nothing answered.
    pub mtu_bytes: Option<u32>,
    /// Packets of this size vanish on it, where its path MTU is not known, while small ones arrive.
    pub vanishes_bytes: Option<u32>,
}
