//! The observed path as a scenario, ready to run with and without a change.

mod misses;
mod runs;

use super::case::Case;
use super::change::Change;
use super::gain::{FOUR_FIFTHS, Gain, Measured, Miss, NoGain, Prediction, RerunError};
use super::path::{Confidence, ObservedPath};
use super::scenario_text::{LossModel, ScenarioRequest, scenario_text};
use crate::diagnose::LossCause;
use crate::engine::EngineName;
use crate::errors::{ErrorModel, Schedule};
use crate::model::Model;
use crate::outcome::LimitedBy;
use crate::scenario::Scenario;
use crate::settings::{CongestionName, WindowSize};
use crate::sim::Sim;
use crate::units::Bytes;

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
    loss: LossModel,
    /// Payload of a run in bytes, where the transfer was longer.
    shortened_to: Option<u64>,
}

/// Most data packets of a run, which keeps it far below a second: Linux's TCP takes a microsecond or two for each.
pub const MOST_PACKETS: u64 = 50_000;

/// A queue is looked for in so many steps, of this factor until they turn.
const MOST_STEPS: u32 = 6;
const QUEUE_STEP: f64 = 1.6;

/// A stall of nearly all of the time leaves too little to judge the rest by.
const LEAST_REST: f64 = 0.05;
/// The rest of the time and the path without a stall contradict each other from this ratio on.
const MOST_BETWEEN: f64 = 4.0;

