//! The sender's congestion control, as its flights show it.
//!
//! Reno halves its window at a loss and adds a segment a round trip (RFC 5681); CUBIC keeps 0.7 of it, and grows along a cubic
//! of the time since (RFC 9438); BBR reduces it for no single loss, paces what it sends, and drains what its start-up queued.
//! Each clue weighs by how likely it is under each of the three; what none of them explains weighs little.
//!
//! Flights of whole round trips are seen at the sender, elsewhere where timestamps tell what the sender knew, or where nothing waits and
//! all round trips are that of the handshake: behind a loss they are compared with the windows that the rules of Reno and CUBIC make
//! of it. What a recovery without SACK sends for each duplicate ACK, flights at losses, and how the first flights spread over their round trips, are seen
//! anywhere, and how many segments come at a time behind a link that is not full. What was lost at the end of a flight is seen behind the sender where that
//! counts its packets in the IP header.

mod burst_sizes;
mod clue;
mod clues;
mod departures;
mod epoch_clues;
mod first_loss;
mod loss_flights;
mod opening_pace;
mod recovery_rounds;
mod replayed_window;
mod steady_growth;
mod steady_rate;
mod timer_growth;
mod view;
mod weights;
mod window_replay;

use schemars::JsonSchema;
use serde::Serialize;

use super::intervals::{OFTEN_OUT_OF_DATA, share_out_of_data};
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;
use crate::stats::median;
use clue::Clue;
use clues::Clues;
use epoch_clues::EpochClues;
use loss_flights::LossFlights;
use opening_pace::OpeningPace;
use recovery_rounds::RecoveryClues;
use steady_growth::SteadyGrowth;
use timer_growth::TimerGrowth;
use view::View;
use window_replay::WindowReplay;

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
/// CUBIC's window grows by no more than a segment for so many that are acknowledged (RFC 9438 §4.4; `bictcp_update` in
/// `net/ipv4/tcp_cubic.c`).
const FASTEST: f64 = 2.0;

/// In smaller flights, in segments, steps of a whole one are as large as what algorithms differ by, and come again at each loss: what
/// such flights show counts by their share of this.
const SMALL_FLIGHT: f64 = 12.0;

/// Named from this probability on: of 35 captures of drawn runs, in the simulator and in the lab, whose best name had a probability between this
/// and 0.7, 28 had it right; between 0.5 and this it was 22 of 36.
const NAMED: f64 = 0.6;
/// The most that is claimed: other algorithms exist.
const MOST: f64 = 0.97;

/// Hosts, their timers and offloads take a good part of shorter round trips, in seconds, and a queue is many times as long: what a flight
/// does in one of them is not the algorithm's.
const SHORT_PATH_S: f64 = 0.001;

