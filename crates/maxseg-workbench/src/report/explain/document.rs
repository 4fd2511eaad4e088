//! The document of `explain --json`; its names are a contract.

mod connection;
mod headline;
mod joined;

use std::io;
use std::net::IpAddr;

use maxseg_core::advise::Headline;
use maxseg_core::evidence::PathMtuEvent;
use maxseg_core::units::Time;
use maxseg_wire::reading::{CaptureSummary, FileFacts, FilePart, InterfaceFacts, Problem};
use schemars::JsonSchema;
use serde::Serialize;

use crate::explain::{Capture, CapturePair, Explanation};
use connection::ConnectionEntry;
use headline::HeadlineEntry;
use joined::PairEntry;

/// The content of a capture. Times `*_time_s` are seconds since 1970; frames are packets of the capture, counted
/// from 1.
#[derive(Serialize, JsonSchema)]
pub struct ExplainDocument<'a> {
    #[serde(flatten)]
    file: FileEntry<'a>,
    /// The selected connections.
    connections: Vec<ConnectionEntry<'a>>,
    #[serde(flatten)]
    conclusion: ConclusionEntry<'a>,
}

/// What stands before the connections.
#[derive(Serialize, JsonSchema)]
struct FileEntry<'a> {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// The path as given; of several files that follow each other, the first and the last of `files`, in words.
    file: &'a str,
    /// The format.
    format: String,
    /// The two captures where two were given; `file` and what follows are then of the one nearer to the sender of most
    /// payload. Null for one capture.
    joined: Option<PairEntry<'a>>,
    /// The files that follow each other, where the capture is of several, in the order of their packets; frames are numbered
    /// through them, as in the file that `mergecap -a` makes of them in this order. Null for one file.
    files: Option<Vec<PartEntry<'a>>>,
    /// Packets up to the first fault.
    packets: u64,
    /// Bytes of these packets on the wire, whatever the snap length.
    bytes: u64,
    /// Time of the first packet.
    first_time_s: Option<f64>,
    /// Time of the last packet.
    last_time_s: Option<f64>,
    /// Faults of the file, and packets that were left out.
    problems: Vec<ProblemEntry>,
    /// The capture interfaces.
    interfaces: Vec<InterfaceEntry<'a>>,
    /// The encapsulations of TCP.
    encapsulations: Vec<String>,
}

/// What stands behind the connections: the conclusion needs all of them.
#[derive(Serialize, JsonSchema)]
struct ConclusionEntry<'a> {
    /// The connection of the highest impact, with the change and its gain.
    matters_most: Option<HeadlineEntry<'a>>,
    /// Connections that were not followed, because there were too many.
    untracked_connections: u64,
    /// Packets that were fragments.
    fragments: Fragments,
    /// Packets of other protocols than TCP, which are not followed; the most first.
    not_followed: Vec<NotFollowedEntry<'a>>,
    /// ICMP messages about packets that were too big.
    path_mtu_events: Vec<PathMtuEntry>,
}

/// One of several files that follow each other.
#[derive(Serialize, JsonSchema)]
struct PartEntry<'a> {
    /// The path as given.
    file: &'a str,
    /// The format; null where it holds no packet.
    format: Option<String>,
    /// Packets, of all interfaces.
    packets: u64,
    /// The number of its first packet; null where it holds none.
    first_frame: Option<u64>,
    /// Time of its first packet.
    first_time_s: Option<f64>,
}

/// A fault of the file, or packets that were left out.
#[derive(Serialize, JsonSchema)]
struct ProblemEntry {
    /// A word for programs.
    code: &'static str,
    /// A sentence for people.
    text: String,
    /// Offset in the file in bytes, after decompression.
    offset: Option<u64>,
    /// The number of occurrences.
    count: u64,
    /// The path of the file that has it, where it is one of several that follow each other.
    file: Option<String>,
}

/// A capture interface.
#[derive(Serialize, JsonSchema)]
struct InterfaceEntry<'a> {
    name: &'a str,
    /// Its link type.
    link: String,
    packets: u64,
}

/// Packets of a protocol that is not followed.
#[derive(Serialize, JsonSchema)]
struct NotFollowedEntry<'a> {
    /// Its name.
    protocol: &'a str,
    packets: u64,
    /// Pairs of endpoints; null for a protocol without ports.
    flows: Option<u64>,
}

/// How many packets were fragments.
#[derive(Serialize, JsonSchema)]
struct Fragments {
    /// Of IPv4.
    ipv4: u64,
    /// Of IPv6.
    ipv6: u64,
}

