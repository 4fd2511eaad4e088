//! What a transfer gains that does not stall, for packets above the path MTU or for a reader: no run has such a stall.

use super::Rerun;
use crate::advise::gain::{FOUR_FIFTHS, Gain, NoGain, Prediction};
use crate::advise::{Case, Change};
use crate::engine::EngineName;
use crate::outcome::LimitedBy;
use crate::sim::Sim;

/// A stall of nearly all of the time leaves too little to judge the rest by.
const LEAST_REST: f64 = 0.05;
/// The rest of the time and the path without a stall contradict each other from this ratio on.
const MOST_BETWEEN: f64 = 4.0;

impl Rerun {
    /// What the connection would have without the time that it stalled, for packets above the path MTU or for a reader that stops again and
    /// again: what the path gives, with these changes, a transfer that does not stall. What it had in the rest of the time is less, for
    /// the window was small behind the stall; the further the two are apart, the wider the interval. Where they contradict each other,
    /// what lies between them, and no more than the path gives, is a lower bound.
    ///
    /// Behind the narrow hop no data came during the stall, and the goodput is that of the rest: what is gained there is the
    /// growth of the window from a segment on. Over a long transfer that is little.
    ///
    /// # Errors
    /// [`NoGain::Stalled`]: no stall has a share of the time, or the path cannot be run.
    pub fn gain_without_stall(
        &self,
        case: &Case<'_>,
        stall: LimitedBy,
        changes: &[Change],
    ) -> Result<Gain, NoGain> {
        let share = case.share(stall);
        if share <= 0.0 && !case.is_behind_narrow_hop() {
            return Err(NoGain::Stalled);
        }
        let observed_bps = self.path.goodput_bps;
        let scenario = self.changed(changes);
        let runs = self.runs(&mut Sim, EngineName::Sim, &scenario).ok_or(NoGain::Stalled)?;
        let of_rest = observed_bps / (1.0 - share).max(LEAST_REST);
        let of_path = runs.goodput_bps;
        let contradicts = of_path < of_rest / MOST_BETWEEN || of_path > of_rest * MOST_BETWEEN;
        let (middle, apart) = if contradicts {
            // As much as the lower end of the interval would be.
            (of_path.min(libm::sqrt(of_path * of_rest)), 0.0)
        } else {
            (of_path, libm::log(of_path / of_rest).abs() / 2.0)
        };
        let prediction = Prediction {
            at_worst_bps: None,
            engine: EngineName::Sim,
            baseline_bps: observed_bps,
            without_bps: Some(middle),
            baseline_spread: 0.0,
            spread: libm::hypot(runs.spread, apart / FOUR_FIFTHS),
            runs: [0, runs.count],
            half_bps: [None, None],
            request_s: [None, None],
            limited_by: None,
            then_limited_by: runs.limited_by,
        };
        Ok(Gain {
            observed_bps,
            most_bps: self.path.payload_rate_bps().max(of_rest),
            path_uncertainty: self.path.uncertainty(),
            loss_uncertainty: 0.0,
            idle_share: 0.0,
            predictions: vec![prediction],
            misses: Vec::new(),
            loss: self.loss,
            loses_as_observed: false,
            shortened_to: self.shortened_to,
            // What no full flight tried, as while segments shrink that vanish, may be far more.
            is_bound: contradicts || !self.path.rate_is_seen,
        })
    }
}
