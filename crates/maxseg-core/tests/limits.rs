//! What limited a sender: numbers on both sides of each border of `diagnose::Limits`.

use maxseg_core::diagnose::{Diagnosis, diagnose};
use maxseg_core::evidence::{Beside, Bin, BlackHole, DirectionStats, OptionKind, SynFacts};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;
use maxseg_testkit::{ROUND_TRIP, flight};

/// Ten round trips, each as `each` makes it, in a direction as `change` makes it.
fn diagnosis(each: impl Fn(u64, &mut Bin), change: impl Fn(&mut DirectionStats)) -> Diagnosis {
    let mut evidence = flight(each);
    change(&mut evidence.forward);
    diagnose(&evidence)
}

/// The share of the time that `kind` takes.
fn share(of: &Diagnosis, kind: LimitedBy) -> f64 {
    let sum: f64 = of.limits.iter().map(|limit| limit.share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "shares sum up to {sum}");
    of.limits.iter().filter(|limit| limit.kind == kind).map(|limit| limit.share).sum()
}

#[track_caller]
fn assert_share(of: &Diagnosis, kind: LimitedBy, wanted: f64) {
    let share = share(of, kind);
    assert!((share - wanted).abs() < 1e-9, "{kind}: {share} is not {wanted} in {:?}", of.limits);
}

/// Puts a limit's sign into the interval with this number.
type Sign<'a> = &'a dyn Fn(u64, &mut Bin);

