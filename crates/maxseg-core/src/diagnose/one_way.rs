//! What one direction alone shows, and a shut window without the handshake. Flights and windows are not seen together there:
//! few limits leave a sign, and the others stay unknown.

use super::alone;
use super::data_queue::tell_delays;
use super::full_link::has_room;
use super::intervals::{busy_bins, share_of_time};
use super::pace::{Pace, variation};
use super::send_buffer::lets_flight_drain;
use crate::evidence::{AckGaps, Direction, DirectionStats, Evidence};
use crate::outcome::LimitedBy;
use crate::units::Time;

/// The application limits where the sender had nothing more to send for this share of the time.
const OUT_OF_DATA: f64 = 0.5;
/// Losses without a change of the rate are those of a full link: it varies by less than this share of itself. A rate that
/// follows CUBIC's window, which falls to 0.7 at a loss (RFC 9438 §4.6), varies by as much.
const CEILING: f64 = 0.1;
/// A link that is full for half of the time, and carries nothing in the other, has a rate that varies by itself: one that varies
/// by more, and loses, is limited by its losses, however few of them there are.
const BROKEN: f64 = 1.0;
/// A queue that overflows drops several packets; fewer losses are chance, and the even rate may be that of a program or of a reader.
const OVERFLOWED: u64 = 5;
/// A program whose short segments are the last before a pause for more of the time than this writes at that rate: an even one, or one
/// that varies by itself, and losses do not explain it.
const OF_PROGRAM: f64 = 0.1;
/// Losses that come with changes of the rate by more than this share of it, so many of them, are what limits.
const CHANGES: f64 = 0.25;
const MANY_LOSSES: u64 = 6;
/// The data queues where three of four segments wait for so long beyond the least, two steps of the clocks,
const QUEUE_S: f64 = 0.002;
/// and longer than acknowledgements wait for a second segment, or what lies behind a loss;
const DELAYED_ACK_SEGMENTS: f64 = 3.0;
/// and where half of them wait for no more than so many times that: a queue that empties after each loss does not stand.
const STANDS: f64 = 2.0;
/// What radio frames, or the grants of a cable modem, deliver together waits for anything between nothing and a period of 20 ms at most: one
/// in twenty for 3.8 times as long as three of four do. A queue that stands varies by less.
const FRAMED: f64 = 3.5;
const QUARTER_OF_PERIOD_S: f64 = 0.005;
/// A full link delivers all the time: pauses for this share of it are of a program, a window or a timer.
const PAUSED: f64 = 0.1;
/// Gaps between acknowledgements grow with what they cover, by about so much, and vary by no more than this (the standard deviation
/// of their logarithms), behind a link that is full, whoever fills it; fewer may be chance.
const TWICE: std::ops::Range<f64> = 1.7..2.15;
const STEADY_GAPS: f64 = 0.45;
/// Losses open gaps as well: so few, one in so many segments, leave most of them as they are. They overflowed the queue: the link carries
/// no more, however fast single trains came, which a receiver's own host may have put together.
const FEW_LOST: u64 = 500;
const ENOUGH_GAPS: u32 = 100;
/// The timer limits where waits for it take this share of the time.
const OF_TIMER: f64 = 0.15;
/// A window that shut so often is what limits.
const OFTEN_SHUT: u64 = 5;
/// So is one that is low for this share of the time.
const LOW: f64 = 0.5;

/// The limit of a connection of which only one direction was captured, where that shows it.
pub(super) fn limit(evidence: &Evidence, direction: Direction) -> Option<LimitedBy> {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    if evidence.marks.one_way {
        let lasted = evidence.end.since(evidence.begin);
        return if data.payload_bytes > 0 {
            of_data(data, acks, lasted)
        } else {
            of_acks(data, acks, lasted)
        };
    }
    if evidence.marks.mid_stream {
        return of_late(data, acks);
    }
    // A window that is low or shut is, whatever its scale.
    (!knows_scale(data, acks) && is_read_slowly(acks)).then_some(LimitedBy::ReceiveWindow)
}

