//! Why segments were lost, as far as the path at each loss shows it.
//!
//! A full queue delays what leaves just before the packet that it drops, and it takes more than a bandwidth-delay product
//! in flight to fill one. A policer drops without delay, at one rate: the sender loses at the same flight again and
//! again, after about as many segments. Errors strike at any flight, after any number.

use schemars::JsonSchema;
use serde::Serialize;

use super::finding::counted_times;
use crate::evidence::{DirectionStats, LossEpisode};
use crate::stats::{Summary, median};
use crate::units::approx;

/// Why segments were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossCause {
    /// A queue was full.
    Queue,
    /// Bit errors, or drops that do not depend on the load.
    Errors,
    /// A policer: drops above a rate, without a queue (RFC 2475 §2.3.3.3).
    Policer,
    /// Nothing was lost: packets that were overtaken looked like it.
    Reordering,
    /// Nothing was lost: everything that was sent again had arrived.
    Needless,
    /// Nothing was sent again.
    None,
    /// The evidence does not show it.
    Unknown,
}

/// The cause of the losses of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Loss {
    /// The most likely cause.
    pub cause: LossCause,
    /// An estimate from 0 to 1 of how sure it is.
    pub confidence: f64,
    /// What shows it, or what is missing; a clause without a full stop.
    pub evidence: String,
}

/// A queue delays by so much more than the least round trip at least, and by more than a coarse clock hides.
const DELAYED: f64 = 0.1;
const DELAY_S: f64 = 0.001;
/// Nor is it a queue that delays by less than so many segments take: a receiver that acknowledges every second segment
/// delays by one, and by two where it counts from the first (RFC 5681 §4.2).
const DELAYED_ACK_SEGMENTS: f64 = 2.5;
/// With less in flight than fills a queue, a round trip that is longer by less than this share may be a burst's own time.
const MUCH_DELAYED: f64 = 0.35;
/// The round trip at a loss is high in its range from this rank on.
const HIGH: f64 = 0.65;
/// Less in flight than this share of what the path holds fills no queue; from the second on it does.
const TOO_LITTLE: f64 = 0.6;
const ENOUGH: f64 = 0.7;
/// More than this in flight has to wait somewhere: without delay one of the two numbers is wrong.
const TOO_MUCH: f64 = 1.25;
/// What a path would hold of which so little was ever used is a guess.
const EVER_USED: f64 = 0.1;
/// Flights at losses are about constant, and losses about regular, where they vary by less than these shares.
const SAME_FLIGHT: f64 = 0.25;
const REGULAR: f64 = 0.4;
/// A policer's rate: the flight at a loss carries at most so many times the goodput.
const CEILING: f64 = 1.35;
/// The most that is claimed of errors where neither SACK nor timestamps tell what arrived.
const WITHOUT_OPTIONS: f64 = 0.5;
/// A larger share of lost packets, of at least so many, keeps any congestion window small.
const MUCH_LOSS: f64 = 0.04;
const LEAST_LOSSES: f64 = 10.0;
/// Fewer episodes show no regularity.
const LEAST_EPISODES: usize = 4;
/// Few single losses come as regularly as that by chance, too (exponential distances: 4 in one of 16 connections, 8 in one of 160);
/// fewer than so many are a policer's only where they vary by less than this (4 by chance in one of 110).
const MANY_SINGLE: usize = 8;
const VERY_REGULAR: f64 = 0.2;
/// Errors strike single segments; what drops by rate or room drops several at once, as often as not.
const BURST: f64 = 2.0;

impl Loss {
    fn new(cause: LossCause, confidence: f64, evidence: String) -> Self {
        Self { cause, confidence, evidence }
    }

