//! A scenario as its file is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::LabOptions;
use super::link_entries::{ArqEntry, IcmpName, OrOff, PolicerEntry, QueueEntry};
use super::tunnel::TunnelOrNone;
use super::values::IpNumber;
use crate::errors::ErrorsSpec;
use crate::framing::Framing;
use crate::settings::SettingsSpec;
use crate::units::{BitsPerSec, Bytes, Mtu, Probability, Time};

/// A scenario file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "maxseg scenario")]
pub struct ScenarioSpec {
    /// Name of the scenario.
    #[schemars(extend("x-example" = "\"radio\"", "x-engines" = "for the reader"))]
    pub name: Option<String>,
    /// A remark for the reader of the file.
    #[expect(dead_code, reason = "for the reader of the file")]
    #[schemars(extend("x-example" = "\"What the scenario shows\"", "x-engines" = "for the reader"))]
    about: Option<String>,
    /// Seed of the random numbers.
    #[serde(default = "first_seed")]
    #[schemars(extend("x-example" = "1", "x-engines" = "sim, lab"))]
    pub seed: u64,
    /// IP version.
    #[serde(default)]
    #[schemars(extend("x-example" = "4", "x-default" = "4"))]
    pub ip: IpNumber,
    /// The hops from the sender to the receiver, in order.
    #[serde(default)]
    pub hop: Vec<HopEntry>,
    /// Settings of the host on the first hop.
    #[serde(default)]
    pub sender: SettingsSpec,
    /// Settings of the host behind the last hop.
    #[serde(default)]
    pub receiver: SettingsSpec,
    /// The traffic; one bulk flow where none is given.
    #[serde(default)]
    #[schemars(extend("x-default" = "one bulk flow"))]
    pub flow: Vec<FlowEntry>,
    /// When a run ends.
    #[serde(default)]
    pub until: UntilEntry,
    /// How the lab runs it; without effect on other engines.
    #[serde(default)]
    #[schemars(extend("x-engines" = "lab"))]
    pub lab: LabOptions,
    /// Keys of this file with the values to try: every combination is run.
    #[expect(
        dead_code,
        reason = "for the schema: a draft takes the sweep out before this is read"
    )]
    sweep: Option<SweepTable>,
}

fn first_seed() -> u64 {
    1
}

