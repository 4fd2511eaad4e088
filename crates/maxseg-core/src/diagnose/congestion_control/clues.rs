//! Clues of a whole direction: the clock of its segments, flights that do not grow, and how slow start ended.
//!
//! Likelihoods are those of captures in the lab at the sender and the receiver, by the law of succession: 342 of Reno, 365 of CUBIC and
//! 256 of BBR, of runs that lost packets or were under load.

use super::first_loss::{FEW_SEGMENTS, Flight, path_bytes};
use super::weights::{Weights, normal};
use super::{CongestionAlgorithm, View};
use crate::evidence::{CongestionEpoch, DirectionStats, FlightAtLoss, RoundFlight};
use crate::outcome::LimitedBy;
use crate::units::{Time, approx};

/// A host answers an acknowledgement within this time.
const ON_HOST_S: f64 = 0.0005;
/// Shares of new payload that acknowledgements clock out: of a sender that paces, and of one that does not.
const PACED_BY_ITSELF: f64 = 0.1;
const CLOCKED: f64 = 0.95;
const CLOCK_VARIES: f64 = 0.2;
/// Of a program that has nothing to send for this share of the time, neither shows anything.
const MOSTLY_OUT_OF_DATA: f64 = 0.5;
/// Of fewer segments it is chance.
const LEAST_CLOCKED: f64 = 10.0;
/// A clock speaks against BBR by this at most,
const MOST_OF_CLOCK: f64 = 3.2;
/// and for it by this: behind `fq` (`tc-fq(8)`) or a shaper of the host segments of any sender have a pace.
const MOST_OF_PACE: f64 = 2.2;
/// Where a full receive window is the limit, by this: a pace for the window's rate does the same. Of captures at the sender below this share
/// were 5 of 12 of BBR and none of 15 of the others; but `fq` paces any sender.
const MOST_OF_PACE_IN_WINDOW: f64 = 1.4;
const NOT_CLOCKED: f64 = 0.6;
/// What no clock explains.
const OTHER_CLOCK: f64 = 0.08;
/// All others by this: no algorithm is excluded by one of them.
const MOST: f64 = 3.5;
/// Congestion avoidance adds to the flight in every round trip or two (RFC 5681 §3.1, RFC 9438 §4.3): so many without a new maximum,
/// and no window that is full, are no congestion avoidance.
const FLAT: u32 = 10;
/// After a loss so many, and growth by less than so many segments a round trip: CUBIC adds half a one at least.
const FLAT_AFTER_LOSS: u32 = 15;
const NO_GROWTH: f64 = 0.2;
/// Between the means of the first third of such round trips and of the last by less than so many: BBR's flight follows what it measures, down
/// as well as up, and of 1377 such flights of Reno and CUBIC in 400 captures of the lab, at full or lossy links, one grew by less.
const NO_SLOPE: f64 = 0.08;
/// Of a flight that had filled the window and left it again, the mean is below this share of its maximum, by so many segments.
const BELOW_WINDOW: f64 = 0.88;
const BELOW_WINDOW_BY: f64 = 3.0;
/// A window that was full once stays full until a loss, but for a program that pauses: so many round trips in which it was not, and this
/// share of all, are of a sender that keeps less in flight by itself. At the sender 10 of 19 flights of BBR in windows of 1 to 3 times
/// what the path holds showed it in captures of the lab, and none of the others in any window. Elsewhere what the window was when a segment
/// left is known less exactly: only connections without a loss count.
const OPEN: u32 = 10;
const OPEN_SHARE: f64 = 0.1;
/// Where one segment in so many filled the window, it was full all along, and round trips in which it was open are of acknowledgements that
/// came late.
const FILLING: u64 = 8;
/// BBR keeps twice what the path holds in flight (`bbr_cwnd_gain` in `net/ipv4/tcp_bbr.c`), a few segments more than that where acknowledgements
/// come together, and less than its start-up's 2.89 times: a flight of so many times that is held by a buffer or a window, as any sender's is.
const BEYOND_BBR: f64 = 2.5;
/// Slow start ended without a loss where so many round trips of growth are no doublings.
const SLOW_ROUNDS: f64 = 5.0;
/// It went on until the end where at most so many are none, and there are so many doublings.
const NO_SLOW_ROUND: f64 = 1.2;
const MANY_DOUBLINGS: f64 = 3.5;
/// BBR's start-up keeps 2.89 times what the path holds in flight at most (`bbr_high_gain` in `net/ipv4/tcp_bbr.c`): round trips
/// rise by 1.89 of the least.
const STARTUP_QUEUE: f64 = 1.89;
/// `HyStart` ends slow start where round trips rise by an eighth, of 16 ms at most (RFC 9406 §4.2); twice that is plain.
const RISEN: f64 = 0.3;
const RISEN_S: f64 = 0.02;
/// Round trips rise where the flight is so many times what the path holds.
const QUEUED: f64 = 1.2;

