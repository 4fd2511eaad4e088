//! Other paths that may explain the same observation: another cause of loss, another congestion control, another queue, a send
//! buffer.

use super::{LossModel, Rerun};
use crate::advise::Case;
use crate::advise::gain::Measured;
use crate::advise::path::{Confidence, ObservedPath};
use crate::settings::CongestionName;

/// A queue is looked for in so many steps, of this factor until they turn.
const MOST_STEPS: u32 = 6;
const QUEUE_STEP: f64 = 1.6;

/// A send buffer is looked for between this, in bytes, and the flight that it allows; each step halves the range, on a logarithmic
/// scale.
const LEAST_BUFFER: f64 = 2048.0;
const BUFFER_STEPS: u32 = 6;
/// The queue that its bursts overflow is as told, or so many times that.
const QUEUES: [f64; 3] = [1.0, 0.6, 1.6];

impl Rerun {
    /// The same path with another cause of loss; `None` where nothing was lost.
    pub(super) fn with_other_cause(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        let other = match self.loss {
            LossModel::Errors => LossModel::QueueOverflow,
            LossModel::QueueOverflow | LossModel::Policer => LossModel::Errors,
        };
        (self.path.loss.value > 0.0)
            .then(|| Self::alternative(case, file, self.path.clone(), other))
            .flatten()
    }

    /// The same path with other congestion controls, where that is assumed.
    pub(super) fn with_other_congestion<'a>(
        &'a self,
        case: &'a Case<'_>,
        file: &'a str,
    ) -> impl Iterator<Item = Self> + 'a {
        let is_assumed = self.path.congestion.confidence == Confidence::Low;
        let others: &[CongestionName] =
            if is_assumed { &[CongestionName::Bbr, CongestionName::Reno] } else { &[] };
        others.iter().filter_map(move |other| {
            let mut path = self.path.clone();
            path.congestion.value = *other;
            "assumed: with it, and not with CUBIC, the rerun has what was observed"
                .clone_into(&mut path.congestion.how);
            Some(Self::alternative(case, file, path, self.loss)?.fitted(case, file))
        })
    }

    /// The same with a queue with which the rerun has what was observed, where a queue overflowed and such a one is found: no
    /// capture elsewhere than at the sender shows round trips through a full queue well.
    pub(super) fn fitted(&self, case: &Case<'_>, file: &str) -> Self {
        // What is known of the path as it is goes with each clone.
        if self.loss != LossModel::QueueOverflow
            || self.path.loss.value <= 0.0
            || self.baseline(case).is_none()
        {
            return self.clone();
        }
        let mut fitted = self.clone();
        let (mut step, mut was_larger) = (QUEUE_STEP, None);
        for _ in 0..MOST_STEPS {
            let Some(baseline) = fitted.baseline(case) else { break };
            let misses = fitted.misses(case, self.observed_bps(case), baseline);
            // A longer queue brings more goodput, and longer round trips.
            let told = |of| misses.iter().find(|miss| miss.of == of);
            let miss = told(Measured::Goodput).or_else(|| told(Measured::RoundTrip));
            let Some(miss) = miss else {
                // It takes the place of this one.
                return Self { is_alternative: self.is_alternative, ..fitted };
            };
            let larger = miss.observed > miss.rerun;
            if was_larger.is_some_and(|was| was != larger) {
                step = libm::sqrt(step);
            }
            was_larger = Some(larger);
            let mut path = fitted.path.clone();
            path.scale_queue(if larger { step } else { 1.0 / step });
            let Some(next) = Self::alternative(case, file, path, self.loss) else { break };
            fitted = next;
        }
        self.clone()
    }

    /// The same with a send buffer with which the rerun has what was observed, in the place of the window that stands for one;
    /// `None` where the send buffer is not the limit, or no such size is found. A program that writes much at once into a small
    /// buffer sends bursts, which no window does: they queue, and overflow a queue.
    pub(super) fn with_send_buffer(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        let most = self.path.send_buffer.as_ref()?.value.max(1) as f64;
        QUEUES.into_iter().find_map(|times| {
            let mut path = self.path.clone();
            path.scale_queue(times);
            Self::with_buffer_up_to(most, &path, case, file)
        })
    }

    fn with_buffer_up_to(
        mut most: f64,
        path: &ObservedPath,
        case: &Case<'_>,
        file: &str,
    ) -> Option<Self> {
        let mut least = LEAST_BUFFER;
        for _ in 0..BUFFER_STEPS {
            let middle = libm::sqrt(least * most);
            let mut path = path.clone();
            path.set_send_buffer_size(middle);
            let candidate = Self::alternative(case, file, path, LossModel::QueueOverflow)?;
            let baseline = candidate.baseline(case)?;
            let observed_bps = candidate.observed_bps(case);
            let goodput_bps = baseline.goodput_bps;
            if candidate.misses(case, observed_bps, baseline).is_empty() {
                return Some(candidate);
            }
            if goodput_bps < observed_bps {
                least = middle;
            } else {
                most = middle;
            }
        }
        None
    }
}
