//! How often what captures are said to show is the truth.

use std::path::Path;

use anyhow::{Context, Result};
use maxseg_core::diagnose::{CongestionAlgorithm, LossCause, ReasonCode};
use maxseg_core::outcome::{LimitShare, LimitedBy};

use super::promise::Promise;
use super::run::{Run, folder};
use super::stratum::Stratum;
use super::truth::Truth;
use super::view::file;
use crate::parallel::in_parallel;

/// What a capture is said to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The limit.
    pub limited_by: LimitedBy,
    /// How sure that is said to be, from 0 to 1.
    pub confidence: f64,
    /// Why it is unknown.
    pub unknown_because: Option<String>,
    /// What is said to be peculiar about the capture.
    pub reasons: Vec<ReasonCode>,
    /// Whether the acknowledgements' link is said to limit.
    pub is_ack_path: bool,
    /// Why segments are said to have been lost.
    pub cause: LossCause,
    /// The shares behind it, the largest first.
    pub limits: Vec<LimitShare>,
    /// The sender's congestion control.
    pub congestion: CongestionAlgorithm,
    /// What a change is said to gain.
    pub promise: Option<Promise>,
}

/// What a verdict is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// It is the truth.
    Right,
    /// It says that it does not know.
    Unknown,
    /// It names what is not the truth.
    False,
}

/// What is said of one capture of a run.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// What is said.
    pub said: Said,
    /// What that is worth.
    pub grade: Grade,
    /// Whether a cause of losses is named that is not the truth.
    pub is_false_cause: bool,
}

/// A run with what each of its captures is said to show, in the order of its views.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The run.
    pub run: Run,
    /// What limited it.
    pub truth: Truth,
    /// What is said.
    pub verdicts: Vec<Verdict>,
}

impl Verdict {
    fn of(said: Said, truth: &Truth) -> Self {
        let is_bandwidth = said.limited_by == LimitedBy::Bandwidth;
        // The other direction's link is another limit.
        let is_right = truth.limits.contains(&said.limited_by)
            && (!is_bandwidth || truth.is_either_way || said.is_ack_path == truth.is_ack_path);
        let grade = if said.limited_by == LimitedBy::Unknown {
            Grade::Unknown
        } else if is_right {
            Grade::Right
        } else {
            Grade::False
        };
        let is_false_cause =
            said.cause != LossCause::Unknown && !truth.causes.contains(&said.cause);
        Self { said, grade, is_false_cause }
    }
}

/// Explains every capture of every run that counts.
///
/// # Errors
/// `explain` fails on a capture.
pub fn score(
    runs: Vec<Run>,
    kept: &Path,
    explain: impl Fn(&Path) -> Result<Said> + Sync,
) -> Result<Vec<Scored>> {
    let counting: Vec<(Run, Truth)> = runs
        .into_iter()
        .filter(Run::counts)
        .filter_map(|run| run.truth.clone().map(|truth| (run, truth)))
        .collect();
    let verdicts = in_parallel(&counting.iter().collect::<Vec<_>>(), |(run, truth)| {
        let folder = folder(kept, run.setup.stratum, run.number);
        (0..run.setup.views.len())
            .map(|view| {
                let file = file(&folder, view);
                let said = explain(&file).with_context(|| file.display().to_string())?;
                Ok(Verdict::of(said, truth))
            })
            .collect::<Result<Vec<Verdict>>>()
    })?;
    let scored = counting.into_iter().zip(verdicts);
    Ok(scored.map(|((run, truth), verdicts)| Scored { run, truth, verdicts }).collect())
}

/// Verdicts by their grades.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Grades {
    /// Runs.
    pub(super) runs: usize,
    /// Of them, at a border between two limits.
    pub(super) borders: usize,
    /// Verdicts that are right,
    pub(super) right: usize,
    /// that do not know,
    pub(super) unknown: usize,
    /// and that name what is not the truth.
    pub(super) wrong: usize,
    /// Verdicts with a cause of losses that is not the truth.
    pub(super) false_causes: usize,
}

impl Grades {
    /// Of some runs.
    pub(super) fn of<'a>(scored: impl Iterator<Item = &'a Scored>) -> Self {
        let mut grades = Self::default();
        for one in scored {
            grades.runs += 1;
            grades.borders += usize::from(one.truth.is_border());
            for verdict in &one.verdicts {
                match verdict.grade {
                    Grade::Right => grades.right += 1,
                    Grade::Unknown => grades.unknown += 1,
                    Grade::False => grades.wrong += 1,
                }
                grades.false_causes += usize::from(verdict.is_false_cause);
            }
        }
        grades
    }

    /// Of one stratum.
    pub(super) fn of_stratum(scored: &[Scored], stratum: Stratum) -> Self {
        Self::of(scored.iter().filter(|one| one.run.setup.stratum == stratum))
    }

    /// All verdicts.
    pub(super) const fn all(self) -> usize {
        self.right + self.unknown + self.wrong
    }

    /// A count as a share of all verdicts; nothing of nothing is nothing.
    pub(super) fn share(self, count: usize) -> f64 {
        if self.all() == 0 { 0.0 } else { count as f64 / self.all() as f64 }
    }
}

/// Truth against what was said: a row for each true limit, a column for each that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Confusion {
    /// What is in the rows and columns, in order.
    pub(super) limits: Vec<LimitedBy>,
    /// By row and column.
    pub(super) counts: Vec<Vec<usize>>,
}

