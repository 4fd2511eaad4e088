//! The document of `explain --json`; its names are a contract.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use maxseg_core::diagnose::{Finding, FindingKind, LimitSpan, Severity};
use maxseg_core::engine::EngineName;
use maxseg_core::evidence::{Direction, Ending, Evidence, Handshake, Marks, PathMtuEvent, Way};
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_core::units::Time;
use schemars::JsonSchema;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use super::Story;
use crate::explain::path::{Confidence, Known, ObservedPath};
use crate::explain::remedy::Command;
use crate::explain::{
    Case, Explanation, FileFacts, FlagCounts, Fragments, Interface, Kept, Problem,
};

/// Everything that a capture says. Times `*_time_s` are seconds since 1970; frames are packets of the capture,
/// counted from 1.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainDocument<'a, 'b> {
    /// Raised when a name changes its meaning or goes.
    schema_version: u32,
    /// The path as given.
    file: &'a str,
    /// Its format.
    format: &'a str,
    /// Packets that it holds, as far as it could be read.
    packets: u64,
    /// Bytes of these packets on the wire, whatever the capture kept of them.
    bytes: u64,
    /// When the first passed.
    first_time_s: Option<f64>,
    /// When the last passed.
    last_time_s: Option<f64>,
    /// What is wrong with the file, and what was left out.
    problems: Vec<ProblemEntry<'a>>,
    /// Where packets were captured.
    interfaces: Vec<InterfaceEntry<'a>>,
    /// What TCP travelled in.
    encapsulations: &'a [String],
    /// Every connection that was asked for.
    #[schemars(with = "Vec<ConnectionEntry<'static>>")]
    connections: Flowing<'a, 'b>,
    /// The connection with most at stake, and what to do about it.
    #[schemars(with = "Option<StoryEntry<'static>>")]
    matters_most: Leading<'a, 'b>,
    /// Connections that were not followed, because there were too many.
    untracked_connections: u64,
    /// Packets that were fragments.
    fragments: Fragments,
    /// What hops said of packets that were too big for them.
    path_mtu_events: Vec<PathMtuEntry>,
}

/// Something wrong with the file, or left out.
#[derive(Serialize, JsonSchema)]
struct ProblemEntry<'a> {
    /// A word for programs.
    code: &'a str,
    /// A sentence for people.
    text: &'a str,
    /// Where in the file, in bytes from its beginning; of a compressed one, of what it holds.
    offset: Option<u64>,
    /// How often.
    count: u64,
}

/// A point of capture.
#[derive(Serialize, JsonSchema)]
struct InterfaceEntry<'a> {
    name: &'a str,
    /// Its link type.
    link: &'a str,
    packets: u64,
}

/// What hops said.
#[derive(Serialize, JsonSchema)]
struct PathMtuEntry {
    time_s: f64,
    frame: u64,
    /// The hop that says it.
    hop: IpAddr,
    /// What the next link takes; 0 from a router that does not say.
    mtu_bytes: u32,
    /// Length of the packet that was refused.
    packet_bytes: u32,
    /// Whose packet it was, and whither it was to go.
    source: Option<String>,
    destination: Option<String>,
    /// Which connection it was.
    connection: Option<u32>,
}

/// A connection.
#[derive(Serialize, JsonSchema)]
struct ConnectionEntry<'a> {
    id: u32,
    /// Who opened it.
    client: String,
    /// Whom it was opened to.
    server: String,
    begin_time_s: f64,
    end_time_s: f64,
    handshake: HandshakeEntry,
    /// How it ended.
    ending: Ending,
    /// What else there is to know.
    marks: Marks,
    /// From the client to the server.
    forward: DirectionEntry<'a>,
    /// From the server to the client.
    reverse: DirectionEntry<'a>,
    /// The way that carried more payload: the one that the limits are of.
    way: Way,
    /// Shares of the time from first data to last acknowledgement, largest first.
    limits: &'a [LimitShare],
    /// What limited it when.
    limit_spans: Vec<SpanEntry>,
    /// The largest of them; null where no payload was acknowledged.
    limited_by: Option<LimitedBy>,
    /// What there is to say, the most severe first.
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
    /// From the point of capture to the server and back.
    server_rtt_s: Option<f64>,
    /// From the point of capture to the client and back.
    client_rtt_s: Option<f64>,
}

/// One way of a connection.
#[derive(Serialize, JsonSchema)]
struct DirectionEntry<'a> {
    #[serde(flatten)]
    seen: &'a Direction,
    /// The same by the definitions of tshark 4.0: how many packets have each flag; with `--tshark-compat` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    tshark: Option<&'a FlagCounts>,
}

/// One thing that a connection shows.
#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    kind: FindingKind,
    severity: Severity,
    /// Which way it is about; null for both.
    way: Option<Way>,
    /// When it begins and ends, in seconds since the connection's first packet.
    from_s: f64,
    to_s: f64,
    /// The numbers behind it, named with their units.
    evidence: BTreeMap<&'a str, f64>,
    /// The first packets that show it.
    frames: &'a [u64],
    /// What it is.
    text: &'a str,
    /// Why it matters.
    why: &'a str,
    /// What to change.
    advice: &'a str,
    /// Where that is written.
    source: &'a str,
}

