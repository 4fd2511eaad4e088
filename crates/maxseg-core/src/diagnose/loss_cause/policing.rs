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
/// What an empty bucket passed lies within a segment of its line: the standard deviation of what is evenly spread over one is 0.29 of it. Drops of
/// one flight show it where there are so many, and as many segments passed between them: at the sender 109 of 200 drawn policers do, and 24 of 1000
/// other paths, none of which passes so much less than the path carries without delay.
const OFF_FLIGHT_LINE: f64 = 0.6;
const DROPS_OF_FLIGHT: u32 = 8;
/// Losses at one rate, and at about one flight, may be of a policer whose bucket is smaller than a burst, or of a short queue, however irregular
/// they are: of 173 transfers with errors three are so.
const ABOUT_ONE_RATE: f64 = 0.15;
/// A policer drops what comes faster than it passes. It is none where single segments, as this share of the losses are, were lost at one flight in
/// ten or more that carried less than this share of what passed another time.
const SINGLE: f64 = 0.6;
const FAR_BELOW: f64 = 0.6;
const ONE_IN: usize = 10;

/// Payload that was sent for the first time between recoveries, over the time between them, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RatesBetweenLosses {
    /// How many.
    count: usize,
    /// The median.
    pub(super) usual_bps: f64,
    /// Their standard deviation as a share of the mean; of rates over several intervals, where not all losses are kept, what that of each is.
    variation: f64,
    /// Whether what had passed at each loss is what one rate lets pass until then, within what a bucket holds.
    is_line: bool,
}

