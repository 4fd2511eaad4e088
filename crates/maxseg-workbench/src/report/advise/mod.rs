//! Advice as JSON; the names are a contract.

mod front;
mod page;

pub use front::front_text;
pub(super) use page::trials_table;
pub use page::{gain_in_words, goal_in_words, is_joint, page};

use std::io;

use maxseg_core::advise::{
    Advice, Advised, Change, Goal, GuideName, HostEnd, Judged, ProofRow, System,
};
use maxseg_core::engine::EngineName;
use maxseg_core::scenario::Scenario;
use maxseg_core::units::Time;
use schemars::JsonSchema;
use serde::Serialize;

use crate::advise::{PathAdvice, SourceKind, Unknown};

/// What `advise --json` prints, and what is kept of the last advice.
#[derive(Serialize, JsonSchema)]
pub struct AdviseDocument<'a> {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// When it was made, in seconds since 1970; null in a build without a clock.
    at_s: Option<f64>,
    /// The host it was made on.
    host: Option<&'a str>,
    /// The boot of that host (`/proc/sys/kernel/random/boot_id`).
    boot_id: Option<&'a str>,
    /// What the path was found by.
    source: SourceEntry<'a>,
    /// What the advice is for.
    goal: Goal,
    /// `advice`, `leave-as-is`, or `unknown` where too little is known of the path.
    verdict: &'static str,
    /// Why nothing can be said, and what would show it; null where something is said.
    unknown: Option<&'a Unknown>,
    /// The path; null where too little of it is known.
    path: Option<PathEntry>,
    /// Both hosts: first the one that sends the data.
    hosts: [HostEntry; 2],
    /// The changes that are worth it, the largest gain first; none where leaving it alone is best.
    advice: &'a [Advice],
    /// The path as it is, with single changes, with all of them, and with a change of the path itself.
    rows: Vec<ProofRow>,
    /// The rows of the kernel in the lab, where it was asked for proof.
    lab_rows: &'a [ProofRow],
    /// Goodput against round trip under load, of every point that was run.
    front: Vec<FrontEntry>,
    /// Simulated runs of the search.
    runs: u32,
    /// The time of a run that chooses, where the scenario's is longer.
    shortened_to_s: Option<f64>,
    /// The time of a run that proves, where the scenario's is longer.
    proof_shortened_to_s: Option<f64>,
    /// Guides judged on this path.
    guides: Vec<GuideEntry<'a>>,
    /// The ids that were left out because they are ignored.
    ignored: &'a [String],
    /// What was assumed of the path, and other notes.
    notes: &'a [String],
}

/// What the path was found by.
#[derive(Serialize, JsonSchema)]
struct SourceEntry<'a> {
    /// What kind.
    kind: SourceKind,
    /// The file, the connection or the host.
    target: &'a str,
}

/// The path in numbers.
#[derive(Serialize, JsonSchema)]
struct PathEntry {
    /// What it is called.
    name: String,
    /// The slowest link towards the receiver.
    rate_bps: f64,
    /// Round trip without queueing.
    rtt_s: f64,
    /// The smallest MTU.
    mtu_bytes: u64,
    /// What identifies it: equal for equal scenarios.
    hash: String,
}

/// A host at an end of the path.
#[derive(Serialize, JsonSchema)]
struct HostEntry {
    /// `sender` or `receiver`.
    role: &'static str,
    /// Its address, where one is known.
    address: Option<String>,
    /// The system that it probably runs.
    system: System,
    /// Whether it is the host that the advice was made on; null where that is unknown.
    here: Option<bool>,
}

/// One point of the search.
#[derive(Serialize, JsonSchema)]
struct FrontEntry {
    /// The changes, in words.
    changes: Vec<String>,
    /// Mean goodput; null where requests are counted.
    goodput_bps: Option<f64>,
    /// Requests per second; null where goodput is counted.
    requests_per_s: Option<f64>,
    /// Mean round trip under load.
    ping_s: f64,
    /// Whether no other point has both more goodput and a shorter round trip.
    on_front: bool,
}

/// A guide with its settings judged.
#[derive(Serialize, JsonSchema)]
struct GuideEntry<'a> {
    /// Its name, as --guide takes it.
    name: GuideName,
    /// Its title.
    title: &'a str,
    /// Where and when it was read.
    source: &'a str,
    /// Its settings on this path.
    settings: &'a [Judged],
}

/// Where and when advice is made.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// Seconds since 1970.
    pub at_s: Option<f64>,
    /// The host's name.
    pub host: Option<String>,
    /// Its boot.
    pub boot_id: Option<String>,
}

impl<'a> AdviseDocument<'a> {
    /// The document of an answer.
    pub fn new(advice: &'a PathAdvice, made: &'a Made) -> Self {
        let advised = advice.advised.as_ref();
        let is_requests = advised.is_some_and(|advised| advised.is_requests);
        let host = |end: &HostEnd| HostEntry {
            role: end.role,
            address: end.address.map(|address| address.to_string()),
            system: end.system,
            here: end.is_here,
        };
        let guide = |judged: &'a crate::advise::JudgedGuide| GuideEntry {
            name: judged.name,
            title: &judged.guide.title,
            source: &judged.guide.source,
            settings: &judged.settings,
        };
        Self {
            schema_version: 1,
            at_s: made.at_s,
            host: made.host.as_deref(),
            boot_id: made.boot_id.as_deref(),
            source: SourceEntry { kind: advice.source, target: &advice.target },
            goal: advice.goal,
            verdict: advice.verdict(),
            unknown: advice.unknown.as_ref(),
            path: advice.scenario.as_ref().map(|scenario| path(&advice.name, scenario)),
            hosts: [host(&advice.ends.sender), host(&advice.ends.receiver)],
            advice: advised.map_or(&[], |advised| &advised.advice),
            rows: advised.map_or_else(Vec::new, rows),
            lab_rows: &advice.lab_rows,
            front: advised.map_or_else(Vec::new, |advised| front(advised, is_requests)),
            runs: advised.map_or(0, |advised| advised.runs),
            shortened_to_s: advised.and_then(|advised| advised.shortened_to).map(Time::as_secs_f64),
            proof_shortened_to_s: advised
                .and_then(|advised| advised.proof_shortened_to)
                .map(Time::as_secs_f64),
            guides: advice.guides.iter().map(guide).collect(),
            ignored: &advice.ignored,
            notes: &advice.notes,
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

fn path(name: &str, scenario: &Scenario) -> PathEntry {
    PathEntry {
        name: name.to_owned(),
        rate_bps: scenario.bottleneck_rate().get() as f64,
        rtt_s: scenario.path.propagation_rtt().as_secs_f64(),
        mtu_bytes: scenario.path.smallest_mtu().bytes().get(),
        hash: scenario.content_hash(),
    }
}

fn rows(advised: &Advised) -> Vec<ProofRow> {
    advised.trials.iter().map(|trial| ProofRow::of(trial, EngineName::Sim)).collect()
}

fn front(advised: &Advised, is_requests: bool) -> Vec<FrontEntry> {
    let path = advised.trials.first().map(|trial| &trial.scenario);
    let in_words =
        |change: &Change| path.map_or_else(|| change.describe(), |path| change.describe_in(path));
    advised
        .points
        .iter()
        .map(|point| FrontEntry {
            changes: point.changes.iter().map(in_words).collect(),
            goodput_bps: Some(point.rate).filter(|_| !is_requests),
            requests_per_s: Some(point.rate).filter(|_| is_requests),
            ping_s: point.ping_s,
            on_front: point.is_on_front,
        })
        .collect()
}