/// A hop: its link towards the receiver, and what differs towards the sender.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HopEntry {
    /// Name of the hop, as `hop.NAME` in keys; without one its number from 0.
    #[schemars(extend("x-example" = "\"radio\""))]
    pub name: Option<String>,
    /// Transmission rate of the link.
    #[schemars(extend("x-example" = "\"10 Mbit/s\""))]
    pub rate: BitsPerSec,
    /// Propagation delay, one way.
    #[schemars(extend("x-example" = "\"20 ms\""))]
    pub delay: Time,
    /// The largest IP packet, in bytes; 1500 unless given. With a tunnel, the largest outer packet.
    #[schemars(extend("x-example" = "1500", "x-default" = "1500"))]
    pub mtu: Option<Mtu>,
    /// The tunnel that wraps each packet, both ways, or `false`; none unless given.
    #[schemars(extend("x-example" = "\"wireguard\"", "x-default" = "none"))]
    pub tunnel: Option<TunnelOrNone>,
    /// Headers around each packet on the wire; `ip` (none) unless given.
    #[schemars(extend("x-example" = "\"ethernet\"", "x-default" = "\"ip\""))]
    pub framing: Option<Framing>,
    /// Payload of a radio frame, in bytes.
    #[schemars(extend("x-example" = "128", "x-default" = "none"))]
    pub frame: Option<FrameSize>,
    /// Whether the last frame of a packet is padded; `false` unless given.
    #[schemars(extend("x-example" = "true", "x-default" = "false"))]
    pub pad: Option<bool>,
    /// Queue in front of the link; 100 packets unless given.
    #[schemars(extend("x-example" = "\"100 packets\"", "x-default" = "\"100 packets\""))]
    pub queue: Option<QueueEntry>,
    /// Transmission errors on the way to the receiver; none unless given.
    #[schemars(extend("x-example" = "{ model = \"uniform\", per = \"packet\", rate = 0.01 }", "x-default" = "none"))]
    pub errors: Option<ErrorsSpec>,
    /// Retransmission by the link itself (ARQ) of what errors damage; none unless given.
    #[schemars(extend("x-example" = "{ retries = 3, delay = \"20 ms\" }", "x-default" = "none"))]
    pub arq: Option<OrOff<ArqEntry>>,
    /// Bytes that may exceed `rate` after an idle time (token bucket); none unless given.
    #[schemars(extend("x-example" = "\"10 kB\"", "x-default" = "none", "x-engines" = "sim, lab"))]
    pub burst: Option<Bytes>,
    /// Policer before the queue: drops packets above a rate; none unless given.
    #[schemars(extend("x-example" = "{ rate = \"5 Mbit/s\", burst = \"10 kB\" }", "x-default" = "none"))]
    pub policer: Option<OrOff<PolicerEntry>>,
    /// Whether policer and queue discipline mark ECN-capable packets instead of dropping them; `false` unless given.
    #[schemars(extend("x-example" = "true", "x-default" = "false", "x-engines" = "sim, lab"))]
    pub ecn: Option<bool>,
    /// Variation of the delay, from `delay - jitter` to `delay + jitter`; packets may overtake. `0 s` unless given.
    #[schemars(extend("x-example" = "\"5 ms\"", "x-default" = "\"0 s\"", "x-engines" = "sim, lab"))]
    pub jitter: Option<Time>,
    /// Share of packets that skip the delay, and so overtake; 0 unless given.
    #[schemars(extend("x-example" = "\"1%\"", "x-default" = "0", "x-engines" = "sim, lab"))]
    pub reorder: Option<Probability>,
    /// Share of packets that are duplicated; 0 unless given.
    #[schemars(extend("x-example" = "\"1%\"", "x-default" = "0", "x-engines" = "sim, lab"))]
    pub duplicate: Option<Probability>,
    /// Whether an ICMP error is sent about a packet above the MTU that must not be fragmented; `send` unless given.
    #[schemars(extend("x-example" = "\"send\"", "x-default" = "\"send\""))]
    pub icmp: Option<IcmpName>,
    /// Link towards the sender, where it differs; it has no errors unless given here.
    #[schemars(extend("x-example" = "{ rate = \"1 Mbit/s\" }", "x-default" = "as towards the receiver"))]
    pub reverse: Option<ReverseEntry>,
}

/// The link towards the sender, where it differs from that towards the receiver.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReverseEntry {
    /// Transmission rate of the link.
    #[schemars(extend("x-example" = "\"10 Mbit/s\"", "x-default" = "as towards the receiver"))]
    pub rate: Option<BitsPerSec>,
    /// Propagation delay, one way.
    #[schemars(extend("x-example" = "\"20 ms\"", "x-default" = "as towards the receiver"))]
    pub delay: Option<Time>,
    /// The largest IP packet, in bytes.
    #[schemars(extend("x-example" = "1500", "x-default" = "as towards the receiver"))]
    pub mtu: Option<Mtu>,
    /// Headers around each packet on the wire.
    #[schemars(extend("x-example" = "\"ethernet\"", "x-default" = "as towards the receiver"))]
    pub framing: Option<Framing>,
    /// Payload of a radio frame, in bytes.
    #[schemars(extend("x-example" = "128", "x-default" = "as towards the receiver"))]
    pub frame: Option<FrameSize>,
    /// Whether the last frame of a packet is padded.
    #[schemars(extend("x-example" = "true", "x-default" = "as towards the receiver"))]
    pub pad: Option<bool>,
    /// Queue in front of the link.
    #[schemars(extend("x-example" = "\"100 packets\"", "x-default" = "as towards the receiver"))]
    pub queue: Option<QueueEntry>,
    /// Transmission errors on the way to the sender; none unless given.
    #[schemars(extend("x-example" = "{ model = \"uniform\", per = \"packet\", rate = 0.01 }", "x-default" = "none"))]
    pub errors: Option<ErrorsSpec>,
    /// Retransmission by the link (ARQ), or `false`.
    #[schemars(extend("x-example" = "{ retries = 3, delay = \"20 ms\" }", "x-default" = "as towards the receiver"))]
    pub arq: Option<OrOff<ArqEntry>>,
    /// Bytes that may exceed `rate` after an idle time.
    #[schemars(extend("x-example" = "\"10 kB\"", "x-default" = "as towards the receiver", "x-engines" = "sim, lab"))]
    pub burst: Option<Bytes>,
    /// Policer before the queue, or `false`.
    #[schemars(extend("x-example" = "{ rate = \"5 Mbit/s\", burst = \"10 kB\" }", "x-default" = "as towards the receiver"))]
    pub policer: Option<OrOff<PolicerEntry>>,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[schemars(extend("x-example" = "true", "x-default" = "as towards the receiver", "x-engines" = "sim, lab"))]
    pub ecn: Option<bool>,
    /// Variation of the delay, up and down.
    #[schemars(extend("x-example" = "\"5 ms\"", "x-default" = "as towards the receiver", "x-engines" = "sim, lab"))]
    pub jitter: Option<Time>,
    /// Share of packets that skip the delay.
    #[schemars(extend("x-example" = "\"1%\"", "x-default" = "as towards the receiver", "x-engines" = "sim, lab"))]
    pub reorder: Option<Probability>,
    /// Share of packets that are duplicated.
    #[schemars(extend("x-example" = "\"1%\"", "x-default" = "as towards the receiver", "x-engines" = "sim, lab"))]
    pub duplicate: Option<Probability>,
    /// Whether an ICMP error is sent about a packet above the MTU.
    #[schemars(extend("x-example" = "\"send\"", "x-default" = "as towards the receiver"))]
    pub icmp: Option<IcmpName>,
}

