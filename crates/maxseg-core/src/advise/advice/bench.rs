//! Runs of a path with changes: each with the same draws, none twice, and no more than allowed.

use std::ops::Range;

use crate::advise::data_flow::{
    data_carried, data_flow, data_hosts, data_rate, of_data, others_carried_bps,
};
use crate::advise::{Change, Trial, changed};
use crate::engine::{Engine as _, EngineError, Unwatched};
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{FlowKind, Scenario, Until};
use crate::sim::Sim;
use crate::stats::Summary;
use crate::units::{Bytes, Time};

use super::Request;
use super::draws::{HALF, PROOF, draw_of, is_fresh};
use super::goal::Standing;
use super::prepared::{PACKETS_OF_PROOF, prepared, shorten, varied};

/// What simulates scenarios, perhaps several at once: their outcomes, in the same order.
pub type Simulate = fn(&[Scenario]) -> Vec<Result<Outcome, EngineError>>;

/// Simulates scenarios one after the other.
pub fn one_by_one(scenarios: &[Scenario]) -> Vec<Result<Outcome, EngineError>> {
    scenarios.iter().map(|scenario| Sim.run(scenario, &mut Unwatched)).collect()
}

/// Needless retransmissions of a smaller share of the packets are worth no change: what they take is less than what goodput is told apart
/// by.
const NEEDLESS_SHARE: f64 = 0.01;

/// One path with changes, and its runs.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) changes: Vec<Change>,
    pub(super) scenario: Scenario,
    runs: Vec<(u64, Standing, Outcome)>,
}

/// The path as it is.
pub(super) const AS_IT_IS: usize = 0;

/// Runs by the simulator, within a budget.
pub(super) struct Bench {
    base: Scenario,
    simulate: Simulate,
    /// When a run that proves ends, and when the scenario's own does.
    proving: Until,
    whole: Until,
    budget: u32,
    pub(super) used: u32,
    pub(super) points: Vec<Point>,
}

impl Bench {
    /// Of the scenario asked about, run as [`prepared`] makes it. Point 0 is the path as it is.
    pub(super) fn new(request: &Request<'_>, budget: u32) -> Self {
        let (scenario, simulate) = (request.scenario, request.simulate);
        let (base, _) = prepared(scenario);
        let mut proving = scenario.clone();
        shorten(&mut proving, PACKETS_OF_PROOF);
        let (proving, whole) = (proving.until, scenario.until);
        let mut bench =
            Self { base, simulate, proving, whole, budget, used: 0, points: Vec::new() };
        bench.point(&[]);
        bench
    }

    pub(super) const fn base(&self) -> &Scenario {
        &self.base
    }

    /// Whether the traffic is requests, whose number a second counts in the place of goodput.
    pub(super) fn is_requests(&self) -> bool {
        is_requests(&self.base)
    }

    /// Runs that may still be made.
    pub(super) const fn left(&self) -> u32 {
        self.budget.saturating_sub(self.used)
    }

    /// The point of these changes; the same one for changes that come to the same.
    pub(super) fn point(&mut self, changes: &[Change]) -> usize {
        let scenario = changed(&self.base, changes);
        if let Some(index) = self.points.iter().position(|point| point.scenario == scenario) {
            return index;
        }
        self.points.push(Point { changes: changes.to_vec(), scenario, runs: Vec::new() });
        self.points.len() - 1
    }

    /// Whether a run of a point with this number was made.
    pub(super) fn has_run(&self, point: usize, number: u64) -> bool {
        self.points[point].runs.iter().any(|(done, ..)| *done == number)
    }

    /// Makes these runs of a point, as far as the budget goes; those that were made before cost nothing.
    pub(super) fn run(&mut self, point: usize, numbers: Range<u64>) -> Result<(), EngineError> {
        self.run_all([(point, numbers)])
    }

    /// The same of several points, which need not wait for each other.
    pub(super) fn run_all(
        &mut self,
        wanted: impl IntoIterator<Item = (usize, Range<u64>)>,
    ) -> Result<(), EngineError> {
        let mut due = self.unmade(wanted);
        due.truncate(self.left() as usize);
        self.used += u32::try_from(due.len()).unwrap_or(u32::MAX);
        let runs: Vec<Scenario> =
            due.iter().map(|(point, number)| self.scenario_of(*point, *number)).collect();
        let outcomes = (self.simulate)(&runs);
        for (((point, number), run), outcome) in due.into_iter().zip(&runs).zip(outcomes) {
            let outcome = of_data(run, outcome?);
            self.points[point].runs.push((number, standing(run, &outcome), outcome));
        }
        Ok(())
    }

    /// How many of these runs are to be made.
    pub(super) fn due(&self, wanted: impl IntoIterator<Item = (usize, Range<u64>)>) -> usize {
        self.unmade(wanted).len()
    }

