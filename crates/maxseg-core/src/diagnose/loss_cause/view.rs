//! What the losses of a direction have in common.

use super::super::full_link::fastest_bps;
use super::super::trip_view::is_flat;
use super::policing::{RatesBetweenLosses, may_exceed_a_policer, rate_of_flight};
use super::recoveries::{lost_before, recoveries, segment_bytes, variation};
use super::{Loss, LossCause};
use crate::evidence::{Beside, DirectionStats, LossEpisode, least};
use crate::outcome::LimitedBy;
use crate::stats::median;
use crate::units::approx;

/// A queue delays by so much more than the least round trip at least, and by more than a coarse clock hides.
const DELAYED: f64 = 0.1;
const DELAY_S: f64 = 0.001;
/// Nor is it a queue that delays by less than so many segments take: a receiver that acknowledges every second segment
/// delays by one, and by two where it counts from the first (RFC 5681 §4.2).
const DELAYED_ACK_SEGMENTS: f64 = 2.5;
/// With less in flight than fills a queue, a round trip that is longer by less than this share may be a burst's own time.
const MUCH_DELAYED: f64 = 0.35;
/// A queue stands where seven of ten round trips are longer than the least by more than this share of it.
const STANDING: f64 = 0.5;
/// The round trip at a loss is high in its range from this rank on: about one in three that strike at any time are.
const HIGH: f64 = 0.65;
/// A queue that overflows is full at every loss: of errors as well where fewer of them are at a high round trip.
const MOST: f64 = 2.0 / 3.0;
/// A queue that overflows again and again is seen before each loss as well: one round trip of ten is as long as this share of the delay at
/// losses. In front of a policer only the last segment that passed is late: its acknowledgement is delayed, as those behind it are dropped
/// (RFC 5681 §4.2).
const SEEN_BEFORE: f64 = 1.0 / 3.0;
/// A queue that overflows drops at its longest delay. Where two round trips of a hundred are delayed so many times as long as those at losses of
/// single segments, no queue was full then: one that drops early (`CoDel`, RFC 8289) or errors. BBR's losses by errors are at long round trips, too:
/// what is lost soon after another belongs to its recovery, and while nothing is lost the flight grows to twice what the path holds.
const EXCEEDED: f64 = 3.0;
/// Less in flight than this share of what the path holds fills no queue; from the second on it does.
const TOO_LITTLE: f64 = 0.6;
const ENOUGH: f64 = 0.7;
/// More than the path holds in flight waits in a queue: a policer has none.
const QUEUED: f64 = 1.0;
/// More than this in flight has to wait somewhere: without delay one of the two numbers is wrong.
const TOO_MUCH: f64 = 1.25;
/// A capture that begins late shows neither windows nor the first losses: that rates between fewer losses are one is chance.
const LEAST_LATE: usize = 10;
/// What a path would hold of which so little was ever used is a guess.
const EVER_USED: f64 = 0.1;
/// Flights at losses are about constant, and losses about regular, where they vary by less than these shares.
const SAME_FLIGHT: f64 = 0.25;
const REGULAR: f64 = 0.4;
/// A window that errors reduce at any time is met by them at flights that vary by more (by a third of the mean where each packet is lost by chance).
const ABOUT_ONE_FLIGHT: f64 = 0.2;
/// Fewer episodes show no regularity.
const LEAST_EPISODES: usize = 4;
/// Few single losses come as regularly as that by chance, too (exponential distances: 4 in one of 16 connections, 8 in one of 160).
const MANY_SINGLE: usize = 8;
/// Where more of the lost segments than this share were lost before, as at the end of slow start, the others do not speak for them.
const MOSTLY_BEFORE: f64 = 0.5;
/// Where about as much as the path holds is in flight, a queue that drops early (RED) or is short loses single segments, too: so few losses do not
/// tell it from errors. RED with 5 to 30 kB looked like errors after 9 of them.
const MANY_NEAR_FULL: usize = 16;
/// Errors strike single segments; what drops by rate or room drops several at once, as often as not.
const BURST: f64 = 2.0;