impl RatesBetweenLosses {
    /// `None` below three.
    pub(crate) fn of(data: &DirectionStats) -> Option<Self> {
        let begin = recoveries(data);
        let is_line = is_line(data, begin.get(1..).unwrap_or_default());
        let rates = rates_between(&begin);
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

/// What passed between each two recoveries, in bits per second. The first of more than a few begins while what a token bucket holds at first is
/// still used up.
fn rates_between(begin: &[&LossEpisode]) -> Vec<f64> {
    let rates = begin.windows(2).filter_map(|pair| {
        let seconds = pair[1].at.since(pair[0].at).as_secs_f64();
        let bytes = pair[1].sent_bytes.saturating_sub(pair[0].sent_bytes);
        (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds)
    });
    let mut rates: Vec<f64> = rates.collect();
    if rates.len() > LEAST_RATES {
        rates.remove(0);
    }
    rates
}

/// Whether single segments were lost while far less was sent than passed another time, as errors strike them: no policer, and no full queue, drops
/// those.
fn strikes_below_its_rate(data: &DirectionStats) -> bool {
    let begin = recoveries(data);
    let Some(most) = rates_between(&begin).into_iter().reduce(f64::max) else { return false };
    let later = begin.get(1..).unwrap_or_default();
    let without_queue_s = data.path_rtt_min_s.unwrap_or(0.0);
    let tried = |episode: &LossEpisode| {
        let round_trip = episode.rtt.map_or(without_queue_s, Time::as_secs_f64);
        8.0 * episode.in_flight as f64 / round_trip.max(1e-9)
    };
    let below = later.iter().filter(|episode| tried(episode) < FAR_BELOW * most).count();
    let single = begin.iter().filter(|episode| episode.lost == 1).count();
    begin.len() > LEAST_RATES
        && single as f64 >= SINGLE * begin.len() as f64
        && below > 0
        && below * ONE_IN >= later.len()
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

/// The rate at which segments passed while others of their flight were dropped, in bits per second of payload, where one rate that is less than the
/// link's explains every drop: that of an empty token bucket, or of a queue that others fill as well.
pub(super) fn rate_of_flight(data: &DirectionStats) -> Option<f64> {
    let segment = segment_bytes(data) as f64;
    let line = data.drop_line.filter(|line| {
        line.drops >= DROPS_OF_FLIGHT
            && line.passed_bytes >= f64::from(DROPS_OF_FLIGHT) * segment
            && line.off_bytes <= OFF_FLIGHT_LINE * segment
            && line.rate_bps < BELOW_LINK * fastest_bps(data)
    })?;
    Some(line.rate_bps)
}

/// The rate of a policer that drops, in bits per second of payload: what passed between losses, or within the flight that lost most.
pub(crate) fn policed_rate(data: &DirectionStats) -> Option<f64> {
    RatesBetweenLosses::of(data).map(|rates| rates.usual_bps).or_else(|| rate_of_flight(data))
}

/// The rate that may be a policer's, for all that the losses show, in bits per second of payload: less than the link carries, and about one
/// each time, or within one flight.
pub(crate) fn rate_of_possible_policer(data: &DirectionStats) -> Option<f64> {
    let link_bps = fastest_bps(data);
    let between = RatesBetweenLosses::of(data)
        .filter(|rates| rates.are_below(link_bps) && rates.variation < SAME_RATE)
        .filter(|_| !strikes_below_its_rate(data));
    between.map(|rates| rates.usual_bps).or_else(|| rate_of_flight(data))
}

/// Whether a sender with this limit tries more than a policer passes: its congestion window grows until segments are lost.
/// Under the other limits windows, buffers or programs hold it to a rate.
pub(super) const fn may_exceed_a_policer(limit: LimitedBy) -> bool {
    matches!(limit, LimitedBy::Congestion | LimitedBy::Bandwidth | LimitedBy::Rto)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::loss_cause::{Loss, LossCause};
    use crate::evidence::{DropLine, LoadedRoundTrips, LossEpisodes};

    /// One flight in slow start loses 40 segments on a path of 20 Mbit/s and 40 ms, and nothing is lost later. `rtt` is the round trip before that.
    fn first_flight(line: DropLine, rtt: Time, loaded: Time) -> DirectionStats {
        let mut loss_episodes = LossEpisodes::default();
        let (in_flight, sent_bytes) = (90_000, 150_000);
        let lost = LossEpisode {
            rtt: Some(rtt),
            in_flight,
            lost: 40,
            sent_bytes,
            sent_since: 150,
            at: line.at,
        };
        loss_episodes.begin(lost);
        let mut loaded_round_trips = LoadedRoundTrips::default();
        for _ in 0..100 {
            loaded_round_trips.add(loaded);
        }
        DirectionStats {
            retransmitted_packets: 40,
            data_packets: 2_000,
            sack_permitted: true,
            mss_used_bytes: Some(1000),
            path_rtt_min_s: Some(0.04),
            capacity_bps: Some(20e6),
            goodput_bps: Some(6e6),
            in_flight_max_bytes: in_flight,
            drop_line: Some(line),
            loaded_round_trips,
            loss_episodes,
            ..DirectionStats::default()
        }
    }

    #[test]
    fn one_flight_shows_what_its_policer_passes() {
        let at = Time::from_millis(300);
        let line =
            DropLine { at, drops: 20, passed_bytes: 20_000.0, rate_bps: 8e6, off_bytes: 300.0 };
        let (least, delayed, queued) =
            (Time::from_millis(40), Time::from_millis(50), Time::from_millis(70));
        let cause = |line, rtt, loaded| {
            let data = first_flight(line, rtt, loaded);
            Loss::of(&data, LimitedBy::Congestion, true, None).cause
        };
        assert_eq!(cause(line, least, least), LossCause::Policer);
        // The acknowledgement of the last that passed was delayed.
        assert_eq!(cause(line, delayed, least), LossCause::Policer);
        assert_ne!(cause(line, queued, queued), LossCause::Policer, "a queue delays");
        let whole = DropLine { rate_bps: 19e6, ..line };
        assert_ne!(
            cause(whole, least, least),
            LossCause::Policer,
            "it is all that the path carries"
        );
        let chance = DropLine { off_bytes: 1_500.0, ..line };
        assert_ne!(cause(chance, least, least), LossCause::Policer, "no one rate explains it");
        let few = DropLine { drops: 5, ..line };
        assert_ne!(cause(few, least, least), LossCause::Policer);
        assert_eq!(policed_rate(&first_flight(line, least, least)), Some(8e6));
    }

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

    #[test]
    fn what_is_lost_far_below_what_passes_is_no_policers() {
        let strikes = |flights: [u64; 5], lost| {
            let mut loss_episodes = LossEpisodes::default();
            for (n, in_flight) in (1..).zip(flights) {
                loss_episodes.begin(LossEpisode {
                    rtt: Some(Time::from_millis(40)),
                    in_flight,
                    lost,
                    sent_bytes: 420_000 * n,
                    sent_since: 420,
                    at: Time::from_secs(n),
                });
            }
            let mss_used_bytes = Some(1000);
            strikes_below_its_rate(&DirectionStats {
                mss_used_bytes,
                loss_episodes,
                ..DirectionStats::default()
            })
        };
        // 3.4 Mbit/s pass, and 1.6 Mbit/s were sent.
        assert!(strikes([50_000, 50_000, 8_000, 50_000, 50_000], 1));
        assert!(!strikes([50_000; 5], 1), "more was tried each time");
        assert!(!strikes([50_000, 50_000, 8_000, 50_000, 50_000], 4), "a bucket drops several");
    }
}
