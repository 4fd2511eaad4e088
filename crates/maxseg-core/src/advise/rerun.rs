//! The observed path as a scenario, ready to run with and without a change.

mod changes;
mod fits;
mod misses;
mod runs;
mod stall;

use std::iter;
use std::sync::OnceLock;

use super::case::Case;
use super::change::{Change, mend_losses};
use super::gain::{Gain, Miss, NoGain, Prediction, RerunError};
use super::path::{ObservedPath, waited_s};
use super::scenario_text::{LossModel, ScenarioRequest, scenario_text};
use crate::diagnose::LossCause;
use crate::engine::EngineName;
use crate::errors::{ErrorModel, Schedule};
use crate::model::Model;
use crate::outcome::LimitedBy;
use crate::scenario::Scenario;
use crate::sim::Sim;
use crate::units::Bytes;
use runs::{Runs, limit_requests};

/// The observed path as a scenario.
#[derive(Debug, Clone)]
pub struct Rerun {
    /// The number of the connection.
    pub connection: u32,
    /// Its path.
    pub path: ObservedPath,
    /// The scenario as TOML.
    pub text: String,
    scenario: Scenario,
    /// Its runs, once they were made.
    baseline: OnceLock<Option<Runs>>,
    loss: LossModel,
    /// Payload of a run in bytes, where the transfer was longer.
    shortened_to: Option<u64>,
    /// Whether it is tried beside the path that is told of: where it does not explain what was observed, none of its numbers is used.
    is_alternative: bool,
    /// Whether errors struck only since the queue overflowed at the end of slow start.
    is_since_overflow: bool,
}

/// Most data packets of a run, which keeps it far below a second: Linux's TCP takes a microsecond or two for each.
pub const MOST_PACKETS: u64 = 50_000;

/// An application idle for a larger share leaves too little to run again.
const MOST_IDLE: f64 = 0.7;
/// A dialogue goes on sooner where its messages arrive sooner. Whoever writes without being asked, and is idle for a larger share than
/// this, may write no more.
const MOST_IDLE_WRITING: f64 = 0.15;

impl Rerun {
    /// The path of a connection of the capture `file`.
    ///
    /// # Errors
    /// The capture shows too little of the path, or the observed values are no valid scenario.
    pub fn of(case: &Case<'_>, file: &str) -> Result<Self, RerunError> {
        let path = ObservedPath::of(case)?;
        let loss = if path.policer.is_some() {
            LossModel::Policer
        } else if path.loss_with_queue {
            LossModel::QueueOverflow
        } else {
            LossModel::Errors
        };
        Self::with(case, file, path, loss)
    }

    fn with(
        case: &Case<'_>,
        file: &str,
        path: ObservedPath,
        loss: LossModel,
    ) -> Result<Self, RerunError> {
        let direction = case.diagnosis.direction;
        let connection = case.evidence.id;
        let name = format!("Connection {connection} of {file}");
        let origin = format!(
            "The path from {} to {}, from connection {connection} of {file}.",
            case.evidence.sender(direction),
            case.evidence.receiver(direction),
        );
        let most = MOST_PACKETS.saturating_mul(u64::from(path.segment.value));
        let request = ScenarioRequest { name: &name, origin: &origin, loss, bytes: path.bytes };
        let text = scenario_text(&path, &request);
        let mut scenario = Scenario::from_toml("the observed path", &text)
            .map_err(|error| RerunError::Scenario(error.what))?;
        let shortened_to = (path.bytes > most).then_some(most);
        match &path.dialogue {
            Some(dialogue) => {
                let count = (most / dialogue.bytes_of(1).max(1)).clamp(1, dialogue.count);
                limit_requests(&mut scenario, count);
            }
            None => scenario.until.bytes = Some(Bytes::new(path.bytes.clamp(1, most))),
        }
        let baseline = OnceLock::new();
        Ok(Self {
            connection,
            path,
            text,
            scenario,
            baseline,
            loss,
            shortened_to,
            is_alternative: false,
            is_since_overflow: false,
        })
    }