/// What the episodes have in common. Those that follow another within a flight belong to it, and do not count.
#[expect(clippy::struct_excessive_bools, reason = "what the episodes are or are not")]
pub(super) struct View {
    count: usize,
    delay: Option<Delay>,
    /// Whose least round trip that is measured from.
    least_of: &'static str,
    /// Seconds from one segment to the next, on the average.
    segment_s: f64,
    /// The flight at a loss over what the path holds without a queue: median.
    filled: Option<f64>,
    is_regular: bool,
    /// By how much flights at losses vary, as a share of their mean.
    flights_vary: f64,
    is_burst: bool,
    /// The share of all lost segments that were lost before those that count.
    lost_before: f64,
    /// The rate that the flight at a loss carries, over the goodput: median.
    over_goodput: f64,
    /// What passed between losses, where it is less than the path carries.
    below_link: Option<RatesBetweenLosses>,
    /// What passed while segments of one flight were dropped without delay, in bits per second, where that is less than the path carries.
    of_flight_bps: Option<f64>,
    /// What the path carries, in bits per second; 0 where it is unknown.
    link_bps: f64,
    limit: LimitedBy,
    /// Whether packets waited on the way, which round trips seen away from the sender need not show: a policer has no queue.
    waits_on_the_way: bool,
    /// Whether the connection is older than the capture.
    begins_late: bool,
    /// Whether a short queue need not show in round trips: near the sender it does.
    may_hide_queue: bool,
}

/// Round trips at losses, beside the others of a direction.
struct Delay {
    /// By how much they exceed the least, as a share of it: median.
    share: f64,
    /// The same in seconds.
    seconds: f64,
    /// Their ranks among all under load: median.
    rank: f64,
    /// The share of them that are high.
    high: f64,
    /// By how much one round trip in ten exceeds the least, in seconds.
    usual: f64,
    /// By how much two in a hundred do, in seconds.
    longest: f64,
    /// By how much most do, as a share of the least.
    standing: f64,
}

impl Delay {
    /// `least` is the least round trip of the path, in seconds. `None` where none was measured.
    fn of(data: &DirectionStats, episodes: &[&LossEpisode], least: f64) -> Option<Self> {
        data.path_rtt_min_s.filter(|_| least > 0.0)?;
        let trips = || episodes.iter().filter_map(|episode| episode.rtt);
        let seconds = median(trips().map(|rtt| rtt.as_secs_f64() - least).collect())?;
        let ranks: Vec<f64> = trips().map(|rtt| data.loaded_round_trips.rank(rtt)).collect();
        let (count, high) = (ranks.len(), ranks.iter().filter(|rank| **rank >= HIGH).count());
        let rank = median(ranks)?;
        let high = high as f64 / count as f64;
        let usual = data.loaded_round_trips.quantile(0.9)?.as_secs_f64() - least;
        let longest = data.loaded_round_trips.quantile(0.98)?.as_secs_f64() - least;
        let standing = data.loaded_round_trips.quantile(0.3)?.as_secs_f64() / least - 1.0;
        Some(Self { share: seconds / least, seconds, rank, high, usual, longest, standing })
    }
}

impl View {
    pub(super) fn of(
        data: &DirectionStats,
        limit: LimitedBy,
        sees_round_trips: bool,
        beside: Option<Beside>,
    ) -> Self {
        let episodes = recoveries(data);
        // The first is the end of slow start where others follow.
        let later = if episodes.len() > 2 { &episodes[1..] } else { &episodes[..] };
        let values = |value: fn(&LossEpisode) -> f64| -> Vec<f64> {
            later.iter().map(|episode| value(episode)).collect()
        };
        let flights = values(|episode| episode.in_flight as f64);
        // Recoveries are more than a flight apart, whatever drops segments: what is beyond that varies.
        let segment = segment_bytes(data).max(1) as f64;
        let beyond: Vec<f64> = later
            .iter()
            .map(|episode| f64::from(episode.sent_since) - episode.in_flight as f64 / segment)
            .collect();
        let lost = median(values(|episode| f64::from(episode.lost))).unwrap_or(0.0);
        let own = data.path_rtt_min_s.unwrap_or(0.0);
        // Where this point shows round trips of the whole path, it shows theirs.
        let beside = beside.filter(|_| sees_round_trips);
        let of_others = beside.and_then(|beside| beside.path_rtt_min_s);
        let least = least(data.path_rtt_min_s, of_others).unwrap_or(0.0);
        let link_bps = fastest_bps(data);
        let holds = link_bps * least / 8.0;
        let flight = median(flights.clone()).unwrap_or(0.0);
        let carried = data.goodput_bps.unwrap_or(0.0) * least / 8.0;
        let is_constant = later.len() >= 2 && variation(&flights) < SAME_FLIGHT;
        let is_regular = is_constant && variation(&beyond) < REGULAR;
        let by_chance = data.lost_share() * flight / segment;
        let is_near_sender = data.rtt_min_s.is_some_and(|behind| behind >= 0.5 * own);
        Self {
            count: later.len(),
            delay: Delay::of(data, later, least).filter(|_| sees_round_trips),
            least_of: if least < own {
                "the least of all connections of these hosts"
            } else {
                "the least"
            },
            segment_s: segment_bytes(data) as f64 * 8.0 / busy_rate(data),
            filled: (holds > 0.0 && data.in_flight_max_bytes as f64 >= EVER_USED * holds)
                .then(|| flight / holds),
            is_regular,
            flights_vary: variation(&flights),
            is_burst: lost >= BURST * by_chance.max(1.0),
            lost_before: lost_before(data, later.first()),
            over_goodput: flight / carried.max(1.0),
            below_link: RatesBetweenLosses::of(data).filter(|rates| rates.are_below(link_bps)),
            of_flight_bps: undelayed_rate_of_flight(data, least),
            link_bps,
            limit,
            waits_on_the_way: !is_near_sender
                && data.way_delay.is_some_and(|way| !is_flat(way, least)),
            begins_late: data.begins_late,
            may_hide_queue: !is_near_sender && (is_regular || !sees_round_trips),
        }
    }

