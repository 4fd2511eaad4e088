//! Whether the queue that round trips show is the connection's own: whether flight, rate and round trip go together, around an
//! interval, as they do in front of a full link.
//!
//! A flight is a rate times a round trip (Little's law). Below the rate of the link a larger flight is a higher rate; at that
//! rate it is a longer round trip (Kleinrock's knee). So a round trip that follows the flight is of the connection's own queue,
//! and one that varies whatever the flight is comes from others, from a radio link, or from slow hosts. No packet trains are
//! needed for it: they are too fast behind anything that delivers in batches.

use std::cell::OnceCell;

use super::data_queue::is_read;
use super::full_link::{
    FASTER, fastest_bps, is_opening_faster, least_in_order_s, overfull, queue_never_empties,
};
use super::trip_view::{is_flat, sees_round_trips, ways_are_flat};
use crate::evidence::{Bin, DirectionStats};
use crate::stats::{Summary, median};

/// So many intervals before and behind one belong to its surroundings.
const AROUND: usize = 8;
/// Fewer show nothing.
const LEAST_INTERVALS: usize = 5;
/// The link is busy from this share of the highest rate around on.
const BUSY: f64 = 0.6;
/// Packets queue when round trips are so many times the least,
pub(crate) const QUEUEING: f64 = 1.5;
/// and so much longer, in seconds: less may be delayed acknowledgements.
pub(super) const QUEUEING_S: f64 = 0.005;
/// Half of the round trips are so many times the least: a queue that stands.
const STANDING: f64 = 1.9;
/// A flight that varies by less shows nothing.
const VARIES: f64 = 0.1;
/// Where round trips follow the flight by so much, they are of the connection's own queue: 1 is by as much, 0 not at all.
const FOLLOWS: f64 = 0.3;
const FOLLOWS_CLOSELY: f64 = 0.5;
/// A rate that varies by less is that of a link.
const EVEN: f64 = 0.15;
const ABOUT_EVEN: f64 = 0.3;
/// A window that holds a queue in front of a link of one rate: rate and round trip vary by no more.
const STEADY: f64 = 0.1;

/// A window that is always full holds a queue where the shortest round trip of an interval is so many times the least, and longer by more
/// than so many segments take: the handshake has not the time of one on the link, the first of two waits for the second to be acknowledged,
/// and others may be sent at once with it.
const HOLDS_QUEUE: f64 = 1.1;
const HOLDS_SEGMENTS: f64 = 3.0;
/// Of fewer in flight a receiver delays the acknowledgement until its timer ends.
const LEAST_IN_FLIGHT: u64 = 4;

/// The first intervals are slow start's.
const OPENING: usize = 4;
/// Fewer intervals show no ceiling.
const MANY_INTERVALS: usize = 50;
/// A link whose rate is below that of the first flight loses packets again and again, so often at least.
const MANY_LOSSES: u64 = 3;
/// The rate varies by less under a ceiling, and follows the flight by less.
const CEILING_VARIES: f64 = 0.12;
const CEILING_FOLLOWS: f64 = 0.25;

/// Flight, rate and round trip of a transfer, interval by interval.
#[derive(Debug)]
pub(super) struct Course<'a> {
    bins: &'a [Bin],
    /// One for each interval, `None` where not all three are known: most transfers need none of them.
    points: OnceCell<Vec<Option<Point>>>,
    /// The least round trip, in seconds; `None` where nothing waits on either way.
    least: Option<f64>,
    /// A flight of so many bytes waits for a good part, at the highest rate that was seen; `None` where none was.
    overfull: Option<f64>,
    /// A round trip of so many seconds holds a queue if a full window is all that fills it; `None` where others may.
    held_s: Option<f64>,
    /// Payload of as many segments as show it.
    least_flight: u64,
}

/// The surroundings of an interval with long round trips.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// The highest rate of acknowledged payload, in bytes per second.
    peak: f64,
    /// The median round trip, in least round trips.
    long: f64,
    /// By how much the logarithms of rate and round trip vary (standard deviation),
    rate_varies: f64,
    trip_varies: f64,
    /// and by how much the round trip follows the flight (slope); `None` where the flight does not vary.
    trip_follows: Option<f64>,
}

/// Logarithms of flight, rate and round trip in an interval.
type Point = [f64; 3];

