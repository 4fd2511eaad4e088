//! Explained connections as JSON; the names are a contract.

mod path;

use std::io;

use maxseg_core::advise::{Command, SocketVerdict};
use maxseg_core::mss::{Cause, Derivation, Effect, Step};
use maxseg_core::why::{Chain, Link, Source};
use schemars::JsonSchema;
use serde::Serialize;

use crate::connections::{Connection, Listener, Snapshot};
use crate::report::connections::{ConnectionEntry, ListenerEntry};
use crate::why::{Why, explain_listener};
use path::PathEntry;

/// What `explain HOST --json` prints: connections as `connections --json` has them, each with `why`.
#[derive(Serialize, JsonSchema)]
pub struct WhyDocument<'a> {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// The name of this host.
    host: Option<&'a str>,
    /// When the sockets were listed: seconds since 1970.
    time_s: Option<f64>,
    /// The time since the sample before; null where there is one sample alone, and shares are since each connection's beginning.
    interval_s: Option<f64>,
    /// The connections, the busiest first.
    connections: Vec<ExplainedEntry<'a>>,
    /// The sockets that wait for connections, of the process or at the port that was named.
    listeners: Vec<ExplainedListener<'a>>,
}

/// A listening socket with its explanation.
#[derive(Serialize, JsonSchema)]
struct ExplainedListener<'a> {
    #[serde(flatten)]
    listener: ListenerEntry<'a>,
    /// The state of its accept queue, in a sentence.
    sentence: String,
    /// What to change; null where nothing is to be.
    change: Option<String>,
    /// Commands for it.
    commands: Vec<Command>,
}

/// A connection with its explanation.
#[derive(Serialize, JsonSchema)]
struct ExplainedEntry<'a> {
    #[serde(flatten)]
    connection: ConnectionEntry<'a>,
    /// The explanation; null of a connection that is half open or waits, and has no `tcp_info`.
    why: Option<WhyEntry<'a>>,
}

/// The explanation of a connection.
#[derive(Serialize, JsonSchema)]
struct WhyEntry<'a> {
    /// What limits it, in a sentence.
    sentence: &'a str,
    /// What to change; null where no change is known to help.
    change: Option<&'a str>,
    /// Commands for it: those that only look, then those that change something.
    commands: &'a [Command],
    /// The payload of the segments that this end sends.
    mss: ChainEntry<'a>,
    /// The MSS option of this end's SYN, which bounds what the peer sends.
    advertised_mss: ChainEntry<'a>,
    /// The window that this end offers.
    window: ChainEntry<'a>,
    /// What else there is to know.
    findings: Vec<FindingEntry<'a>>,
    /// The command that shows the options of the next SYN, which a running socket does not.
    next_syn: &'a str,
    /// The path, as this host knows it.
    path: PathEntry<'a>,
}

/// A number with everything that bounds it.
#[derive(Serialize, JsonSchema)]
struct ChainEntry<'a> {
    /// The number.
    effective_bytes: u64,
    /// Its bounds.
    chain: Vec<LinkEntry<'a>>,
    /// Why none is known to hold.
    unexplained: Option<&'a str>,
    /// The kernel's rule step by step; empty where there is none, or it does not give the number.
    steps: Vec<StepEntry>,
}

/// A bound.
#[derive(Serialize, JsonSchema)]
struct LinkEntry<'a> {
    /// What it is.
    source: Source,
    /// As it is set: an MTU, an MSS option, a buffer. Null where it is not set, or not known.
    value_bytes: Option<u64>,
    /// How much it allows of the number; null where that is not known, or it bounds nothing.
    allows_bytes: Option<u64>,
    /// Both are only known to be no less.
    at_least: bool,
    /// Whether it is the bound that holds.
    wins: bool,
    /// Things that a running socket does not tell apart: the bound is one of them.
    one_of: &'a [Source],
    /// What else there is to know.
    note: Option<&'a str>,
}

/// A step of the kernel's rule.
#[derive(Serialize, JsonSchema)]
struct StepEntry {
    /// What it is about.
    #[schemars(with = "String")]
    cause: Cause,
    /// What it does: `is`, `at-most`, `at-least`, `less`, `down-to-multiple-of` or `up-to-multiple-of`.
    effect: &'static str,
    /// So many bytes.
    effect_bytes: u64,
    /// What it gives.
    value_bytes: u64,
    /// Whether that differs from what it was given.
    changed: bool,
}

