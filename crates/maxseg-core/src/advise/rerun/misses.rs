//! What the rerun of the path as it is has otherwise than what was observed.

use super::runs::Runs;
use super::{LossModel, Rerun};
use crate::advise::gain::{CLOSE, Measured, Miss};
use crate::advise::{Case, Change};
use crate::diagnose::LossCause;

/// The mean round trip of a rerun is another from this relative difference on, and this in seconds: hosts and links add
/// fractions of milliseconds that no capture explains.
const OTHER_ROUND_TRIP: f64 = 0.25;
const OTHER_ROUND_TRIP_S: f64 = 0.003;
/// Counts of retransmissions differ by chance by three standard deviations of a Poisson distribution; and as much as by half
/// where a queue overflows at the end of slow start, once with all of the flight, once with a part of it.
const BY_CHANCE: f64 = 3.0;
const OTHER_OVERFLOW: f64 = 0.5;
/// Two or three more are a probe of the tail.
const FEW: f64 = 3.0;

/// What a rerun has so many times as much of as was observed is another transfer: no bound follows from it.
const MOST_MISSED: f64 = 2.0;

impl Rerun {
    /// What simulated runs of the scenario miss of what was observed; `None` where it cannot be run.
    pub fn missed(&self, case: &Case<'_>) -> Option<Vec<Miss>> {
        Some(self.misses(case, self.observed_bps(case), self.baseline(case)?))
    }

    /// The scenario as a file: with remarks on what runs of it [miss](Self::missed).
    pub fn file_text(&self, missed: &[Miss]) -> String {
        let remarks = missed.iter().map(|miss| format!("#   {miss}\n")).collect::<String>();
        if remarks.is_empty() {
            return self.text.clone();
        }
        let begin = "# Simulated runs of it miss what was observed:\n";
        self.text.replacen("\n\n", &format!("\n{begin}{remarks}\n"), 1)
    }

    /// Whether a run with the changes is a lower bound in spite of what the run of the path as it is misses, once it is scaled down
    /// by the goodput that the latter has more: where it has more of everything, but for losses that the change removes. What else
    /// holds the connection back may do so after the change.
    pub(super) fn bounds(&self, changes: &[Change], misses: &[Miss]) -> bool {
        let removes_losses = changes.contains(&Change::NoErrors);
        let removes_bursts = changes.iter().any(|change| matches!(change, Change::SendBuffer(_)))
            && self.loss == LossModel::QueueOverflow;
        // The rate that passes is seen, and a sender below it loses nothing there.
        let is_policed = changes.iter().any(|change| matches!(change, Change::Pacing(_)));
        let is_of_queue = self.path.loss_with_queue || self.loss != LossModel::Errors;
        let depends_on_queue =
            removes_losses && is_of_queue || changes.iter().any(|change| change.is_of_queue());
        // What else holds a transfer below what its window lets pass, as a slow reader does, may hold it after the change as well.
        let is_window = changes.iter().any(|change| matches!(change, Change::Window(_)));
        let is_held = is_window && misses.iter().any(|miss| miss.of == Measured::Goodput);
        // What loses them may be neither errors nor a queue.
        let is_open = removes_losses && self.path.loss_cause == LossCause::Unknown;
        !depends_on_queue
            && !is_open
            && !is_held
            && misses.iter().all(|miss| match miss.of {
                Measured::Goodput => (1.0..=MOST_MISSED).contains(&(miss.rerun / miss.observed)),
                Measured::Retransmissions => {
                    removes_losses || removes_bursts || is_policed || miss.rerun >= miss.observed
                }
                Measured::RoundTrip => removes_bursts || miss.rerun >= miss.observed,
            })
    }

    /// Where nothing is missed, the run explains the observation. Formulas know no retransmissions and no round trips.
    pub(super) fn misses(&self, case: &Case<'_>, observed_bps: f64, baseline: &Runs) -> Vec<Miss> {
        let data = case.data();
        let mut misses = Vec::new();
        let rerun = baseline.goodput_bps;
        if baseline.is_off(observed_bps, CLOSE) {
            misses.push(Miss { of: Measured::Goodput, observed: observed_bps, rerun });
        }
        let Some(rtt_s) = baseline.rtt_s else { return misses };
        let resent = data.resent_segments() as f64;
        let shown = self.shortened_to.map_or(1.0, |most| most as f64 / self.path.bytes as f64);
        let (observed, rerun) = (resent * shown, baseline.retransmissions);
        let differ =
            BY_CHANCE * libm::sqrt(observed + rerun) + OTHER_OVERFLOW * observed.max(rerun);
        if (observed - rerun).abs() > differ + FEW {
            misses.push(Miss { of: Measured::Retransmissions, observed, rerun });
        }
        if let Some(observed) = data.path_rtt_mean_s {
            let differ = (observed - rtt_s).abs();
            if differ > OTHER_ROUND_TRIP * observed && differ > OTHER_ROUND_TRIP_S {
                misses.push(Miss { of: Measured::RoundTrip, observed, rerun: rtt_s });
            }
        }
        misses
    }
}
