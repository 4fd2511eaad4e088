//! Advice about a path: described, captured, of a live connection, or measured.
//!
//! ```text
//! scenario ─────────────────────────────┐
//! capture → Headline → Rerun, explained ┼→ Scenario, Ends → core::advise → PathAdvice → document, text, page
//! connection → Sample → its path ───────┤                                     └→ State: the last one, for `tune apply`
//! host → PathReport → its path ─────────┘
//! ```

mod captured;
#[cfg(feature = "lab")]
mod live;
#[cfg(feature = "lab")]
mod measured;
mod state;

pub use captured::of_capture;
#[cfg(feature = "lab")]
pub use live::of_connection;
#[cfg(feature = "lab")]
pub use measured::of_path;
pub use state::{ADVICE, State};

use maxseg_core::advise::{
    self, Advised, Change, Ends, Goal, Guide, GuideName, Judged, ProofRow, Request, Trial,
};
use maxseg_core::engine::{EngineName, Unwatched};
use maxseg_core::scenario::Scenario;
use maxseg_core::units::{Time, approx};
use schemars::JsonSchema;
use serde::Serialize;

use crate::engines::{engine, simulate_all};
use crate::error::Error;

/// What a path was found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A scenario file.
    Scenario,
    /// A capture.
    Capture,
    /// A live connection of this host.
    Connection,
    /// A test of the path to a host.
    Host,
}

/// Why nothing can be said, and what would show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unknown {
    /// Why.
    pub why: String,
    /// What would show it.
    pub shown_by: String,
}

/// What is asked about a path.
#[derive(Debug, Clone)]
pub struct Question {
    /// What it is for.
    pub goal: Goal,
    /// Whether the lab proves what the simulator found.
    pub by_lab: bool,
    /// Advice that is not wanted.
    pub ignored: Vec<String>,
    /// Guides to judge.
    pub guides: Vec<GuideName>,
    /// Connections that share what a change costs.
    pub connections: u64,
}

/// A guide with its settings judged.
#[derive(Debug, Clone)]
pub struct JudgedGuide {
    /// Its name.
    pub name: GuideName,
    /// The guide.
    pub guide: Guide,
    /// Its settings on this path.
    pub settings: Vec<Judged>,
}

/// Advice about a path.
#[derive(Debug, Clone)]
pub struct PathAdvice {
    /// What the path was found by.
    pub source: SourceKind,
    /// The file, the connection or the host.
    pub target: String,
    /// What the path is called.
    pub name: String,
    /// The path as it was run; `None` where too little of it is known.
    pub scenario: Option<Scenario>,
    /// The hosts at its ends.
    pub ends: Ends,
    /// What it is for.
    pub goal: Goal,
    /// The answer; `None` where too little is known.
    pub advised: Option<Advised>,
    /// The rows of the lab, where it was asked for proof: as it is, and with all changes.
    pub lab_rows: Vec<ProofRow>,
    /// The guides judged.
    pub guides: Vec<JudgedGuide>,
    /// Why nothing can be said.
    pub unknown: Option<Unknown>,
    /// What was assumed of the path, and other notes.
    pub notes: Vec<String>,
    /// Advice that was left out because it is ignored.
    pub ignored: Vec<String>,
}

/// Runs of the lab for each point, and their longest time.
const LAB_RUNS: u64 = 3;
const LAB_TIME: Time = Time::from_secs(10);

/// Where nothing gains goodput and a ping waits in a queue: which question finds a shorter round trip.
fn long_ping(goal: Goal, advised: &Advised) -> Option<String> {
    let as_it_is = advised.trials.first().filter(|trial| trial.ping.n > 0)?;
    let (loaded, alone) =
        (as_it_is.ping.mean, as_it_is.scenario.path.propagation_rtt().as_secs_f64());
    let is_long = goal == Goal::Throughput
        && advised.advice.is_empty()
        && loaded > MANY_ROUND_TRIPS * alone
        && loaded > LONG_PING_S;
    is_long.then(|| {
        format!(
            "A ping takes {} while data is sent, {} without: for shorter round trips at little less goodput ask with `--goal latency` or \
             `--goal balanced`.",
            approx::time(loaded),
            approx::time(alone)
        )
    })
}

/// A round trip under load that is worth a word: so many times as long as alone, and longer than people notice in a dialogue, in seconds
/// (ITU-T G.114 has 150 ms each way).
const MANY_ROUND_TRIPS: f64 = 2.0;
const LONG_PING_S: f64 = 0.1;

/// How its hosts hold a window that is set (`lab/flows/open.rs`): the commands have another way.
const LAB_WINDOW: &str = "the lab's programs hold their window with TCP_WINDOW_CLAMP, set again after each read: to the multiple of the \
     window's scale that is next to it.";

