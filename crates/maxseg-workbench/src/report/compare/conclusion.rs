//! What the goodputs of two sets of runs show, in a sentence.

use maxseg_core::compare::Verdict;
use maxseg_core::engine::EngineName;

use super::runs::{NumberLine, RunPairing};
use crate::compare::MatchedPoint;

impl RunPairing {
    /// What the goodput of all points shows, in a sentence: of each engine by itself.
    pub fn conclusion(&self) -> String {
        let goodputs: Vec<(&MatchedPoint, NumberLine)> = self.goodputs().collect();
        let [a, b] = &self.names;
        let lead = format!("Goodput of {b} against {a}");
        let points = distinct(goodputs.iter().map(|(point, _)| &point.point)).len();
        let engines = distinct(goodputs.iter().map(|(point, _)| point.engine));
        let lines_of = |engine: Option<EngineName>| {
            let own = goodputs.iter().filter(move |(point, _)| point.engine == engine);
            own.map(|(_, line)| line)
        };
        match (goodputs.as_slice(), engines.as_slice()) {
            ([], _) => format!("{lead}: no point has a goodput."),
            ([(_, line)], _) => format!("{lead}: {}.", line.shown()),
            (_, [one]) => {
                format!("{lead}, of {points} points: {}.", verdict_counts(lines_of(*one)))
            }
            (_, several) => {
                let by = |engine: &Option<EngineName>| match (engine, points) {
                    (Some(engine), 1) => {
                        let shown: Vec<String> =
                            lines_of(Some(*engine)).map(NumberLine::shown).collect();
                        format!("by {engine} {}", shown.join(", "))
                    }
                    (Some(word), _) => {
                        format!("by {word} {}", verdict_counts(lines_of(*engine)))
                    }
                    (None, _) => verdict_counts(lines_of(None)),
                };
                let said: Vec<String> = several.iter().map(by).collect();
                let at = if points == 1 { String::new() } else { format!(", of {points} points") };
                format!("{lead}{at}: {}.", said.join("; "))
            }
        }
    }
}

/// Each value once, in the order in which they come.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    known
}

/// At how many points which verdict holds: `higher at 2, equal at 1`.
fn verdict_counts<'a>(lines: impl Iterator<Item = &'a NumberLine>) -> String {
    let verdicts: Vec<Verdict> = lines.map(|line| line.difference.verdict).collect();
    let parts = [
        (Verdict::Higher, "higher"),
        (Verdict::Lower, "lower"),
        (Verdict::Same, "equal"),
        (Verdict::NotShown, "without a difference that the seeds can show"),
        (Verdict::OnePair, "with too few runs to tell"),
        (Verdict::NoSeeds, "without an interval, as one side has no seeds"),
        (Verdict::Unknown, "unknown"),
    ];
    let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let parts = parts.map(|(verdict, word)| (count(verdict), word));
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| format!("{word} at {count}")).collect::<Vec<_>>().join(", ")
}
