//! A connection in the document: both directions, limits and findings.

use std::collections::BTreeMap;

use maxseg_core::advise::{Case, HostSystems, Remedy, remedies};
use maxseg_core::diagnose::{
    CongestionControl, Finding, FindingKind, LimitSpan, Loss, Quality, Severity,
};
use maxseg_core::evidence::{
    Direction, DirectionStats, Ending, Evidence, Handshake, Marks, Requests, UnreachableEvent,
};
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_core::units::Time;
use maxseg_wire::reading::CaptureSummary;
use maxseg_wire::tshark::FlagCounts;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::super::filter::connection_filter;
use super::super::seen::seen;
use super::joined::JoinedEntry;

/// A connection.
#[derive(Serialize, JsonSchema)]
pub(super) struct ConnectionEntry<'a> {
    id: u32,
    /// Sender of the SYN.
    client: String,
    /// Its peer.
    server: String,
    /// Wireshark's display filter for its packets.
    wireshark_filter: String,
    begin_time_s: f64,
    end_time_s: f64,
    handshake: HandshakeEntry,
    /// How it ended.
    ending: Ending,
    /// Requests and replies; null where there were none.
    requests: Option<RequestsEntry>,
    /// The systems that both hosts probably are, by their SYNs.
    host_system: &'a HostSystems,
    /// Other observations.
    marks: Marks,
    /// Whether the capture is fit to judge the connection by.
    quality: &'a Quality,
    /// From the client to the server.
    forward: DirectionEntry<'a>,
    /// From the server to the client.
    reverse: DirectionEntry<'a>,
    /// The direction that carried more payload: the one that the limits are of.
    #[serde(rename = "way")]
    direction: Direction,
    /// Shares of the time from first data to last acknowledgement, largest first.
    limits: &'a [LimitShare],
    /// The limit at each time.
    limit_spans: Vec<SpanEntry>,
    /// The largest of them; `unknown` where the capture does not show it.
    limited_by: LimitedBy,
    /// Why the limit is unknown, and what would show it; null where it is known.
    unknown_because: Option<&'a str>,
    /// The chance that `limited_by` is right, from 0 to 1; 0 where it is unknown.
    confidence: f64,
    /// Why segments of that direction were lost.
    loss: &'a Loss,
    /// The congestion control of that direction's sender.
    congestion_control: &'a CongestionControl,
    /// ICMP messages "destination unreachable" about its packets.
    unreachable: Vec<UnreachableEntry>,
    /// What a second capture, at the other end, adds; null where there is none.
    joined: Option<JoinedEntry>,
    /// The findings, the most severe first.
    findings: Vec<FindingEntry<'a>>,
}

/// A stretch of time with one limit.
#[derive(Serialize, JsonSchema)]
struct SpanEntry {
    /// What limited most of it.
    kind: LimitedBy,
    /// When it begins and ends, in seconds since the connection's first packet.
    from_s: f64,
    to_s: f64,
}

/// How a connection began.
#[derive(Serialize, JsonSchema)]
struct HandshakeEntry {
    /// Whether a SYN was seen.
    syn: bool,
    /// Whether a SYN with ACK was seen.
    syn_ack: bool,
    /// SYNs of the client, retransmissions included.
    syn_packets: u32,
    /// From the point of capture to the server and back.
    server_rtt_s: Option<f64>,
    /// From the point of capture to the client and back.
    client_rtt_s: Option<f64>,
}

/// An ICMP message "destination unreachable" (RFC 792, RFC 4443 section 3.1).
#[derive(Serialize, JsonSchema)]
struct UnreachableEntry {
    /// Since the connection's first packet.
    time_s: f64,
    frame: u64,
    /// The router, firewall or host that sent it.
    from: String,
    /// Its type and code, as `ICMP type 3, code 13`.
    code: String,
    /// What the code says.
    meaning: &'static str,
    /// Source and destination of the packet that it is about.
    source: String,
    destination: String,
}

/// Requests and replies. Times are less the round trip between the point of capture and the end.
#[derive(Serialize, JsonSchema)]
struct RequestsEntry {
    /// Requests with a reply.
    turns: u32,
    /// From the last byte of a request to the first byte of its reply: the median,
    server_p50_s: Option<f64>,
    /// and the 99th percentile.
    server_p99_s: Option<f64>,
    /// From the last byte of a reply to the first byte of the next request: the median.
    think_p50_s: Option<f64>,
    /// Segments that Nagle's algorithm held back until a delayed ACK.
    nagle: u32,
}

impl RequestsEntry {
    fn of(requests: &Requests) -> Self {
        Self {
            turns: requests.turns,
            server_p50_s: requests.server.p50_s,
            server_p99_s: requests.server.p99_s,
            think_p50_s: requests.think.p50_s,
            nagle: requests.nagle.count,
        }
    }
}

