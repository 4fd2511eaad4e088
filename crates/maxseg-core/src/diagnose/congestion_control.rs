//! The sender's congestion control, as its flights show it.
//!
//! Reno halves its window at a loss and adds a segment a round trip (RFC 5681); CUBIC keeps 0.7 of it, and grows along a cubic
//! of the time since (RFC 9438); BBR reduces it for no single loss, paces what it sends, and drains what its start-up queued.
//! Each clue weighs by how likely it is under each of the three; what none of them explains weighs little.
//!
//! Flights of whole round trips are seen at the sender, and elsewhere where timestamps tell what the sender knew. Flights at losses, and
//! how the first flights spread over their round trips, are seen anywhere.

mod clues;
mod epoch_clues;
mod first_loss;
mod loss_flights;
mod opening_pace;
mod weights;

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;
use clues::Clues;
use epoch_clues::EpochClues;
use first_loss::FirstLoss;
use loss_flights::LossFlights;
use opening_pace::OpeningPace;

/// A congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionAlgorithm {
    /// Reno or `NewReno` (RFC 5681, RFC 6582).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR.
    Bbr,
    /// The evidence does not show it.
    Unknown,
}

impl CongestionAlgorithm {
    /// As reports and JSON write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Unknown => "unknown",
        }
    }
}

/// The congestion control of a direction's sender.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CongestionControl {
    /// The most likely one of those that are told apart.
    pub name: CongestionAlgorithm,
    /// An estimate from 0 to 1 of how sure it is; 0 where it is unknown.
    pub confidence: f64,
    /// What shows it, or why it is unknown; clauses without a full stop.
    pub evidence: String,
}

/// What a loss leaves of the window: RFC 5681 §3.1, RFC 9438 §4.6.
const RENO_LEAVES: f64 = 0.5;
const CUBIC_LEAVES: f64 = 0.7;
/// CUBIC's factor of the cube, in segments per second cubed (RFC 9438 §5), and its growth per round trip where Reno would be
/// faster, in segments: 3 · (1 − 0.7) ÷ (1 + 0.7).
const CUBIC_FACTOR: f64 = 0.4;
const CUBIC_AS_RENO: f64 = 0.53;

/// Named from this probability on.
const NAMED: f64 = 0.75;
/// The most that is claimed: other algorithms exist.
const MOST: f64 = 0.97;

/// Where packets of a direction were seen, as far as its flights depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// At the sender: flights and their clock are its own.
    Sender,
    /// Elsewhere, with timestamps that tell what the sender knew: flights are its own, as precisely as the timestamps.
    Elsewhere,
}

impl CongestionControl {
    /// Of the sender of `data`, whose limit is known.
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Self {
        let view = View::of(data);
        let epochs = view.map(|view| EpochClues::of(data, limit, view)).unwrap_or_default();
        let clues = view.map(|view| Clues::of(data, limit, view)).unwrap_or_default();
        let losses = LossFlights::of(data, limit);
        // Flights of whole round trips show more of slow start.
        let first =
            if clues.has_slow_start() { FirstLoss::default() } else { FirstLoss::of(data, limit) };
        let opening = OpeningPace::of(data, limit, view == Some(View::Sender));
        let mut weights = clues.weights;
        weights.join(&epochs.weights, epochs.share());
        weights.join(&losses.weights, losses.share());
        weights.join(&opening.weights, 1.0);
        weights.join(&first.weights, 1.0);
        let (name, probability) = weights.best();
        let others = clues.count() + opening.count() + first.count() + losses.count();
        if epochs.count() + others == 0 {
            return Self::unknown(no_clue(data, view).to_owned());
        }
        // After a single loss an old window and a new one are all there is: noise explains either.
        if epochs.count() == 1 && others == 0 {
            return Self::unknown("one loss alone tells no algorithm from another".to_owned());
        }
        if probability < NAMED {
            let list = weights.words();
            return Self::unknown(format!("what was seen fits more than one algorithm: {list}"));
        }
        let mut sentences = clues.sentences(name);
        sentences.extend(opening.sentence(name));
        sentences.extend(first.sentence(name));
        sentences.extend(losses.sentence(name));
        sentences.extend(epochs.sentence());
        Self { name, confidence: probability.min(MOST), evidence: sentences.join("; ") }
    }

    /// Where nothing can be said, and why.
    pub(super) const fn unknown(evidence: String) -> Self {
        Self { name: CongestionAlgorithm::Unknown, confidence: 0.0, evidence }
    }
}

/// Why there is no clue.
fn no_clue(data: &DirectionStats, view: Option<View>) -> &'static str {
    match data.epochs.as_slice() {
        _ if view.is_none() => {
            "without timestamps only a capture at the sender shows its flights between losses"
        }
        [] => "no whole round trip with data was seen",
        [_] => "no loss was followed by a whole round trip, and slow start told nothing",
        _ => "the window or the application limited the flights between losses",
    }
}

impl View {
    /// The capture is at the sender from this share of the path behind it on.
    const AT_SENDER: f64 = 0.9;

    fn of(data: &DirectionStats) -> Option<Self> {
        let near = data.path_rtt_min_s.zip(data.rtt_min_s);
        let is_near = near.is_some_and(|(least, behind)| behind >= Self::AT_SENDER * least);
        match (data.epochs.is_by_echo, is_near) {
            (true, _) => Some(Self::Elsewhere),
            (false, true) => Some(Self::Sender),
            (false, false) => None,
        }
    }

    /// How far a flight may be wrong for its timestamps' sake, as a share of itself: they count milliseconds.
    fn grain(self, data: &DirectionStats) -> f64 {
        const TICK_S: f64 = 0.001;
        match (self, data.path_rtt_loaded_s) {
            (Self::Elsewhere, Some(loaded)) => TICK_S / loaded.max(TICK_S),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
