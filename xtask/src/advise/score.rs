//! One path: what is advised beside the sweep, and beside leaving it alone.

use anyhow::Result;
use maxseg_core::advise::{Advised, Change, Ends, Goal, Request, advise, as_run, changed};
use maxseg_core::scenario::Scenario;
use maxseg_core::stats::student_t;
use serde::{Deserialize, Serialize};

use super::draw::Drawn;
use super::fresh::{Fresh, Ratio, Standing, differences};
use super::sweep::{AS_IT_IS, KEPT, Swept, sweep};
use super::winner::text_with;

/// The bars: of the most goodput, of the shortest round trip, and of leaving alone.
pub(super) const LEAST_RATE: f64 = 0.95;
pub(super) const MOST_PING: f64 = 1.15;
pub(super) const MOST_WORSE: f64 = 0.02;
pub(super) const MOST_RUNS: u32 = 60;
pub(super) const MOST_SECONDS: f64 = 30.0;

/// Advice on a path, scored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Scored {
    pub(super) drawn: Drawn,
    pub(super) swept: Swept,
    pub(super) as_it_is: Standing,
    pub(super) throughput: Answer,
    pub(super) latency: Answer,
    /// The scenario of the sweep's most goodput.
    pub(super) winner: String,
    /// The advised goodput over the most of the sweep.
    pub(super) rate: Ratio,
    /// The advised round trip over the shortest of the sweep.
    pub(super) ping: Ratio,
    /// The goodput that advice for short round trips keeps, over the most of the sweep.
    pub(super) kept: Ratio,
}

/// What is advised for one goal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) words: String,
    pub(super) runs: u32,
    /// CPU seconds of the search.
    pub(super) seconds: f64,
    pub(super) standing: Standing,
}

/// A path with and without what is advised.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Beside {
    pub(super) drawn: Drawn,
    pub(super) goal: Goal,
    /// What it is judged by.
    pub(super) judged_by: Goal,
    pub(super) words: String,
    /// Advised over as it is, of what the goal measures: mean, and the upper end of its one-sided 95% interval.
    pub(super) ratio: f64,
    pub(super) at_most: f64,
}

impl Drawn {
    pub(super) fn scenario(&self) -> Result<Scenario> {
        Ok(Scenario::from_toml(&self.words, &self.text)?)
    }

    /// How long a run of it takes.
    pub(super) fn seconds(&self) -> Result<f64> {
        Ok(self.scenario()?.until.time.as_secs_f64())
    }
}

const fn rate(standing: &Standing) -> f64 {
    standing.rate
}

const fn ping_s(standing: &Standing) -> f64 {
    standing.ping_s
}

impl Scored {
    pub(super) fn of(drawn: Drawn) -> Result<Self> {
        let scenario = drawn.scenario()?;
        let base = as_run(&scenario).0;
        let throughput = asked(&scenario, Goal::Throughput)?;
        let latency = asked(&scenario, Goal::Latency)?;
        let (mut swept, mut winners) = sweep(&scenario)?;
        let [mut fast, mut short] =
            [&throughput, &latency].map(|asked| Fresh::of(changed(&base, &asked.changes)));
        let scored = Self {
            rate: fast.over(&mut winners.most, rate)?,
            ping: short.over(&mut winners.least, ping_s)?,
            kept: short.over(&mut winners.most, rate)?,
            winner: text_with(&drawn.text, &winners.most_changes)?,
            as_it_is: Fresh::of(base).mean()?,
            throughput: throughput.answer(&mut fast)?,
            latency: latency.answer(&mut short)?,
            swept: {
                swept.most = winners.most.mean()?;
                swept.least = winners.least.mean()?;
                swept
            },
            drawn,
        };
        Ok(scored)
    }

    /// Which bars it misses.
    pub(super) fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let in_words =
            |ratio: Ratio| format!("{:.1}% (±{:.1}%)", 100.0 * ratio.value, 196.0 * ratio.error);
        if self.rate.value < LEAST_RATE {
            misses.push(format!("goodput {} of the sweep's best", in_words(self.rate)));
        }
        if self.ping.value > MOST_PING {
            misses.push(format!("round trip {} of the sweep's least", in_words(self.ping)));
        }
        if self.kept.value < KEPT * LEAST_RATE {
            misses.push(format!("short round trips keep {} of the goodput", in_words(self.kept)));
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

/// What is advised, and what that took.
struct Asked {
    advised: Advised,
    changes: Vec<Change>,
    seconds: f64,
}

fn asked(scenario: &Scenario, goal: Goal) -> Result<Asked> {
    let begun = cpu_seconds()?;
    let ends = Ends::default();
    let advised = advise(&Request::new(scenario, goal, &ends))?;
    let seconds = cpu_seconds()? - begun;
    let changes = advised.best().map_or_else(Vec::new, |trial| trial.changes.clone());
    Ok(Asked { advised, changes, seconds })
}

impl Asked {
    fn answer(&self, fresh: &mut Fresh) -> Result<Answer> {
        Ok(Answer {
            words: Change::describe_all(&self.changes, AS_IT_IS),
            runs: self.advised.runs,
            seconds: self.seconds,
            standing: fresh.mean()?,
        })
    }

    /// The point that the search found to have the most goodput.
    fn fastest(&self) -> &[Change] {
        let fastest = self.advised.points.iter().max_by(|a, b| a.rate.total_cmp(&b.rate));
        fastest.map_or(&[], |point| &point.changes)
    }
}

impl Beside {
    /// Advice for a goal, and leaving it alone, with fresh draws.
    pub(super) fn of(drawn: Drawn, goal: Goal) -> Result<Self> {
        let scenario = drawn.scenario()?;
        let base = as_run(&scenario).0;
        let asked = asked(&scenario, goal)?;
        let mut before = Fresh::of(base.clone());
        let mut after = Fresh::of(changed(&base, &asked.changes));
        // Short round trips are to keep most of the most goodput: where one of the two surely does not, goodput decides.
        let judged_by = if goal == Goal::Latency {
            let mut most = Fresh::of(changed(&base, asked.fastest()));
            let mut lacks = |side: &mut Fresh| -> Result<bool> {
                Ok(side.over(&mut most, rate)?.is_surely_below(KEPT))
            };
            let is_lacking = lacks(&mut before)? || lacks(&mut after)?;
            if is_lacking { Goal::Throughput } else { goal }
        } else {
            goal
        };
        // The logarithm of next to nothing would make any mean uncertain.
        let least = 1e-3 * before.mean()?.rate.max(after.mean()?.rate).max(1.0);
        let better = |standing: &Standing| match judged_by {
            Goal::Throughput => standing.rate.max(least).ln(),
            Goal::Latency => -standing.ping_s.ln(),
            Goal::Balanced => (standing.rate.max(least) / standing.ping_s).ln(),
        };
        let gain =
            differences(&mut before, &mut after, |before, after| better(after) - better(before))?;
        let freedom = gain.n.saturating_sub(1).max(1) as f64;
        let half = student_t(0.95, freedom) * gain.standard_error().unwrap_or(0.0);
        Ok(Self {
            drawn,
            goal,
            judged_by,
            words: Change::describe_all(&asked.changes, AS_IT_IS),
            ratio: gain.mean.exp(),
            at_most: (gain.mean + half).exp(),
        })
    }

    /// Whether it is worse than leaving it alone, beyond the bar and beyond chance.
    pub(super) fn is_worse(&self) -> bool {
        self.at_most < 1.0 - MOST_WORSE
    }
}