/// A path that is known well enough to be run.
#[derive(Debug, Clone)]
struct Known {
    source: SourceKind,
    target: String,
    scenario: Scenario,
    ends: Ends,
    /// What evidence asks for: it is made, and what goes with it is looked for.
    concluded: Vec<Change>,
    /// Whether the rate of the scenario is a lower bound of the path's.
    rate_is_bound: bool,
    notes: Vec<String>,
}

/// Advice about a described path.
///
/// # Errors
/// No engine can run it.
pub fn of_scenario(
    scenario: &Scenario,
    target: &str,
    question: &Question,
) -> Result<PathAdvice, Error> {
    let known = Known {
        source: SourceKind::Scenario,
        target: target.to_owned(),
        scenario: scenario.clone(),
        ends: Ends::of_scenario(scenario),
        concluded: Vec::new(),
        rate_is_bound: false,
        notes: Vec::new(),
    };
    known.advise(question)
}

impl Known {
    fn advise(self, question: &Question) -> Result<PathAdvice, Error> {
        let request = Request {
            scenario: &self.scenario,
            goal: question.goal,
            ends: &self.ends,
            ignored: &question.ignored,
            connections: question.connections,
            given: &self.concluded,
            rate_is_bound: self.rate_is_bound,
            simulate: simulate_all,
        };
        let advised = advise::advise(&request)?;
        let lab_rows = if question.by_lab { by_lab(&advised)? } else { Vec::new() };
        let mut notes = self.notes;
        let holds_window =
            |trial: &Trial| trial.changes.iter().any(|change| matches!(change, Change::Window(_)));
        if question.by_lab && advised.best().is_some_and(holds_window) {
            notes.push(LAB_WINDOW.to_owned());
        }
        notes.extend(long_ping(question.goal, &advised));
        let guides = question
            .guides
            .iter()
            .map(|name| {
                let guide = Guide::of(*name);
                let settings = advise::judge(&guide, &request)?;
                Ok(JudgedGuide { name: *name, guide, settings })
            })
            .collect::<Result<_, Error>>()?;
        let unknown = advised.unknown.as_ref().map(|why| Unknown {
            why: why.clone(),
            shown_by: "a flow of kind `bulk` or `request`".to_owned(),
        });
        let name = match self.scenario.name.as_str() {
            "" => self.target.clone(),
            name => name.to_owned(),
        };
        Ok(PathAdvice {
            source: self.source,
            target: self.target,
            name,
            scenario: Some(self.scenario),
            ends: self.ends,
            goal: question.goal,
            advised: Some(advised),
            lab_rows,
            guides,
            unknown,
            notes,
            ignored: question.ignored.clone(),
        })
    }
}

impl PathAdvice {
    /// Of a path of which too little is known.
    fn unknown(
        source: SourceKind,
        target: &str,
        ends: Ends,
        question: &Question,
        unknown: Unknown,
    ) -> Self {
        Self { unknown: Some(unknown), ..Self::unrun(source, target, ends, question) }
    }

    /// Of a path before anything is said about it.
    fn unrun(source: SourceKind, target: &str, ends: Ends, question: &Question) -> Self {
        Self {
            source,
            target: target.to_owned(),
            name: target.to_owned(),
            scenario: None,
            ends,
            goal: question.goal,
            advised: None,
            lab_rows: Vec::new(),
            guides: Vec::new(),
            unknown: None,
            notes: Vec::new(),
            ignored: question.ignored.clone(),
        }
    }

    /// `advice`, `leave-as-is` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match &self.advised {
            _ if self.unknown.is_some() => "unknown",
            Some(advised) if advised.advice.is_empty() => "leave-as-is",
            Some(_) => "advice",
            None => "unknown",
        }
    }
}

/// The path as it is and with all changes, by the kernel.
fn by_lab(advised: &Advised) -> Result<Vec<ProofRow>, Error> {
    let mut lab = engine(EngineName::Lab)?;
    let mut rows = Vec::new();
    for trial in advised.trials.first().into_iter().chain(advised.best()) {
        let mut run = trial.scenario.clone();
        run.until.time = run.until.time.min(LAB_TIME);
        let mut outcomes = Vec::new();
        for number in 0..LAB_RUNS {
            run.seed = trial.scenario.seed.wrapping_add(number);
            outcomes.push(lab.run(&run, &mut Unwatched)?);
        }
        let proven = Trial::of_runs(trial.changes.clone(), trial.scenario.clone(), outcomes);
        rows.push(ProofRow::of(&proven, EngineName::Lab));
    }
    Ok(rows)
}