impl<'a> Course<'a> {
    /// Of these intervals, each about a round trip long.
    pub(super) fn of(bins: &'a [Bin], data: &DirectionStats, acks: &DirectionStats) -> Self {
        let least = least_in_order_s(data).filter(|least| *least > 0.0);
        let least = least.filter(|_| !ways_are_flat(data, acks));
        let fastest = Some(fastest_bps(data)).filter(|fastest| *fastest > 0.0);
        let overfull = least.zip(fastest).filter(|(least, _)| is_of_data(data, acks, *least)).map(
            |(least, fastest)| overfull(fastest * least / 8.0, f64::from(data.full_segment())),
        );
        let held_s = least.zip(data.goodput_bps).filter(|_| is_held_by_window(data, acks));
        let segment = u64::from(data.full_segment());
        let held_s = held_s.map(|(least, goodput)| {
            let segments = HOLDS_SEGMENTS * 8.0 * segment as f64 / goodput;
            (HOLDS_QUEUE * least).max(least + segments)
        });
        let least_flight = LEAST_IN_FLIGHT * segment;
        Self { bins, points: OnceCell::new(), least, overfull, held_s, least_flight }
    }

    /// Whether a window that is full in an interval holds a queue all along it: a larger one would only make that longer.
    pub(super) fn is_held_full(&self, bin: &Bin) -> bool {
        bin.in_flight_max >= self.least_flight
            && bin.rtt_min.zip(self.held_s).is_some_and(|(trip, held)| trip.as_secs_f64() >= held)
    }

    /// The least round trip, in seconds, where longer ones may be of a queue.
    pub(super) const fn least(&self) -> Option<f64> {
        self.least
    }

    fn points(&self) -> &[Option<Point>] {
        self.points.get_or_init(|| self.bins.iter().map(point).collect())
    }

    /// The surroundings of an interval by its number; `None` where its round trips are no longer than without a queue, or
    /// too little is known.
    pub(super) fn around(&self, place: usize, bin: &Bin) -> Option<Surroundings> {
        let least = self.least.filter(|least| is_long(bin, *least))?;
        let points = self.points();
        let to = (place + AROUND + 1).min(points.len());
        let near = points.get(place.saturating_sub(AROUND)..to)?;
        Surroundings::of(&near.iter().flatten().copied().collect::<Vec<_>>(), least)
    }

    /// Whether more is in flight in an interval with long round trips than the path holds at the highest rate that was seen: whatever the
    /// link carries meanwhile, such as one of a mobile network whose rate varies, a larger window would only wait longer.
    pub(super) fn is_overfull(&self, bin: &Bin) -> bool {
        self.least.is_some_and(|least| is_long(bin, least))
            && self.overfull.is_some_and(|bytes| bin.in_flight_max as f64 >= bytes)
    }

    /// Whether the rate of the whole transfer does not follow its flight, which varies: a link is full whose queue is kept
    /// short (`CoDel`, RFC 8289), so that round trips hardly show it. Such a link drops packets; where the first flight was faster, the
    /// rate may be the sender's own, and the flight vary with delays: then again and again.
    pub(super) fn has_ceiling(&self, data: &DirectionStats) -> bool {
        let is_first_faster = is_opening_faster(data);
        // Packets that others overtook fill gaps as well.
        let has_gaps = self.bins.iter().any(|bin| bin.losses > 0);
        if !has_gaps || is_first_faster && data.loss_episodes.count() < MANY_LOSSES {
            return false;
        }
        let points = || self.points().iter().skip(OPENING).flatten();
        let flights: Vec<f64> = points().map(|[flight, ..]| *flight).collect();
        let rates: Vec<f64> = points().map(|[_, rate, _]| *rate).collect();
        let varies = deviation(&flights);
        flights.len() >= MANY_INTERVALS
            && varies >= EVEN
            && deviation(&rates) <= CEILING_VARIES
            && covariance(&flights, &rates) <= CEILING_FOLLOWS * varies.powi(2)
    }
}

impl Surroundings {
    fn of(points: &[Point], least: f64) -> Option<Self> {
        if points.len() < LEAST_INTERVALS {
            return None;
        }
        let column = |index: usize| points.iter().map(|point| point[index]).collect::<Vec<_>>();
        let [flights, rates, trips] = [column(0), column(1), column(2)];
        let (flight_varies, trip_varies) = (deviation(&flights), deviation(&trips));
        let together = covariance(&flights, &trips);
        Some(Self {
            peak: rates.iter().copied().reduce(f64::max).map_or(0.0, libm::exp),
            long: median(trips).map_or(0.0, libm::exp) / least,
            rate_varies: deviation(&rates),
            trip_varies,
            trip_follows: (flight_varies >= VARIES).then(|| together / flight_varies.powi(2)),
        })
    }