    /// Those of these runs that were not made before, each once.
    fn unmade(&self, wanted: impl IntoIterator<Item = (usize, Range<u64>)>) -> Vec<(usize, u64)> {
        let mut due: Vec<(usize, u64)> = Vec::new();
        for (point, number) in wanted
            .into_iter()
            .flat_map(|(point, numbers)| numbers.map(move |number| (point, number)))
        {
            if !self.has_run(point, number) && !due.contains(&(point, number)) {
                due.push((point, number));
            }
        }
        due
    }

    /// The scenario of a run.
    fn scenario_of(&self, point: usize, number: u64) -> Scenario {
        let run = varied(&self.points[point].scenario, draw_of(number));
        Scenario { until: self.until(number), ..run }
    }

    /// When the run with this number ends.
    fn until(&self, number: u64) -> Until {
        match number {
            HALF => Until {
                time: Time::from_nanos(self.proving.time.as_nanos() / 2),
                bytes: self.proving.bytes.map(|bytes| Bytes::new(bytes.get() / 2)),
            },
            number if is_fresh(number) => self.proving,
            _ => self.base.until,
        }
    }

    /// The time of a run that proves, where the scenario's own is longer.
    pub(super) fn proof_shortened_to(&self) -> Option<Time> {
        (self.proving != self.whole).then(|| duration(&self.base, self.proving))
    }

    /// The goodput that a point has in the scenario's own time, by what the second half of a run that proves adds to the first: what a
    /// beginning gains is gained once. `None` where no run is left for that.
    pub(super) fn rate_of_whole(&mut self, point: usize) -> Result<Option<f64>, EngineError> {
        self.run(point, PROOF.start..PROOF.start + 1)?;
        self.run(point, HALF..HALF + 1)?;
        let of = |number: u64| {
            let (_, standing, outcome) =
                self.points[point].runs.iter().find(|(done, ..)| *done == number)?;
            Some((standing.rate, outcome.elapsed_s?))
        };
        let both = of(HALF).zip(of(PROOF.start));
        Ok(both.map(|(half, proof)| self.extrapolated(half, proof)))
    }

    /// The rate of a run of the scenario's own length, by rate and time of two shorter ones.
    fn extrapolated(&self, half: (f64, f64), proof: (f64, f64)) -> f64 {
        let bits = |(rate, seconds): (f64, f64)| rate * seconds;
        let further = (bits(proof) - bits(half)) / (proof.1 - half.1).max(1e-9);
        let rest_s = match (self.whole.bytes, self.proving.bytes) {
            (Some(whole), Some(proving)) => {
                (whole.bits() - proving.bits()) as f64 / further.max(1e-9)
            }
            _ => self.whole.time.as_secs_f64() - proof.1,
        };
        (bits(proof) + further * rest_s) / (proof.1 + rest_s).max(1e-9)
    }

    /// The means over all runs of a point; `None` before there is one.
    pub(super) fn standing(&self, point: usize) -> Option<Standing> {
        self.points[point].standing(|number| number != HALF)
    }

    /// A point as a row of results, by the runs with these numbers; `None` before there is a run.
    pub(super) fn trial(&self, point: usize, numbers: &[u64]) -> Option<Trial> {
        self.points[point].trial(numbers, self.until(numbers.first().copied().unwrap_or(0)))
    }

    /// What is known best of a point: the means of the runs that prove, where there are some.
    pub(super) fn shown(&self, point: usize, numbers: &[u64]) -> Option<Standing> {
        let proven = self.points[point].standing(|number| numbers.contains(&number));
        proven.or_else(|| self.standing(point))
    }

    /// The runs of a point.
    pub(super) fn count(&self, point: usize) -> usize {
        self.points[point].runs.len()
    }

    /// How far the rate of one run is from the mean, as a share of it: the standard deviation over all points with several runs.
    pub(super) fn spread(&self) -> f64 {
        let variations = self.points.iter().filter_map(|point| {
            let rates: Vec<f64> = point.runs.iter().map(|(_, run, _)| run.rate).collect();
            let summary = Summary::of(&rates);
            let variance = summary.coefficient_of_variation()?.powi(2);
            (summary.n > 1 && variance.is_finite()).then_some((variance, (summary.n - 1) as f64))
        });
        let (squares, freedom) = variations.fold((0.0, 0.0), |(sum, all), (variance, freedom)| {
            (sum + variance * freedom, all + freedom)
        });
        if freedom > 0.0 { libm::sqrt(squares / freedom) } else { 0.0 }
    }