/// Payload of a radio frame in bytes, at least 1.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(transparent)]
pub struct FrameSize(#[schemars(range(min = 1, max = 65_535))] pub u32);

impl<'de> Deserialize<'de> for FrameSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match i64::deserialize(from)? {
            n @ 1..=65_535 => Ok(Self(u32::try_from(n).expect("in range"))),
            n => Err(serde::de::Error::custom(format!(
                "a frame of {n} bytes is outside 1 to 65535; leave it out for a link without frames"
            ))),
        }
    }
}

/// A flow: traffic of one kind.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowEntry {
    /// Kind of traffic.
    #[schemars(extend("x-example" = "\"bulk\""))]
    pub kind: FlowKindName,
    /// Host that sends the data, or the requests; `sender` unless given.
    #[schemars(extend("x-example" = "\"sender\"", "x-default" = "\"sender\""))]
    pub from: Option<EndName>,
    /// Names of the hops that it crosses, adjacent and in the path's order; all unless given. Its ends are
    /// separate hosts there, with the settings of sender and receiver.
    #[schemars(extend("x-example" = "[\"radio\"]", "x-default" = "all"))]
    pub hops: Option<Vec<String>>,
    /// Start time; `0 s` unless given.
    #[schemars(extend("x-example" = "\"1 s\"", "x-default" = "\"0 s\""))]
    pub start: Option<Time>,
    /// Of `cbr`, `ping` and `request`: time from which on nothing new is sent; never unless given.
    #[schemars(extend("x-example" = "\"30 s\"", "x-default" = "never"))]
    pub stop: Option<Time>,
    /// Of `cbr`: sending rate.
    #[schemars(extend("x-example" = "\"10 Mbit/s\""))]
    pub rate: Option<BitsPerSec>,
    /// Of `cbr`: whether `rate` counts payload or whole packets; payload unless given.
    #[schemars(extend("x-example" = "\"payload\"", "x-default" = "\"payload\""))]
    pub rate_counts: Option<RateCounts>,
    /// Of `cbr` and `ping`: payload of a packet, in bytes; 56 for `ping` unless given.
    #[schemars(extend("x-example" = "536", "x-default" = "56 of ping"))]
    pub size: Option<PacketSize>,
    /// Of `cbr` and `ping`: header bytes of a packet; IP and UDP, or IP and ICMP, unless given.
    #[schemars(extend("x-example" = "28", "x-default" = "IP and UDP, or IP and ICMP"))]
    pub header: Option<u16>,
    /// Of `ping`: time from one request to the next; `1 s` unless given.
    #[schemars(extend("x-example" = "\"1 s\"", "x-default" = "\"1 s\""))]
    pub interval: Option<Time>,
    /// Of `request`: payload of a request.
    #[schemars(extend("x-example" = "\"200 B\""))]
    pub request: Option<Bytes>,
    /// Of `request`: payload of a reply.
    #[schemars(extend("x-example" = "\"20 KiB\""))]
    pub reply: Option<Bytes>,
    /// Of `request`: time from a complete reply to the next request; `0 s` unless given.
    #[schemars(extend("x-example" = "\"1 s\"", "x-default" = "\"0 s\""))]
    pub pause: Option<Time>,
    /// Of `request`: time from a complete request to its reply; `0 s` unless given.
    #[schemars(extend("x-example" = "\"10 ms\"", "x-default" = "\"0 s\""))]
    pub think: Option<Time>,
    /// Of `request`: whether one connection is kept for all requests, or each opens a new one; `kept`
    /// unless given.
    #[schemars(extend("x-example" = "\"new\"", "x-default" = "\"kept\""))]
    pub connection: Option<ConnectionUse>,
    /// Of `request`: number of requests; as many as there is time for unless given. The run ends when every
    /// flow with an end has come to it.
    #[schemars(extend("x-example" = "100", "x-default" = "no bound"))]
    pub count: Option<u64>,
}

