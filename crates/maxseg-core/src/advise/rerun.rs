//! The observed path as a scenario, ready to run with and without a change.

use super::case::Case;
use super::gain::{Gain, NoGain, Prediction, RerunError};
use super::path::ObservedPath;
use super::scenario_text::{LossCause, ScenarioRequest, scenario_text};
use super::what_if::Change;
use crate::engine::{Engine, EngineName, Unwatched};
use crate::model::Model;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::Scenario;
use crate::sim::Sim;
use crate::units::{Bytes, Time};

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
    loss: LossCause,
    /// Payload of a run in bytes, where the transfer was longer.
    shortened_to: Option<u64>,
}

/// Most data packets of a run, which keeps it far below a second.
pub const MOST_PACKETS: u64 = 200_000;

/// An application idle for a larger share leaves too little to run again.
const MOST_IDLE: f64 = 0.7;

impl Rerun {
    /// The path of a connection of the capture `file`.
    ///
    /// # Errors
    /// The capture shows too little of the path, or the observed values are no valid scenario.
    pub fn of(case: &Case<'_>, file: &str) -> Result<Self, RerunError> {
        let path = ObservedPath::of(case)?;
        let loss = if path.loss_with_queue { LossCause::QueueOverflow } else { LossCause::Random };
        Self::with(case, file, path, loss)
    }

    fn with(
        case: &Case<'_>,
        file: &str,
        path: ObservedPath,
        loss: LossCause,
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
    pub(super) const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The same path with the other cause of loss; `None` where nothing was lost.
    fn with_other_cause(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        let other = match self.loss {
            LossCause::Random => LossCause::QueueOverflow,
            LossCause::QueueOverflow => LossCause::Random,
        };
        (self.path.loss.value > 0.0)
            .then(|| Self::with(case, file, self.path.clone(), other).ok())
            .flatten()
    }

    /// Runs the path with and without `changes`, with the cause of loss that explains the observed goodput; returns
    /// the path with that cause.
    pub fn gain(
        self,
        case: &Case<'_>,
        file: &str,
        changes: &[Change],
    ) -> (Self, Result<Gain, NoGain>) {
        if let Err(why) = self.can_gain(case, changes) {
            return (self, Err(why));
        }
        let first = self.run(case, changes);
        if first.leading().is_some() {
            return (self, Ok(first));
        }
        if let Some(other) = self.with_other_cause(case, file) {
            let second = other.run(case, changes);
            if second.leading().is_some() {
                return (other, Ok(second));
            }
        }
        (self, Ok(first))
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
        let observed_bps = self.path.goodput_bps / (1.0 - idle_share);
        // Formulas leave out headers, and the ratio of two runs carries over what the first one missed.
        let most_bps = self.path.payload_rate_bps().max(observed_bps);
        let mut without = self.scenario.clone();
        for change in changes {
            change.apply(&mut without);
        }
        let mut engines: [(EngineName, Box<dyn Engine>); 2] =
            [(EngineName::Sim, Box::new(Sim)), (EngineName::Model, Box::new(Model))];
        let predictions = engines.iter_mut().filter_map(|(name, engine)| {
            let (baseline_bps, _) = self.goodput(engine.as_mut(), &self.scenario)?;
            let baseline_bps = baseline_bps.min(most_bps);
            let mut prediction = Prediction {
                engine: *name,
                baseline_bps,
                without_bps: None,
                then_limited_by: None,
            };
            if prediction.is_close(observed_bps)
                && let Some((goodput, outcome)) = self.goodput(engine.as_mut(), &without)
            {
                prediction.without_bps = Some(goodput.min(most_bps));
                prediction.then_limited_by = outcome.limited_by;
            }
            Some(prediction)
        });
        Gain {
            observed_bps,
            most_bps,
            idle_share,
            predictions: predictions.collect(),
            loss: self.loss,
            shortened_to: self.shortened_to,
            is_bound: !self.path.rate_is_seen,
        }
    }

    /// Goodput from the first data on, as a capture counts it: a run's elapsed time includes the handshake.
    fn goodput(&self, engine: &mut dyn Engine, scenario: &Scenario) -> Option<(f64, Outcome)> {
        let outcome = engine.run(scenario, &mut Unwatched).ok()?;
        let (bytes, elapsed) = (outcome.payload_bytes? as f64, outcome.elapsed_s?);
        let since_data = elapsed - Time::from_secs_f64(self.path.rtt_s.value).as_secs_f64();
        (since_data > 0.0 && bytes > 0.0).then(|| (8.0 * bytes / since_data, outcome))
    }
}