/// A fact about a connection.
#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    /// What kind of fact.
    code: &'static str,
    /// The fact in a sentence.
    text: &'a str,
}

impl<'a> WhyDocument<'a> {
    /// The document of explained connections, on the host of this name.
    pub fn new(
        snapshot: &Snapshot,
        explained: &'a [(Connection, Option<Why>)],
        listeners: &'a [Listener],
        host: Option<&'a str>,
    ) -> Self {
        Self {
            schema_version: 1,
            host,
            time_s: snapshot.time_s,
            interval_s: snapshot.interval.map(|interval| interval.as_secs_f64()),
            connections: explained.iter().map(ExplainedEntry::of).collect(),
            listeners: listeners.iter().map(ExplainedListener::of).collect(),
        }
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

impl<'a> ExplainedEntry<'a> {
    fn of((connection, why): &'a (Connection, Option<Why>)) -> Self {
        Self { connection: ConnectionEntry::of(connection), why: why.as_ref().map(WhyEntry::of) }
    }
}

impl<'a> ExplainedListener<'a> {
    fn of(listener: &'a Listener) -> Self {
        let SocketVerdict { sentence, remedy } = explain_listener(listener);
        let (change, commands) = remedy.map(|remedy| (remedy.change, remedy.commands)).unzip();
        let commands = commands.unwrap_or_default();
        Self { listener: ListenerEntry::of(listener), sentence, change, commands }
    }
}

impl<'a> WhyEntry<'a> {
    fn of(why: &'a Why) -> Self {
        let decision = why.mss.decision.as_ref();
        let has_option = why.mss.advertised.winner().is_some();
        let advertised = decision.filter(|_| has_option).map(|decision| &decision.advertised);
        let finding = |finding: &'a maxseg_core::diagnose::SocketFinding| FindingEntry {
            code: finding.kind.word(),
            text: &finding.text,
        };
        let remedy = why.verdict.remedy.as_ref();
        Self {
            sentence: &why.verdict.sentence,
            change: remedy.map(|remedy| remedy.change.as_str()),
            commands: remedy.map_or(&[], |remedy| &remedy.commands),
            mss: ChainEntry::of(&why.mss.sent, decision.map(|decision| &decision.mss_cache)),
            advertised_mss: ChainEntry::of(&why.mss.advertised, advertised),
            window: ChainEntry::of(&why.window, None),
            findings: why.findings.iter().map(finding).collect(),
            next_syn: &why.next_syn,
            path: PathEntry::of(&why.path),
        }
    }
}

impl<'a> ChainEntry<'a> {
    fn of(chain: &'a Chain, derivation: Option<&Derivation>) -> Self {
        let steps = derivation.map(Derivation::steps).unwrap_or_default();
        Self {
            effective_bytes: chain.effective.get(),
            chain: chain.links.iter().map(LinkEntry::of).collect(),
            unexplained: chain.unexplained.as_deref(),
            steps: steps.iter().map(StepEntry::of).collect(),
        }
    }
}

impl StepEntry {
    fn of(step: &Step) -> Self {
        let (effect, bytes) = match step.effect {
            Effect::Is(bytes) => ("is", bytes),
            Effect::AtMost(bytes) => ("at-most", bytes),
            Effect::AtLeast(bytes) => ("at-least", bytes),
            Effect::Less(bytes) => ("less", bytes),
            Effect::DownToMultipleOf(bytes) => ("down-to-multiple-of", bytes),
            Effect::UpToMultipleOf(bytes) => ("up-to-multiple-of", bytes),
        };
        Self {
            cause: step.cause,
            effect,
            effect_bytes: bytes.get(),
            value_bytes: step.value.get(),
            changed: step.changed,
        }
    }
}

impl<'a> LinkEntry<'a> {
    fn of(link: &'a Link) -> Self {
        Self {
            source: link.source,
            value_bytes: link.value.map(maxseg_core::units::Bytes::get),
            allows_bytes: link.allows.map(maxseg_core::units::Bytes::get),
            at_least: link.is_least,
            wins: link.wins,
            one_of: &link.one_of,
            note: link.note.as_deref(),
        }
    }
}