/// So many times what the path holds round trips are twice as long, where that is more than the segments that `HyStart` needs (`hystart_low_window` in
/// `net/ipv4/tcp_cubic.c`). A flight that grows by this factor in so many round trips behind that is in slow start, whatever acknowledgements it lost:
/// behind it CUBIC, which knows no maximum yet, grows by a twentieth (`bictcp_update`).
const FULL_QUEUE: f64 = 2.0;
const LEAST_PATH: f64 = 16.0;
const BEYOND_ROUNDS: f64 = 3.0;
const BEYOND_CUBIC: f64 = 1.3;

/// How likely each is under Reno, CUBIC and BBR: a flight that does not grow, of which 1, 1 and 132 captures were,
const NO_GROWTH_SEEN: [f64; 3] = [0.01, 0.01, 1.0];
/// which speaks against them by this at most, and by this where packets overtook others so that a sender that took them for lost
/// grows by less: in one of 29 such captures of Reno and CUBIC a flight stayed flat then;
const MOST_OF_NO_GROWTH: f64 = 4.6;
const MOST_WHILE_OVERTAKEN: f64 = 2.3;
/// slow start that ends without a loss, of which 2, 81 and 3 were,
const ENDED_EARLY: [f64; 3] = [0.03, 1.0, 0.06];
/// and slow start into a queue until a loss, of which 12, 2 and 2 were with a queue that start-up may fill, and 44, 2 and none with more.
const NEVER_ENDED: [f64; 3] = [1.0, 0.19, 0.27];
const NEVER_ENDED_BEYOND_STARTUP: [f64; 3] = [1.0, 0.05, 0.02];