    /// Whether the interval's packets waited in a queue that this connection keeps filled. A sender that has lost something
    /// has filled what it could; one that has not must be clocked by its acknowledgements: a flight that follows the round
    /// trip is also that of a sender with a pace of its own.
    pub(super) fn queues(&self, bin: &Bin, has_lost: bool, is_clocked: bool) -> bool {
        let follows = |least: f64| self.trip_follows.is_some_and(|slope| slope >= least);
        let is_own = if has_lost {
            follows(FOLLOWS) || self.rate_varies <= EVEN || self.long >= STANDING
        } else {
            is_clocked && follows(FOLLOWS_CLOSELY) && self.rate_varies <= ABOUT_EVEN
        };
        is_own && self.is_busy(bin)
    }

    /// Whether the window holds a queue: rate and round trip are those of a link that it fills.
    pub(super) fn is_filled_by_window(&self, bin: &Bin) -> bool {
        self.rate_varies <= STEADY && self.trip_varies <= STEADY && self.is_busy(bin)
    }

    fn is_busy(&self, bin: &Bin) -> bool {
        rate(bin).is_some_and(|rate| rate >= BUSY * self.peak)
    }
}

/// Whether a queue that never empties is one of the data, which lost something in it: nothing waits on the way of the acknowledgements.
/// Without SACK a flight is also what waits for a repair.
fn is_of_data(data: &DirectionStats, acks: &DirectionStats, least: f64) -> bool {
    let is_ack_path_empty = acks.way_delay.is_some_and(|back| is_flat(back, least));
    let has_lost = data.needed_retransmissions() > 0;
    has_lost && data.sack_permitted && is_ack_path_empty && queue_never_empties(data)
}

/// Whether nobody but a window can keep a queue: its reader keeps up, so that acknowledgements do not wait for that, and the first flight came
/// out no faster than the rest, as it does in front of a link that others share, or of one that a reader leaves idle.
fn is_held_by_window(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let rates = data.first_flight_bps.zip(data.goodput_bps);
    let is_faster = rates.is_some_and(|(first, rest)| first >= FASTER * rest);
    !data.begins_late && !is_faster && is_read(acks) && sees_round_trips(data, acks)
}

fn is_long(bin: &Bin, least: f64) -> bool {
    bin.rtt_mean().is_some_and(|mean| {
        let mean = mean.as_secs_f64();
        mean > QUEUEING * least && mean > least + QUEUEING_S
    })
}

/// Acknowledged payload in bytes per second.
fn rate(bin: &Bin) -> Option<f64> {
    let seconds = bin.duration.as_secs_f64();
    (seconds > 0.0 && bin.acked_bytes > 0).then(|| bin.acked_bytes as f64 / seconds)
}

fn point(bin: &Bin) -> Option<Point> {
    let trip = bin.rtt_mean()?.as_secs_f64();
    let flight = bin.in_flight_max as f64;
    (bin.segments > 0 && flight > 0.0 && trip > 0.0)
        .then(|| Some([libm::log(flight), libm::log(rate(bin)?), libm::log(trip)]))
        .flatten()
}

fn deviation(values: &[f64]) -> f64 {
    covariance(values, values).max(0.0).sqrt()
}

fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (Summary::of(a).mean, Summary::of(b).mean);
    let products = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b));
    products.sum::<f64>() / a.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Bins, WayDelay};
    use crate::units::Time;

    const LEAST: f64 = 0.04;

    /// An interval of a flight on a link of 1 MB/s with this additional delay of others.
    fn bin(flight: u64, others_s: f64) -> Bin {
        let alone = LEAST + others_s;
        let trip = alone.max(flight as f64 / 1e6);
        Bin {
            duration: Time::from_secs_f64(trip),
            segments: 10,
            in_flight_max: flight,
            acked_bytes: flight,
            rtt_count: 1,
            rtt_sum: Time::from_secs_f64(trip),
            ..Bin::default()
        }
    }

    fn course(bins: &[Bin]) -> Course<'_> {
        let data = DirectionStats { path_rtt_min_s: Some(LEAST), ..DirectionStats::default() };
        Course::of(bins, &data, &DirectionStats::default())
    }

    #[test]
    fn a_round_trip_that_follows_the_flight_is_the_connections_own_queue() {
        let bins: Vec<Bin> = (0..20).map(|n| bin(70_000 + 8_000 * (n % 8), 0.0)).collect();
        let around = course(&bins).around(10, &bins[10]).unwrap();
        assert!(around.trip_follows.unwrap() > 0.9, "{around:?}");
        assert!(around.queues(&bins[10], false, true));
        assert!(!around.queues(&bins[10], false, false), "it may pace itself");
    }

    #[test]
    fn delays_of_others_do_not_follow_the_flight() {
        let jitter = [0.0, 0.05, 0.02, 0.06, 0.01];
        let bins: Vec<Bin> =
            (0..20_usize).map(|n| bin(20_000 + 2_000 * (n as u64 % 8), jitter[n % 5])).collect();
        let course = course(&bins);
        let around = course.around(11, &bins[11]).unwrap();
        assert!(around.trip_follows.unwrap() < FOLLOWS, "{around:?}");
        let queues =
            |(place, bin)| course.around(place, bin).is_some_and(|it| it.queues(bin, true, true));
        assert!(!bins.iter().enumerate().any(queues));
    }

    /// A link of a mobile network that carries 1 MB/s at best, and a fifth of it in turns: the flight always holds a queue.
    #[test]
    fn a_flight_beyond_what_the_path_holds_at_its_best_waits_for_the_link() {
        let flight = 100_000;
        let bins: Vec<Bin> = (0..20)
            .map(|n| Bin {
                rtt_min: Some(Time::from_millis(90)),
                acked_bytes: if n % 2 == 0 { flight } else { flight / 5 },
                ..bin(flight, 0.0)
            })
            .collect();
        let way = |high_s| Some(WayDelay { high_s, ..WayDelay::default() });
        let mut data = DirectionStats {
            path_rtt_min_s: Some(LEAST),
            goodput_bps: Some(4e6),
            capacity_bps: Some(8e6),
            mss_used_bytes: Some(1448),
            sack_permitted: true,
            retransmitted_packets: 1,
            way_delay: way(0.06),
            ..DirectionStats::default()
        };
        data.bins = Bins::new(Time::ZERO, Time::from_millis(100));
        for (n, from) in bins.iter().enumerate() {
            let to = data.bins.at(Time::from_millis(100 * n as u64));
            (to.segments, to.rtt_min) = (from.segments, from.rtt_min);
        }
        let is_overfull = |data: &DirectionStats, back, bin| {
            let acks = DirectionStats { way_delay: way(back), ..DirectionStats::default() };
            Course::of(&bins, data, &acks).is_overfull(bin)
        };
        assert!(is_overfull(&data, 0.001, &bins[11]));
        let smaller = Bin { in_flight_max: 50_000, ..bins[11] };
        assert!(!is_overfull(&data, 0.001, &smaller), "the path may hold it");
        assert!(!is_overfull(&data, 0.05, &bins[11]), "acknowledgements wait");
        data.sack_permitted = false;
        assert!(!is_overfull(&data, 0.001, &bins[11]), "it may wait for a repair");
    }

    #[test]
    fn a_window_that_is_larger_than_the_path_holds_a_queue() {
        let bins = vec![bin(100_000, 0.0); 20];
        assert!(course(&bins).around(10, &bins[10]).unwrap().is_filled_by_window(&bins[10]));
        let small = vec![bin(30_000, 0.0); 20];
        assert!(course(&small).around(10, &small[10]).is_none(), "no queue");
    }

    /// A window of 50 kB on a path that holds 40 kB: a queue of 10 ms, in which three segments of 1460 bytes take 4.4 ms.
    #[test]
    fn a_window_that_is_little_larger_than_the_path_holds_a_queue() {
        let held = |change: fn(&mut DirectionStats), trip_ms, reader: DirectionStats| {
            let bins = [Bin { rtt_min: Some(Time::from_millis(trip_ms)), ..bin(50_000, 0.0) }];
            let mut data = DirectionStats {
                path_rtt_min_s: Some(LEAST),
                rtt_min_s: Some(LEAST),
                goodput_bps: Some(8e6),
                first_flight_bps: Some(8.2e6),
                mss_used_bytes: Some(1460),
                ..DirectionStats::default()
            };
            change(&mut data);
            Course::of(&bins, &data, &reader).is_held_full(&bins[0])
        };
        let prompt = DirectionStats::default;
        assert!(held(|_| (), 50, prompt()));
        assert!(!held(|_| (), 43, prompt()), "as long as acknowledgements are delayed");
        assert!(!held(|data| data.first_flight_bps = Some(16e6), 50, prompt()), "others wait too");
        assert!(!held(|data| data.begins_late = true, 50, prompt()));
        let slow = DirectionStats { low_windows: Some(0.8), ..prompt() };
        assert!(!held(|_| (), 50, slow), "acknowledgements wait for the reader");
    }
}