    /// Whether needless retransmissions end from `a` to `b`: in no run of `b` is there one, and in those of `a` as many as matter.
    pub(super) fn mends(&self, a: usize, b: usize) -> bool {
        let sum = |point: usize, of: fn(&Outcome) -> Option<u64>| -> u64 {
            self.points[point].runs.iter().filter_map(|(_, _, outcome)| of(outcome)).sum()
        };
        let needless = |point: usize| sum(point, |outcome| outcome.spurious_retransmissions);
        let sent = sum(a, |outcome| outcome.data_packets) as f64;
        needless(b) == 0 && needless(a) > 0 && needless(a) as f64 >= NEEDLESS_SHARE * sent
    }

    /// The runs of two points with the same number, of those that `wanted` accepts.
    pub(super) fn pairs(
        &self,
        a: usize,
        b: usize,
        wanted: impl Fn(u64) -> bool,
    ) -> Vec<(Standing, Standing)> {
        let of_b = |number: u64| self.points[b].runs.iter().find(|(other, ..)| *other == number);
        let runs = self.points[a].runs.iter().filter(|(number, ..)| wanted(*number));
        runs.filter_map(|(number, standing, _)| Some((*standing, of_b(*number)?.1))).collect()
    }
}

impl Point {
    /// The means over the runs with these numbers.
    pub(super) fn standing(&self, wanted: impl Fn(u64) -> bool) -> Option<Standing> {
        let runs = self.runs.iter().filter(|(number, ..)| wanted(*number));
        Standing::mean(&runs.map(|(_, standing, _)| *standing).collect::<Vec<_>>())
    }

    /// The first run's outcome.
    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.runs.first().map(|(_, _, outcome)| outcome)
    }

    /// The runs with these numbers; all where there is none of them.
    fn runs_of(&self, numbers: &[u64]) -> Vec<&(u64, Standing, Outcome)> {
        let wanted: Vec<_> =
            self.runs.iter().filter(|(number, ..)| numbers.contains(number)).collect();
        if wanted.is_empty() { self.runs.iter().collect() } else { wanted }
    }

    /// As a row of results by the runs with these numbers, which ended so; `None` before there is a run.
    fn trial(&self, numbers: &[u64], until: Until) -> Option<Trial> {
        let runs = self.runs_of(numbers);
        let outcome = Outcome::first_of(runs.iter().map(|(_, _, outcome)| outcome))?;
        let summary = |of: &dyn Fn(&Standing, &Outcome) -> Option<f64>| {
            let values = runs.iter().filter_map(|(_, standing, outcome)| of(standing, outcome));
            Summary::of(&values.collect::<Vec<_>>())
        };
        Some(Trial {
            changes: self.changes.clone(),
            scenario: Scenario { until, ..self.scenario.clone() },
            goodput: summary(&|_, outcome| goodput(&self.scenario, outcome)),
            ping: summary(&|standing, _| standing.ping_s),
            request: summary(&|_, outcome| outcome.request_mean_s),
            others: summary(&|standing, _| standing.others_bps),
            limited_by: outcome.limited_by.unwrap_or(LimitedBy::Unknown),
            outcome,
        })
    }
}

/// Goodput, or requests per second where nothing but requests is sent, and the round trip under load.
pub(super) fn standing(scenario: &Scenario, outcome: &Outcome) -> Standing {
    let rate = if is_requests(scenario) {
        outcome.request_mean_s.map_or(0.0, |mean| 1.0 / mean.max(1e-9))
    } else {
        goodput(scenario, outcome).unwrap_or(0.0)
    };
    let others_bps = others_carried_bps(scenario, outcome);
    Standing { rate, ping_s: outcome.ping_with_waiting_s(), others_bps }
}

/// Goodput of the data that counts: what is acknowledged and waits in a buffer to be read is of no use to the program, and a larger buffer
/// only holds more of it.
fn goodput(scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    let [_, receiving] = data_hosts(scenario);
    let read = receiving.read_rate.map_or(f64::INFINITY, |rate| rate.get() as f64);
    let counts = data_carried(scenario, outcome).into_iter().map(|carried| carried.min(read));
    counts.reduce(|sum, one| sum + one)
}

/// About how long runs last that end so.
fn duration(scenario: &Scenario, until: Until) -> Time {
    let transfer = until.bytes.map(|bytes| data_rate(scenario).time_for(bytes));
    transfer.map_or(until.time, |transfer| transfer.min(until.time))
}

/// Whether the traffic is requests without bulk data: their time is what counts then.
pub(super) fn is_requests(scenario: &Scenario) -> bool {
    let has = |wanted: fn(&FlowKind) -> bool| scenario.flows.iter().any(|flow| wanted(&flow.kind));
    has(|kind| matches!(kind, FlowKind::Request(_))) && !has(|kind| matches!(kind, FlowKind::Bulk))
}

/// Whether the flow that advice is about has Linux's own TCP at both ends.
pub(super) fn runs_linux(scenario: &Scenario) -> bool {
    data_flow(scenario).is_some_and(|flow| scenario.runs_linux(&flow))
}