    pub(super) fn judge(&self) -> Option<Loss> {
        if self.count == 0 {
            return None;
        }
        self.by_rate_of_flight()
            .or_else(|| self.by_exceeded_delay())
            .or_else(|| self.by_delay())
            .or_else(|| self.by_delay_of_some())
            .or_else(|| self.by_standing_delay())
            .or_else(|| self.by_rate())
            .or_else(|| self.by_delay_at_losses_alone())
            .or_else(|| self.by_flight())
    }

    /// The delay at losses, where it is a queue's.
    fn queued(&self) -> Option<&Delay> {
        self.late().filter(|delay| {
            self.count < LEAST_EPISODES || delay.usual >= SEEN_BEFORE * delay.seconds
        })
    }

    /// The delay at losses, where it is long.
    fn late(&self) -> Option<&Delay> {
        let fills = self.filled.is_none_or(|filled| filled >= TOO_LITTLE);
        self.delay.as_ref().filter(|delay| {
            delay.share >= DELAYED
                && delay.seconds >= DELAY_S.max(DELAYED_ACK_SEGMENTS * self.segment_s)
                && delay.rank >= HIGH
                && (delay.share >= MUCH_DELAYED || fills)
        })
    }

    /// What strikes single segments at delays that the queue often exceeded.
    fn by_exceeded_delay(&self) -> Option<Loss> {
        let delay = self.queued().filter(|delay| {
            self.count >= LEAST_EPISODES
                && !self.is_burst
                && delay.longest > EXCEEDED * delay.seconds
        })?;
        let text = format!(
            "round trips were {} longer than {} when single segments were lost, and up to {} at other times: a queue that drops early, or errors",
            approx::time(delay.seconds),
            self.least_of,
            approx::time(delay.longest)
        );
        Some(Loss::new(LossCause::Unknown, 0.0, text))
    }

    fn by_delay(&self) -> Option<Loss> {
        let delay = self.queued().filter(|delay| delay.high >= MOST)?;
        let is_sure = self.count >= LEAST_EPISODES || delay.share > 0.3;
        Some(Loss::new(
            LossCause::Queue,
            if is_sure { 0.9 } else { 0.75 },
            format!(
                "round trips were {} longer than {} when segments were lost",
                approx::time(delay.seconds),
                self.least_of
            ),
        ))
    }

    fn by_delay_of_some(&self) -> Option<Loss> {
        let delay = self.queued()?;
        let text = format!(
            "round trips were long at {} of the losses only",
            approx::whole_percent(delay.high)
        );
        Some(Loss::new(LossCause::Unknown, 0.0, text))
    }

    /// A queue that is never empty delays losses of every cause alike.
    fn by_standing_delay(&self) -> Option<Loss> {
        let delay = self.delay.as_ref().filter(|delay| {
            delay.standing >= STANDING && delay.share >= STANDING && delay.seconds >= DELAY_S
        })?;
        let text = format!(
            "round trips were {} longer than {} when segments were lost, and hardly ever short: the queue of a link that others fill, or \
             errors behind one",
            approx::time(delay.seconds),
            self.least_of
        );
        Some(Loss::new(LossCause::Unknown, 0.0, text))
    }

    /// Single round trips before a loss may be long because their acknowledgement waited, or because others filled a queue.
    fn by_delay_at_losses_alone(&self) -> Option<Loss> {
        let delay = self.late()?;
        let text = format!(
            "round trips were {} longer than {} at losses alone",
            approx::time(delay.seconds),
            self.least_of
        );
        Some(Loss::new(LossCause::Unknown, 0.0, text))
    }

