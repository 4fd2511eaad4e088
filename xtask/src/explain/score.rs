//! How often what captures are said to show is the truth.

use std::path::Path;

use anyhow::{Context, Result};
use maxseg_core::outcome::{LimitShare, LimitedBy};

use super::run::{Point, Run, folder};
use crate::parallel::in_parallel;

/// What a capture is said to show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// The limit; `None` where nothing was said.
    pub limited_by: Option<LimitedBy>,
    /// The shares behind it, the largest first.
    pub limits: Vec<LimitShare>,
}

/// A run with what both of its captures are said to show.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The run.
    pub run: Run,
    /// At the sender and at the receiver, as in [`Point::ALL`].
    pub said: [Said; 2],
}

/// The rules are calibrated on one half of all runs and scored on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Runs of even numbers.
    Calibration,
    /// Runs of odd numbers.
    Scoring,
}

impl Half {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Calibration, Self::Scoring];

    /// Which half a run belongs to.
    pub const fn of(number: u64) -> Self {
        if number.is_multiple_of(2) { Self::Calibration } else { Self::Scoring }
    }

    /// What reports call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Calibration => "calibration",
            Self::Scoring => "scoring",
        }
    }
}

impl Scored {
    /// Whether what was said at this point is right.
    pub fn is_right(&self, point: Point) -> bool {
        self.said[point as usize].limited_by.is_some_and(|said| self.run.truth.contains(&said))
    }

    /// The true limit: where two are right, the one that was said, if any.
    fn truth(&self, point: Point) -> Option<LimitedBy> {
        let said = self.said[point as usize].limited_by;
        said.filter(|_| self.is_right(point)).or_else(|| self.run.truth.first().copied())
    }
}

/// Explains both captures of every run that counts.
///
/// # Errors
/// `explain` fails on a capture.
pub fn score(
    runs: Vec<Run>,
    kept: &Path,
    explain: impl Fn(&Path) -> Result<Said> + Sync,
) -> Result<Vec<Scored>> {
    let counting: Vec<Run> = runs.into_iter().filter(Run::counts).collect();
    let said = in_parallel(&counting.iter().collect::<Vec<_>>(), |run| {
        let said = |point: Point| {
            let file = point.file(&folder(kept, run.number));
            explain(&file).with_context(|| file.display().to_string())
        };
        Ok([said(Point::Sender)?, said(Point::Receiver)?])
    })?;
    Ok(counting.into_iter().zip(said).map(|(run, said)| Scored { run, said }).collect())
}

/// So many right of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// Right.
    pub right: usize,
    /// All.
    pub all: usize,
}

impl Accuracy {
    /// Of one half at one point.
    pub fn of(scored: &[Scored], half: Half, point: Point) -> Self {
        let mut accuracy = Self::default();
        for run in scored.iter().filter(|scored| Half::of(scored.run.number) == half) {
            accuracy.all += 1;
            accuracy.right += usize::from(run.is_right(point));
        }
        accuracy
    }

    /// From 0 to 1; nothing of nothing is nothing.
    pub fn share(self) -> f64 {
        if self.all == 0 { 0.0 } else { self.right as f64 / self.all as f64 }
    }
}

/// Truth against what was said: a row for each true limit, a column for each that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    /// What is in the rows and columns, in order; columns have one more, for nothing said.
    pub limits: Vec<LimitedBy>,
    /// By row and column.
    pub counts: Vec<Vec<usize>>,
}

impl Confusion {
    /// Of one half at one point.
    pub fn of(scored: &[Scored], half: Half, point: Point) -> Self {
        let of_half = || scored.iter().filter(|scored| Half::of(scored.run.number) == half);
        let said = |scored: &Scored| scored.said[point as usize].limited_by;
        let mut limits: Vec<LimitedBy> = of_half()
            .flat_map(|scored| scored.truth(point).into_iter().chain(said(scored)))
            .collect();
        limits.sort_unstable();
        limits.dedup();
        let place = |limit: LimitedBy| limits.iter().position(|known| *known == limit);
        let mut counts = vec![vec![0; limits.len() + 1]; limits.len()];
        for scored in of_half() {
            let Some(row) = scored.truth(point).and_then(place) else { continue };
            counts[row][said(scored).and_then(place).unwrap_or(limits.len())] += 1;
        }
        Self { limits, counts }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use LimitedBy::{Bandwidth, Congestion, ReceiveWindow};
    use maxseg_core::outcome::Outcome;

    use super::*;
    use crate::explain::run::facts;
    use crate::explain::setup::Setup;

    /// A run's number, its truth, and what its two captures say.
    type Case<'a> = (u64, &'a [LimitedBy], [Option<LimitedBy>; 2]);

    /// Such runs.
    pub(in crate::explain) fn scored(runs: &[Case<'_>]) -> Vec<Scored> {
        let scored = |(number, truth, said): &Case<'_>| {
            let (setup, outcome) = (Setup::draw(1, *number), Outcome::default());
            let run = Run {
                seed: 1,
                number: *number,
                facts: facts(&setup, &outcome),
                setup,
                truth: truth.to_vec(),
                invalid_because: Vec::new(),
                outcome,
            };
            let said = said.map(|limited_by| Said {
                limited_by,
                limits: limited_by
                    .map(|kind| LimitShare { kind, share: 1.0 })
                    .into_iter()
                    .collect(),
            });
            Scored { run, said }
        };
        runs.iter().map(scored).collect()
    }

    #[test]
    fn accuracy_counts_each_half_and_point_alone() {
        let scored = scored(&[
            (0, &[Bandwidth], [Some(Bandwidth), Some(Congestion)]),
            (1, &[Bandwidth, Congestion], [Some(Congestion), Some(Congestion)]),
            (3, &[Congestion], [None, Some(Congestion)]),
        ]);
        let of = |half, point| {
            let accuracy = Accuracy::of(&scored, half, point);
            (accuracy.right, accuracy.all)
        };
        assert_eq!(of(Half::Calibration, Point::Sender), (1, 1));
        assert_eq!(of(Half::Calibration, Point::Receiver), (0, 1));
        assert_eq!(of(Half::Scoring, Point::Sender), (1, 2));
        assert_eq!(of(Half::Scoring, Point::Receiver), (2, 2));
    }

    #[test]
    fn the_table_puts_truth_in_rows_and_what_was_said_in_columns() {
        let scored = scored(&[
            (1, &[Bandwidth], [Some(Bandwidth); 2]),
            (3, &[Bandwidth], [Some(Congestion); 2]),
            (5, &[ReceiveWindow], [None; 2]),
            // What was said is right, so the run counts for that.
            (7, &[Bandwidth, Congestion], [Some(Congestion); 2]),
            (8, &[Bandwidth], [Some(Bandwidth); 2]),
        ]);
        let table = Confusion::of(&scored, Half::Scoring, Point::Sender);
        assert_eq!(table.limits, [ReceiveWindow, Bandwidth, Congestion]);
        assert_eq!(table.counts, [[0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]]);
    }
}