    /// Another path for the same connection, which is tried as well.
    fn alternative(
        case: &Case<'_>,
        file: &str,
        path: ObservedPath,
        loss: LossModel,
    ) -> Option<Self> {
        let path = Self::with(case, file, path, loss).ok()?;
        Some(Self { is_alternative: true, ..path })
    }

    /// The path as it is, as it is run.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The path with which the simulator has what was observed: what is tried on it says something about the connection.
    ///
    /// # Errors
    /// The capture shows too little of the path, or no run has what was observed.
    pub fn explaining(self, case: &Case<'_>, file: &str) -> Result<Self, NoGain> {
        if !case.diagnosis.quality.fit {
            return Err(NoGain::Unfit);
        }
        if let Some(why) = self.path.too_little(case.data().segments()) {
            return Err(NoGain::TooLittle(why));
        }
        self.can_gain(case, &[Change::NoErrors])?;
        let mut misses = Vec::new();
        let other_cause = || self.with_other_cause(case, file).map(|it| it.fitted(case, file));
        let candidates = iter::once_with(|| Some(self.fitted(case, file)))
            .chain(iter::once_with(|| self.with_send_buffer(case, file)))
            .chain(iter::once_with(other_cause))
            .chain(iter::once_with(|| self.with_errors_since_overflow(case, file)))
            .chain(iter::once_with(|| self.as_transfer(case, file)))
            .flatten()
            .chain(self.with_other_congestion(case, file));
        for fitted in candidates {
            let Some(baseline) = fitted.baseline(case) else { continue };
            let differs = fitted.misses(case, fitted.observed_bps(case), baseline);
            if differs.is_empty() {
                return Ok(fitted);
            }
            if misses.is_empty() {
                misses = differs;
            }
        }
        Err(NoGain::BaselineMisses { misses })
    }

    /// Runs the path with and without `changes`, with the cause of loss and, where that is unknown, the congestion control
    /// that explain what was observed; returns the path with them. Where none does, the gain is a lower bound, if that is one.
    pub fn gain(
        self,
        case: &Case<'_>,
        file: &str,
        changes: &[Change],
    ) -> (Self, Result<Gain, NoGain>) {
        if let Err(why) = self.can_gain(case, changes) {
            return (self, Err(why));
        }
        let dialogue = self.path.dialogue.is_some().then(|| self.fitted(case, file));
        let differs =
            dialogue.as_ref().and_then(|it| it.missed(case)).is_some_and(|it| !it.is_empty());
        if differs && let Some(transfer) = self.as_transfer(case, file) {
            return transfer.gain(case, file, changes);
        }
        let waits_for_room = case.diagnosis.waits_for_room;
        let is_open = case.diagnosis.limited_by == LimitedBy::Unknown && !waits_for_room;
        if self.path.send_buffer.is_some() && (is_open || waits_for_room) {
            if let Some(found) = self.with_send_buffer(case, file) {
                let gain = found.run(case, changes);
                return (found, Ok(gain));
            }
            // Only a rerun tells that it is one.
            if is_open {
                return (self, Err(NoGain::Unfit));
            }
            // Bursts of a program that was woken overflow a queue: a window in the place of the buffer sends none.
            if let Ok(window) = Self::with(case, file, self.path.clone(), LossModel::QueueOverflow)
            {
                let gain = window.run(case, changes);
                return (window, Ok(gain));
            }
        }
        let is_open = self.path.loss_cause == LossCause::Unknown;
        // Neither cause alone has most of the losses at once, and a small window since.
        if is_open && let Some(mixed) = self.with_errors_since_overflow(case, file) {
            let gain = mixed.run(case, changes);
            if gain.explains() {
                return (mixed, Ok(gain));
            }
        }
        let first = dialogue.unwrap_or_else(|| self.fitted(case, file));
        let gain = first.run(case, changes);
        if gain.explains() && !is_open {
            return (first, Ok(gain));
        }
        if let Some(other) = first.with_other_cause(case, file).map(|it| it.fitted(case, file)) {
            let by_other = other.run(case, changes);
            match (gain.explains(), by_other.explains()) {
                (true, true) => return (first, Ok(gain.or(&by_other))),
                (false, true) => return (other, Ok(by_other)),
                (_, false) => {}
            }
        }
        if gain.explains() {
            return (first, Ok(gain));
        }
        let others = self.with_send_buffer(case, file).into_iter();
        let mixed = || if is_open { None } else { self.with_errors_since_overflow(case, file) };
        let others = others.chain(iter::once_with(mixed).flatten());
        for other in others.chain(self.with_other_congestion(case, file)) {
            let by_other = other.run(case, changes);
            if by_other.explains() {
                return (other, Ok(by_other));
            }
        }
        (first, Ok(gain))
    }

