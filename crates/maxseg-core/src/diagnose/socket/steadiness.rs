//! A full link, by what several looks at a socket have in common.
//!
//! A link that is full delivers at its rate whatever the congestion window is; where it is not full, the rate is the window in each round
//! trip (Little's law) and follows it.

use super::{EACH_TRIP, Judge, LimitedBy, SEGMENTS_OF_QUEUE, Unseen};
use crate::units::Time;

/// The rate is the same where the lower quartile is so much of the upper one: that of a window which halves at losses, as Reno's, varies
/// by more.
const STEADY: f64 = 0.78;
/// A link that is full delivers in all so much of what it delivers at a time.
const AT_RATE: f64 = 0.85;
/// The window varies where its quartiles are further apart than those of the rate by this.
const VARIES: f64 = 0.05;
/// A window that stays full holds a queue where the round trip is so many times the least, and longer by more than so many segments take: the
/// handshake has not the time of one on the link, the first of two waits for the second to be acknowledged, and others are sent with it.
pub(super) const HOLDS_QUEUE: f64 = 1.1;
const HOLDS_SEGMENTS: f64 = 3.0;
/// The rate of a window of fewer segments is in steps of whole ones, and of delayed acknowledgements: it stays the same whatever the window does.
const SEGMENTS_OF_RATE: f64 = 10.0;
/// It stands still then: between acknowledgements of one segment and of two the round trip varies by half of one at most, of three and more.
const HARDLY_VARIES: f64 = 1.0 / 6.0;
/// Without SACK packets that overtake others are not seen, and make the least round trip too short: where nothing overtakes, the round trip
/// hardly varies at all.
const HARDLY_VARIES_UNSEEN: f64 = 1.0 / 16.0;
/// Without SACK one loss is repaired in a round trip. From this share of the looks on repairs are what the transfer does,
const REPAIRS: f64 = 0.45;
/// unless the link delivers in all so much of what it delivers at a time.
const REPAIRS_AT_RATE: f64 = 0.9;
/// A queue is longer than a send buffer that keeps the path waiting makes one where the round trip is so many times the least: of simulated
/// transfers that their buffer limited none had more than 2.4 times.
const LONG_QUEUE: f64 = 2.5;
/// A queue of what BBR sends again without need shows from so many times the least round trip on.
const BBR_WAITS: f64 = 1.25;
/// A queue that others fill as well grows and drains with their congestion windows: the quartiles of the round trip are further apart than
/// this of the wait, and than it varies within a few round trips, and the rate, a window in each round trip, changes by a twentieth. Of 61
/// windows in the lab that kept a link full alone, none was beyond 0.06 of the wait.
const QUEUE_CHANGES: f64 = 0.1;
const RATE_CHANGES: f64 = 0.05;
/// Others in the queue count from so much of the connection's own rate on: what less of them leaves of the link is no large gain.
const BESIDE: f64 = 1.0 / 3.0;
/// What overtakes others saves a part of one way: about half of a round trip at most.
pub(super) const OVERTAKING_SAVES: f64 = 2.0;

