//! What removing a limit gains: the observed path run by simulator and formulas as it is, and again without the limit.

use maxseg_core::advise::{Change, covering};
use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::outcome::{LimitedBy, Outcome};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_core::units::{Bytes, Time, approx};

use super::Case;
use super::path::ObservedPath;
use super::scenario_text::{LossBy, Wanted, scenario_text};

/// The observed path as a scenario.
#[derive(Debug, Clone)]
pub(crate) struct Rerun {
    /// Whose path it is.
    pub(crate) connection: u32,
    /// What was seen.
    pub(crate) path: ObservedPath,
    /// The whole of it, for a file.
    pub(crate) text: String,
    /// A window that covers the path.
    pub(crate) covering: Bytes,
    scenario: Scenario,
    loss: LossBy,
    /// The payload of a run, where the transfer was longer than that.
    shortened_to: Option<u64>,
}

/// What came of the runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gain {
    /// What the connection reached while it had something to send, in bits per second.
    pub(crate) observed_bps: f64,
    /// The time that the application left unused, from 0 to 1: no run has that.
    pub(crate) idle_share: f64,
    /// Each engine's word on it: the simulator's first.
    pub(crate) predictions: Vec<Prediction>,
    /// How losses were taken to come about, where there were any.
    pub(crate) loss: LossBy,
    /// The payload of a run, where the transfer was longer than that.
    pub(crate) shortened_to: Option<u64>,
    /// Whether the path may be faster than it was taken for: then there is more to gain.
    pub(crate) is_bound: bool,
}

/// What one engine says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) engine: EngineName,
    /// Goodput of the path as it is, in bits per second.
    pub(crate) baseline_bps: f64,
    /// Goodput without the limit; `None` where the baseline misses what was observed.
    pub(crate) without_bps: Option<f64>,
    /// What limits it then.
    pub(crate) then_limited_by: Option<LimitedBy>,
}

/// A baseline that is off by more explains nothing.
pub(crate) const CLOSE: f64 = 0.15;

/// Most data packets of a run: far below a second.
const MOST_PACKETS: u64 = 200_000;

/// Where the application was idle for longer, nothing is left to rerun.
const MOST_IDLE: f64 = 0.7;

impl Prediction {
    /// Whether the baseline is near enough to what was observed.
    pub(crate) fn is_close(&self, observed_bps: f64) -> bool {
        (self.baseline_bps / observed_bps - 1.0).abs() <= CLOSE
    }
}

impl Gain {
    /// The simulator's word, or else the formulas'.
    pub(crate) fn leading(&self) -> Option<&Prediction> {
        self.predictions.iter().find(|prediction| prediction.without_bps.is_some())
    }

    /// The goodput that is to be expected of the whole connection, in bits per second: what the application left
    /// unused stays so.
    pub(crate) fn expected_bps(&self) -> Option<f64> {
        let without = self.leading()?;
        // By the ratio of the runs: what a run has wrong as it is, it has wrong without the limit too.
        let ratio = without.without_bps? / without.baseline_bps;
        let busy = (1.0 - self.idle_share) / ratio;
        Some(self.observed_whole_bps() / (self.idle_share + busy))
    }

    /// What the connection reached with its idle times, in bits per second.
    pub(crate) fn observed_whole_bps(&self) -> f64 {
        self.observed_bps * (1.0 - self.idle_share)
    }

    /// The expected goodput over the observed one, less 1.
    pub(crate) fn relative(&self) -> Option<f64> {
        Some(self.expected_bps()? / self.observed_whole_bps() - 1.0)
    }

    /// Why there is none, with the numbers; `None` where there is one.
    pub(crate) fn missing(&self) -> Option<String> {
        if self.leading().is_some() {
            return None;
        }
        let runs: Vec<String> = self
            .predictions
            .iter()
            .map(|run| format!("{} gives {}", run.engine, approx::rate(run.baseline_bps)))
            .collect();
        Some(format!(
            "no gain is given: the path rerun as it was seen misses what was observed, {}, by more than {}: {}",
            approx::rate(self.observed_bps),
            format_args!("{:.0}%", 100.0 * CLOSE),
            runs.join(", ")
        ))
    }
}

