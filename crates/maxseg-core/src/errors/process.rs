//! Error models that run: packet after packet, from a named random stream.

use std::sync::Arc;

use super::{Clock, ErrorModel, Exposure, GilbertElliott, Per, Schedule};
use crate::rng::{Rng, Stream, Threshold};
use crate::units::{Probability, Time};

/// Decides for one packet after the other whether it is damaged.
#[derive(Debug, Clone)]
pub struct ErrorProcess {
    now: Running,
    /// Nothing ever errs from here on.
    is_idle: bool,
    /// What is to follow, latest first.
    later: Vec<(Time, ErrorModel, Stream)>,
}

#[derive(Debug, Clone)]
enum Running {
    None,
    Uniform(Uniform),
    ByUnits(ChainByUnits),
    ByTime(ChainByTime),
    Listed { lost: Arc<[u64]>, next: usize, drawn: u64 },
}

impl ErrorProcess {
    /// A process for the link called `name` under `seed`.
    pub fn start(schedule: &Schedule, seed: u64, name: &str) -> Self {
        let mut later: Vec<_> = schedule
            .entries()
            .iter()
            .enumerate()
            .map(|(index, (at, model))| {
                (*at, model.clone(), Stream::named(seed, &format!("{name}.errors.{index}")))
            })
            .collect();
        later.reverse();
        let mut process = Self { now: Running::None, is_idle: false, later };
        process.advance(Time::ZERO);
        process
    }

    /// Whether the next packet, which goes on the wire at `starts`, is damaged. Packets must come in
    /// the order in which they go on the wire.
    #[inline(always)]
    pub fn draw(&mut self, exposure: &Exposure, starts: Time) -> bool {
        !self.is_idle && self.draw_any(exposure, starts)
    }

    /// Whether no packet is ever damaged from here on: then there is nothing to draw.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    fn draw_any(&mut self, exposure: &Exposure, starts: Time) -> bool {
        if !self.later.is_empty() {
            self.advance(starts);
        }
        match &mut self.now {
            Running::None => false,
            Running::Uniform(process) => process.draw(exposure),
            Running::ByUnits(process) => process.draw(exposure),
            Running::ByTime(process) => process.draw(starts, starts + exposure.airtime),
            Running::Listed { lost, next, drawn } => {
                let is_lost = lost.get(*next) == Some(drawn);
                *next += usize::from(is_lost);
                *drawn += 1;
                is_lost
            }
        }
    }

    /// Put the model in force that the schedule has for `now`.
    #[cold]
    fn advance(&mut self, now: Time) {
        while let Some((_, model, stream)) = self.later.pop_if(|(at, _, _)| *at <= now) {
            self.now = match model {
                // What never errs draws nothing.
                model if !model.is_active() => Running::None,
                ErrorModel::None => Running::None,
                ErrorModel::List { lost } => Running::Listed { lost, next: 0, drawn: 0 },
                ErrorModel::Uniform { per, rate } => {
                    Running::Uniform(Uniform { per, rate, stream, drawn: 0, known: [None; 4] })
                }
                ErrorModel::GilbertElliott(chain) => match chain.clock {
                    Clock::Units { per, burst } => {
                        Running::ByUnits(ChainByUnits::start(chain, per, burst, stream))
                    }
                    Clock::Time { burst } => {
                        Running::ByTime(ChainByTime::start(chain, burst, stream))
                    }
                },
            };
        }
        self.is_idle = matches!(self.now, Running::None) && self.later.is_empty();
    }
}

/// One number of the stream per packet, at the packet's own position.
#[derive(Debug, Clone)]
struct Uniform {
    per: Per,
    rate: Probability,
    stream: Stream,
    drawn: u64,
    /// Thresholds by number of units: packets come in few sizes.
    known: [Option<(u32, Threshold)>; 4],
}

impl Uniform {
    #[inline]
    fn draw(&mut self, exposure: &Exposure) -> bool {
        let units = self.per.units_of(exposure);
        let threshold = match self.known[units as usize % self.known.len()] {
            Some((known, threshold)) if known == units => threshold,
            Some(_) | None => self.learn(units),
        };
        let number = self.stream.at(self.drawn);
        self.drawn += 1;
        threshold.admits(number)
    }

    #[cold]
    fn learn(&mut self, units: u32) -> Threshold {
        let threshold = Threshold::of(self.rate.at_least_once_in(u64::from(units)));
        self.known[units as usize % self.known.len()] = Some((units, threshold));
        threshold
    }
}

/// Runs of good and bad units, their lengths geometric.
#[derive(Debug, Clone)]
struct ChainByUnits {
    chain: GilbertElliott,
    per: Per,
    leave_good: f64,
    leave_bad: f64,
    /// Lengths of runs and errors within them come from streams of their own, so that the states a
    /// packet meets do not depend on how often an error had to be drawn.
    runs: Rng,
    hits: Rng,
    bad: bool,
    left: u64,
}