impl Judge<'_> {
    /// Where the rate stays the same: that of a full link, if the window changed meanwhile; unknown if that stayed the same, too, and
    /// segments were lost. `None` where the rate varies, or was not looked at often enough.
    pub(super) fn steady_rate(&self) -> Option<(LimitedBy, Option<Unseen>)> {
        let rates = self.evidence.spread?.rates?;
        let share = |[low, high]: [f64; 2]| if high > 0.0 { low / high } else { 0.0 };
        if rates.cwnd_segments[1] < SEGMENTS_OF_RATE {
            return None;
        }
        let (of_rate, of_window) = (share(rates.delivery_bps), share(rates.cwnd_segments));
        let is_steady = of_rate >= STEADY && self.rate_bps()? >= AT_RATE * rates.delivery_bps[1];
        if is_steady && of_rate >= of_window + VARIES {
            Some((LimitedBy::Bandwidth, None))
        } else if is_steady && self.has_lost() {
            Some((LimitedBy::Unknown, Some(Unseen::SteadyWindow)))
        } else {
            None
        }
    }

    /// Where losses were being repaired for much of the time without SACK, a loss in each round trip: the congestion window, and how slowly
    /// they are repaired, are the limit then, but for a link that was full all the same. What BBR sends again without need fills a link, too.
    pub(super) fn slow_repairs(&self) -> Option<(LimitedBy, Option<Unseen>)> {
        let repairs = self.evidence.recovering_share.is_some_and(|share| share >= REPAIRS);
        if self.state.has_sack || !repairs || self.evidence.bin.losses == 0 {
            return None;
        }
        if self.state.bbr_pacing_gain.is_some() && self.takes_longer(BBR_WAITS) {
            return Some((LimitedBy::Unknown, Some(Unseen::SlowRepairs)));
        }
        let path_bps = self.evidence.spread.and_then(|spread| spread.path_bps);
        let is_full = self
            .rate_bps()
            .zip(path_bps)
            .is_some_and(|(rate, path)| rate >= REPAIRS_AT_RATE * path);
        (!is_full).then_some((LimitedBy::Congestion, None))
    }

    /// Whether the peer's window keeps a queue that never empties, and nothing else can: the window stays the same at every look, so that its
    /// reader keeps up, it is sent in each round trip, and that is longer than without a queue and hardly varies.
    pub(super) fn window_keeps_queue(&self) -> bool {
        let state = self.state;
        let (Some(spread), Some(least), Some(window), Some(rate)) =
            (self.evidence.spread, state.min_rtt, state.window_bytes, self.rate_bps())
        else {
            return false;
        };
        let of_overtaken = if self.is_reordered() { OVERTAKING_SAVES } else { 1.0 };
        let (least, rtt) = (of_overtaken * least.as_secs_f64(), spread.rtt_median.as_secs_f64());
        let waits = rtt - least;
        let hardly_varies = if state.has_sack { HARDLY_VARIES } else { HARDLY_VARIES_UNSEEN };
        let segments = HOLDS_SEGMENTS * 8.0 * f64::from(state.mss_bytes);
        spread.window_stays
            && !self.evidence.is_since_start
            && window >= SEGMENTS_OF_QUEUE * state.mss_bytes
            && rtt >= HOLDS_QUEUE * least
            && waits * rate >= segments
            && rate * rtt >= EACH_TRIP * 8.0 * f64::from(window)
            && state.rtt_deviation.as_secs_f64() <= hardly_varies * waits
    }

    /// Whether a window that is sent in each round trip waits in a queue that it does not hold alone: other connections of this host are in it,
    /// or it changes though the window does not. A larger window would take a share of the link from them.
    pub(super) fn queue_is_of_others(&self) -> bool {
        let rate = self.rate_bps().unwrap_or(0.0);
        if rate > 0.0 && self.evidence.beside_bps >= BESIDE * rate {
            return true;
        }
        let (Some(spread), Some(least)) = (self.evidence.spread, self.state.min_rtt) else {
            return false;
        };
        let Some(rates) = spread.rates.filter(|_| spread.window_stays) else { return false };
        let [low, high] = spread.rtt_quartiles.map(Time::as_secs_f64);
        let wait = spread.rtt_median.as_secs_f64() - least.as_secs_f64();
        let varies = self.state.rtt_deviation.as_secs_f64().max(QUEUE_CHANGES * wait);
        let [slow, fast] = rates.delivery_bps;
        high - low > varies && slow <= (1.0 - RATE_CHANGES) * fast
    }

    /// A queue stood for most of the time, and the link delivered nearly all that it delivers at a time, or the queue was long: more room in
    /// the send buffer would only make it longer.
    pub(super) fn queue_stood(&self) -> bool {
        self.evidence.spread.is_some()
            && self.is_queueing()
            && !self.is_reordered()
            && (self.path_share().is_some_and(|share| share >= AT_RATE) || self.long_queue_stood())
    }

    /// The round trips are longer than so many times the least.
    pub(super) fn takes_longer(&self, times: f64) -> bool {
        self.round_trip_s() > times * self.least_s()
    }

    /// The least round trip in seconds; endless where it is not known.
    pub(super) fn least_s(&self) -> f64 {
        self.state.min_rtt.map_or(f64::INFINITY, Time::as_secs_f64)
    }

    /// A long queue stood for most of the time. BBR that has not found the link's rate yet, where acknowledgements come seldom, is past its
    /// start-up then as well.
    pub(super) fn long_queue_stood(&self) -> bool {
        self.evidence.spread.is_some()
            && !self.is_reordered()
            && self.round_trip_s() >= LONG_QUEUE * self.least_s()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::limit;
    use super::*;
    use crate::evidence::{BufferFill, RateQuartiles, RateSpread, SocketEvidence};

    /// Looks at it while it lasts: at the rates and windows of their quartiles.
    fn spread(delivery_bps: [f64; 2], cwnd_segments: [f64; 2]) -> RateSpread {
        let rates = Some(RateQuartiles { delivery_bps, cwnd_segments });
        RateSpread { rtt_median: Time::from_millis(53), rates, ..RateSpread::default() }
    }

    #[test]
    fn a_rate_that_stays_while_the_window_changes_is_the_links() {
        let lossy = |e: &mut SocketEvidence| {
            e.bin.losses = 4;
            e.spread = Some(spread([9.6e6, 10.2e6], [31.0, 44.0]));
        };
        assert_eq!(limit(lossy), LimitedBy::Bandwidth);
        let follows = |e: &mut SocketEvidence| {
            lossy(e);
            e.spread = Some(spread([7e6, 10.2e6], [31.0, 44.0]));
        };
        assert_eq!(limit(follows), LimitedBy::Congestion);
        let both_stay = |e: &mut SocketEvidence| {
            lossy(e);
            e.spread = Some(spread([9.6e6, 10.2e6], [41.0, 44.0]));
        };
        assert_eq!(limit(both_stay), LimitedBy::Unknown);
        let pauses = |e: &mut SocketEvidence| {
            lossy(e);
            e.spread = Some(spread([19e6, 20e6], [31.0, 44.0]));
        };
        assert_eq!(limit(pauses), LimitedBy::Congestion, "half of what arrives at a time");
        let nothing_lost = |e: &mut SocketEvidence| {
            both_stay(e);
            e.bin.losses = 0;
        };
        assert_eq!(limit(nothing_lost), LimitedBy::Unknown, "neither a loss nor a queue");
    }

    #[test]
    fn the_rate_of_a_few_segments_is_no_links() {
        let lossy = |e: &mut SocketEvidence| {
            e.bin.losses = 4;
            e.spread = Some(spread([9.6e6, 10.2e6], [4.0, 8.0]));
        };
        assert_eq!(limit(lossy), LimitedBy::Congestion);
    }

    /// Transfers without SACK that a loss in every tenth to fiftieth packet held back (simulated): their queue of before the losses is in
    /// the round trips that are known.
    #[test]
    fn repairs_without_sack_are_no_full_link() {
        let repairs = |e: &mut SocketEvidence| {
            e.bin.losses = 40;
            e.state.has_sack = false;
            e.state.is_recovering = true;
            e.state.rtt = Time::from_millis(120);
            e.recovering_share = Some(0.9);
        };
        assert_eq!(limit(repairs), LimitedBy::Congestion);
        let seldom = |e: &mut SocketEvidence| {
            repairs(e);
            e.recovering_share = Some(0.3);
        };
        assert_eq!(limit(seldom), LimitedBy::Bandwidth);
        let with_sack = |e: &mut SocketEvidence| {
            repairs(e);
            e.state.has_sack = true;
        };
        assert_eq!(limit(with_sack), LimitedBy::Bandwidth);
        let at_rate = |e: &mut SocketEvidence| {
            repairs(e);
            let path_bps = Some(10.4e6);
            let rtt_median = e.state.rtt;
            e.spread = Some(RateSpread { rtt_median, path_bps, ..RateSpread::default() });
        };
        assert_eq!(limit(at_rate), LimitedBy::Bandwidth, "all that the link delivers");
        let of_bbr = |e: &mut SocketEvidence| {
            repairs(e);
            e.state.bbr_pacing_gain = Some(1.0);
        };
        assert_eq!(limit(of_bbr), LimitedBy::Unknown, "what it sends again fills the link");
    }

    /// CUBIC at 15 of 87 Mbit/s where 2% of the packets overtake others (simulated): the least round trip is half of the path's.
    #[test]
    fn a_round_trip_that_an_overtaker_halved_is_no_queue() {
        let overtaken = |rtt_ms: u64| {
            move |e: &mut SocketEvidence| {
                e.bin.losses = 4;
                e.state.reorderings = 2572;
                e.state.rtt = Time::from_millis(rtt_ms);
                e.spread = Some(RateSpread {
                    rtt_median: e.state.rtt,
                    ..spread([7e6, 10.2e6], [31.0, 44.0])
                });
            }
        };
        assert_eq!(limit(overtaken(101)), LimitedBy::Congestion);
        assert_eq!(limit(overtaken(120)), LimitedBy::Bandwidth);
    }

    /// BBR whose acknowledgements cross 7 kbit/s, at a round trip of 15 times the least (simulated).
    #[test]
    fn bbr_in_a_long_queue_is_past_its_start_up() {
        let starts = |e: &mut SocketEvidence| {
            e.state.bbr_pacing_gain = Some(2.89);
            e.spread = Some(RateSpread {
                rtt_median: Time::from_millis(110),
                ..spread([9e6; 2], [43.0; 2])
            });
        };
        assert_eq!(limit(starts), LimitedBy::StartUp);
        let queued = |e: &mut SocketEvidence| {
            starts(e);
            e.spread = e.spread.map(|s| RateSpread { rtt_median: Time::from_millis(700), ..s });
        };
        assert_eq!(limit(queued), LimitedBy::Bandwidth);
    }

    /// A window of 25 segments at 8 Mbit/s over 29 ms, counted as the limit: round trips of 37.6 ms that vary by 0.2 ms (Linux 6.18).
    #[test]
    fn a_window_that_stays_full_and_keeps_a_queue_limits_nothing() {
        let window = |e: &mut SocketEvidence| {
            e.bin.acked_bytes = 965_000;
            e.bin.rwnd_limited = Time::from_secs(1);
            (e.state.window_bytes, e.state.in_flight_segments) = (Some(25 * 1448), 25);
            (e.state.rtt, e.state.min_rtt) =
                (Time::from_nanos(37_600_000), Some(Time::from_nanos(29_100_000)));
            e.state.rtt_deviation = Time::from_nanos(200_000);
            e.spread = Some(RateSpread {
                rtt_median: e.state.rtt,
                window_stays: true,
                ..RateSpread::default()
            });
        };
        assert_eq!(limit(window), LimitedBy::Bandwidth);
        let read_slowly = |e: &mut SocketEvidence| {
            window(e);
            e.spread = e.spread.map(|spread| RateSpread { window_stays: false, ..spread });
        };
        assert_eq!(limit(read_slowly), LimitedBy::ReceiveWindow, "its reader is behind");
        let delayed = |e: &mut SocketEvidence| {
            window(e);
            e.state.min_rtt = Some(Time::from_millis(34));
        };
        assert_eq!(limit(delayed), LimitedBy::ReceiveWindow, "as long as a delayed answer");
        let varies = |e: &mut SocketEvidence| {
            window(e);
            e.state.rtt_deviation = Time::from_millis(3);
        };
        assert_eq!(limit(varies), LimitedBy::ReceiveWindow);
        let overtaken = |e: &mut SocketEvidence| {
            window(e);
            e.state.reorderings = 9;
        };
        assert_eq!(limit(overtaken), LimitedBy::ReceiveWindow, "the least may be of an overtaker");
    }

    /// A window of 16 segments beside two CUBIC transfers through 30 Mbit/s, `rwnd_limited` 99.8% (Linux 6.18).
    #[test]
    fn a_window_in_the_queue_of_others_is_the_limit() {
        let beside = |rtts: [u64; 2], delivery_bps: [f64; 2]| {
            move |e: &mut SocketEvidence| {
                e.bin.acked_bytes = 390_000;
                e.bin.in_flight_max = 16 * 1448;
                e.bin.rwnd_limited = Time::from_millis(998);
                (e.state.window_bytes, e.state.in_flight_segments) = (Some(16 * 1448), 16);
                (e.state.rtt, e.state.min_rtt) =
                    (Time::from_millis(59), Some(Time::from_millis(8)));
                e.state.rtt_deviation = Time::from_nanos(400_000);
                e.spread = Some(RateSpread {
                    rtt_median: e.state.rtt,
                    rtt_quartiles: rtts.map(Time::from_millis),
                    window_stays: true,
                    ..spread(delivery_bps, [32.0, 32.0])
                });
            }
        };
        assert_eq!(limit(beside([54, 62], [2.9e6, 3.4e6])), LimitedBy::ReceiveWindow);
        let alone = beside([58, 59], [3.1e6, 3.1e6]);
        assert_eq!(limit(alone), LimitedBy::Bandwidth);
        let by_the_list = |e: &mut SocketEvidence| {
            alone(e);
            e.beside_bps = 25e6;
        };
        assert_eq!(limit(by_the_list), LimitedBy::ReceiveWindow);
        let of_bbr = |e: &mut SocketEvidence| {
            by_the_list(e);
            e.bin.rwnd_limited = Time::from_millis(520);
            e.state.bbr_pacing_gain = Some(1.0);
        };
        assert_eq!(
            limit(of_bbr),
            LimitedBy::ReceiveWindow,
            "its rate is what the window let it see"
        );
        let hardly_beside = |e: &mut SocketEvidence| {
            alone(e);
            e.beside_bps = 0.3e6;
        };
        assert_eq!(limit(hardly_beside), LimitedBy::Bandwidth);
        // A window that has just filled the queue, at the rate of the link all the while.
        assert_eq!(limit(beside([40, 59], [3.1e6, 3.1e6])), LimitedBy::Bandwidth);
    }

    #[test]
    fn a_buffer_that_keeps_a_queue_is_not_too_small() {
        let buffered = |e: &mut SocketEvidence| {
            e.state.unsent_bytes = Some(0);
            e.state.in_flight_segments = 40;
            e.state.send_buffer = Some(BufferFill { used: 90_000, limit: 80_000 });
            e.state.send_buffer_grows = Some(false);
            e.state.delivery_bps = Some(10.5e6);
            e.bin.sndbuf_limited = Time::from_millis(600);
        };
        assert_eq!(limit(buffered), LimitedBy::SendBuffer);
        let queued = |e: &mut SocketEvidence| {
            buffered(e);
            e.spread =
                Some(RateSpread { rtt_median: Time::from_millis(90), ..RateSpread::default() });
        };
        assert_eq!(limit(queued), LimitedBy::Bandwidth);
        let pauses = |e: &mut SocketEvidence| {
            queued(e);
            e.state.delivery_bps = Some(20e6);
        };
        assert_eq!(limit(pauses), LimitedBy::SendBuffer, "the link rests for half of the time");
    }
}
