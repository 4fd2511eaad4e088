//! How a link damages packets: one definition, two uses. [`ErrorModel::chance`] is the exact long-run
//! probability, for formulas; [`ErrorProcess::draw`] decides packet after packet, for the simulator
//! and the lab.
//!
//! A packet is damaged when any of its units (radio frames, bytes, or the packet as one) is. Units
//! err independently (`uniform`), or by a two-state chain whose errors come in bursts
//! (`gilbert-elliott`), clocked by units or by time.

mod arq;
mod process;
mod spec;

use std::sync::Arc;

use serde::Serialize;

pub use arq::Arq;
pub use process::ErrorProcess;
pub use spec::{ErrorSpec, ErrorSpecError, ErrorsSpec};

use crate::units::{Probability, Time};

/// What one packet exposes to errors on its way over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposure {
    /// Bytes on the wire.
    pub bytes: u32,
    /// Frames: ⌈bytes ÷ frame size⌉, or 1 on a link without frames (equation 1 of Choi, Choi and Yoo).
    pub frames: u32,
    /// How long the packet is on the wire.
    pub airtime: Time,
}

/// What one error hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// A radio frame of the link's `frame` bytes.
    Frame,
    /// A whole packet, whatever its size.
    Packet,
    /// A byte on the wire.
    Byte,
}

impl Per {
    /// How many such units a packet has.
    pub const fn units_of(self, exposure: &Exposure) -> u32 {
        match self {
            Self::Frame => exposure.frames,
            Self::Packet => 1,
            Self::Byte => exposure.bytes,
        }
    }
}

/// A way for a link to damage packets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum ErrorModel {
    /// Every packet arrives whole.
    None,
    /// Each unit errs with the same chance, independent of all others.
    Uniform {
        /// What one error hits.
        per: Per,
        /// The chance for each unit.
        rate: Probability,
    },
    /// A chain of good and bad states (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliott),
    /// These packets, counted from 0 in the order in which they go on the wire; rising.
    List {
        /// Their numbers.
        lost: Arc<[u64]>,
    },
}

/// The two-state chain: stationary at the start, and `rate` of all units (or of the time) are bad.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GilbertElliott {
    /// What moves the chain, and how long a bad run lasts on average.
    pub clock: Clock,
    /// Share of units, or of time, in the bad state.
    pub rate: Probability,
    /// Chance of an error in the good state: per unit, or per packet when clocked by time.
    pub good: Probability,
    /// Chance of an error in the bad state, likewise.
    pub bad: Probability,
}

/// What moves a [`GilbertElliott`] chain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// One step per unit sent; an idle link does not age it.
    Units {
        /// The unit.
        per: Per,
        /// Mean length of a bad run in units, at least 1.
        burst: f64,
    },
    /// Exponential periods in real time; a packet is in the bad state if a bad period meets its
    /// airtime.
    Time {
        /// Mean length of a bad period.
        burst: Time,
    },
}

impl ErrorModel {
    /// The long-run probability that a packet is damaged.
    ///
    /// Uniform: equation 2 of Choi, Choi and Yoo, 1 − (1 − e)ⁿ. Gilbert-Elliott by units: the state
    /// vector iterated over the n units; by time: 1 − P(no bad period meets the airtime).
    pub fn chance(&self, exposure: &Exposure) -> Probability {
        match self {
            // A finite list is nothing in the long run.
            Self::None | Self::List { .. } => Probability::NEVER,
            Self::Uniform { per, rate } => rate.at_least_once_in(u64::from(per.units_of(exposure))),
            Self::GilbertElliott(chain) => chain.chance(exposure),
        }
    }

    /// Whether any packet can ever be damaged.
    pub fn is_active(&self) -> bool {
        match self {
            Self::None => false,
            Self::Uniform { rate, .. } => rate.get() > 0.0,
            Self::GilbertElliott(chain) => {
                chain.good.get() > 0.0 || (chain.rate.get() > 0.0 && chain.bad.get() > 0.0)
            }
            Self::List { lost } => !lost.is_empty(),
        }
    }