impl ChainByUnits {
    fn start(chain: GilbertElliott, per: Per, burst: f64, stream: Stream) -> Self {
        let (leave_good, leave_bad) = chain.steps(burst);
        let mut runs = stream.reader();
        let hits = Stream::named(stream.at(u64::MAX), "hits").reader();
        let bad = runs.happens(Threshold::of(chain.rate));
        let mut start = Self { chain, per, leave_good, leave_bad, runs, hits, bad, left: 0 };
        start.left = start.run_length();
        start
    }

    fn run_length(&mut self) -> u64 {
        self.runs.tries_until(if self.bad { self.leave_bad } else { self.leave_good })
    }

    fn draw(&mut self, exposure: &Exposure) -> bool {
        let mut units = u64::from(self.per.units_of(exposure));
        let mut damaged = false;
        loop {
            let in_this_run = units.min(self.left);
            let chance = if self.bad { self.chain.bad } else { self.chain.good };
            damaged |= self.any_of(chance, in_this_run);
            self.left -= in_this_run;
            units -= in_this_run;
            if self.left == 0 {
                self.bad = !self.bad;
                self.left = self.run_length();
            }
            if units == 0 {
                return damaged;
            }
        }
    }

    fn any_of(&mut self, chance: Probability, units: u64) -> bool {
        match chance {
            Probability::NEVER => false,
            Probability::ALWAYS => true,
            _ => self.hits.happens(Threshold::of(chance.at_least_once_in(units))),
        }
    }
}

/// Good and bad periods, their lengths exponential.
#[derive(Debug, Clone)]
struct ChainByTime {
    chain: GilbertElliott,
    good_period: Time,
    bad_period: Time,
    periods: Rng,
    hits: Rng,
    bad: bool,
    /// When the present period ends.
    until: Time,
    /// After so long without a packet the chain has forgotten its state (to e⁻⁴⁰): it is drawn anew
    /// instead of followed through all its periods.
    memory: Time,
}

impl ChainByTime {
    fn start(chain: GilbertElliott, burst: Time, stream: Stream) -> Self {
        let mut periods = stream.reader();
        let bad = periods.happens(Threshold::of(chain.rate));
        let mut start = Self {
            chain,
            good_period: chain.good_period(burst),
            bad_period: burst,
            periods,
            hits: Stream::named(stream.at(u64::MAX), "hits").reader(),
            bad,
            until: Time::ZERO,
            memory: Time::from_secs_f64(40.0 * burst.as_secs_f64() * (1.0 - chain.rate.get())),
        };
        start.until = start.period();
        start
    }

    fn period(&mut self) -> Time {
        let mean = if self.bad { self.bad_period } else { self.good_period };
        if mean == Time::NEVER { Time::NEVER } else { self.periods.exponential(mean) }
    }

    fn flip(&mut self) {
        self.bad = !self.bad;
        self.until = self.until.saturating_add(self.period());
    }

    fn draw(&mut self, from: Time, to: Time) -> bool {
        if from.since(self.until) > self.memory {
            self.bad = self.periods.happens(Threshold::of(self.chain.rate));
            self.until = from.saturating_add(self.period());
        }
        while self.until <= from {
            self.flip();
        }
        let mut met_bad = self.bad;
        while self.until <= to {
            self.flip();
            met_bad |= self.bad;
        }
        let chance = if met_bad { self.chain.bad } else { self.chain.good };
        self.hits.happens(Threshold::of(chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of two states forgets at the sum of the rates at which it leaves them: the correlation of its
    /// states over a time t is e^(−t·(1/good + 1/bad)).
    #[test]
    fn a_chain_by_time_remembers_until_its_states_are_independent() {
        for (rate, burst_ms) in [(0.05, 10), (0.5, 10), (0.9, 400)] {
            let burst = Time::from_millis(burst_ms);
            let chain = GilbertElliott {
                clock: Clock::Time { burst },
                rate: Probability::new(rate).expect("a share"),
                good: Probability::NEVER,
                bad: Probability::ALWAYS,
            };
            let by_time = ChainByTime::start(chain, burst, Stream::named(1, "x"));
            let forgets =
                1.0 / by_time.good_period.as_secs_f64() + 1.0 / by_time.bad_period.as_secs_f64();
            let correlation = libm::exp(-by_time.memory.as_secs_f64() * forgets);
            // To the nanosecond to which periods are rounded.
            assert!((correlation / libm::exp(-40.0) - 1.0).abs() < 1e-4, "{rate}: {correlation}");
        }
    }
}