impl Rerun {
    /// The path of a case, ready to run.
    ///
    /// # Errors
    /// In a sentence: what the capture does not show.
    pub(crate) fn of(case: &Case<'_>, file: &str) -> Result<Self, String> {
        let path = ObservedPath::of(case)?;
        let loss = if path.loss_with_queue { LossBy::FullQueue } else { LossBy::Chance };
        Self::with(case, file, path, loss)
    }

    fn with(case: &Case<'_>, file: &str, path: ObservedPath, loss: LossBy) -> Result<Self, String> {
        let way = case.diagnosis.way;
        let name = format!("Connection {} of {file}", case.evidence.id);
        let origin = format!(
            "The path from {} to {} as connection {} of {file} showed it.",
            case.evidence.sender(way),
            case.evidence.receiver(way),
            case.evidence.id
        );
        let most = MOST_PACKETS.saturating_mul(u64::from(path.segment.value));
        let wanted = Wanted { name: &name, origin: &origin, loss, bytes: path.bytes };
        let text = scenario_text(&path, &wanted);
        let mut scenario = Scenario::from_toml("the observed path", &text)
            .map_err(|error| format!("the observed path makes no scenario: {}", error.what))?;
        let shortened_to = (path.bytes > most).then_some(most);
        scenario.until.bytes = Some(Bytes::new(path.bytes.clamp(1, most)));
        let connection = case.evidence.id;
        Ok(Self {
            connection,
            covering: covering(&scenario),
            path,
            text,
            scenario,
            loss,
            shortened_to,
        })
    }

    /// The other explanation of the losses, where there are any.
    fn explained_otherwise(&self, case: &Case<'_>, file: &str) -> Option<Self> {
        let other = match self.loss {
            LossBy::Chance => LossBy::FullQueue,
            LossBy::FullQueue => LossBy::Chance,
        };
        (self.path.loss.value > 0.0)
            .then(|| Self::with(case, file, self.path.clone(), other).ok())
            .flatten()
    }

    /// Runs it as it is and without the limit, and keeps the explanation of the losses that comes nearer to what
    /// was observed.
    ///
    /// # Errors
    /// In a sentence: why there is nothing to run.
    pub(crate) fn gain(
        self,
        case: &Case<'_>,
        file: &str,
        changes: &[Change],
    ) -> (Self, Result<Gain, String>) {
        if let Err(why) = self.can_gain(case, changes) {
            return (self, Err(why));
        }
        let first = self.run(case, changes);
        if first.leading().is_some() {
            return (self, Ok(first));
        }
        if let Some(other) = self.explained_otherwise(case, file) {
            let second = other.run(case, changes);
            if second.leading().is_some() {
                return (other, Ok(second));
            }
        }
        (self, Ok(first))
    }

    fn can_gain(&self, case: &Case<'_>, changes: &[Change]) -> Result<(), String> {
        if changes.is_empty() {
            return Err(
                "no gain is given: no change of the path or its ends removes this limit".to_owned()
            );
        }
        if case.share(LimitedBy::Application) > MOST_IDLE {
            return Err(
                "no gain is given: the application had nothing to send most of the time".to_owned()
            );
        }
        if !self.path.shows_room() {
            return Err(format!(
                "no gain is given: nothing in the capture shows how fast the path is beyond what was used{}",
                if changes
                    .iter()
                    .any(|change| matches!(change, Change::Window(_) | Change::SendBuffer(_)))
                {
                    "; until it is full, twice as much in flight is twice as fast"
                } else {
                    ""
                }
            ));
        }
        Ok(())
    }

    fn run(&self, case: &Case<'_>, changes: &[Change]) -> Gain {
        let idle_share = case.share(LimitedBy::Application).min(MOST_IDLE);
        let observed_bps = self.path.goodput_bps / (1.0 - idle_share);
        let mut without = self.scenario.clone();
        for change in changes {
            change.apply(&mut without);
        }
        let mut engines: [(EngineName, Box<dyn Engine>); 2] =
            [(EngineName::Sim, Box::new(Sim)), (EngineName::Model, Box::new(Model))];
        let predictions = engines.iter_mut().filter_map(|(name, engine)| {
            let (baseline_bps, _) = self.goodput(engine.as_mut(), &self.scenario)?;
            let mut prediction = Prediction {
                engine: *name,
                baseline_bps,
                without_bps: None,
                then_limited_by: None,
            };
            if prediction.is_close(observed_bps)
                && let Some((goodput, outcome)) = self.goodput(engine.as_mut(), &without)
            {
                prediction.without_bps = Some(goodput);
                prediction.then_limited_by = outcome.limited_by;
            }
            Some(prediction)
        });
        Gain {
            observed_bps,
            idle_share,
            predictions: predictions.collect(),
            loss: self.loss,
            shortened_to: self.shortened_to,
            is_bound: !self.path.rate_is_seen,
        }
    }