/// What was found.
#[derive(Debug, Clone, Default)]
pub(super) struct Clues {
    pub(super) weights: Weights,
    found: Vec<(&'static [CongestionAlgorithm], String)>,
    has_slow_start: bool,
}

use CongestionAlgorithm::{Bbr, Cubic, Reno};

impl Clues {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy, view: View) -> Self {
        let mut clues = Self::default();
        let is_free = !matches!(limit, LimitedBy::Paced | LimitedBy::Application);
        if view == View::Sender && is_on_host(data) && !super::is_overtaken(data) {
            clues.add_clock(data, limit);
        }
        if is_free {
            // Where the limit is unknown a program may leave the window unused, which does not grow then (`tcp_is_cwnd_limited` in
            // `include/net/tcp.h`).
            let may_grow = matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion);
            // A mark reduces a flight as a loss does.
            let is_marked = data.congestion_marks > 0;
            // Without the window scale a full window is not told from an open one.
            if may_grow && !is_marked && !data.begins_late {
                clues.add_no_growth(data, view);
            }
            if let Some(first) = opening_epoch(data).filter(|_| !is_marked) {
                let before = clues.found.len();
                clues.add_slow_start(first, data, limit == LimitedBy::SendBuffer);
                clues.has_slow_start = clues.found.len() > before;
            }
        }
        clues
    }

    /// How many speak for an algorithm.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Whether slow start showed anything.
    pub(super) const fn has_slow_start(&self) -> bool {
        self.has_slow_start
    }

    /// Those that speak for it, as clauses.
    pub(super) fn sentences(&self, name: CongestionAlgorithm) -> Vec<String> {
        let speaking = self.found.iter().filter(|(names, _)| names.contains(&name));
        speaking.map(|(_, text)| text.clone()).collect()
    }

    fn add(
        &mut self,
        likelihoods: [f64; 3],
        most: f64,
        names: &'static [CongestionAlgorithm],
        text: String,
    ) {
        self.weights.add(likelihoods, most);
        self.found.push((names, text));
    }

    /// A sender without pacing sends when acknowledgements arrive; BBR by its own clock.
    fn add_clock(&mut self, data: &DirectionStats, limit: LimitedBy) {
        let is_of_path = matches!(
            limit,
            LimitedBy::Bandwidth | LimitedBy::Congestion | LimitedBy::Rto | LimitedBy::StartUp
        );
        let is_in_window = limit == LimitedBy::ReceiveWindow;
        let may_be_held = matches!(limit, LimitedBy::SendBuffer | LimitedBy::Unknown);
        if !is_of_path && !is_in_window && !may_be_held {
            return;
        }
        let Some(clocked) = clocked_share(data) else { return };
        if is_in_window {
            if clocked < NOT_CLOCKED {
                let text =
                    "new segments left at a pace of the sender's below a full receive window";
                self.add([0.0, 0.0, 1.0], MOST_OF_PACE_IN_WINDOW, &[Bbr], text.to_owned());
            }
            return;
        }
        let by_acks = normal(clocked, CLOCKED, CLOCK_VARIES) + OTHER_CLOCK;
        // Less than by chance is as good as that.
        let by_itself =
            normal(clocked.max(PACED_BY_ITSELF), PACED_BY_ITSELF, CLOCK_VARIES) + OTHER_CLOCK;
        let epochs = data.epochs.as_slice();
        let is_capped = !epochs.is_empty() && epochs.iter().all(|epoch| epoch.is_capped);
        let (most, names, text): (_, &[_], _) = if by_acks > by_itself {
            // Where the receive window holds the flight down, BBR waits for acknowledgements as well.
            if is_capped {
                return;
            }
            let share = approx::whole_percent(clocked.clamp(0.0, 1.0));
            let text = format!("{share} of new segments left when an acknowledgement came");
            (MOST_OF_CLOCK, &[Reno, Cubic], text)
        } else if is_of_path {
            let text =
                "new segments left at a pace of the sender's, not when acknowledgements came";
            (MOST_OF_PACE, &[Bbr], text.to_owned())
        } else {
            // A program that waits for room in its buffer, or a shaper of the host, has a clock of its own with any algorithm.
            return;
        };
        self.add([by_acks, by_acks, by_itself], most, names, text);
    }

    /// A flight that does not grow though the path is full and the window is not: BBR keeps what it measured.
    fn add_no_growth(&mut self, data: &DirectionStats, view: View) {
        let segment = f64::from(data.full_segment());
        let opening = opening_epoch(data).map(|first| first.from);
        let sees_window = view == View::Sender || data.epochs.losses().is_empty();
        for epoch in data.epochs.as_slice().iter().filter(|epoch| !is_beyond_bbr(epoch, data)) {
            let may_leave = sees_window && !data.begins_late && !fills_window(data);
            if may_leave && leaves_window(epoch) {
                let text = format!(
                    "the flight left the receive window open in {} round trips without a loss",
                    epoch.open_rounds
                );
                self.add(NO_GROWTH_SEEN, MOST_OF_NO_GROWTH, &[Bbr], text);
                return;
            }
            let is_first = opening == Some(epoch.from);
            let text = |rounds: u32| {
                format!("the flight did not grow in {rounds} round trips without a loss")
            };
            if !epoch.after_timer && does_not_grow(epoch, is_first, segment) {
                let rounds = if is_first { epoch.flat_rounds } else { epoch.rounds };
                self.add(NO_GROWTH_SEEN, MOST_OF_NO_GROWTH, &[Bbr], text(rounds));
                return;
            }
            let flights = data.epochs.flights_of(epoch);
            if !epoch.after_timer && !epoch.is_capped && has_no_slope(flights, segment) {
                let is_overtaken = super::hears_of_needless(data) || super::is_overtaken(data);
                let most = if is_overtaken { MOST_WHILE_OVERTAKEN } else { MOST_OF_NO_GROWTH };
                self.add(NO_GROWTH_SEEN, most, &[Bbr], text(epoch.rounds));
                return;
            }
        }
    }

    /// CUBIC leaves slow start when round trips rise (`HyStart`), Reno only at a loss.
    fn add_slow_start(
        &mut self,
        epoch: &CongestionEpoch,
        data: &DirectionStats,
        has_full_buffer: bool,
    ) {
        let grown = epoch.most as f64 / epoch.first.max(1) as f64;
        let doublings = libm::log2(grown.max(1.0));
        let rounds = f64::from(epoch.rounds);
        let slow = rounds - 1.0 - doublings - f64::from(epoch.flat_rounds);
        let least = data.path_rtt_min_s.unwrap_or(0.0);
        let at_loss = data.loss_episodes.as_slice().first().filter(|_| epoch.by_loss);
        let at_loss = at_loss.and_then(|episode| episode.rtt).map_or(0.0, Time::as_secs_f64);
        // Behind the sender round trips are the least of some time: a segment that echoes an acknowledgement shows the last, unless
        // others overtook it.
        let flight = data.epochs.losses().first();
        let flight = flight.filter(|_| epoch.by_loss && !super::is_overtaken(data));
        let at_loss = flight.map_or(at_loss, |loss| at_loss.max(loss.round_trip.as_secs_f64()));
        let rise = at_loss.max(data.path_rtt_loaded_s.unwrap_or(0.0)) - least;
        let queued = || format!("round trips rose by {}", approx::time(rise));
        let keeps_growing = epoch.flat_rounds <= (epoch.rounds / 8).max(2);
        // A buffer that held it back would hold it where it is.
        let keeps_growing =
            keeps_growing && (!has_full_buffer || epoch.flat_rounds <= 1 && epoch.by_loss);
        if !epoch.is_capped && keeps_growing && slow >= SLOW_ROUNDS && doublings >= 0.5 {
            let text = "slow start ended without a loss, and the flight went on growing".to_owned();
            self.add(ENDED_EARLY, MOST, &[Cubic], text);
        } else if !has_full_buffer
            && (slow <= NO_SLOW_ROUND || grows_beyond_queue(epoch, data))
            && doublings >= MANY_DOUBLINGS
            && overfills_queue(epoch, data)
            && rise > (RISEN * least).max(RISEN_S)
        {
            let text = format!("slow start doubled the flight to its end, while {}", queued());
            let is_beyond_startup = rise > STARTUP_QUEUE * least;
            let seen = if is_beyond_startup { NEVER_ENDED_BEYOND_STARTUP } else { NEVER_ENDED };
            self.add(seen, MOST, &[Reno], text);
        }
    }
}