    /// Looks at a direction; `sees_round_trips` where those of the whole path are measured.
    pub(super) fn of(data: &DirectionStats, sees_round_trips: bool) -> Self {
        let again = data.retransmitted_packets.saturating_sub(data.resent.control);
        let needed = data.needed_retransmissions();
        if again == 0 {
            return Self::new(LossCause::None, 0.95, "no segment was sent again".to_owned());
        }
        // Without SACK and timestamps not every spurious retransmission can be proved.
        let provable = if data.sack_permitted || data.timestamps { 20 } else { 10 };
        if needed * provable <= again {
            return Self::without_loss(data, again);
        }
        if let Some(hole) = data.black_hole {
            let why = if hole.is_by_size() {
                "what was lost was larger than the path MTU"
            } else {
                "nothing arrived any more, whatever its size"
            };
            return Self::new(LossCause::Unknown, 0.0, why.to_owned());
        }
        let view = View::of(data, sees_round_trips);
        let mut found = view.judge();
        // Without SACK and timestamps, what was overtaken or late looks lost.
        if let Some(found) = &mut found
            && found.cause == LossCause::Errors
            && !data.sack_permitted
            && !data.timestamps
        {
            found.confidence = found.confidence.min(WITHOUT_OPTIONS);
        }
        found.unwrap_or_else(|| {
            let wanted = if sees_round_trips {
                "the losses are too few, or fit several causes"
            } else {
                "round trips are not seen here; a capture at the sender shows them at each loss"
            };
            Self::new(LossCause::Unknown, 0.0, wanted.to_owned())
        })
    }

    fn without_loss(data: &DirectionStats, again: u64) -> Self {
        let text =
            format!("{} of {again} retransmissions were spurious", data.spurious_retransmissions);
        // Timers and probes send again what is late; what is overtaken looks like a gap.
        if data.out_of_order_packets > again || data.resent.fast + data.resent.sack > again / 2 {
            Self::new(LossCause::Reordering, 0.9, format!("{text}: packets were overtaken"))
        } else {
            Self::new(LossCause::Needless, 0.9, text)
        }
    }

    /// Whether the sender may have reduced its congestion window: not where all that it sent again had arrived, and a
    /// timer or probe sent it.
    pub(super) const fn reduces_window(data: &DirectionStats) -> bool {
        let is_needless =
            data.needed_retransmissions() == 0 && data.retransmitted_packets > data.resent.control;
        !is_needless || data.resent.fast + data.resent.sack > 0
    }
}

/// What the episodes have in common. Those that follow another within a flight belong to it, and do not count.
struct View {
    count: usize,
    /// By how much the round trip at a loss exceeds the least, as a share of it and in seconds, and its rank: medians.
    delay: Option<(f64, f64, f64)>,
    /// Seconds from one segment to the next, on the average.
    segment_s: f64,
    /// The flight at a loss over what the path holds without a queue: median.
    filled: Option<f64>,
    flight_varies: f64,
    spacing_varies: f64,
    /// Segments that are lost at once: median.
    lost: f64,
    /// The rate that the flight at a loss carries, over the goodput: median.
    over_goodput: f64,
    sees_round_trips: bool,
    is_near_sender: bool,
}

impl View {
    fn of(data: &DirectionStats, sees_round_trips: bool) -> Self {
        let segment = u64::from(data.mss_used_bytes.unwrap_or(1460)).max(1);
        let is_first = |episode: &&LossEpisode| {
            u64::from(episode.sent_since).saturating_mul(segment) > episode.in_flight
        };
        let episodes: Vec<&LossEpisode> =
            data.loss_episodes.as_slice().iter().filter(is_first).collect();
        // The first is the end of slow start where others follow.
        let later = if episodes.len() > 2 { &episodes[1..] } else { &episodes[..] };
        let flights: Vec<f64> = later.iter().map(|episode| episode.in_flight as f64).collect();
        let spacing: Vec<f64> = later.iter().map(|episode| f64::from(episode.sent_since)).collect();
        let least = data.path_rtt_min_s.unwrap_or(0.0);
        let of_rtt = |value: fn(f64, f64) -> f64| {
            let trips = later.iter().filter_map(|episode| episode.rtt);
            median(trips.map(|rtt| value(rtt.as_secs_f64(), least)).collect())
        };
        let ranks = later.iter().filter_map(|episode| episode.rtt);
        let rank = median(ranks.map(|rtt| data.loaded_round_trips.rank(rtt)).collect());
        let delay = of_rtt(|rtt, least| (rtt / least.max(1e-9)) - 1.0)
            .zip(of_rtt(|rtt, least| rtt - least))
            .zip(rank)
            .map(|((share, seconds), rank)| (share, seconds, rank));
        let segment_s = segment as f64 * 8.0 / busy_rate(data);
        let rate = data.capacity_bps.unwrap_or(0.0).max(data.first_flight_bps.unwrap_or(0.0));
        let holds = rate * least / 8.0;
        let flight = median(flights.clone()).unwrap_or(0.0);
        let carried = data.goodput_bps.unwrap_or(0.0) * least / 8.0;
        Self {
            count: later.len(),
            delay: delay.filter(|_| sees_round_trips && least > 0.0),
            segment_s,
            filled: (holds > 0.0 && data.in_flight_max_bytes as f64 >= EVER_USED * holds)
                .then(|| flight / holds),
            flight_varies: variation(&flights),
            spacing_varies: variation(&spacing),
            lost: median(later.iter().map(|episode| f64::from(episode.lost)).collect())
                .unwrap_or(0.0),
            over_goodput: flight / carried.max(1.0),
            sees_round_trips,
            is_near_sender: data.rtt_min_s.is_some_and(|behind| behind >= 0.5 * least),
        }
    }