    /// Goodput while there was data to send, in bits per second.
    fn observed_bps(&self, case: &Case<'_>) -> f64 {
        self.path.goodput_bps / (1.0 - self.idle_share(case))
    }

    /// The share of the time in which there was nothing to send. The pauses behind a small send buffer are its own, and a run of requests
    /// has theirs. Before each reply its request crosses the path: that time remains, whatever limits the rest.
    fn idle_share(&self, case: &Case<'_>) -> f64 {
        if self.path.send_buffer_size.is_some() || self.path.dialogue.is_some() {
            return 0.0;
        }
        let waited_s = case.evidence.requests.as_ref().map_or(0.0, waited_s);
        let waited = waited_s / self.path.seconds.max(1e-9);
        case.share(LimitedBy::Application).max(waited).min(MOST_IDLE)
    }

    fn can_gain(&self, case: &Case<'_>, changes: &[Change]) -> Result<(), NoGain> {
        if changes.is_empty() {
            return Err(NoGain::NoChange);
        }
        if let Some(beside) = case.evidence.beside {
            return Err(NoGain::Shared(beside));
        }
        let share = case.share(LimitedBy::Application);
        let is_by_itself = case.evidence.requests.is_none() && self.path.send_buffer_size.is_none();
        let most = if is_by_itself { MOST_IDLE_WRITING } else { MOST_IDLE };
        if share > most && self.path.dialogue.is_none() {
            return Err(NoGain::ApplicationLimited { share });
        }
        if !self.path.shows_room() {
            let is_window = changes
                .iter()
                .any(|change| matches!(change, Change::Window(_) | Change::SendBuffer(_)));
            return Err(NoGain::RateUnknown { is_window });
        }
        Ok(())
    }

    fn run(&self, case: &Case<'_>, changes: &[Change]) -> Gain {
        let idle_share = self.idle_share(case);
        let observed_bps = self.observed_bps(case);
        // Formulas leave out headers, and what the baseline missed is carried over.
        let segments = changes.iter().filter_map(|change| {
            if let Change::SegmentSize(mss) = change {
                Some(self.path.payload_of(*mss))
            } else {
                None
            }
        });
        let segment = segments.max().unwrap_or(self.path.segment.value);
        let line_bps = self.path.payload_rate_bps_in(segment);
        // What larger segments win on a full link is what headers took, however well its rate is known.
        let full = case.share(LimitedBy::Bandwidth);
        let is_full = case.diagnosis.limited_by == LimitedBy::Bandwidth && full > 0.0;
        let of_headers = observed_bps * line_bps / self.path.payload_rate_bps().max(1.0) / full;
        let is_of_size = changes.iter().all(|change| matches!(change, Change::SegmentSize(_)));
        let line_bps = if is_full && is_of_size { line_bps.min(of_headers) } else { line_bps };
        let most_bps = line_bps.max(observed_bps);
        let after = self.changed(changes);
        let (simulated, misses, loses_as_observed) =
            self.simulated(case, observed_bps, changes, &after);
        let formula = self.runs(&mut Model, EngineName::Model, &self.scenario).map(|baseline| {
            let is_close = self.misses(case, observed_bps, &baseline).is_empty();
            let runs = is_close.then(|| self.runs(&mut Model, EngineName::Model, &after)).flatten();
            Prediction::of(EngineName::Model, &baseline, runs.as_ref())
        });
        let mut predictions: Vec<Prediction> = [simulated, formula].into_iter().flatten().collect();
        if let Some(simulated) = predictions.first_mut().filter(|it| it.without_bps.is_some()) {
            simulated.at_worst_bps = self.at_worst(changes, &after);
        }
        for prediction in &mut predictions {
            prediction.baseline_bps = prediction.baseline_bps.min(most_bps);
            prediction.without_bps = prediction.without_bps.map(|bps| bps.min(most_bps));
        }
        let is_missed = !misses.is_empty();
        let mut gain = Gain {
            observed_bps,
            most_bps,
            path_uncertainty: self.path.uncertainty(),
            loss_uncertainty: self.loss_uncertainty(case, changes),
            idle_share,
            predictions,
            misses,
            loss: self.loss,
            loses_as_observed,
            shortened_to: self.shortened_to,
            // Behind a beginning that was not captured the transfer goes on: a run begins with slow start.
            is_bound: !self.path.rate_is_seen || is_missed || case.evidence.marks.mid_stream,
        };
        if is_missed && gain.expected().is_none() {
            // A bound below what is worth a change is none.
            gain.predictions.iter_mut().for_each(|prediction| prediction.without_bps = None);
            gain.is_bound = !self.path.rate_is_seen || case.evidence.marks.mid_stream;
        }
        gain
    }