impl Confusion {
    /// Of one stratum; where several limits are right, a right verdict is in the row of what it says.
    pub(super) fn of(scored: &[Scored], stratum: Stratum) -> Self {
        let pairs: Vec<(LimitedBy, LimitedBy)> = scored
            .iter()
            .filter(|one| one.run.setup.stratum == stratum)
            .flat_map(|one| one.verdicts.iter().map(move |verdict| (one, verdict)))
            .map(|(one, verdict)| {
                let said = verdict.said.limited_by;
                let is_right = one.truth.limits.contains(&said);
                let first = one.truth.limits.first().copied().unwrap_or(LimitedBy::Unknown);
                (if is_right { said } else { first }, said)
            })
            .collect();
        let mut limits: Vec<LimitedBy> =
            pairs.iter().flat_map(|(truth, said)| [*truth, *said]).collect();
        limits.sort_unstable();
        limits.dedup();
        let place = |limit| limits.iter().position(|known| *known == limit).unwrap_or(0);
        let mut counts = vec![vec![0; limits.len()]; limits.len()];
        for (truth, said) in pairs {
            counts[place(truth)][place(said)] += 1;
        }
        Self { limits, counts }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use LimitedBy::{Bandwidth, Congestion, ReceiveWindow, Unknown};
    use maxseg_core::outcome::Outcome;

    use super::super::facts::Facts;
    use super::super::setup::Setup;
    use super::super::truth::Basis;
    use super::*;

    /// Such a verdict.
    pub(in crate::explain) fn said(limited_by: LimitedBy) -> Said {
        Said {
            limited_by,
            confidence: if limited_by == Unknown { 0.0 } else { 0.9 },
            unknown_because: None,
            reasons: Vec::new(),
            is_ack_path: false,
            cause: LossCause::Unknown,
            limits: vec![LimitShare { kind: limited_by, share: 1.0 }],
            congestion: CongestionAlgorithm::Unknown,
            promise: None,
        }
    }

    /// A run of a stratum with this truth, of which all captures are said to show this.
    pub(in crate::explain) fn scored(
        stratum: Stratum,
        number: u64,
        truth: &[LimitedBy],
        limit: LimitedBy,
    ) -> Scored {
        let setup = Setup::draw(stratum, 1, number);
        let truth = Truth {
            limits: truth.to_vec(),
            is_ack_path: false,
            is_either_way: false,
            causes: vec![LossCause::None],
            basis: Basis::SecondRuns,
        };
        let verdicts = setup.views.iter().map(|_| Verdict::of(said(limit), &truth)).collect();
        let run = Run {
            seed: 1,
            number,
            attempts: 1,
            invalid_because: Vec::new(),
            outcome: Outcome::default(),
            second: Vec::new(),
            facts: Facts::default(),
            truth: Some(truth.clone()),
            setup,
        };
        Scored { run, truth, verdicts }
    }

    #[test]
    fn unknown_is_neither_right_nor_false() {
        let scored = [
            scored(Stratum::Router, 0, &[Bandwidth], Bandwidth),
            scored(Stratum::Router, 1, &[Bandwidth, Congestion], Congestion),
            scored(Stratum::Router, 2, &[Congestion], Unknown),
            scored(Stratum::Router, 3, &[Congestion], Bandwidth),
            scored(Stratum::FarEnds, 0, &[Congestion], Bandwidth),
        ];
        let grades = Grades::of_stratum(&scored, Stratum::Router);
        assert_eq!((grades.right, grades.unknown, grades.wrong), (2, 1, 1));
        assert_eq!((grades.runs, grades.borders), (4, 1));
        assert_eq!(Grades::of(scored.iter()).wrong, 3);
    }

    #[test]
    fn a_link_in_the_other_direction_is_another_limit() {
        let mut truth = scored(Stratum::AckPath, 0, &[Bandwidth], Bandwidth).truth;
        truth.is_ack_path = true;
        assert_eq!(Verdict::of(said(Bandwidth), &truth).grade, Grade::False);
        let directed = Said { is_ack_path: true, ..said(Bandwidth) };
        assert_eq!(Verdict::of(directed.clone(), &truth).grade, Grade::Right);
        truth.is_ack_path = false;
        assert_eq!(Verdict::of(directed.clone(), &truth).grade, Grade::False);
        truth.is_either_way = true;
        assert_eq!(Verdict::of(directed, &truth).grade, Grade::Right);
        assert_eq!(Verdict::of(said(Bandwidth), &truth).grade, Grade::Right);
        assert!(truth.is_border());
    }

    #[test]
    fn a_cause_that_is_not_the_truth_counts() {
        let truth = scored(Stratum::Router, 0, &[Bandwidth], Bandwidth).truth;
        let of = |cause| Verdict::of(Said { cause, ..said(Bandwidth) }, &truth).is_false_cause;
        assert!(of(LossCause::Queue));
        assert!(!of(LossCause::None) && !of(LossCause::Unknown));
    }

    #[test]
    fn the_table_puts_truth_in_rows_and_what_was_said_in_columns() {
        let scored = [
            scored(Stratum::Router, 1, &[Bandwidth], Bandwidth),
            scored(Stratum::Router, 3, &[Bandwidth], Congestion),
            scored(Stratum::Router, 5, &[ReceiveWindow], ReceiveWindow),
            // What was said is right, so the run counts for that.
            scored(Stratum::Router, 7, &[Bandwidth, Congestion], Congestion),
        ];
        let table = Confusion::of(&scored, Stratum::Router);
        assert_eq!(table.limits, [ReceiveWindow, Bandwidth, Congestion]);
        assert_eq!(table.counts, [[1, 0, 0], [0, 1, 1], [0, 0, 1]]);
    }
}
