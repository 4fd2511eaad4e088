//! The document of `compare --json`; its names are a contract.

use maxseg_core::advise::Case;
use maxseg_core::compare::{Pairing, Verdict};
use maxseg_core::engine::EngineName;
use maxseg_core::evidence::Ending;
use maxseg_core::outcome::{LimitShare, LimitedBy};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::runs::NumberLine;
use super::{CapturePairing, Compared, RunPairing};
use crate::compare::MatchedPoint;

/// Two runs, engines, stacks or captures side by side: B against A.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareDocument<'a> {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// The comparison of runs; null for captures.
    runs: Option<RunsEntry<'a>>,
    /// The comparison of captures; null for runs.
    captures: Option<CapturesEntry<'a>>,
}

/// Runs side by side.
#[derive(Debug, Serialize, JsonSchema)]
struct RunsEntry<'a> {
    a: &'a str,
    b: &'a str,
    /// Keys of the scenario that differ.
    changed: Vec<ChangedEntry<'a>>,
    /// The points that both have.
    points: Vec<PointEntry<'a>>,
    /// Runs of A and of B without a counterpart: of another point, or of a seed that the other side lacks. They do not count.
    left_out: [usize; 2],
    /// Runs of A and of B that the lab calls invalid; they do not count.
    invalid: [usize; 2],
    /// What the goodput shows, in a sentence.
    conclusion: String,
    /// What to know before relying on it.
    cautions: Vec<String>,
}

/// A key of the scenario with both values; null for a key that a side does not have.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangedEntry<'a> {
    key: &'a str,
    a: &'a Value,
    b: &'a Value,
}

/// A point of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
struct PointEntry<'a> {
    /// Null where engines are compared.
    engine: Option<EngineName>,
    /// The swept keys with their values, but for the one that is compared.
    point: &'a Map<String, Value>,
    /// Runs of A and of B.
    runs: [usize; 2],
    /// The limit of most runs of A and of B.
    limited_by: [Option<LimitedBy>; 2],
    numbers: Vec<NumberEntry>,
}

/// A number of both sides.
#[derive(Debug, Serialize, JsonSchema)]
struct NumberEntry {
    /// Its key in an outcome; `goodput_bps` is without the datagrams of cross traffic.
    name: &'static str,
    /// Means; null where a side does not know it.
    a: Option<f64>,
    b: Option<f64>,
    /// B − A.
    difference: Option<f64>,
    /// Half its 95% interval; null where the runs cannot tell.
    ci95: Option<f64>,
    /// B ÷ A − 1.
    relative: Option<f64>,
    /// Pairs of runs with the same seed; null where all runs of a side were compared with all of the other, and where nothing is
    /// random.
    pairs: Option<usize>,
    verdict: VerdictEntry,
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum VerdictEntry {
    /// B is higher, by more than chance.
    Higher,
    /// B is lower, by more than chance.
    Lower,
    /// They are equal.
    Same,
    /// No difference that so many seeds can show.
    NotShown,
    /// Too few runs to tell what of the difference is chance.
    TooFewSeeds,
    /// A side has no seeds, as a closed form: the difference stands without an interval.
    NoSeeds,
    /// A side does not know the number.
    Unknown,
}

/// Captures side by side.
#[derive(Debug, Serialize, JsonSchema)]
struct CapturesEntry<'a> {
    a: CaptureEntry<'a>,
    b: CaptureEntry<'a>,
    numbers: Vec<CaptureNumberEntry>,
    /// What to know before relying on it.
    cautions: Vec<String>,
}

/// A connection of a capture.
#[derive(Debug, Serialize, JsonSchema)]
struct CaptureEntry<'a> {
    file: &'a str,
    connection: u32,
    /// Sender and receiver of the data.
    sender: String,
    receiver: String,
    /// How the connection ended, as far as the capture shows it.
    ending: Ending,
    limited_by: LimitedBy,
    /// Why that is unknown; null where it is known.
    unknown_because: Option<&'a str>,
    /// The chance that `limited_by` is right, from 0 to 1.
    confidence: f64,
    /// Shares of the time.
    limits: &'a [LimitShare],
}

