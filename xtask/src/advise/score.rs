//! One path: what is advised beside the sweep, and beside leaving it alone.

use anyhow::Result;
use maxseg_core::advise::{Advised, Change, Ends, Goal, Request, advise, as_run, changed};
use maxseg_core::scenario::Scenario;
use maxseg_core::stats::{Summary, student_t};

use super::draw::Drawn;
use super::sweep::{AS_IT_IS, KEPT, SCORING, Standing, Swept, stand, sweep};

/// The bars: of the most goodput, of the shortest round trip, and of leaving alone.
pub(super) const LEAST_RATE: f64 = 0.95;
pub(super) const MOST_PING: f64 = 1.15;
pub(super) const MOST_WORSE: f64 = 0.02;
pub(super) const MOST_RUNS: u32 = 60;
pub(super) const MOST_SECONDS: f64 = 30.0;

/// Advice on a path, scored.
#[derive(Debug, Clone)]
pub(super) struct Scored {
    pub(super) drawn: Drawn,
    pub(super) swept: Swept,
    pub(super) as_it_is: Standing,
    pub(super) throughput: Answer,
    pub(super) latency: Answer,
}

/// What is advised for one goal.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) words: String,
    pub(super) runs: u32,
    /// CPU seconds of the search.
    pub(super) seconds: f64,
    pub(super) standing: Standing,
}

/// A path with and without what is advised.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    pub(super) drawn: Drawn,
    pub(super) words: String,
    /// Advised over as it is, of what the goal measures: mean, and the upper end of its one-sided 95% interval.
    pub(super) ratio: f64,
    pub(super) at_most: f64,
}

impl Drawn {
    pub(super) fn scenario(&self) -> Result<Scenario> {
        Ok(Scenario::from_toml(&self.words, &self.text)?)
    }
}

impl Scored {
    pub(super) fn of(drawn: Drawn) -> Result<Self> {
        let scenario = drawn.scenario()?;
        let throughput = Answer::of(&scenario, Goal::Throughput)?;
        let latency = Answer::of(&scenario, Goal::Latency)?;
        let swept = sweep(&scenario)?;
        let as_it_is = stand(&as_run(&scenario).0, SCORING)?.0;
        Ok(Self { drawn, swept, as_it_is, throughput, latency })
    }

    /// The advised goodput over the most of the sweep.
    pub(super) fn rate(&self) -> f64 {
        self.throughput.standing.rate / self.swept.most.rate.max(1e-9)
    }

    /// The advised round trip over the shortest of the sweep.
    pub(super) fn ping(&self) -> f64 {
        self.latency.standing.ping_s / self.swept.least.ping_s.max(1e-9)
    }

    /// The goodput that advice for short round trips keeps, over the most of the sweep.
    pub(super) fn kept(&self) -> f64 {
        self.latency.standing.rate / self.swept.most.rate.max(1e-9)
    }

    /// Which bars it misses.
    pub(super) fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        if self.rate() < LEAST_RATE {
            misses.push(format!("goodput {:.1}% of the sweep's best", 100.0 * self.rate()));
        }
        if self.ping() > MOST_PING {
            misses.push(format!("round trip {:.2} times the sweep's least", self.ping()));
        }
        if self.kept() < KEPT * LEAST_RATE {
            misses
                .push(format!("short round trips keep {:.0}% of the goodput", 100.0 * self.kept()));
        }
        for answer in [&self.throughput, &self.latency] {
            if answer.runs > MOST_RUNS || answer.seconds > MOST_SECONDS {
                misses.push(format!("{} runs, {:.0} s", answer.runs, answer.seconds));
            }
        }
        misses
    }
}

/// The time that this thread has run: how long a search takes on a processor of its own.
fn cpu_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos: u64 = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(nanos as f64 / 1e9)
}

fn ask(scenario: &Scenario, goal: Goal) -> Result<Advised> {
    let ends = Ends::default();
    Ok(advise(&Request::new(scenario, goal, &ends))?)
}

fn changes_of(advised: &Advised) -> Vec<Change> {
    advised.best().map_or_else(Vec::new, |trial| trial.changes.clone())
}

impl Answer {
    fn of(scenario: &Scenario, goal: Goal) -> Result<Self> {
        let begun = cpu_seconds()?;
        let advised = ask(scenario, goal)?;
        let seconds = cpu_seconds()? - begun;
        let changes = changes_of(&advised);
        let (standing, _) = stand(&changed(&as_run(scenario).0, &changes), SCORING)?;
        Ok(Self {
            words: Change::describe_all(&changes, AS_IT_IS),
            runs: advised.runs,
            seconds,
            standing,
        })
    }
}

impl Beside {
    /// Advice for a goal, and leaving it alone, with fresh seeds.
    pub(super) fn of(drawn: Drawn, goal: Goal) -> Result<Self> {
        let scenario = drawn.scenario()?;
        let advised = ask(&scenario, goal)?;
        let changes = changes_of(&advised);
        let most = advised.points.iter().map(|point| point.rate).fold(0.0, f64::max);
        let (_, before) = stand(&as_run(&scenario).0, SCORING)?;
        let (_, after) = stand(&changed(&as_run(&scenario).0, &changes), SCORING)?;
        let mean = |runs: &[Standing]| {
            Summary::of(&runs.iter().map(|run| run.rate).collect::<Vec<_>>()).mean
        };
        // Short round trips are to keep most of the most goodput that was found: a path that lacks it is to get more first.
        let goal = match goal {
            Goal::Latency if mean(&before) < KEPT * most.max(mean(&after)) => Goal::Throughput,
            Goal::Throughput | Goal::Latency | Goal::Balanced => goal,
        };
        let better = |standing: &Standing| match goal {
            Goal::Throughput => standing.rate.max(1e-9).ln(),
            Goal::Latency => -standing.ping_s.max(1e-9).ln(),
            Goal::Balanced => (standing.rate / standing.ping_s).max(1e-9).ln(),
        };
        let differences: Vec<f64> = before
            .iter()
            .zip(&after)
            .map(|(before, after)| better(after) - better(before))
            .collect();
        let summary = Summary::of(&differences);
        let freedom = differences.len().saturating_sub(1).max(1) as f64;
        let half = student_t(0.95, freedom) * summary.standard_error().unwrap_or(0.0);
        Ok(Self {
            drawn,
            words: Change::describe_all(&changes, AS_IT_IS),
            ratio: summary.mean.exp(),
            at_most: (summary.mean + half).exp(),
        })
    }

    /// Whether it is worse than leaving it alone, beyond the bar and beyond chance.
    pub(super) fn is_worse(&self) -> bool {
        self.at_most < 1.0 - MOST_WORSE
    }
}