#[test]
fn each_limit_has_its_sign() {
    let most = Time::from_millis(48); // of 64
    let signs: [(LimitedBy, Sign<'_>); 9] = [
        (LimitedBy::Application, &|_, bin| bin.idle = most),
        (LimitedBy::Application, &|_, bin| bin.app_limited = most),
        (LimitedBy::SendBuffer, &|_, bin| bin.sndbuf_limited = Time::from_millis(16)),
        (LimitedBy::ReceiveWindow, &|_, bin| bin.window_left_min = Some(1000)),
        (LimitedBy::Rto, &|_, bin| bin.rto_wait = most),
        (LimitedBy::Bandwidth, &|_, bin| bin.acked_bytes = 160_000),
        (LimitedBy::Congestion, &|_, bin| bin.losses = 1),
        (LimitedBy::StartUp, &|n, bin| bin.in_flight_max = 1000 << n),
        (LimitedBy::Unknown, &|_, bin| bin.window_left_min = None),
    ];
    for (wanted, sign) in signs {
        assert_eq!(diagnosis(sign, |_| ()).limited_by, wanted);
    }
}

#[test]
fn long_round_trips_fill_no_link_that_is_nearly_empty() {
    // Round trips and rates vary, each on its own: the queue is another's.
    let slow = |n: u64, bin: &mut Bin| {
        bin.losses = 1;
        bin.rtt_sum = Time::from_millis(77 + 19 * (n % 3));
        let flight = 10_000 + 7_000 * (n * 3 % 4);
        (bin.in_flight_max, bin.acked_bytes) = (flight, flight);
    };
    assert_eq!(diagnosis(slow, |_| ()).limited_by, LimitedBy::Congestion);
}

/// With the window open, nothing lost and round trips short, a flight that stays as it is is held by the sender's buffer:
/// after the two intervals in which every connection begins.
#[test]
fn a_flight_that_does_not_grow_is_held_by_the_sender() {
    assert_share(&diagnosis(|_, _| (), |_| ()), LimitedBy::SendBuffer, 0.8);
    // Where the window or the round trip was not seen, nobody can tell.
    let no_window = diagnosis(|_, bin| bin.window_left_min = None, |_| ());
    assert_share(&no_window, LimitedBy::Unknown, 0.8);
    let no_rtt = diagnosis(|_, _| (), |stats| stats.path_rtt_min_s = None);
    assert_share(&no_rtt, LimitedBy::Unknown, 0.8);
    // A congestion window of ten segments that is held opens at each acknowledgement.
    let held = diagnosis(|_, _| (), |stats| stats.refills = None);
    assert_share(&held, LimitedBy::Unknown, 0.8);
}

/// Only Linux lets a program wait until a third of its send buffer is free: what looks like that is none on another system.
#[test]
fn a_send_buffer_is_told_by_what_linux_does() {
    use OptionKind::{Mss, NoOperation, SackPermitted, Timestamps, WindowScale};
    let of = |ttl, order: &[OptionKind]| {
        let mut evidence = flight(|_, bin| bin.sndbuf_limited = Time::from_millis(16));
        let order = order.iter().copied().collect();
        evidence.forward.syn = Some(SynFacts { ttl, window: 64_240, order, ..SynFacts::default() });
        diagnose(&evidence)
    };
    let linux = of(64, &[Mss, SackPermitted, Timestamps, NoOperation, WindowScale]);
    assert_eq!(linux.limited_by, LimitedBy::SendBuffer);
    let windows = [Mss, NoOperation, WindowScale, NoOperation, NoOperation, SackPermitted];
    let windows = of(128, &windows);
    assert_eq!(windows.limited_by, LimitedBy::Unknown);
    assert_share(&windows, LimitedBy::SendBuffer, 0.0);
    let why = windows.unknown_because.unwrap();
    assert!(why.contains("is probably Windows") && !why.contains("`ss"), "{why}");
    assert!(!windows.waits_for_room);
    assert_eq!(of(64, &[Mss, Timestamps]).limited_by, LimitedBy::SendBuffer, "no known system");
}

/// Slow start grows by half or doubles in a round trip (RFC 5681 §3.1): a quarter counts, less does not.
#[test]
fn slow_start_is_what_grows_by_a_quarter() {
    let growing = |by: u64, of: u64| {
        diagnosis(
            |n, bin| {
                bin.in_flight_max = (0..n).fold(1 << 40, |flight: u64, _| flight / of * by);
            },
            |_| (),
        )
    };
    assert_share(&growing(5, 4), LimitedBy::StartUp, 1.0);
    // What grows is at no ceiling either.
    assert_share(&growing(6, 5), LimitedBy::StartUp, 0.2);
    assert_share(&growing(6, 5), LimitedBy::Unknown, 0.8);
}

/// Two segments: one that has no room, and one that a delayed acknowledgement holds back.
#[test]
fn a_window_is_full_with_less_than_two_segments_left() {
    let left = |bytes| diagnosis(|_, bin| bin.window_left_min = Some(bytes), |_| ());
    assert_share(&left(2895), LimitedBy::ReceiveWindow, 1.0);
    assert_share(&left(2896), LimitedBy::ReceiveWindow, 0.0);
}

#[test]
fn a_link_is_full_from_85_percent_on() {
    let acked = |bytes| diagnosis(|_, bin| bin.acked_bytes = bytes, |_| ());
    assert_share(&acked(136_000), LimitedBy::Bandwidth, 1.0);
    assert_share(&acked(135_999), LimitedBy::Bandwidth, 0.0);
    // Of an unknown link nothing is known to be full.
    let unknown = diagnosis(|_, bin| bin.acked_bytes = 200_000, |stats| stats.capacity_bps = None);
    assert_share(&unknown, LimitedBy::Bandwidth, 0.0);
}

/// Long round trips are a queue where the link is at least 60% busy.
#[test]
fn a_queue_is_the_links_where_it_is_busy() {
    let queued = |acked: u64, rtt_ms: u64| {
        diagnosis(
            |_, bin| (bin.acked_bytes, bin.rtt_sum) = (acked, Time::from_millis(rtt_ms)),
            |stats| stats.path_rtt_min_s = Some(0.032),
        )
    };
    assert_share(&queued(96_000, 49), LimitedBy::Bandwidth, 1.0);
    assert_share(&queued(95_999, 49), LimitedBy::Bandwidth, 0.0);
    assert_share(&queued(96_000, 48), LimitedBy::Bandwidth, 0.0); // 1.5 times the least
}

/// A full window that also fills the link and its queue costs nothing; one that does not fill the queue does.
#[test]
fn a_full_window_limits_unless_link_and_queue_are_full() {
    let full = |rtt_ms: u64| {
        diagnosis(
            |_, bin| {
                bin.window_left_min = Some(0);
                bin.acked_bytes = 150_000;
                bin.rtt_sum = Time::from_millis(rtt_ms);
            },
            |stats| stats.path_rtt_min_s = Some(0.032),
        )
    };
    assert_share(&full(60), LimitedBy::Bandwidth, 1.0);
    assert_share(&full(40), LimitedBy::ReceiveWindow, 1.0);
}

/// Without SACK nothing behind a hole is acknowledged: what is sent then is what arrives, where it counts in the end.
#[test]
fn behind_a_hole_a_link_is_as_full_as_what_is_sent() {
    let hole = |goodput: f64| {
        diagnosis(
            |n, bin| {
                (bin.losses, bin.acked_bytes) = (u32::from(n == 0), 0);
                bin.sent_bytes = 150_000;
                if n == 9 {
                    bin.acked_bytes = 1_500_000;
                }
            },
            |stats| {
                (stats.sack_permitted, stats.retransmitted_packets) = (false, 10);
                (stats.goodput_bps, stats.acked_bytes) = (Some(goodput), 1_500_000);
            },
        )
    };
    assert_share(&hole(18.75e6), LimitedBy::Bandwidth, 1.0);
    // Most of it waited to the end: the link and the loss both keep it slow.
    let vain = hole(2e6);
    assert_share(&vain, LimitedBy::Unknown, 0.9);
    assert!(vain.unknown_because.unwrap().contains("without SACK"));
}

/// Losses are less sure to be the limit than what is seen, and neither is sure beside another.
#[test]
fn confidence_falls_with_the_lead_and_for_what_is_inferred() {
    let full = |from: u64| {
        let each = move |n: u64, bin: &mut Bin| {
            if n >= from {
                bin.acked_bytes = 160_000;
            }
        };
        diagnosis(each, |_| ()).confidence
    };
    let (always, mostly) = (full(0), full(2));
    assert!((always - 0.99).abs() < 1e-9, "{always}");
    assert!((0.9..always).contains(&mostly), "{mostly}");
    let lost = diagnosis(|_, bin| bin.losses = 1, |_| ()).confidence;
    assert!((lost - 0.98 * 0.99).abs() < 1e-9, "{lost}");
}

/// A reader that is always behind, and shuts the window again and again, limits whatever is lost.
#[test]
fn losses_do_not_hurry_a_slow_reader() {
    let of = |shut| {
        let mut evidence = flight(|_, bin| bin.losses = 1);
        evidence.reverse.syn = Some(SynFacts { window_scale: Some(7), ..SynFacts::default() });
        evidence.reverse.window_shut_times = shut;
        evidence.reverse.low_windows = Some(0.8);
        diagnose(&evidence).limited_by
    };
    assert_eq!((of(9), of(1)), (LimitedBy::ReceiveWindow, LimitedBy::Congestion));
}

/// Losses hold the congestion window down from the first on.
#[test]
fn losses_count_from_the_first_on() {
    let lost = diagnosis(|n, bin| bin.losses = u32::from(n == 4), |_| ());
    assert_share(&lost, LimitedBy::Congestion, 0.6);
    let span = lost.spans.last().unwrap();
    assert_eq!((span.from, span.to), (ROUND_TRIP.times(4), ROUND_TRIP.times(10)));
    assert_eq!(span.kind, LimitedBy::Congestion);
    assert_eq!(lost.spans.len(), 3, "{:?}", lost.spans);
}

#[test]
fn an_interval_without_segments_is_as_the_one_before() {
    let silent = diagnosis(
        |n, bin| {
            bin.window_left_min = Some(if n < 5 { 0 } else { 1 << 20 });
            bin.segments = if n < 5 { 10 } else { 0 };
        },
        |_| (),
    );
    assert_share(&silent, LimitedBy::ReceiveWindow, 1.0);
}

#[test]
fn pauses_of_the_application_are_taken_off_first() {
    let paused = diagnosis(
        |_, bin| {
            bin.idle = Time::from_millis(16);
            bin.window_left_min = Some(0);
        },
        |_| (),
    );
    assert_share(&paused, LimitedBy::Application, 0.25);
    assert_share(&paused, LimitedBy::ReceiveWindow, 0.75);
    assert_eq!(paused.limited_by, LimitedBy::ReceiveWindow);
}

/// Segments that wait in the host's queue for those of another connection look as if there were none.
#[test]
fn a_program_without_data_is_in_doubt_beside_other_connections() {
    let mut evidence = flight(|_, bin| bin.app_limited = ROUND_TRIP);
    assert_eq!(diagnose(&evidence).limited_by, LimitedBy::Application);
    evidence.beside = Some(Beside { connections: 1, bytes: 1_000_000, path_rtt_min_s: None });
    let beside = diagnose(&evidence);
    assert_eq!(beside.limited_by, LimitedBy::Unknown);
    assert_share(&beside, LimitedBy::Application, 0.0);
    let why = beside.unknown_because.unwrap();
    assert!(why.starts_with("1 other connection from "), "{why}");
}

/// A window that has no room for more than half of an interval is what limits it, whatever is left in the end.
#[test]
fn a_window_is_full_when_it_is_shut_for_more_than_half_of_the_time() {
    let shut = |ms| diagnosis(|_, bin| bin.rwnd_limited = Time::from_millis(ms), |_| ());
    assert_share(&shut(33), LimitedBy::ReceiveWindow, 1.0);
    assert_share(&shut(32), LimitedBy::ReceiveWindow, 0.0);
}

/// What is taken first leaves less for the others: no interval has more than its time.
/// Nothing comes through for a round trip and more: that is no link's limit, whatever it carries otherwise.
#[test]
fn a_reader_that_stops_limits_while_it_does() {
    let stops = |n: u64, bin: &mut Bin| {
        bin.acked_bytes = 160_000;
        if (4..7).contains(&n) {
            (bin.acked_bytes, bin.segments) = (0, 0);
            bin.rwnd_limited = bin.duration;
        }
    };
    let of = diagnosis(stops, |_| ());
    assert_eq!(of.limited_by, LimitedBy::Bandwidth);
    assert_share(&of, LimitedBy::ReceiveWindow, 0.3);
}

#[test]
fn a_timer_that_waits_in_a_black_hole_is_the_black_holes_time() {
    let both = diagnosis(
        |_, bin| bin.rto_wait = ROUND_TRIP,
        |stats| {
            stats.black_hole = Some(BlackHole {
                from: Time::from_millis(160),
                to: Time::from_millis(320),
                frame: 1,
                segment_bytes: 1448,
                repeats: 4,
                passed_bytes: 1024,
                passed_before_bytes: 1448,
            });
        },
    );
    assert_share(&both, LimitedBy::PathMtu, 0.25);
    assert_share(&both, LimitedBy::Rto, 0.75);
}

/// A black hole takes its own time, where smaller segments proved it, or none of its size ever arrived.
#[test]
fn a_black_hole_lasts_as_long_as_it_does() {
    let hole = |passed_bytes: u32, passed_before_bytes: u32| {
        diagnosis(
            |_, _| (),
            |stats| {
                stats.black_hole = Some(BlackHole {
                    from: Time::from_millis(160),
                    to: Time::from_millis(320),
                    frame: 1,
                    segment_bytes: 1448,
                    repeats: 4,
                    passed_bytes,
                    passed_before_bytes,
                });
            },
        )
    };
    assert_share(&hole(1024, 1448), LimitedBy::PathMtu, 0.25);
    // None of its size ever arrived; or some did before, and the host is gone.
    assert_share(&hole(0, 517), LimitedBy::PathMtu, 0.25);
    assert_share(&hole(0, 1448), LimitedBy::PathMtu, 0.0);
}

/// Intervals shorter than a round trip are judged together: a flight seen in halves is one.
#[test]
fn short_intervals_are_joined_to_a_round_trip() {
    let halves = |n: u64, bin: &mut Bin| {
        bin.acked_bytes = if n.is_multiple_of(2) { 272_000 } else { 0 }; // 85% of two intervals
        bin.rtt_sum = ROUND_TRIP.times(2);
    };
    let joined = diagnosis(halves, |stats| stats.path_rtt_min_s = Some(0.128));
    assert_share(&joined, LimitedBy::Bandwidth, 1.0);
}