/// Kinds of traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKindName {
    /// One TCP connection with as much data as it can carry.
    Bulk,
    /// Datagrams at a constant rate.
    Cbr,
    /// Echo requests and their answers.
    Ping,
    /// Requests and replies over TCP, one after the other.
    Request,
}

/// One of the two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndName {
    /// The host on the first hop.
    Sender,
    /// The host behind the last hop.
    Receiver,
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateCounts {
    /// Payload only.
    Payload,
    /// Payload and headers.
    Packet,
}

/// Payload of a packet: a bare number of bytes, or a size with its unit.
#[derive(Debug, Clone, Copy)]
pub struct PacketSize(pub u16);

impl<'de> Deserialize<'de> for PacketSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NumberOrSize;
        impl serde::de::Visitor<'_> for NumberOrSize {
            type Value = PacketSize;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(
                    "a packet's payload: a bare number of bytes, or a size such as \"536 B\"",
                )
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<PacketSize, E> {
                match u16::try_from(n) {
                    Ok(size) if size <= 65_000 => Ok(PacketSize(size)),
                    Ok(_) | Err(_) => {
                        Err(E::custom(format!("a payload of {n} bytes is outside 0 to 65000")))
                    }
                }
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<PacketSize, E> {
                let bytes: Bytes = text.parse().map_err(E::custom)?;
                self.visit_i64(i64::try_from(bytes.get()).unwrap_or(i64::MAX))
            }
        }
        from.deserialize_any(NumberOrSize)
    }
}

impl JsonSchema for PacketSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PacketSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "a number of bytes, 0 to 65000, or a size with its unit",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": 65_000 },
                { "type": "string", "examples": ["536 B"] },
            ],
        })
    }
}

/// When a run ends: at the first of these.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilEntry {
    /// At this time; `60 s` unless `bytes` is given.
    #[schemars(extend("x-example" = "\"60 s\"", "x-default" = "\"60 s\" unless bytes is given"))]
    pub time: Option<Time>,
    /// When each bulk flow has this payload acknowledged.
    #[schemars(extend("x-example" = "\"1 MiB\"", "x-default" = "no bound"))]
    pub bytes: Option<Bytes>,
}

/// The values to try: `"sender.mss" = [536, 1460]` for each key.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct SweepTable {
    /// Single points: a table of keys each.
    #[expect(dead_code, reason = "for the schema")]
    #[schemars(extend("x-example" = "[ { \"sender.mss\" = 536, \"receiver.window\" = \"8 KiB\" } ]", "x-default" = "none"))]
    point: Option<Vec<BTreeMap<String, serde_json::Value>>>,
    #[expect(dead_code, reason = "for the schema")]
    #[serde(flatten)]
    axes: BTreeMap<String, SweepValues>,
}

/// The values of an axis: a list, or `FROM..TO..STEP`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the schema")]
enum SweepValues {
    List(Vec<serde_json::Value>),
    Range(String),
}

/// Whether one connection serves several requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionUse {
    /// One for all of them, opened before the first (netperf's `TCP_RR`).
    #[default]
    Kept,
    /// Each opens its own (`TCP_CRR`).
    New,
}