/// Whether the capture is on the sending host, not at a router beside it, where segments have another clock.
fn is_on_host(data: &DirectionStats) -> bool {
    let behind = data.path_rtt_min_s.zip(data.rtt_min_s);
    behind.is_some_and(|(all, behind)| all - behind <= ON_HOST_S)
}

/// Whether the first flights were more than the path holds, as far as that is known: then round trips rose, and `HyStart` had a
/// reason to end slow start; and whether slow start went on until a loss showed.
fn overfills_queue(epoch: &CongestionEpoch, data: &DirectionStats) -> bool {
    let at_loss = data.epochs.losses().first().map_or(0, |loss| loss.in_flight);
    let most = epoch.most.max(at_loss) as f64;
    path_bytes(data).is_none_or(|path| most >= QUEUED * path)
        && Flight::of(data).is_none_or(|flight| !flight.loses_little())
}

/// Whether the flight went on growing as in slow start where it was already more than the path holds, so that round trips had risen.
fn grows_beyond_queue(epoch: &CongestionEpoch, data: &DirectionStats) -> bool {
    let Some(path) = path_bytes(data) else { return false };
    let queued = FULL_QUEUE * path.max(LEAST_PATH * f64::from(data.full_segment()));
    let until_queued = libm::log2((queued / epoch.first.max(1) as f64).max(1.0));
    let rounds = f64::from(epoch.rounds.saturating_sub(epoch.flat_rounds)) - 1.0 - until_queued;
    rounds >= BEYOND_ROUNDS
        && libm::log(epoch.most as f64 / queued) >= rounds * libm::log(BEYOND_CUBIC)
}

/// Whether the flights of an epoch are more than BBR has there.
fn is_beyond_bbr(epoch: &CongestionEpoch, data: &DirectionStats) -> bool {
    let mean = epoch.sum as f64 / f64::from(epoch.rounds.max(1));
    let few = FEW_SEGMENTS * f64::from(data.full_segment());
    // What overtakes others breaks trains up, which are slower than the transfer then.
    let reached = data.goodput_bps.zip(data.path_rtt_min_s).map(|(bps, trip_s)| bps / 8.0 * trip_s);
    path_bytes(data).is_some_and(|path| mean >= BEYOND_BBR * path.max(reached.unwrap_or(0.0)) + few)
}