/// An application idle for a larger share leaves too little to run again.
const MOST_IDLE: f64 = 0.7;

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
        scenario.until.bytes = Some(Bytes::new(path.bytes.clamp(1, most)));
        Ok(Self { connection, path, text, scenario, loss, shortened_to })
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
        let others = [self.with_other_cause(case, file), self.with_other_congestion(case, file)];
        for candidate in [Some(self), others[0].clone(), others[1].clone()].into_iter().flatten() {
            let fitted = candidate.fitted(case, file);
            let Some(baseline) = fitted.runs(&mut Sim, EngineName::Sim, &fitted.scenario) else {
                continue;
            };
            let differs = fitted.misses(case, fitted.observed_bps(case), &baseline);
            if differs.is_empty() {
                return Ok(fitted);
            }
            if misses.is_empty() {
                misses = differs;
            }
        }
        Err(NoGain::BaselineMisses { misses })
    }

    /// The same path with another cause of loss; `None` where nothing was lost.
    fn with_other_cause(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        let other = match self.loss {
            LossModel::Errors => LossModel::QueueOverflow,
            LossModel::QueueOverflow | LossModel::Policer => LossModel::Errors,
        };
        (self.path.loss.value > 0.0)
            .then(|| Self::with(case, file, self.path.clone(), other).ok())
            .flatten()
    }

    /// The same path with another congestion control, where that is assumed.
    fn with_other_congestion(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        let assumed = &self.path.congestion;
        if assumed.confidence > Confidence::Low {
            return None;
        }
        let mut path = self.path.clone();
        path.congestion.value = CongestionName::Bbr;
        "assumed: with it, and not with CUBIC, the rerun has what was observed"
            .clone_into(&mut path.congestion.how);
        Self::with(case, file, path, self.loss).ok()
    }

    /// Runs the path with and without `changes`, with the cause of loss and, where that is unknown, the congestion control
    /// that explain what was observed; returns the path with them.
    pub fn gain(
        self,
        case: &Case<'_>,
        file: &str,
        changes: &[Change],
    ) -> (Self, Result<Gain, NoGain>) {
        if let Err(why) = self.can_gain(case, changes) {
            return (self, Err(why));
        }
        let first = self.fitted(case, file);
        let gain = first.run(case, changes);
        let is_open = first.path.loss_cause == LossCause::Unknown;
        if gain.leading().is_some() && !is_open {
            return (first, Ok(gain));
        }
        if let Some(other) = first.with_other_cause(case, file).map(|it| it.fitted(case, file)) {
            let by_other = other.run(case, changes);
            match (gain.leading(), by_other.leading()) {
                (Some(_), Some(_)) => return (first, Err(NoGain::TwoCauses)),
                (None, Some(_)) => return (other, Ok(by_other)),
                (_, None) => {}
            }
        }
        if gain.leading().is_some() {
            return (first, Ok(gain));
        }
        self.gain_with_other_congestion(case, file, changes, (first, gain))
    }

    fn gain_with_other_congestion(
        &self,
        case: &Case<'_>,
        file: &str,
        changes: &[Change],
        (first, first_gain): (Self, Gain),
    ) -> (Self, Result<Gain, NoGain>) {
        if let Some(other) = self.with_other_congestion(case, file) {
            let gain = other.run(case, changes);
            if gain.leading().is_some() {
                return (other, Ok(gain));
            }
        }
        (first, Ok(first_gain))
    }

    /// The same with a queue with which the rerun has what was observed, where a queue overflowed and such a one is found: no
    /// capture elsewhere than at the sender shows round trips through a full queue well.
    fn fitted(&self, case: &Case<'_>, file: &str) -> Self {
        let mut fitted = self.clone();
        if self.loss != LossModel::QueueOverflow || self.path.loss.value <= 0.0 {
            return fitted;
        }
        let (mut step, mut was_larger) = (QUEUE_STEP, None);
        for _ in 0..MOST_STEPS {
            let Some(baseline) = fitted.runs(&mut Sim, EngineName::Sim, &fitted.scenario) else {
                break;
            };
            let misses = fitted.misses(case, self.observed_bps(case), &baseline);
            // A longer queue brings more goodput, and longer round trips.
            let told = |of| misses.iter().find(|miss| miss.of == of);
            let miss = told(Measured::Goodput).or_else(|| told(Measured::RoundTrip));
            let Some(miss) = miss else { return fitted };
            let larger = miss.observed > miss.rerun;
            if was_larger.is_some_and(|was| was != larger) {
                step = libm::sqrt(step);
            }
            was_larger = Some(larger);
            let mut path = fitted.path.clone();
            path.scale_queue(if larger { step } else { 1.0 / step });
            let Ok(next) = Self::with(case, file, path, self.loss) else { break };
            fitted = next;
        }
        self.clone()
    }

    /// Goodput while there was data to send, in bits per second.
    fn observed_bps(&self, case: &Case<'_>) -> f64 {
        self.path.goodput_bps / (1.0 - case.share(LimitedBy::Application).min(MOST_IDLE))
    }

    /// What the connection would have without the time that it stalled for packets above the path MTU: what the path gives a
    /// transfer that does not stall. What it had in the rest of the time is less, for the window was small behind the stall;
    /// the further the two are apart, the wider the interval.
    ///
    /// # Errors
    /// [`NoGain::Stalled`]: the two contradict each other, or the path cannot be run.
    pub fn gain_without_stall(&self, case: &Case<'_>) -> Result<Gain, NoGain> {
        let share = case.share(LimitedBy::PathMtu);
        let observed_bps = self.path.goodput_bps;
        let mut scenario = self.scenario.clone();
        // What was lost was too large.
        Change::NoErrors.apply(&mut scenario);
        let runs = self.runs(&mut Sim, EngineName::Sim, &scenario).ok_or(NoGain::Stalled)?;
        let of_rest = observed_bps / (1.0 - share).max(LEAST_REST);
        let of_path = runs.goodput_bps;
        if share <= 0.0 || of_path < of_rest / MOST_BETWEEN || of_path > of_rest * MOST_BETWEEN {
            return Err(NoGain::Stalled);
        }
        let prediction = Prediction {
            engine: EngineName::Sim,
            baseline_bps: observed_bps,
            without_bps: Some(of_path),
            baseline_spread: 0.0,
            spread: libm::hypot(
                runs.spread,
                libm::log(of_path / of_rest).abs() / 2.0 / FOUR_FIFTHS,
            ),
            then_limited_by: runs.then_limited_by,
        };
        Ok(Gain {
            observed_bps,
            most_bps: self.path.payload_rate_bps().max(of_rest),
            path_uncertainty: self.path.uncertainty(),
            idle_share: 0.0,
            predictions: vec![prediction],
            misses: Vec::new(),
            loss: self.loss,
            shortened_to: self.shortened_to,
            is_bound: false,
        })
    }

    fn can_gain(&self, case: &Case<'_>, changes: &[Change]) -> Result<(), NoGain> {
        if changes.is_empty() {
            return Err(NoGain::NoChange);
        }
        if case.share(LimitedBy::Application) > MOST_IDLE {
            return Err(NoGain::ApplicationLimited);
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
        let idle_share = case.share(LimitedBy::Application).min(MOST_IDLE);
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
        let most_bps = line_bps.max(observed_bps);
        let after = self.changed(changes);
        let (simulated, misses) = self.simulated(case, observed_bps, &after);
        let formula = self.runs(&mut Model, EngineName::Model, &self.scenario).map(|baseline| {
            let is_close = self.misses(case, observed_bps, &baseline).is_empty();
            let runs = is_close.then(|| self.runs(&mut Model, EngineName::Model, &after)).flatten();
            Prediction::of(EngineName::Model, &baseline, runs.as_ref())
        });
        let mut predictions: Vec<Prediction> = [simulated, formula].into_iter().flatten().collect();
        for prediction in &mut predictions {
            prediction.baseline_bps = prediction.baseline_bps.min(most_bps);
            prediction.without_bps = prediction.without_bps.map(|bps| bps.min(most_bps));
        }
        Gain {
            observed_bps,
            most_bps,
            path_uncertainty: self.path.uncertainty(),
            idle_share,
            predictions,
            misses,
            loss: self.loss,
            shortened_to: self.shortened_to,
            is_bound: !self.path.rate_is_seen,
        }
    }

    /// The simulator's prediction, and what its baseline misses. Where errors struck, the same packets are lost first: when
    /// they came matters as much as how many. Else as many by chance.
    fn simulated(
        &self,
        case: &Case<'_>,
        observed_bps: f64,
        after: &Scenario,
    ) -> (Option<Prediction>, Vec<Miss>) {
        let mut misses = Vec::new();
        let mut prediction = None;
        for scenario in self.with_lost_packets().iter().chain([&self.scenario]) {
            let Some(baseline) = self.runs(&mut Sim, EngineName::Sim, scenario) else { continue };
            misses = self.misses(case, observed_bps, &baseline);
            if misses.is_empty() {
                let runs = self.runs(&mut Sim, EngineName::Sim, after);
                return (Some(Prediction::of(EngineName::Sim, &baseline, runs.as_ref())), misses);
            }
            prediction = Some(Prediction::of(EngineName::Sim, &baseline, None));
        }
        (prediction, misses)
    }

    /// The path with errors that strike the packets that were lost.
    fn with_lost_packets(&self) -> Option<Scenario> {
        let lost = self.path.lost_packets.as_ref().filter(|_| self.loss == LossModel::Errors)?;
        let mut scenario = self.scenario.clone();
        let errors = &mut scenario.path.hops.first_mut()?.forward.errors;
        *errors = Schedule::constant(ErrorModel::List { lost: lost.as_slice().into() });
        Some(scenario)
    }

    /// The scenario as the remedy's commands make it: limits of autotuning are raised, no window is set.
    fn changed(&self, changes: &[Change]) -> Scenario {
        let mut scenario = self.scenario.clone();
        for change in changes {
            match (change, &mut scenario.receiver.linux, &mut scenario.sender.linux) {
                (Change::Window(window), Some(rules), _) => {
                    rules.tcp_rmem[2] = rules.tcp_rmem[2].max(2 * window.get());
                    let most = Bytes::new(rules.tcp_rmem[2] / 2);
                    scenario.receiver.window = WindowSize::Auto { most };
                }
                (Change::SendBuffer(buffer), _, Some(rules)) => {
                    rules.tcp_wmem[2] = rules.tcp_wmem[2].max(2 * buffer.get());
                    scenario.receiver.window =
                        WindowSize::Bytes(Bytes::new(self.path.window_bytes.value));
                }
                (change, _, _) => change.apply(&mut scenario),
            }
        }
        scenario
    }
}