    /// Whether chance decides: not in a list.
    pub fn is_random(&self) -> bool {
        self.is_active() && !matches!(self, Self::List { .. })
    }
}

impl GilbertElliott {
    /// The chance of an error of one unit, or of a packet at a moment: the mean over both states.
    pub fn mean(&self) -> Probability {
        let rate = self.rate.get();
        Probability::clamped((1.0 - rate) * self.good.get() + rate * self.bad.get())
    }

    /// Chances to leave the good and the bad state at each step of a chain with bad runs of `burst`.
    pub fn steps(&self, burst: f64) -> (f64, f64) {
        let rate = self.rate.get();
        if rate >= 1.0 {
            return (1.0, 0.0); // it is never good, however long a bad run is said to last
        }
        let leave_bad = 1.0 / burst;
        (rate * leave_bad / (1.0 - rate), leave_bad)
    }

    /// Mean length of a good period when bad ones last `burst`.
    fn good_period(&self, burst: Time) -> Time {
        let rate = self.rate.get();
        if rate <= 0.0 {
            return Time::NEVER;
        }
        Time::from_secs_f64(burst.as_secs_f64() * (1.0 - rate) / rate)
    }

    fn chance(&self, exposure: &Exposure) -> Probability {
        let (rate, good, bad) = (self.rate.get(), self.good.get(), self.bad.get());
        match self.clock {
            Clock::Units { per, burst } => {
                let (to_bad, to_good) = self.steps(burst);
                // Undamaged so far and in the good (bad) state; errors are drawn before the step.
                let mut in_good = (1.0 - rate) * (1.0 - good);
                let mut in_bad = rate * (1.0 - bad);
                for _ in 1..per.units_of(exposure) {
                    (in_good, in_bad) = (
                        (in_good * (1.0 - to_bad) + in_bad * to_good) * (1.0 - good),
                        (in_good * to_bad + in_bad * (1.0 - to_good)) * (1.0 - bad),
                    );
                }
                Probability::clamped(1.0 - in_good - in_bad)
            }
            Clock::Time { burst } => {
                let all_good = if rate >= 1.0 {
                    0.0
                } else {
                    let good_period = self.good_period(burst).as_secs_f64();
                    (1.0 - rate) * libm::exp(-exposure.airtime.as_secs_f64() / good_period)
                };
                Probability::clamped(all_good * good + (1.0 - all_good) * bad)
            }
        }
    }
}

/// Error models in force one after the other, each from its point in time; the first from zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Schedule(Vec<(Time, ErrorModel)>);

impl Default for Schedule {
    fn default() -> Self {
        Self::constant(ErrorModel::None)
    }
}

impl Schedule {
    /// One model for ever.
    pub fn constant(model: ErrorModel) -> Self {
        Self(vec![(Time::ZERO, model)])
    }

    /// The models with the time from which each holds.
    pub fn entries(&self) -> &[(Time, ErrorModel)] {
        &self.0
    }

    /// Whether chance decides about any packet.
    pub fn is_random(&self) -> bool {
        self.0.iter().any(|(_, model)| model.is_random())
    }

    /// The chance of damage averaged over the time from zero to `until`.
    pub fn mean_chance(&self, exposure: &Exposure, until: Time) -> Probability {
        Probability::clamped(self.mean(until, |model| model.chance(exposure).get()))
    }

    /// What each model gives, averaged over the time from zero to `until`.
    pub fn mean(&self, until: Time, of: impl Fn(&ErrorModel) -> f64) -> f64 {
        let ends = self.0.iter().skip(1).map(|(at, _)| *at).chain([Time::NEVER]);
        let weighted: f64 = self
            .0
            .iter()
            .zip(ends)
            .map(|((at, model), end)| end.min(until).since(*at).as_secs_f64() * of(model))
            .sum();
        match until {
            Time::ZERO | Time::NEVER => of(&self.0[0].1),
            _ => weighted / until.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests;
