//! What losses leave of a sender's rate: its congestion control's response function (RFC 3649).

use super::super::cubic::Cubic;
use super::super::pftk::{self, Pftk};
use super::super::{Formula, bbr, cubic, mathis};
use crate::settings::{CongestionName, Settings};

/// The round trips at which laws were compared with the simulator, in seconds.
const LARGE_QUEUES_RTT: (f64, f64) = (0.02, 0.3);

/// The same for PFTK. At longer ones it is nearer to the simulator, at shorter ones farther from it: there the timer, which the
/// minimum holds up, rules all but rare losses, and 0.28 times as much was seen at 10 ms.
const PFTK_RTT: (f64, f64) = (0.095, 0.42);

/// The law that holds for a sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Response {
    /// Reno, timeouts and the largest window included.
    Pftk(Pftk),
    /// Reno that repairs losses by SACK, without its timer: the square-root law.
    SquareRoot,
    /// CUBIC.
    Cubic,
    /// BBR.
    Bbr,
}

/// What a response function says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Responded {
    /// Segments per second; infinite where losses alone do not limit.
    pub(super) rate: f64,
    pub(super) formula: Formula,
    /// Share of the time in timeouts.
    pub(super) in_timeouts: f64,
    /// Whether the largest window holds, not losses.
    pub(super) is_window_limited: bool,
}

impl Response {
    /// The law of this sender, where `pftk` has what is known of the path.
    pub(super) fn of(sender: &Settings, has_sack: bool, pftk: Pftk) -> Self {
        match sender.congestion {
            CongestionName::Bbr => Self::Bbr,
            CongestionName::Cubic => Self::Cubic,
            CongestionName::Reno if has_sack && sender.linux.is_some() => Self::SquareRoot,
            CongestionName::Reno | CongestionName::Ns2Reno => Self::Pftk(pftk),
        }
    }

    /// What it says at this loss, below 1, and round trip.
    pub(super) fn at(&self, loss: f64, rtt: f64, largest_window: f64) -> Responded {
        let by_window = |window: f64, formula| Responded {
            rate: window.min(largest_window) / rtt,
            formula,
            in_timeouts: 0.0,
            is_window_limited: window >= largest_window,
        };
        match self {
            Self::Pftk(pftk) => Responded {
                rate: pftk.goodput(),
                formula: Formula::PftkFull,
                in_timeouts: pftk.timeout_time_share(),
                is_window_limited: pftk.is_window_limited(),
            },
            Self::SquareRoot => by_window(rtt * mathis::rate(loss, rtt, 1.0), Formula::SquareRoot),
            Self::Cubic => by_window(Cubic::standard(loss, rtt).window(), Formula::Cubic),
            Self::Bbr => Responded {
                rate: f64::INFINITY,
                formula: Formula::Bbr,
                in_timeouts: 0.0,
                is_window_limited: false,
            },
        }
    }

    /// How far it can be trusted at this loss.
    pub(super) fn accuracy(&self, loss: f64) -> Accuracy {
        let large_queues = "an RTT of 0.02 to 0.3 s with large queues";
        match self {
            Self::Pftk(_) => Accuracy {
                name: "PFTK",
                valid_up_to: pftk::VALID_UP_TO,
                ratio: pftk::ratio_to_simulation(loss),
                conditions: "an RTT of 0.1 to 0.4 s with large queues and one ACK per segment",
                round_trips: PFTK_RTT,
                holds_from: PFTK_RTT.0,
            },
            Self::SquareRoot => Accuracy {
                name: "the square-root law",
                valid_up_to: mathis::VALID_WITH_SACK_UP_TO,
                ratio: mathis::ratio_to_simulation_with_sack(loss),
                conditions: large_queues,
                round_trips: LARGE_QUEUES_RTT,
                holds_from: 0.0,
            },
            Self::Cubic => Accuracy {
                name: "CUBIC's response function (RFC 9438 section 5)",
                valid_up_to: cubic::VALID_UP_TO,
                ratio: cubic::ratio_to_simulation(loss),
                conditions: large_queues,
                round_trips: LARGE_QUEUES_RTT,
                holds_from: 0.0,
            },
            Self::Bbr => Accuracy {
                name: "the link's rate less losses, for BBR,",
                valid_up_to: bbr::VALID_UP_TO,
                ratio: bbr::ratio_to_simulation(loss),
                conditions: large_queues,
                round_trips: LARGE_QUEUES_RTT,
                holds_from: 0.0,
            },
        }
    }
}

/// How far a law can be trusted.
pub(super) struct Accuracy {
    pub(super) name: &'static str,
    pub(super) valid_up_to: f64,
    /// The lowest and the highest ratio to the simulator's goodput, where that was measured.
    pub(super) ratio: Option<(f64, f64)>,
    /// Under which that was.
    pub(super) conditions: &'static str,
    /// The least and the largest round trip, in seconds, for which that stands.
    pub(super) round_trips: (f64, f64),
    /// Below this round trip, in seconds, it is known to be far off.
    pub(super) holds_from: f64,
}