impl CongestionControl {
    /// Of the sender of `data`, whose limit is known, and whether that is a narrow link of the acknowledgements.
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy, has_ack_path: bool) -> Self {
        if data.path_rtt_min_s.is_some_and(|least| least < SHORT_PATH_S) {
            let why = "round trips are shorter than hosts take to answer, so flights do not follow from the rules of one algorithm";
            return Self::unknown(why.to_owned());
        }
        let view = View::of(data, limit);
        // A mark reduces a flight as a loss does, and leaves no retransmission to tell when.
        let grows = view.filter(|_| data.congestion_marks == 0);
        let epochs = grows.map(|view| EpochClues::of(data, limit, view)).unwrap_or_default();
        let steady = grows.map(|_| SteadyGrowth::of(data, limit)).unwrap_or_default();
        let behind_timer = grows.map(|view| TimerGrowth::of(data, limit, view)).unwrap_or_default();
        let exact = view.filter(|view| *view != View::ByHandshake);
        let clues = exact.map(|view| Clues::of(data, limit, view)).unwrap_or_default();
        let is_at_sender = view == Some(View::Sender);
        let losses = LossFlights::of(data, limit, is_at_sender);
        // Flights of whole round trips show more of slow start.
        let first =
            if clues.has_slow_start() { Clue::default() } else { first_loss::of(data, limit) };
        let opening = OpeningPace::of(data, limit, is_at_sender, has_ack_path);
        let bursts = burst_sizes::of(data, limit, has_ack_path);
        // Where flights are known, they show it.
        let is_by_trip = view.is_none_or(|view| view == View::ByHandshake);
        let rate = if is_by_trip { steady_rate::of(data, limit) } else { Clue::default() };
        let departures = departures::of(data, limit);
        let replay = WindowReplay::of(data, limit, view);
        let recoveries = RecoveryClues::of(data, limit, is_at_sender, has_ack_path);
        let mut weights = clues.weights;
        recoveries.join_to(&mut weights);
        replay.join_to(&mut weights);
        weights.join(&epochs.weights, epochs.share());
        weights.join(&steady.weights, 1.0);
        weights.join(&behind_timer.weights, behind_timer.share());
        weights.join(&losses.weights, losses.share());
        weights.join(&opening.weights, 1.0);
        weights.join(&first.weights, 1.0);
        weights.join(&bursts.weights, 1.0);
        weights.join(&rate.weights, 1.0);
        weights.join(&departures.weights, 1.0);
        let (name, probability) = weights.best();
        let of_losses = losses.count() + first.count();
        let others = clues.count()
            + steady.count()
            + behind_timer.count()
            + opening.count()
            + bursts.count()
            + rate.count()
            + departures.count()
            + recoveries.count()
            + replay.count()
            + of_losses;
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
        sentences.extend(departures.sentence(name));
        sentences.extend(bursts.sentence(name));
        sentences.extend(rate.sentence(name));
        sentences.extend(first.sentence(name));
        sentences.extend(recoveries.sentence(name));
        sentences.extend(replay.sentence(name));
        sentences.extend(losses.sentence(name));
        sentences.extend(steady.sentence(name));
        sentences.extend(behind_timer.sentence(name));
        sentences.extend(epochs.sentence());
        if sentences.is_empty() {
            sentences
                .push("nothing speaks for it alone: what was seen fits the others less".to_owned());
        }
        Self { name, confidence: probability.min(MOST), evidence: sentences.join("; ") }
    }

    /// Whether none is named.
    pub(super) fn is_unknown(&self) -> bool {
        self.name == CongestionAlgorithm::Unknown
    }

    /// Where nothing can be said, and why.
    pub(super) const fn unknown(evidence: String) -> Self {
        Self { name: CongestionAlgorithm::Unknown, confidence: 0.0, evidence }
    }
}

/// With which share so many observations count, of flights of these sizes in segments: together as if they were `most`, and less where flights
/// are smaller than `small`.
fn share_of(count: usize, most: f64, flights: &[f64], small: f64) -> f64 {
    let few = (most / (count as f64).max(1.0)).min(1.0);
    let of_size = median(flights.to_vec()).map_or(1.0, |usual| (usual / small).min(1.0));
    few * of_size
}

/// A sender undoes a reduction by what it hears of needless retransmissions: by D-SACKs (RFC 3708) and timestamps (RFC 3522). Where it
/// hears of many, flights at losses say little.
fn hears_of_needless(data: &DirectionStats) -> bool {
    let heard_of = data.spurious.dsack + data.spurious.timestamps;
    5 * heard_of > data.retransmitted_packets
}

/// From this share of packets on, overtaking stretches flights, and holds acknowledgements back.
const OVERTAKEN: f64 = 0.03;

/// Whether many packets overtook others.
pub(crate) fn is_overtaken(data: &DirectionStats) -> bool {
    data.out_of_order_share() > OVERTAKEN
}

/// Whether many packets overtook others, however many others: those that are overtaken by a few arrive as they left, and so do flights, but for
/// those few.
fn has_overtaking(data: &DirectionStats) -> bool {
    let overtaking = data.epochs.overtaking.map_or(data.out_of_order_packets, u64::from);
    overtaking as f64 > OVERTAKEN * (data.data_packets as f64).max(1.0)
}

/// Whether the first flights are not the congestion window's, or what the path holds is not known: a program or a pace sends less,
/// or packets overtake each other.
fn hides_opening(data: &DirectionStats, limit: LimitedBy) -> bool {
    is_held_by_program(data, limit) || has_overtaking(data)
}

/// Whether a program or a pace sends less than the windows allow.
fn is_held_by_program(data: &DirectionStats, limit: LimitedBy) -> bool {
    matches!(limit, LimitedBy::Paced | LimitedBy::Application)
        || limit == LimitedBy::Unknown && share_out_of_data(data) >= OFTEN_OUT_OF_DATA
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

#[cfg(test)]
mod tests;
