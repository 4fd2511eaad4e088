//! Other paths that may explain the same observation: another cause of loss, another congestion control, another queue, a send
//! buffer.

use super::runs::Runs;
use super::{LossModel, Rerun};
use crate::advise::Case;
use crate::advise::gain::Measured;
use crate::advise::path::{Confidence, ObservedPath};
use crate::diagnose::LossCause;
use crate::settings::CongestionName;

/// A queue is looked for in so many steps, of this factor until they turn.
const MOST_STEPS: u32 = 6;
const QUEUE_STEP: f64 = 1.6;
/// A policer's bucket is looked for in as many: what passed before the first drop tells it less well.
const BUCKET_STEP: f64 = 2.0;

/// A queue with which the goodput of the rerun is off by less, on a logarithmic scale, is long enough.
const WELL_FITTED: f64 = 0.03;

/// A send buffer is looked for between this, in bytes, and the flight that it allows; each step halves the range, on a logarithmic
/// scale.
const LEAST_BUFFER: f64 = 2048.0;
const BUFFER_STEPS: u32 = 6;
/// The queue that its bursts overflow is as told, or so many times that.
const QUEUES: [f64; 3] = [1.0, 0.6, 1.6];

/// What drops packets once it is full, and whose size is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// The queue before the link.
    Queue,
    /// A policer's bucket of tokens.
    Bucket,
}

impl Room {
    const fn step(self) -> f64 {
        match self {
            Self::Queue => QUEUE_STEP,
            Self::Bucket => BUCKET_STEP,
        }
    }

    /// What more of it brings beside more goodput: longer round trips through a queue, and a larger flight, whose end a policer drops.
    const fn shows_by(self) -> Measured {
        match self {
            Self::Queue => Measured::RoundTrip,
            Self::Bucket => Measured::Retransmissions,
        }
    }
}

impl Rerun {
    /// What dropped packets for lack of room; `None` where errors struck alone.
    fn filled_room(&self) -> Option<Room> {
        match self.loss {
            LossModel::Policer => Some(Room::Bucket),
            LossModel::QueueOverflow => Some(Room::Queue),
            LossModel::Errors => self.is_since_overflow.then_some(Room::Queue),
        }
    }

    /// A transfer of as much in the place of requests that differ too much for runs of their mean; `None` of a transfer.
    pub(super) fn as_transfer(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        self.path.dialogue.as_ref()?;
        let path = ObservedPath { dialogue: None, ..self.path.clone() };
        Self::with(case, file, path, self.loss).ok()
    }

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

    /// The same path with errors since the queue overflowed at the end of slow start; `None` where none did, or the losses since are of
    /// a queue as well.
    pub(super) fn with_errors_since_overflow(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        if !matches!(self.path.loss_cause, LossCause::Unknown | LossCause::Errors) {
            return None;
        }
        let path = self.path.with_errors_since_overflow()?;
        let path = Self::alternative(case, file, path, LossModel::Errors)?;
        Some(Self { is_since_overflow: true, ..path }.fitted(case, file))
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
    /// capture elsewhere than at the sender shows round trips through a full queue well. Where no queue was seen, of those found the one is
    /// taken whose goodput is nearest. So a policer's bucket is.
    pub(super) fn fitted(&self, case: &Case<'_>, file: &str) -> Self {
        let Some(room) = self.filled_room().filter(|_| self.path.loss.value > 0.0) else {
            return self.clone();
        };
        // What is known of the path as it is goes with each clone.
        if self.baseline(case).is_none() {
            return self.clone();
        }
        let observed_bps = self.observed_bps(case);
        let is_seen = room == Room::Bucket || self.path.queue_bytes.confidence > Confidence::Low;
        let mut fitted = self.clone();
        let (mut step, mut was_larger) = (room.step(), None);
        let mut best: Option<(f64, Self)> = None;
        for _ in 0..MOST_STEPS {
            let Some(baseline) = fitted.as_observed(case) else { break };
            let misses = fitted.misses(case, observed_bps, &baseline);
            let off = libm::log(observed_bps / baseline.goodput_bps);
            let told = |of| misses.iter().find(|miss| miss.of == of);
            let miss = told(Measured::Goodput).or_else(|| told(room.shows_by()));
            if miss.is_none() && best.as_ref().is_none_or(|(least, _)| off.abs() < *least) {
                // It takes the place of this one.
                best = Some((
                    off.abs(),
                    Self { is_alternative: self.is_alternative, ..fitted.clone() },
                ));
            }
            if miss.is_none() && (is_seen || off.abs() <= WELL_FITTED) {
                break;
            }
            let larger = miss.map_or(off > 0.0, |miss| miss.observed > miss.rerun);
            if was_larger.is_some_and(|was| was != larger) {
                step = libm::sqrt(step);
            }
            was_larger = Some(larger);
            let mut path = fitted.path.clone();
            let times = if larger { step } else { 1.0 / step };
            match room {
                Room::Queue => path.scale_queue(times),
                Room::Bucket => path.scale_bucket(times),
            }
            let Some(next) = Self::alternative(case, file, path, self.loss) else { break };
            fitted = Self { is_since_overflow: self.is_since_overflow, ..next };
        }
        best.map_or_else(|| self.clone(), |(_, best)| best)
    }

    /// Runs of the path as it is: with the packets lost that were, where errors struck since an overflow, for the few that did may strike
    /// at any time.
    fn as_observed(&self, case: &Case<'_>) -> Option<Runs> {
        let as_lost = || self.runs_until_far(case, &self.with_lost_packets(&self.scenario)?);
        let as_lost = if self.is_since_overflow { as_lost() } else { None };
        as_lost.or_else(|| self.baseline(case).cloned())
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