    /// A policer shows in the rates between losses, where no round trip is long: the share of a full link that others leave is
    /// about constant, too.
    fn by_rate(&self) -> Option<Loss> {
        self.delay.as_ref()?;
        let has_queue = self.filled.is_some_and(|filled| filled >= QUEUED);
        let is_seen = !self.begins_late || self.count >= LEAST_LATE;
        let may_be =
            is_seen && may_exceed_a_policer(self.limit) && !has_queue && !self.waits_on_the_way;
        let rates = self.below_link.filter(|_| may_be)?;
        let is_regular = self.is_regular && self.count >= MANY_SINGLE;
        rates.are_policed(self.is_burst, is_regular, self.over_goodput).then(|| {
            Loss::new(
                LossCause::Policer,
                0.9,
                format!(
                    "{} passed between losses, each time, of {} that the path carries, without delay",
                    approx::rate(rates.usual_bps),
                    approx::rate(self.link_bps)
                ),
            )
        })
    }

    /// A flight of which a policer drops what exceeds its rate: a queue that drops delays what it passes.
    fn by_rate_of_flight(&self) -> Option<Loss> {
        self.delay.as_ref()?;
        let may_be = may_exceed_a_policer(self.limit) && !self.waits_on_the_way;
        let rate = self.of_flight_bps.filter(|_| may_be)?;
        Some(Loss::new(
            LossCause::Policer,
            0.9,
            format!(
                "{} passed between the drops of one flight, without delay, of {} that the path carries",
                approx::rate(rate),
                approx::rate(self.link_bps)
            ),
        ))
    }

    /// Whether a congestion window that grows meets losses at about one flight, and one rate passes between them.
    fn is_steady(&self) -> bool {
        let is_one_rate = self.below_link.is_some_and(|rates| rates.are_about_one());
        is_one_rate && self.flights_vary < ABOUT_ONE_FLIGHT && may_exceed_a_policer(self.limit)
    }

    /// How much is in flight when segments are lost: of a full queue more than the path holds.
    fn by_flight(&self) -> Option<Loss> {
        let is_little = self.filled.is_none_or(|filled| filled < TOO_LITTLE);
        // So regular may be a policer as well, or one that drops parts of bursts.
        if (self.is_regular || self.is_steady()) && is_little && self.count >= LEAST_EPISODES {
            return None;
        }
        let filled = self.filled?;
        let text = format!(
            "segments were lost with {} of what the path holds in flight",
            approx::whole_percent(filled)
        );
        let is_like_overflow = self.is_burst || self.is_regular;
        if filled >= ENOUGH && self.may_hide_queue && is_like_overflow && self.below_link.is_none()
        {
            return Some(Loss::new(LossCause::Queue, 0.65, text));
        }
        let is_below = filled < TOO_LITTLE || self.delay.is_some() && filled < TOO_MUCH;
        if self.lost_before > MOSTLY_BEFORE {
            let share = approx::whole_percent(self.lost_before);
            let text = format!("{share} of the lost segments were lost at once, the others singly");
            return Some(Loss::new(LossCause::Unknown, 0.0, text));
        }
        let is_enough =
            self.count >= if filled < TOO_LITTLE { LEAST_EPISODES } else { MANY_NEAR_FULL };
        // Where about as much as the path holds is in flight, a queue of a few packets loses singly, and regularly.
        let is_even = self.is_regular || self.is_steady();
        if !self.is_burst && !is_even && is_enough && is_below {
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

/// The rate of the flight that lost most, where what it passed was not delayed; `least` is the least round trip of the path, in seconds.
fn undelayed_rate_of_flight(data: &DirectionStats, least: f64) -> Option<f64> {
    let rate = rate_of_flight(data)?;
    let noticed = data.drop_line?.at;
    let episodes = data.loss_episodes.as_slice().iter();
    let delay = episodes.take_while(|it| it.at <= noticed).last()?.rtt?.as_secs_f64() - least;
    let segment_s = segment_bytes(data) as f64 * 8.0 / rate;
    let usual = data.loaded_round_trips.quantile(0.9)?.as_secs_f64() - least;
    // A queue of a few segments is short beside a long round trip.
    let is_short = |delay: f64| delay < DELAY_S.max(DELAYED_ACK_SEGMENTS * segment_s);
    // The acknowledgement of the last that passed is delayed, as those behind it are dropped.
    (is_short(delay) || is_short(usual) && usual < SEEN_BEFORE * delay).then_some(rate)
}

/// Acknowledged payload per second of the time in which something was in flight, in bits per second.
fn busy_rate(data: &DirectionStats) -> f64 {
    let goodput = data.goodput_bps.unwrap_or(0.0).max(1.0);
    let seconds = data.acked_bytes as f64 * 8.0 / goodput;
    let busy = (seconds - data.idle_s).max(0.01 * seconds);
    if busy > 0.0 { data.acked_bytes as f64 * 8.0 / busy } else { goodput }
}