/// What to do about a connection.
#[derive(Serialize, JsonSchema)]
struct StoryEntry<'a> {
    /// Which connection.
    connection: u32,
    /// All of it in a sentence.
    text: String,
    /// What to change.
    change: Option<&'a str>,
    /// How.
    commands: &'a [Command],
    /// What to know before doing it.
    note: Option<&'a str>,
    /// What the change gains.
    gain: Option<GainEntry>,
    /// Why no gain is given.
    no_gain: Option<String>,
    /// The path as the connection showed it, each value with how it is known.
    path: Option<PathEntry>,
}

/// What a change gains.
#[derive(Serialize, JsonSchema)]
struct GainEntry {
    /// Observed goodput, idle times included.
    observed_bps: f64,
    /// Whether the path may be faster than it was taken for: then the gain is a bound from below.
    is_bound: bool,
    /// Expected goodput after the change; null where no run of the path comes near enough to what was observed.
    expected_bps: Option<f64>,
    /// Expected ÷ observed − 1.
    gain: Option<f64>,
    /// What each engine says of the path while there was something to send.
    engines: Vec<PredictionEntry>,
    /// The payload of a run, where the transfer was too long to be run whole.
    shortened_to_bytes: Option<u64>,
}

/// What an engine says.
#[derive(Serialize, JsonSchema)]
struct PredictionEntry {
    engine: EngineName,
    /// As it is.
    baseline_bps: f64,
    /// Without the limit; null where the baseline is off by more than 15%.
    without_bps: Option<f64>,
    /// What limits it then.
    then_limited_by: Option<LimitedBy>,
}

/// The observed path.
#[derive(Serialize, JsonSchema)]
struct PathEntry {
    rate_bps: KnownEntry<f64>,
    rtt_s: KnownEntry<f64>,
    loss: KnownEntry<f64>,
    queue_bytes: KnownEntry<u64>,
    mtu_bytes: KnownEntry<u32>,
    mss_used_bytes: KnownEntry<u32>,
    window_bytes: KnownEntry<u64>,
    send_buffer_bytes: Option<KnownEntry<u64>>,
    initial_window_bytes: Option<KnownEntry<u64>>,
}

/// A value, and how it is known.
#[derive(Serialize, JsonSchema)]
struct KnownEntry<T> {
    value: T,
    confidence: Confidence,
    how: String,
}

impl<T: Copy> KnownEntry<T> {
    fn of(known: &Known<T>) -> Self {
        Self { value: known.value, confidence: known.confidence, how: known.how.clone() }
    }
}

/// Connections that go by one at a time while the document is written, and what is kept of them.
struct Passing<'b> {
    explanation: &'b Explanation,
    source: &'b mut dyn Iterator<Item = Evidence>,
    kept: Kept,
}

/// The list of connections: writing it asks for each.
struct Flowing<'a, 'b>(&'a RefCell<Passing<'b>>);

/// The one that matters most: known when all have gone by.
struct Leading<'a, 'b>(&'a RefCell<Passing<'b>>);

impl Serialize for Flowing<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut passing = self.0.borrow_mut();
        let Passing { explanation, source, kept } = &mut *passing;
        let mut list = to.serialize_seq(None)?;
        for evidence in source {
            let case = explanation.case(&evidence);
            list.serialize_element(&ConnectionEntry::of(explanation, &case))?;
            let stake = case.stake();
            kept.offer(stake, evidence);
        }
        list.end()
    }
}

impl Serialize for Leading<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let passing = self.0.borrow();
        let leading = passing.kept.leading().map(|evidence| passing.explanation.case(evidence));
        let story = leading.map(|case| Story::of(case, &passing.explanation.file.name));
        story.as_ref().map(StoryEntry::of).serialize(to)
    }
}

/// Writes the document connection by connection, so that it is nowhere as a whole; what is kept of the connections.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_json(
    out: &mut dyn io::Write,
    explanation: &Explanation,
    source: &mut dyn Iterator<Item = Evidence>,
) -> io::Result<Kept> {
    let passing = RefCell::new(Passing { explanation, source, kept: Kept::default() });
    serde_json::to_writer(&mut *out, &ExplainDocument::of(explanation, &passing))?;
    out.write_all(b"\n")?;
    Ok(passing.into_inner().kept)
}

impl<'a, 'b> ExplainDocument<'a, 'b> {
    fn of(explanation: &'a Explanation, passing: &'a RefCell<Passing<'b>>) -> Self {
        let FileFacts { name, format, packets, bytes, first, last, interfaces, encapsulations } =
            &explanation.file;
        let seconds = |time: &Option<Time>| time.map(Time::as_secs_f64);
        let problem = |problem: &'a Problem| ProblemEntry {
            code: problem.code,
            text: &problem.text,
            offset: problem.offset,
            count: problem.count,
        };
        let interface = |interface: &'a Interface| InterfaceEntry {
            name: &interface.name,
            link: &interface.link,
            packets: interface.packets,
        };
        Self {
            schema_version: 1,
            file: name,
            format,
            packets: *packets,
            bytes: *bytes,
            first_time_s: seconds(first),
            last_time_s: seconds(last),
            problems: explanation.problems.iter().map(problem).collect(),
            interfaces: interfaces.iter().map(interface).collect(),
            encapsulations,
            connections: Flowing(passing),
            matters_most: Leading(passing),
            untracked_connections: explanation.untracked_connections,
            fragments: explanation.fragments,
            path_mtu_events: explanation.path_mtu_events.iter().map(PathMtuEntry::of).collect(),
        }
    }
}