/// An ICMP message "fragmentation needed" (RFC 1191) or "packet too big" (RFC 8201).
#[derive(Serialize, JsonSchema)]
struct PathMtuEntry {
    time_s: f64,
    frame: u64,
    /// The hop that sent it.
    hop: IpAddr,
    /// MTU of the next hop; 0 from a router older than RFC 1191.
    mtu_bytes: u32,
    /// Length of the refused packet.
    packet_bytes: u32,
    /// Source and destination of the refused packet.
    source: Option<String>,
    destination: Option<String>,
    /// Its connection.
    connection: Option<u32>,
}

/// Writes the document up to its connections, one at a time, so that only one is in memory; the caller appends
/// [`write_conclusion`].
///
/// # Errors
/// Writing fails.
pub fn write_connections(out: &mut dyn io::Write, capture: Capture<'_>) -> io::Result<Explanation> {
    let file = serde_json::to_string(&FileEntry::of(
        &capture.name,
        &capture.summary,
        capture.pair.as_ref(),
        &capture.without_packets,
    ))?;
    write!(out, "{},\"connections\":[", file.trim_end_matches('}'))?;
    // Thousands of small pieces each: they are put together here, so that `out` is asked once.
    let mut text = Vec::new();
    let explanation = capture.explain_each(|summary, case| {
        serde_json::to_writer(&mut text, &ConnectionEntry::of(summary, case))?;
        out.write_all(&text)?;
        text.clear();
        text.push(b',');
        Ok::<(), io::Error>(())
    })?;
    out.write_all(b"],")?;
    Ok(explanation)
}

/// Writes the rest of the document.
///
/// # Errors
/// Writing fails.
pub fn write_conclusion(
    out: &mut dyn io::Write,
    explanation: &Explanation,
    headline: Option<&Headline<'_>>,
) -> io::Result<()> {
    let conclusion = serde_json::to_string(&ConclusionEntry::of(explanation, headline))?;
    writeln!(out, "{}", conclusion.trim_start_matches('{'))
}

impl<'a> FileEntry<'a> {
    fn of(
        name: &'a str,
        summary: &'a CaptureSummary,
        pair: Option<&'a CapturePair>,
        without_packets: &'a [String],
    ) -> Self {
        let FileFacts { packets, bytes, first, last, interfaces, .. } = &summary.file;
        let seconds = |time: &Option<Time>| time.map(Time::as_secs_f64);
        let problem = |problem: &Problem| ProblemEntry {
            code: problem.kind.code(),
            text: problem.kind.to_string(),
            offset: problem.offset,
            count: problem.count,
            file: problem.file.clone(),
        };
        let interface = |interface: &'a InterfaceFacts| InterfaceEntry {
            name: &interface.name,
            link: interface.link_name(),
            packets: interface.packets,
        };
        Self {
            schema_version: 1,
            file: name,
            format: summary.file.format_name(),
            joined: pair.map(|pair| PairEntry::of(pair, *packets)),
            files: PartEntry::all(&summary.file, without_packets),
            packets: *packets,
            bytes: *bytes,
            first_time_s: seconds(first),
            last_time_s: seconds(last),
            problems: summary.problems.iter().map(problem).collect(),
            interfaces: interfaces.iter().map(interface).collect(),
            encapsulations: summary.file.encapsulation_names(),
        }
    }
}

impl<'a> PartEntry<'a> {
    fn all(file: &'a FileFacts, without_packets: &'a [String]) -> Option<Vec<Self>> {
        let of = |part: &'a FilePart| Self {
            file: &part.name,
            format: Some(part.format_name()),
            packets: part.packets,
            first_frame: (part.packets > 0).then_some(part.before + 1),
            first_time_s: part.first.map(Time::as_secs_f64),
        };
        let without = |name: &'a String| Self {
            file: name,
            format: None,
            packets: 0,
            first_frame: None,
            first_time_s: None,
        };
        let parts = file.parts.iter().map(of);
        let all = parts.chain(without_packets.iter().map(without));
        (!file.parts.is_empty()).then(|| all.collect())
    }
}

impl<'a> ConclusionEntry<'a> {
    fn of(explanation: &'a Explanation, headline: Option<&'a Headline<'_>>) -> Self {
        let capture = &explanation.capture;
        Self {
            matters_most: headline.map(HeadlineEntry::of),
            untracked_connections: capture.untracked_connections,
            fragments: Fragments {
                ipv4: capture.fragments.ipv4_fragments,
                ipv6: capture.fragments.ipv6_fragments,
            },
            not_followed: capture
                .not_followed
                .iter()
                .map(|other| NotFollowedEntry {
                    protocol: &other.protocol,
                    packets: other.packets,
                    flows: other.flows,
                })
                .collect(),
            path_mtu_events: capture.path_mtu_events.iter().map(PathMtuEntry::of).collect(),
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
