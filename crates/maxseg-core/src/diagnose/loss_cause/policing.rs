//! What a policer does to a transfer: a token bucket passes one rate, and drops what exceeds it without delay (RFC 2475
//! §2.3.3.4). The sender tries more until segments are lost, so that its rates vary, and those between losses do not
//! (Flach et al.: An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016, §3).

use super::super::full_link::fastest_bps;
use super::recoveries::{recoveries, segment_bytes, variation};
use crate::evidence::{DirectionStats, LossEpisode};
use crate::outcome::LimitedBy;
use crate::stats::{Summary, median};
use crate::units::Time;

/// Fewer rates are equal by chance.
const LEAST_RATES: usize = 3;
/// A policer's rates vary by less, where there are many; few that vary as little are errors' by chance too.
const MANY_RATES: usize = 6;
const SAME_RATE: f64 = 0.2;
const SAME_FEW: f64 = 0.1;
/// It passes less than this share of what the path carries: near that, it is the link whose rate is constant.
const BELOW_LINK: f64 = 0.7;
/// A sender that keeps to one rate by itself loses at that rate; one that is policed loses where it tries so many times more. Errors
/// strike at more than the goodput, too: by less than so many times, only rates that are the same beyond chance are a policer's, and a few that
/// are the same are chance: a program that writes now and then loses about as much each time.
const TRIED: f64 = 1.1;
const TRIED_MUCH: f64 = 1.5;
const BEYOND_CHANCE: f64 = 0.05;
/// A bucket is empty when it drops, so that what passed until then lies on a line, but for the segment or two that it holds: of 102 such
/// transfers of drawn captures it was off by less than three segments, of 440 with errors by 7.7 at least, but for one that its window held to a
/// rate. So much is no more than this share of what passes between two losses, and less than so many losses show no line.
const OFF_LINE_SEGMENTS: f64 = 3.0;
const OFF_LINE: f64 = 0.15;
const LEAST_ON_LINE: usize = 5;
/// Losses at one rate, and at about one flight, may be of a policer whose bucket is smaller than a burst, or of a short queue, however irregular
/// they are: of 173 transfers with errors three are so.
const ABOUT_ONE_RATE: f64 = 0.15;

/// Payload that was sent for the first time between recoveries, over the time between them, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RatesBetweenLosses {
    /// How many.
    count: usize,
    /// The median.
    pub(crate) usual_bps: f64,
    /// Their standard deviation as a share of the mean; of rates over several intervals, where not all losses are kept, what that of each is.
    variation: f64,
    /// Whether what had passed at each loss is what one rate lets pass until then, within what a bucket holds.
    is_line: bool,
}

impl RatesBetweenLosses {
    /// `None` below three. The first of more begins while what a token bucket holds at first is still used up.
    pub(crate) fn of(data: &DirectionStats) -> Option<Self> {
        let begin = recoveries(data);
        let is_line = is_line(data, begin.get(1..).unwrap_or_default());
        let rates = begin.windows(2).filter_map(|pair| {
            let seconds = pair[1].at.since(pair[0].at).as_secs_f64();
            let bytes = pair[1].sent_bytes.saturating_sub(pair[0].sent_bytes);
            (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds)
        });
        let mut rates: Vec<f64> = rates.collect();
        if rates.len() > LEAST_RATES {
            rates.remove(0);
        }
        let (count, variation) =
            (rates.len(), variation(&rates) * data.loss_episodes.thinned_by().sqrt());
        let usual_bps = median(rates).filter(|_| count >= LEAST_RATES)?;
        Some(Self { count, usual_bps, variation, is_line })
    }

    /// Whether they are below what the link carries.
    pub(super) fn are_below(&self, link_bps: f64) -> bool {
        self.usual_bps < BELOW_LINK * link_bps
    }

    /// Whether they are about one.
    pub(super) fn are_about_one(&self) -> bool {
        self.variation < ABOUT_ONE_RATE
    }

    /// Whether a policer drops what exceeds them. `is_burst` where several segments are lost at once, `is_regular` where
    /// single ones are, at the same flight after about as many segments, each time; `over_goodput` is the rate that was
    /// tried when segments were lost, over the goodput.
    pub(super) fn are_policed(&self, is_burst: bool, is_regular: bool, over_goodput: f64) -> bool {
        let are_many = self.count >= MANY_RATES;
        let same = if is_burst && are_many { SAME_RATE } else { SAME_FEW };
        let tried = if are_many && self.variation < BEYOND_CHANCE { TRIED } else { TRIED_MUCH };
        let is_of_bucket = self.is_line && over_goodput > TRIED;
        is_of_bucket || (is_burst || is_regular) && self.variation < same && over_goodput > tried
    }
}

/// Whether the payload that had passed when a policer would have dropped lies on a line, by time: the first of what a recovery sends again left
/// a round trip before, behind all but what is in flight.
fn is_line(data: &DirectionStats, episodes: &[&LossEpisode]) -> bool {
    let without_queue_s = data.path_rtt_min_s.unwrap_or(0.0);
    let passed: Vec<(f64, f64)> = episodes
        .iter()
        .map(|episode| {
            let round_trip = episode.rtt.map_or(without_queue_s, Time::as_secs_f64);
            let bytes = episode.sent_bytes.saturating_sub(episode.in_flight);
            (episode.at.as_secs_f64() - round_trip, bytes as f64)
        })
        .collect();
    let [(first_s, first), .., (last_s, last)] = passed[..] else { return false };
    let (seconds, bytes) = (last_s - first_s, last - first);
    if passed.len() < LEAST_ON_LINE || seconds <= 0.0 || bytes <= 0.0 {
        return false;
    }
    let rate = bytes / seconds;
    let off: Vec<f64> =
        passed.iter().map(|(at, sent)| rate * (at - first_s) - (sent - first)).collect();
    let off = Summary::of(&off).sd;
    let between = bytes / (passed.len() - 1) as f64;
    off <= OFF_LINE_SEGMENTS * segment_bytes(data) as f64 && off <= OFF_LINE * between
}

/// The rate that may be a policer's, for all that the losses show, in bits per second of payload: less than the link carries, and about one
/// each time.
pub(crate) fn rate_of_possible_policer(data: &DirectionStats) -> Option<f64> {
    let link_bps = fastest_bps(data);
    let rates = RatesBetweenLosses::of(data)?;
    (rates.are_below(link_bps) && rates.variation < SAME_RATE).then_some(rates.usual_bps)
}

/// Whether a sender with this limit tries more than a policer passes: its congestion window grows until segments are lost.
/// Under the other limits windows, buffers or programs hold it to a rate.
pub(super) const fn may_exceed_a_policer(limit: LimitedBy) -> bool {
    matches!(limit, LimitedBy::Congestion | LimitedBy::Bandwidth | LimitedBy::Rto)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_rates_that_are_the_same_are_chance_unless_much_more_was_tried() {
        let is_policed = |count, over_goodput| {
            let rates =
                RatesBetweenLosses { count, usual_bps: 1e7, variation: 0.03, is_line: false };
            rates.are_policed(true, false, over_goodput)
        };
        assert!(is_policed(6, 1.42) && is_policed(3, 1.6));
        assert!(!is_policed(3, 1.42) && !is_policed(6, 1.05));
    }
}