/// Whether segments filled the receive window all along.
fn fills_window(data: &DirectionStats) -> bool {
    FILLING * data.window_full > data.data_packets_once()
}

/// Whether it filled the receive window and then no longer did, though nothing was lost.
fn leaves_window(epoch: &CongestionEpoch) -> bool {
    let open = epoch.open_rounds;
    open >= OPEN && f64::from(open) >= OPEN_SHARE * f64::from(epoch.rounds)
}

/// Whether the flight did not grow for so long that congestion avoidance is excluded.
fn does_not_grow(epoch: &CongestionEpoch, is_first: bool, segment: f64) -> bool {
    let rounds = f64::from(epoch.rounds);
    if is_first {
        let (most, mean) = (epoch.most as f64, epoch.sum as f64 / rounds.max(1.0));
        let is_below = mean < BELOW_WINDOW * most && most - mean >= BELOW_WINDOW_BY * segment;
        let is_flat = epoch.flat_rounds >= FLAT && 2 * epoch.flat_rounds >= epoch.rounds;
        return is_flat && (is_below || !epoch.is_capped);
    }
    // The first round trip may have what duplicates released, the last one a probe.
    let first = epoch.first as f64;
    let mean = (epoch.sum as f64 - first) / (rounds - 1.0).max(1.0);
    let grown = 2.0 * (epoch.last as f64 - mean).abs().min((mean - first).abs());
    epoch.rounds >= FLAT_AFTER_LOSS && !epoch.is_capped && grown < NO_GROWTH * rounds * segment
}

/// Whether the flights of so many round trips behind a loss grew by nothing, or shrank, whatever they did meanwhile. The first may still have
/// what duplicates released.
fn has_no_slope(flights: &[RoundFlight], segment: f64) -> bool {
    let later = flights.get(1..).unwrap_or(&[]);
    let third = later.len() / 3;
    if later.len() + 1 < FLAT_AFTER_LOSS as usize {
        return false;
    }
    let mean = |some: &[RoundFlight]| {
        some.iter().map(|flight| f64::from(flight.most)).sum::<f64>() / some.len().max(1) as f64
    };
    let (first, _) = later.split_at(third);
    let (_, last) = later.split_at(later.len() - third);
    mean(last) - mean(first) < NO_SLOPE * segment * (later.len() - third) as f64
}

/// The epoch that begins with the first data; `None` where the capture or a recovery hides it.
fn opening_epoch(data: &DirectionStats) -> Option<&CongestionEpoch> {
    let first = data.epochs.as_slice().first().filter(|_| !data.begins_late)?;
    let is_before = |loss: &FlightAtLoss| loss.at <= first.from;
    (!data.epochs.losses().first().is_some_and(is_before)).then_some(first)
}

/// The share of new payload that acknowledgements clocked out, beyond what chance explains: 1 is all, 0 is chance. Of intervals
/// without a loss, for a recovery sends by other rules; without the first flight, which any sender sends at once. A program that mostly has
/// nothing to send, as between replies, has a clock of its own: `None`.
fn clocked_share(data: &DirectionStats) -> Option<f64> {
    let bins = data.bins.as_slice();
    let is_seen = bins.iter().find(|bin| bin.sent_bytes > 0).is_some_and(|bin| bin.losses == 0);
    let opening =
        if is_seen && !data.begins_late { data.epochs.opening.rounds[0].bytes } else { 0 };
    let (mut sent, mut clocked, mut at_once, mut seconds) = (-(opening as f64), 0.0, 0.0, 0.0);
    let mut without_data = 0.0;
    for bin in bins.iter().filter(|bin| bin.losses == 0 && bin.sent_bytes > 0) {
        sent += bin.sent_bytes as f64;
        clocked += bin.clocked_bytes as f64;
        at_once += bin.clock_time.as_secs_f64();
        seconds += bin.duration.as_secs_f64();
        without_data += bin.idle.saturating_add(bin.app_limited).as_secs_f64();
    }
    if without_data >= MOSTLY_OUT_OF_DATA * seconds {
        return None;
    }
    let by_chance = at_once / seconds.max(1e-9);
    let least = LEAST_CLOCKED * f64::from(data.full_segment());
    (sent >= least && by_chance < 1.0).then(|| (clocked / sent - by_chance) / (1.0 - by_chance))
}

#[cfg(test)]
mod tests;