impl PathMtuEntry {
    fn of(event: &PathMtuEvent) -> Self {
        Self {
            time_s: event.at.as_secs_f64(),
            frame: event.frame,
            hop: event.hop,
            mtu_bytes: event.mtu_bytes,
            packet_bytes: event.packet_bytes,
            source: event.quoted.map(|(source, _)| source.to_string()),
            destination: event.quoted.map(|(_, destination)| destination.to_string()),
            connection: event.connection,
        }
    }
}

impl<'a> ConnectionEntry<'a> {
    fn of(explanation: &'a Explanation, case: &'a Case<'_>) -> Self {
        let evidence: &'a Evidence = case.evidence;
        let diagnosis = &case.diagnosis;
        let tshark = |way| explanation.tshark.find(evidence, way);
        let Handshake { syn, syn_ack, server_rtt, client_rtt } = evidence.handshake;
        Self {
            id: evidence.id,
            client: evidence.client.to_string(),
            server: evidence.server.to_string(),
            begin_time_s: evidence.begin.as_secs_f64(),
            end_time_s: evidence.end.as_secs_f64(),
            handshake: HandshakeEntry {
                syn,
                syn_ack,
                server_rtt_s: server_rtt.map(Time::as_secs_f64),
                client_rtt_s: client_rtt.map(Time::as_secs_f64),
            },
            ending: evidence.ending,
            marks: evidence.marks,
            forward: DirectionEntry { seen: &evidence.forward, tshark: tshark(Way::Forward) },
            reverse: DirectionEntry { seen: &evidence.reverse, tshark: tshark(Way::Reverse) },
            way: diagnosis.way,
            limits: &diagnosis.limits,
            limit_spans: diagnosis.spans.iter().map(|span| SpanEntry::of(evidence, span)).collect(),
            limited_by: diagnosis.limited_by,
            findings: diagnosis
                .findings
                .iter()
                .map(|finding| FindingEntry::of(evidence, finding))
                .collect(),
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
    fn of(evidence: &Evidence, finding: &'a Finding) -> Self {
        let since_begin = |time: Time| time.since(evidence.begin).as_secs_f64();
        Self {
            kind: finding.kind,
            severity: finding.severity,
            way: finding.way,
            from_s: since_begin(finding.from),
            to_s: since_begin(finding.to),
            evidence: finding.evidence.iter().map(|number| (number.name, number.value)).collect(),
            frames: &finding.frames,
            text: &finding.text,
            why: finding.why,
            advice: &finding.advice,
            source: finding.source,
        }
    }
}

impl<'a> StoryEntry<'a> {
    fn of(story: &'a Story<'_>) -> Self {
        let remedy = story.remedy.as_ref();
        Self {
            connection: story.case.evidence.id,
            text: story.sentence(),
            change: remedy.map(|remedy| remedy.change.as_str()),
            commands: remedy.map_or(&[], |remedy| &remedy.commands),
            note: remedy.and_then(|remedy| remedy.note.as_deref()),
            gain: story.gain.as_ref().ok().map(|gain| GainEntry {
                observed_bps: gain.observed_whole_bps(),
                is_bound: gain.is_bound,
                expected_bps: gain.expected_bps(),
                gain: gain.relative(),
                engines: gain
                    .predictions
                    .iter()
                    .map(|prediction| PredictionEntry {
                        engine: prediction.engine,
                        baseline_bps: prediction.baseline_bps,
                        without_bps: prediction.without_bps,
                        then_limited_by: prediction.then_limited_by,
                    })
                    .collect(),
                shortened_to_bytes: gain.shortened_to,
            }),
            no_gain: story.no_gain(),
            path: story.rerun.as_ref().map(|rerun| PathEntry::of(&rerun.path)),
        }
    }
}

impl PathEntry {
    fn of(path: &ObservedPath) -> Self {
        Self {
            rate_bps: KnownEntry::of(&path.rate_bps),
            rtt_s: KnownEntry::of(&path.rtt_s),
            loss: KnownEntry::of(&path.loss),
            queue_bytes: KnownEntry::of(&path.queue_bytes),
            mtu_bytes: KnownEntry::of(&path.mtu),
            mss_used_bytes: KnownEntry::of(&path.segment),
            window_bytes: KnownEntry::of(&path.window_bytes),
            send_buffer_bytes: path.send_buffer.as_ref().map(KnownEntry::of),
            initial_window_bytes: path.initial_window.as_ref().map(KnownEntry::of),
        }
    }
}
