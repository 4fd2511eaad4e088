//! The document of `explain --json`; its names are a contract.

mod connection;
mod story;

use std::cell::RefCell;
use std::io;
use std::net::IpAddr;

use maxseg_core::evidence::{Evidence, PathMtuEvent};
use maxseg_core::units::Time;
use maxseg_wire::reading::{FileFacts, InterfaceFacts, Problem, TopConnections};
use schemars::JsonSchema;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use super::Story;
use crate::explain::{Explanation, problem_text};
use connection::ConnectionEntry;
use story::StoryEntry;

/// Everything that a capture says. Times `*_time_s` are seconds since 1970; frames are packets of the capture,
/// counted from 1.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainDocument<'a, 'b> {
    /// Raised when a name changes its meaning or goes.
    schema_version: u32,
    /// The path as given.
    file: &'a str,
    /// Its format.
    format: String,
    /// Packets that it holds, as far as it could be read.
    packets: u64,
    /// Bytes of these packets on the wire, whatever the capture kept of them.
    bytes: u64,
    /// When the first passed.
    first_time_s: Option<f64>,
    /// When the last passed.
    last_time_s: Option<f64>,
    /// What is wrong with the file, and what was left out.
    problems: Vec<ProblemEntry>,
    /// Where packets were captured.
    interfaces: Vec<InterfaceEntry<'a>>,
    /// What TCP travelled in.
    encapsulations: Vec<String>,
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
struct ProblemEntry {
    /// A word for programs.
    code: &'static str,
    /// A sentence for people.
    text: String,
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
    link: String,
    packets: u64,
}

/// How many packets were fragments.
#[derive(Serialize, JsonSchema)]
struct Fragments {
    /// Of IPv4.
    ipv4: u64,
    /// Of IPv6.
    ipv6: u64,
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

/// Connections that pass one at a time while the document is written, and those with most at stake.
struct Passing<'b> {
    explanation: &'b Explanation,
    source: &'b mut dyn Iterator<Item = Evidence>,
    top: TopConnections,
}

/// The list of connections: writing it asks for each.
struct Flowing<'a, 'b>(&'a RefCell<Passing<'b>>);

/// The one that matters most: known when all have gone by.
struct Leading<'a, 'b>(&'a RefCell<Passing<'b>>);

impl Serialize for Flowing<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut passing = self.0.borrow_mut();
        let Passing { explanation, source, top } = &mut *passing;
        let mut list = to.serialize_seq(None)?;
        for evidence in source {
            let case = explanation.case(&evidence);
            list.serialize_element(&ConnectionEntry::of(explanation, &case))?;
            let stake = case.stake();
            top.offer(stake, evidence);
        }
        list.end()
    }
}

impl Serialize for Leading<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let passing = self.0.borrow();
        let leading = passing.top.heaviest().map(|evidence| passing.explanation.case(evidence));
        let story = leading.map(|case| Story::of(case, &passing.explanation.name));
        story.as_ref().map(StoryEntry::of).serialize(to)
    }
}

/// Writes the document connection by connection, so that it is nowhere as a whole. Gives those with most at stake.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_json(
    out: &mut dyn io::Write,
    explanation: &Explanation,
    source: &mut dyn Iterator<Item = Evidence>,
) -> io::Result<TopConnections> {
    let passing = RefCell::new(Passing { explanation, source, top: TopConnections::default() });
    serde_json::to_writer(&mut *out, &ExplainDocument::of(explanation, &passing))?;
    out.write_all(b"\n")?;
    Ok(passing.into_inner().top)
}

impl<'a, 'b> ExplainDocument<'a, 'b> {
    fn of(explanation: &'a Explanation, passing: &'a RefCell<Passing<'b>>) -> Self {
        let FileFacts { packets, bytes, first, last, interfaces, .. } = &explanation.capture.file;
        let seconds = |time: &Option<Time>| time.map(Time::as_secs_f64);
        let problem = |problem: &Problem| ProblemEntry {
            code: problem.kind.code(),
            text: problem_text(problem),
            offset: problem.offset,
            count: problem.count,
        };
        let interface = |interface: &'a InterfaceFacts| InterfaceEntry {
            name: &interface.name,
            link: interface.link_name(),
            packets: interface.packets,
        };
        Self {
            schema_version: 1,
            file: &explanation.name,
            format: explanation.capture.file.format_name(),
            packets: *packets,
            bytes: *bytes,
            first_time_s: seconds(first),
            last_time_s: seconds(last),
            problems: explanation.capture.problems.iter().map(problem).collect(),
            interfaces: interfaces.iter().map(interface).collect(),
            encapsulations: explanation.capture.file.encapsulation_names(),
            connections: Flowing(passing),
            matters_most: Leading(passing),
            untracked_connections: explanation.capture.untracked_connections,
            fragments: Fragments {
                ipv4: explanation.capture.fragments.ipv4_fragments,
                ipv6: explanation.capture.fragments.ipv6_fragments,
            },
            path_mtu_events: explanation
                .capture
                .path_mtu_events
                .iter()
                .map(PathMtuEntry::of)
                .collect(),
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