    /// Goodput as a capture counts it: from the first data, not from the handshake that a run counts too.
    fn goodput(&self, engine: &mut dyn Engine, scenario: &Scenario) -> Option<(f64, Outcome)> {
        let outcome = engine.run(scenario, &mut Unwatched).ok()?;
        let (bytes, elapsed) = (outcome.payload_bytes? as f64, outcome.elapsed_s?);
        let since_data = elapsed - Time::from_secs_f64(self.path.rtt_s.value).as_secs_f64();
        (since_data > 0.0 && bytes > 0.0).then(|| (8.0 * bytes / since_data, outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::made::{explanation, windowed};

    fn rerun(
        evidence: maxseg_core::evidence::Evidence,
        changes: &[Change],
    ) -> Result<Gain, String> {
        let explained = explanation(vec![evidence]);
        let case = explained.connection(0).unwrap();
        Rerun::of(&case, "made.pcap").unwrap().gain(&case, "made.pcap", changes).1
    }

    #[test]
    fn a_window_that_covers_the_path_fills_it() {
        let gain = rerun(windowed(0), &[Change::Window(Bytes::new(1 << 19))]).unwrap();
        let sim = &gain.predictions[0];
        assert_eq!(sim.engine, EngineName::Sim);
        // A window a round trip: 65 535 × 8 / 80 ms, less slow start and the part of a segment that a window holds.
        assert!((sim.baseline_bps / 6.55e6 - 1.0).abs() < 0.05, "{sim:?}");
        // The line carries 20 Mbit/s × 1448/1500. Slow start, and the loss that ends it in a queue that holds less
        // than twice the path, cost a seventh of 24 MB at most.
        let without = sim.without_bps.unwrap();
        assert!((0.85..=1.0).contains(&(without / 19.3e6)), "{sim:?}");
        assert_ne!(sim.then_limited_by, Some(LimitedBy::ReceiveWindow));
        let relative = gain.relative().unwrap();
        assert!((1.4..2.1).contains(&relative), "{relative}");
        assert_eq!(gain.predictions.len(), 2, "formulas beside it");
    }

    #[test]
    fn idle_times_stay_what_they_are() {
        let gain = Gain {
            observed_bps: 8e6,
            idle_share: 0.5,
            predictions: vec![Prediction {
                engine: EngineName::Sim,
                baseline_bps: 8e6,
                without_bps: Some(80e6),
                then_limited_by: None,
            }],
            loss: LossBy::Chance,
            shortened_to: None,
            is_bound: false,
        };
        // Half of the time stays; the other half shrinks to a tenth: 1 / 0.55.
        assert!((gain.relative().unwrap() - (1.0 / 0.55 - 1.0)).abs() < 1e-9);
    }

    #[test]
    fn a_baseline_that_misses_gives_no_gain_but_both_numbers() {
        let mut evidence = windowed(0);
        // Twice as fast as its window allows: something is not as it was seen.
        evidence.forward.goodput_bps = Some(13e6);
        let gain = rerun(evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap();
        assert!(gain.relative().is_none());
        let why = gain.missing().unwrap();
        assert!(why.contains("13.0 Mbit/s") && why.contains("sim gives 6."), "{why}");
    }

    #[test]
    fn where_the_rate_is_not_seen_there_is_no_gain() {
        let mut evidence = windowed(0);
        evidence.forward.capacity_bps = None;
        let why = rerun(evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap_err();
        assert!(why.contains("how fast the path is"), "{why}");
        let why = rerun(windowed(0), &[]).unwrap_err();
        assert!(why.contains("no change"), "{why}");
    }

    #[test]
    fn a_long_transfer_is_shortened_and_says_so() {
        let mut evidence = windowed(0);
        evidence.forward.acked_bytes = 10_000_000_000;
        let gain = rerun(evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap();
        assert_eq!(gain.shortened_to, Some(MOST_PACKETS * 1448));
    }
}