    /// The simulator's prediction, what its baseline misses, and whether both lose the same packets. Where errors struck, these are lost
    /// first: when they came matters as much as how many. Else as many by chance. What was lost in a part of the transfer, and no more since, is
    /// lost so after the change.
    fn simulated(
        &self,
        case: &Case<'_>,
        observed_bps: f64,
        changes: &[Change],
        after: &Scenario,
    ) -> (Option<Prediction>, Vec<Miss>, bool) {
        let mut last = None;
        let as_lost = || {
            let scenario = self.with_lost_packets(&self.scenario)?;
            self.runs_until_far(case, &scenario)
        };
        let by_chance = || self.baseline(case).cloned();
        let in_a_part = || {
            let is_of_errors = !mend_losses(changes) && self.lost_in_a_part(case);
            is_of_errors.then(|| self.with_lost_packets(after)).flatten()
        };
        for baseline in [&as_lost as &dyn Fn() -> Option<Runs>, &by_chance] {
            let Some(baseline) = baseline() else { continue };
            let misses = self.misses(case, observed_bps, &baseline);
            if misses.is_empty() {
                let in_a_part = if last.is_none() { in_a_part() } else { None };
                let runs =
                    self.runs(&mut Sim, EngineName::Sim, in_a_part.as_ref().unwrap_or(after));
                let prediction = Prediction::of(EngineName::Sim, &baseline, runs.as_ref());
                return (Some(prediction), misses, in_a_part.is_some());
            }
            last = Some((baseline, misses));
        }
        let Some((baseline, misses)) = last else { return (None, Vec::new(), false) };
        let runs = (!self.is_alternative && self.bounds(changes, &misses))
            .then(|| self.runs(&mut Sim, EngineName::Sim, after))
            .flatten();
        (Some(Prediction::of(EngineName::Sim, &baseline, runs.as_ref())), misses, false)
    }

    /// The runs of the path as it is, by the simulator; of an alternative no more than it takes to see that it is none.
    fn baseline(&self, case: &Case<'_>) -> Option<&Runs> {
        let runs = || {
            if self.is_alternative {
                self.runs_until_far(case, &self.scenario)
            } else {
                self.runs(&mut Sim, EngineName::Sim, &self.scenario)
            }
        };
        self.baseline.get_or_init(runs).as_ref()
    }

    /// Whether what errors struck was lost in a part of the transfer that was over before its end.
    fn lost_in_a_part(&self, case: &Case<'_>) -> bool {
        let stretch = self.path.lossy_stretch(case.data());
        self.loss == LossModel::Errors && stretch.is_some_and(|it| it.is_over(case.data()))
    }

    /// A scenario of the path with errors that strike the packets that were lost.
    fn with_lost_packets(&self, scenario: &Scenario) -> Option<Scenario> {
        let lost = self.path.lost_packets.as_ref().filter(|_| self.loss == LossModel::Errors)?;
        let mut scenario = scenario.clone();
        let errors = &mut scenario.path.hops.first_mut()?.forward.errors;
        *errors = Schedule::constant(ErrorModel::List { lost: lost.as_slice().into() });
        Some(scenario)
    }
}