    fn judge(&self) -> Option<Loss> {
        if self.count == 0 {
            return None;
        }
        if let Some((share, seconds, rank)) = self.delay
            && share >= DELAYED
            && seconds >= DELAY_S.max(DELAYED_ACK_SEGMENTS * self.segment_s)
            && rank >= HIGH
            && (share >= MUCH_DELAYED || self.filled.is_none_or(|filled| filled >= TOO_LITTLE))
        {
            let confidence = if self.count >= LEAST_EPISODES || share > 0.3 { 0.9 } else { 0.75 };
            return Some(Loss::new(
                LossCause::Queue,
                confidence,
                format!(
                    "round trips were {} longer than the least when segments were lost",
                    approx::time(seconds)
                ),
            ));
        }
        let is_constant = self.count >= 2 && self.flight_varies < SAME_FLIGHT;
        let is_regular = is_constant && self.spacing_varies < REGULAR;
        let is_burst = self.lost >= BURST;
        // A policer shows in the rate at each loss, whatever the path would hold.
        if is_regular
            && self.filled.is_none_or(|filled| filled < TOO_LITTLE)
            && self.count >= LEAST_EPISODES
        {
            let is_proof =
                is_burst || self.count >= MANY_SINGLE || self.spacing_varies < VERY_REGULAR;
            let times = counted_times(self.count as u64);
            return (self.over_goodput < CEILING && is_proof).then(|| {
                Loss::new(
                    LossCause::Policer,
                    0.75,
                    format!("segments were lost {times} at the same rate and without delay"),
                )
            });
        }
        let filled = self.filled?;
        let text = format!(
            "segments were lost with {} of what the path holds in flight",
            approx::whole_percent(filled)
        );
        // Near the sender a queue would have shown in the round trips; elsewhere a short one does not.
        if filled >= ENOUGH && !self.is_near_sender && (is_regular || !self.sees_round_trips) {
            return Some(Loss::new(LossCause::Queue, 0.65, text));
        }
        let is_below = filled < TOO_LITTLE || self.delay.is_some() && filled < TOO_MUCH;
        if !is_burst && self.count >= LEAST_EPISODES && is_below {
            let delay = if self.delay.is_some() { ", without delay" } else { "" };
            return Some(Loss::new(
                LossCause::Errors,
                if self.delay.is_some() { 0.85 } else { 0.7 },
                format!("{text}{delay} and at irregular intervals"),
            ));
        }
        None
    }
}

/// Whether so much is lost that it limits a sender whatever its windows are.
pub(super) fn loses_much(data: &DirectionStats) -> bool {
    let lost = data.needed_retransmissions() as f64;
    lost >= LEAST_LOSSES && lost > MUCH_LOSS * data.data_packets as f64
}

/// Acknowledged payload per second of the time in which something was in flight, in bits per second.
fn busy_rate(data: &DirectionStats) -> f64 {
    let goodput = data.goodput_bps.unwrap_or(0.0).max(1.0);
    let seconds = data.acked_bytes as f64 * 8.0 / goodput;
    let busy = (seconds - data.idle_s).max(0.01 * seconds);
    if busy > 0.0 { data.acked_bytes as f64 * 8.0 / busy } else { goodput }
}

fn variation(values: &[f64]) -> f64 {
    Summary::of(values).coefficient_of_variation().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
