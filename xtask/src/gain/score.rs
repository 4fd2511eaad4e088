//! What was predicted beside what was measured.

use maxseg_core::stats::median;

use super::run::{FASTER, Run};

/// The least share of the runs with something to gain that have a number.
pub(super) const LEAST_NUMBERS: f64 = 0.85;
/// The least share of the promises with the measured gain inside the interval.
pub(super) const LEAST_INSIDE: f64 = 0.8;
/// The most of half the interval's width, in the predicted goodput; the median.
pub(super) const MOST_WIDTH: f64 = 0.25;
/// The most by which prediction and measurement differ; the median.
pub(super) const MOST_ERROR: f64 = 0.12;

/// A valid run with its prediction judged.
#[derive(Debug, Clone)]
pub(super) struct Scored<'a> {
    pub(super) run: &'a Run,
    /// Whether something can be gained.
    pub(super) is_gainable: bool,
    /// Predicted ÷ measured goodput − 1, where a gain is given.
    pub(super) error: Option<f64>,
    /// Whether the measured gain is inside the interval that was stated.
    pub(super) is_inside: bool,
    /// Half of the interval, in the predicted goodput; none of a lower bound.
    pub(super) half_width: Option<f64>,
    /// Whether a gain was promised and none came.
    pub(super) is_false: bool,
}

impl<'a> Scored<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        let measured =
            run.after.as_ref().map_or(run.advice.observed_bps, |after| after.goodput_bps);
        let gain = run.advice.gain;
        let is_inside = gain.is_some_and(|gain| {
            measured >= gain.low_bps && (gain.is_bound || measured <= gain.high_bps)
        });
        Self {
            run,
            is_gainable: run.possible_gain() >= FASTER - 1.0,
            error: gain.map(|gain| {
                let error = gain.expected_bps / measured.max(1.0) - 1.0;
                // Of a lower bound only what is above the truth is wrong.
                if gain.is_bound { error.max(0.0) } else { error }
            }),
            is_inside,
            half_width: gain
                .filter(|gain| !gain.is_bound)
                .map(|gain| (gain.high_bps - gain.low_bps) / 2.0 / gain.expected_bps),
            is_false: gain.is_some() && run.advised_gain() <= 0.0,
        }
    }
}

/// What some runs come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) runs: usize,
    pub(super) gainable: usize,
    /// Of those, with a number.
    pub(super) numbers: usize,
    /// All with a number.
    pub(super) promised: usize,
    pub(super) bounds: usize,
    pub(super) inside: usize,
    pub(super) false_promises: usize,
    pub(super) median_error: Option<f64>,
    pub(super) median_half_width: Option<f64>,
}

impl Tally {
    pub(super) fn of<'a>(scored: impl Iterator<Item = &'a Scored<'a>>) -> Self {
        let mut tally = Self::default();
        let (mut errors, mut widths) = (Vec::new(), Vec::new());
        for one in scored {
            tally.runs += 1;
            tally.gainable += usize::from(one.is_gainable);
            tally.numbers += usize::from(one.is_gainable && one.error.is_some());
            tally.promised += usize::from(one.error.is_some());
            tally.bounds += usize::from(one.error.is_some() && one.half_width.is_none());
            tally.inside += usize::from(one.is_inside);
            tally.false_promises += usize::from(one.is_false);
            // A lower bound predicts no goodput that the measured one could differ from.
            errors.extend(one.error.filter(|_| one.half_width.is_some()).map(f64::abs));
            widths.extend(one.half_width);
        }
        tally.median_error = median(errors);
        tally.median_half_width = median(widths);
        tally
    }

    /// The share of the cases in which something can be gained that have a number.
    pub(super) fn share_of_numbers(&self) -> f64 {
        share(self.numbers, self.gainable)
    }

    /// The share of the promises whose measured gain was inside the interval.
    pub(super) fn share_inside(&self) -> f64 {
        share(self.inside, self.promised)
    }
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}