/// Whether the handshake shows how the receiver of a direction scales its windows: either SYN without the option does (RFC 7323 §2.2).
fn knows_scale(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let (own, peer) = (acks.syn.filter(|syn| !syn.is_cut), data.syn.filter(|syn| !syn.is_cut));
    own.is_some() || peer.is_some_and(|syn| syn.window_scale.is_none())
}

/// Without the handshake windows are known by what was in flight only: one that is shut is, whatever its scale. Nor are round
/// trips known without timestamps, but what the rate does at losses is.
fn of_late(data: &DirectionStats, acks: &DirectionStats) -> Option<LimitedBy> {
    if is_read_slowly(acks) {
        return Some(LimitedBy::ReceiveWindow);
    }
    if Pace::of(data, acks).keeps_rate && !lets_flight_drain(data) || is_full_of_late(data) {
        Some(LimitedBy::Bandwidth)
    } else if data.path_rtt_min_s.is_none() {
        of_losses(data, variation(data)?)
    } else if has_room(data) && share_of_time(data, |bin| bin.rto_wait) < OF_TIMER {
        of_losses(data, variation(data)?).filter(|limit| *limit == LimitedBy::Congestion)
    } else {
        None
    }
}

/// Whether acknowledgements of two segments come twice as long after the one before as those of one, with few losses: the link of the
/// data is full, where its trains are no faster, or something was lost. A window leaves pauses.
fn is_full_of_late(data: &DirectionStats) -> bool {
    let is_of_link = |gaps: AckGaps| {
        gaps.count >= ENOUGH_GAPS && TWICE.contains(&gaps.ratio) && gaps.deviation < STEADY_GAPS
    };
    let lost = data.needed_retransmissions();
    data.ack_gaps.is_some_and(is_of_link)
        && lost * FEW_LOST <= data.data_packets
        && (data.capacity_bps.is_none() || !has_room(data) || lost > 0)
}

/// The data alone shows pauses behind short segments, losses, and how the rate changes.
fn of_data(data: &DirectionStats, acks: &DirectionStats, lasted: Time) -> Option<LimitedBy> {
    if is_asked(data, acks) && share_of_time(data, |bin| bin.app_limited) >= OUT_OF_DATA {
        return Some(LimitedBy::Application);
    }
    if alone::fills_link(data, f64::from(data.full_segment()), lasted) {
        return Some(LimitedBy::Bandwidth);
    }
    of_losses(data, variation(data)?)
}

/// What losses do to the rate, which varies by this share of itself.
fn of_losses(data: &DirectionStats, varies: f64) -> Option<LimitedBy> {
    let is_out_of_data = share_of_time(data, |bin| bin.app_limited) >= OF_PROGRAM;
    if data.needed_retransmissions() == 0 || is_out_of_data {
        return None;
    }
    let is_often = data.loss_episodes.count() >= MANY_LOSSES;
    if varies < CEILING {
        (data.needed_retransmissions() >= OVERFLOWED).then_some(LimitedBy::Bandwidth)
    } else if is_often && varies > CHANGES || varies > BROKEN {
        Some(LimitedBy::Congestion)
    } else {
        None
    }
}

/// Whether pauses end with payload of the other end, requests, of which this one acknowledges a byte for each at least: a window
/// stops a sender behind a short segment as well.
fn is_asked(data: &DirectionStats, acks: &DirectionStats) -> bool {
    let pauses = busy_bins(data).filter(|bin| bin.app_limited > Time::ZERO).count();
    acks.acked_bytes > 0 && acks.acked_bytes >= pauses as u64
}

/// Whether the windows of these acknowledgements were often shut, or small beside the largest for most of the time.
fn is_read_slowly(acks: &DirectionStats) -> bool {
    acks.window_shut_times >= OFTEN_SHUT || acks.low_windows.is_some_and(|share| share >= LOW)
}

/// Whether the reader is behind for most of the time, and its buffer becomes full again and again: then it sets the pace, as
/// what is lost is sent again before it has read the rest.
pub(super) fn is_always_behind(acks: &DirectionStats) -> bool {
    acks.window_shut_times >= OFTEN_SHUT && acks.low_windows.is_some_and(|share| share >= LOW)
}