/// A number of both captures; null where a capture does not show it.
#[derive(Debug, Serialize, JsonSchema)]
struct CaptureNumberEntry {
    name: &'static str,
    a: Option<f64>,
    b: Option<f64>,
    /// B ÷ A − 1.
    relative: Option<f64>,
}

impl<'a> CompareDocument<'a> {
    /// The document of a comparison.
    pub fn of(compared: &'a Compared<'a>) -> Self {
        let (runs, captures) = match compared {
            Compared::Runs(runs) => (Some(RunsEntry::of(runs)), None),
            Compared::Captures(captures) => (None, Some(CapturesEntry::of(captures))),
        };
        Self { schema_version: 1, runs, captures }
    }

    /// On one line, as one document.
    #[expect(clippy::missing_panics_doc, reason = "plain data can always be serialised")]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a document is plain data");
        text.push('\n');
        text
    }
}

impl<'a> RunsEntry<'a> {
    fn of(runs: &'a RunPairing) -> Self {
        let changed = runs.matched.changed.iter();
        let changed = changed.map(|(key, [a, b])| ChangedEntry { key, a, b });
        Self {
            a: &runs.names[0],
            b: &runs.names[1],
            changed: changed.collect(),
            points: runs.matched.points.iter().map(|point| PointEntry::of(runs, point)).collect(),
            left_out: runs.matched.left_out,
            invalid: runs.matched.invalid,
            conclusion: runs.conclusion(),
            cautions: runs.notes(),
        }
    }
}

impl<'a> PointEntry<'a> {
    fn of(runs: &RunPairing, point: &'a MatchedPoint) -> Self {
        Self {
            engine: point.engine,
            point: &point.point,
            runs: [point.rows[0].len(), point.rows[1].len()],
            limited_by: RunPairing::limits(point),
            numbers: runs.lines(point).iter().map(NumberEntry::of).collect(),
        }
    }
}

impl NumberEntry {
    fn of(line: &NumberLine) -> Self {
        let difference = &line.difference;
        Self {
            name: line.key,
            a: difference.a,
            b: difference.b,
            difference: difference.difference(),
            ci95: difference.half,
            relative: difference.relative(),
            pairs: pairs(difference.pairing),
            verdict: VerdictEntry::of(difference.verdict),
        }
    }
}

/// Pairs of runs with the same seed.
pub(super) const fn pairs(pairing: Pairing) -> Option<usize> {
    match pairing {
        Pairing::Seeds(count) => Some(count),
        Pairing::Apart | Pairing::Unseeded | Pairing::OneSided | Pairing::Exact => None,
    }
}

impl VerdictEntry {
    const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Higher => Self::Higher,
            Verdict::Lower => Self::Lower,
            Verdict::Same => Self::Same,
            Verdict::NotShown => Self::NotShown,
            Verdict::OnePair => Self::TooFewSeeds,
            Verdict::NoSeeds => Self::NoSeeds,
            Verdict::Unknown => Self::Unknown,
        }
    }
}

/// The word of a verdict.
pub(super) const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::Same => "same",
        Verdict::NotShown => "not-shown",
        Verdict::OnePair => "too-few-seeds",
        Verdict::NoSeeds => "no-seeds",
        Verdict::Unknown => "unknown",
    }
}

impl<'a> CapturesEntry<'a> {
    fn of(captures: &'a CapturePairing<'a>) -> Self {
        let entry = |side: usize| CaptureEntry::of(captures.names[side], &captures.cases[side]);
        let numbers = captures.lines();
        let numbers = numbers.iter().map(|line| CaptureNumberEntry {
            name: line.key,
            a: line.values[0],
            b: line.values[1],
            relative: line.relative(),
        });
        Self { a: entry(0), b: entry(1), numbers: numbers.collect(), cautions: captures.cautions() }
    }
}

impl<'a> CaptureEntry<'a> {
    fn of(file: &'a str, case: &'a Case<'a>) -> Self {
        let direction = case.diagnosis.direction;
        Self {
            file,
            connection: case.evidence.id,
            sender: case.evidence.sender(direction).to_string(),
            receiver: case.evidence.receiver(direction).to_string(),
            ending: case.evidence.ending,
            limited_by: case.diagnosis.limited_by,
            unknown_because: case.diagnosis.unknown_because.as_deref(),
            confidence: case.diagnosis.confidence,
            limits: &case.diagnosis.limits,
        }
    }
}