/// A direction of a connection.
#[derive(Serialize, JsonSchema)]
struct DirectionEntry<'a> {
    #[serde(flatten)]
    #[schemars(with = "SeenEntry")]
    seen: Value,
    /// The same by the definitions of tshark 4.0: how many packets have each flag; with `--tshark-compat` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    tshark: Option<&'a FlagCounts>,
}

/// What `seen` gives.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the schema")]
struct SeenEntry {
    #[serde(flatten)]
    stats: DirectionStats,
    /// Packets that repeat payload, or a SYN or FIN: seen before, or what fills a gap later than reordering explains;
    /// null where the packets of this direction were not captured, for the reason in `quality`.
    retransmitted_packets: Option<u64>,
}

/// A finding.
#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    kind: FindingKind,
    severity: Severity,
    /// Its direction; null for both.
    #[serde(rename = "way")]
    direction: Option<Direction>,
    /// When it begins and ends, in seconds since the connection's first packet.
    from_s: f64,
    to_s: f64,
    /// Its numbers, named with their units.
    evidence: BTreeMap<&'a str, f64>,
    /// The first packets that show it.
    frames: &'a [u64],
    /// The observation.
    text: &'a str,
    /// Why it matters.
    why: &'a str,
    /// The change.
    advice: String,
    /// The RFC or paper.
    source: &'a str,
}

impl<'a> ConnectionEntry<'a> {
    pub(super) fn of(summary: &'a CaptureSummary, case: &'a Case<'_>) -> Self {
        let evidence: &'a Evidence = case.evidence;
        let diagnosis = &case.diagnosis;
        let direction = |direction| DirectionEntry {
            seen: seen(case, direction),
            tshark: summary.tshark.find(evidence, direction),
        };
        let Handshake { syn, syn_ack, syn_packets, server_rtt, client_rtt, .. } =
            evidence.handshake;
        Self {
            id: evidence.id,
            client: evidence.client.to_string(),
            server: evidence.server.to_string(),
            wireshark_filter: connection_filter(evidence),
            begin_time_s: evidence.begin.as_secs_f64(),
            end_time_s: evidence.end.as_secs_f64(),
            handshake: HandshakeEntry {
                syn,
                syn_ack,
                syn_packets,
                server_rtt_s: server_rtt.map(Time::as_secs_f64),
                client_rtt_s: client_rtt.map(Time::as_secs_f64),
            },
            ending: evidence.ending,
            requests: evidence.requests.as_ref().map(RequestsEntry::of),
            host_system: case.hosts(),
            marks: evidence.marks,
            quality: &diagnosis.quality,
            forward: direction(Direction::Forward),
            reverse: direction(Direction::Reverse),
            direction: diagnosis.direction,
            limits: &diagnosis.limits,
            limit_spans: diagnosis.spans.iter().map(|span| SpanEntry::of(evidence, span)).collect(),
            limited_by: diagnosis.limited_by,
            unknown_because: diagnosis.unknown_because.as_deref(),
            confidence: diagnosis.confidence,
            loss: &diagnosis.loss,
            congestion_control: &diagnosis.congestion_control,
            unreachable: evidence
                .unreachable
                .iter()
                .map(|event| UnreachableEntry::of(evidence, event))
                .collect(),
            joined: evidence.joined.as_deref().map(|joined| JoinedEntry::of(evidence, joined)),
            findings: diagnosis
                .findings
                .iter()
                .zip(remedies(case))
                .map(|(finding, remedy)| FindingEntry::of(evidence, finding, &remedy))
                .collect(),
        }
    }
}

impl UnreachableEntry {
    fn of(evidence: &Evidence, event: &UnreachableEvent) -> Self {
        let (source, destination) = event.quoted;
        Self {
            time_s: event.at.since(evidence.begin).as_secs_f64(),
            frame: event.frame,
            from: event.from.to_string(),
            code: event.code.to_string(),
            meaning: event.code.meaning(),
            source: source.to_string(),
            destination: destination.to_string(),
        }
    }
}

impl SpanEntry {
    fn of(evidence: &Evidence, span: &LimitSpan) -> Self {
        let since_begin = |time: Time| time.since(evidence.begin).as_secs_f64();
        Self { kind: span.kind, from_s: since_begin(span.from), to_s: since_begin(span.to) }
    }
}

impl<'a> FindingEntry<'a> {
    fn of(evidence: &Evidence, finding: &'a Finding, remedy: &Remedy) -> Self {
        let since_begin = |time: Time| time.since(evidence.begin).as_secs_f64();
        Self {
            kind: finding.kind,
            severity: finding.severity,
            direction: finding.direction,
            from_s: since_begin(finding.from),
            to_s: since_begin(finding.to),
            evidence: finding.evidence.iter().map(|number| (number.name, number.value)).collect(),
            frames: &finding.frames,
            text: &finding.text,
            why: finding.why,
            advice: remedy.sentence(),
            source: finding.source,
        }
    }
}