/// The acknowledgements alone show windows, and by their timestamps how long the data was on its way.
fn of_acks(data: &DirectionStats, acks: &DirectionStats, lasted: Time) -> Option<LimitedBy> {
    if is_read_slowly(acks) {
        return Some(LimitedBy::ReceiveWindow);
    }
    let segment = acks.mss_option_bytes.map_or(1460.0, f64::from);
    if alone::fills_link(data, segment, lasted) {
        return Some(LimitedBy::Bandwidth);
    }
    let way = data.way_delay.filter(|_| tell_delays(acks))?;
    let segments = (data.acked_bytes as f64 / segment).max(1.0);
    let longer = QUEUE_S.max(DELAYED_ACK_SEGMENTS * lasted.as_secs_f64() / segments);
    let is_framed = way.low_s <= QUARTER_OF_PERIOD_S && way.high_s >= FRAMED * way.low_s;
    let pauses = way.paused_s >= PAUSED * lasted.as_secs_f64();
    (way.low_s >= longer && way.median_s <= STANDS * way.low_s && !is_framed && !pauses)
        .then_some(LimitedBy::Bandwidth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Bins, LossEpisode, WayDelay};

    #[test]
    fn acknowledgements_show_windows_and_queues() {
        let none = DirectionStats::default();
        let shut = DirectionStats { window_shut_times: 9, ..DirectionStats::default() };
        // 250 segments of payload a second.
        let shows = |data: &DirectionStats, acks: &DirectionStats| {
            let data = DirectionStats { acked_bytes: 250 * 1460, ..data.clone() };
            of_acks(&data, acks, Time::from_secs(1))
        };
        assert_eq!(shows(&none, &shut), Some(LimitedBy::ReceiveWindow));
        let low = DirectionStats { low_windows: Some(0.8), ..DirectionStats::default() };
        assert_eq!(shows(&none, &low), Some(LimitedBy::ReceiveWindow));
        let way = |low_s, median_s| {
            let way =
                WayDelay { count: 500, low_s, median_s, high_s: median_s, ..WayDelay::default() };
            DirectionStats { way_delay: Some(way), ..DirectionStats::default() }
        };
        assert!(!is_always_behind(&shut) && !is_always_behind(&low), "it may have caught up");
        assert!(is_always_behind(&DirectionStats { window_shut_times: 9, ..low }));
        let none = DirectionStats { packets: 500, ..none };
        assert_eq!(shows(&way(0.02, 0.03), &none), Some(LimitedBy::Bandwidth));
        assert_eq!(shows(&way(0.0, 0.03), &none), None);
        assert_eq!(shows(&way(0.008, 0.008), &none), None, "as long as two segments take");
        assert_eq!(shows(&way(0.015, 0.052), &none), None, "it empties now and then");
        let paused = |paused_s| {
            let way_delay = way(0.02, 0.03).way_delay.map(|way| WayDelay { paused_s, ..way });
            DirectionStats { way_delay, ..DirectionStats::default() }
        };
        assert_eq!(shows(&paused(0.05), &none), Some(LimitedBy::Bandwidth));
        assert_eq!(shows(&paused(0.4), &none), None, "a program that sends now and then");
        let framed = |high_s| {
            let way = WayDelay {
                count: 500,
                low_s: 0.005,
                median_s: 0.008,
                high_s,
                ..WayDelay::default()
            };
            let fast = DirectionStats {
                acked_bytes: 10_000_000,
                way_delay: Some(way),
                ..DirectionStats::default()
            };
            of_acks(&fast, &none, Time::from_secs(1))
        };
        assert_eq!(framed(0.018), None, "radio frames");
        assert_eq!(framed(0.012), Some(LimitedBy::Bandwidth));
        assert_eq!(shows(&none, &none), None);
        let lossy = DirectionStats { duplicate_acks: 100, ..none };
        assert_eq!(shows(&way(0.02, 0.03), &lossy), None);
    }

    /// Thirty stretches of the same rate, in each of which the program has no more for so long.
    #[test]
    fn an_even_rate_that_overflows_a_queue_is_of_a_full_link() {
        let shows = |lost, out_ms| {
            let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
            for n in 0..30 {
                let bin = bins.at(Time::from_millis(100 * n));
                (bin.segments, bin.sent_bytes) = (100, 146_000);
                bin.app_limited = Time::from_millis(out_ms);
            }
            bins.finish(Time::from_secs(3));
            let data = DirectionStats {
                bins,
                retransmitted_packets: lost,
                unique_bytes: 4_380_000,
                data_packets: 3000,
                ..DirectionStats::default()
            };
            of_data(&data, &DirectionStats::default(), Time::from_secs(3))
        };
        assert_eq!(shows(12, 0), Some(LimitedBy::Bandwidth));
        assert_eq!(shows(3, 0), None, "single losses: a reader may set the rate");
        assert_eq!(shows(12, 20), None, "a program's writes");
    }

    #[test]
    fn losses_explain_no_rate_that_a_program_varies() {
        let of = |out_ms| {
            let mut bins = Bins::new(Time::ZERO, Time::from_millis(100));
            bins.at(Time::ZERO).app_limited = Time::from_millis(out_ms);
            bins.finish(Time::from_millis(100));
            of_losses(
                &DirectionStats { bins, retransmitted_packets: 9, ..DirectionStats::default() },
                1.4,
            )
        };
        assert_eq!(of(0), Some(LimitedBy::Congestion));
        assert_eq!(of(30), None);
    }

    #[test]
    fn either_syn_without_the_option_tells_the_scale() {
        use crate::evidence::SynFacts;
        let knows = |asks: Option<SynFacts>, answers: Option<SynFacts>| {
            let (data, acks) = (
                DirectionStats { syn: asks, ..DirectionStats::default() },
                DirectionStats { syn: answers, ..DirectionStats::default() },
            );
            knows_scale(&data, &acks)
        };
        let scaled = || Some(SynFacts { window_scale: Some(7), ..SynFacts::default() });
        assert!(knows(scaled(), scaled()) && knows(None, scaled()));
        assert!(!knows(scaled(), None) && !knows(None, None));
        assert!(knows(Some(SynFacts::default()), None), "nobody scales");
        let cut = || Some(SynFacts { is_cut: true, ..SynFacts::default() });
        assert!(!knows(cut(), cut()));
    }

    #[test]
    fn gaps_as_long_as_what_they_cover_are_of_a_full_link() {
        let is_full = |ratio, deviation, needed, capacity_bps| {
            is_full_of_late(&DirectionStats {
                ack_gaps: Some(AckGaps { count: 500, ratio, deviation }),
                retransmitted_packets: needed,
                goodput_bps: Some(5e6),
                capacity_bps,
                data_packets: 5000,
                ..DirectionStats::default()
            })
        };
        assert!(is_full(2.0, 0.3, 0, None));
        assert!(is_full(2.0, 0.3, 0, Some(5.2e6)));
        assert!(!is_full(2.0, 0.3, 0, Some(9e6)), "trains show that it carries more");
        assert!(!is_full(2.0, 0.5, 0, None), "pauses");
        assert!(!is_full(1.0, 0.3, 0, None), "of no link of the data");
        assert!(!is_full(2.3, 0.3, 0, None), "a window of nearly what the path holds");
        assert!(is_full(2.0, 0.3, 5, Some(9e6)), "something overflowed");
        assert!(!is_full(2.0, 0.3, 50, None), "losses open gaps as well");
    }

    #[test]
    fn losses_leave_the_rate_of_a_full_link_and_break_that_of_a_window() {
        let of = |needed, episodes| {
            let mut data =
                DirectionStats { retransmitted_packets: needed, ..DirectionStats::default() };
            for _ in 0..episodes {
                data.loss_episodes.begin(LossEpisode {
                    lost: 1,
                    sent_since: 100,
                    ..LossEpisode::default()
                });
            }
            move |varies| of_losses(&data, varies)
        };
        assert_eq!(of(0, 0)(0.01), None, "none");
        assert_eq!(of(5, 3)(0.05), Some(LimitedBy::Bandwidth));
        assert_eq!(of(3, 3)(0.05), None, "a program or a reader may set that rate");
        assert_eq!(of(3, 3)(0.3), None, "few");
        assert_eq!(of(3, 3)(1.2), Some(LimitedBy::Congestion), "idle for most of the time");
        assert_eq!(of(9, 9)(0.3), Some(LimitedBy::Congestion));
    }
}
