//! Made evidence: one limit at a time, and findings that follow from numbers.

use std::net::SocketAddr;

use super::*;
use crate::evidence::{Bin, Bins, BlackHole, DirectionStats, Handshake, Marks};
use crate::units::Time;

const ROUND_TRIP: Time = Time::from_millis(40);

/// A direction of ten round trips, each as `each` makes it, over a link of 20 Mbit/s.
fn stats(each: impl Fn(u64, &mut Bin)) -> DirectionStats {
    let mut bins = Bins::new(Time::ZERO, ROUND_TRIP);
    for n in 0..10 {
        let bin = bins.at(ROUND_TRIP.times(n));
        bin.segments = 10;
        bin.sent_bytes = 14_480;
        bin.acked_bytes = 14_480;
        bin.in_flight_max = 14_480;
        bin.window_left_min = Some(1 << 20);
        (bin.rtt_count, bin.rtt_sum) = (1, ROUND_TRIP);
        each(n, bin);
    }
    bins.finish(ROUND_TRIP.times(10));
    DirectionStats {
        data_packets: 100,
        payload_bytes: 144_800,
        unique_bytes: 144_800,
        mss_used_bytes: Some(1448),
        capacity_bps: Some(20e6),
        path_rtt_min_s: Some(ROUND_TRIP.as_secs_f64()),
        bins,
        ..DirectionStats::default()
    }
}

fn largest(stats: &DirectionStats) -> LimitedBy {
    let limits = Limits::of(stats);
    let sum: f64 = limits.shares.iter().map(|limit| limit.share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "shares sum up to {sum}");
    limits.shares[0].kind
}

/// Puts a limit's sign into the interval with this number.
type Sign<'a> = &'a dyn Fn(u64, &mut Bin);

#[test]
fn each_limit_has_its_sign() {
    let link = 20_000_000 / 8 / 25; // bytes of a round trip
    let signs: [(LimitedBy, Sign<'_>); 9] = [
        (LimitedBy::Application, &|_, bin| bin.idle = Time::from_millis(30)),
        (LimitedBy::Application, &|_, bin| bin.app_limited = Time::from_millis(30)),
        (LimitedBy::SendBuffer, &|_, bin| bin.sndbuf_limited = Time::from_millis(10)),
        (LimitedBy::ReceiveWindow, &|_, bin| bin.window_left_min = Some(1000)),
        (LimitedBy::Rto, &|_, bin| bin.rto_wait = Time::from_millis(30)),
        (LimitedBy::Bandwidth, &move |_, bin| bin.acked_bytes = link),
        (LimitedBy::Congestion, &|_, bin| bin.losses = 1),
        (LimitedBy::StartUp, &|n, bin| bin.in_flight_max = 1000 << n),
        (LimitedBy::Unknown, &|_, bin| bin.window_left_min = None),
    ];
    for (wanted, sign) in signs {
        assert_eq!(largest(&stats(sign)), wanted);
    }
}

#[test]
fn a_window_that_fills_the_link_is_not_what_limits() {
    let full = stats(|_, bin| {
        bin.window_left_min = Some(0);
        bin.acked_bytes = 200_000;
        bin.rtt_sum = ROUND_TRIP.times(2);
    });
    assert_eq!(largest(&full), LimitedBy::Bandwidth);
}

#[test]
fn long_round_trips_fill_no_link_that_is_nearly_empty() {
    let slow = stats(|_, bin| {
        bin.losses = 1;
        bin.rtt_sum = ROUND_TRIP.times(2);
    });
    assert_eq!(largest(&slow), LimitedBy::Congestion);
}

#[test]
fn a_black_hole_counts_only_where_smaller_segments_arrive() {
    let mut black_hole = stats(|_, _| ());
    let hole = BlackHole {
        from: Time::ZERO,
        to: ROUND_TRIP.times(9),
        frame: 1,
        segment_bytes: 1448,
        repeats: 4,
        passed_bytes: 1024,
    };
    black_hole.black_hole = Some(hole);
    assert_eq!(largest(&black_hole), LimitedBy::PathMtu);
    black_hole.black_hole = Some(BlackHole { passed_bytes: 0, ..hole });
    assert_ne!(largest(&black_hole), LimitedBy::PathMtu);
}

fn evidence(forward: DirectionStats) -> Evidence {
    let end = |text: &str| -> SocketAddr { text.parse().unwrap() };
    Evidence {
        id: 0,
        client: end("10.0.0.1:40000"),
        server: end("10.0.0.2:80"),
        begin: Time::ZERO,
        end: ROUND_TRIP.times(10),
        handshake: Handshake { syn: true, syn_ack: true, ..Handshake::default() },
        ending: crate::evidence::Ending::Closed,
        reset_at: None,
        silence: None,
        requests: None,
        forward,
        reverse: DirectionStats { mss_option_bytes: Some(536), ..offers() },
        path_mtu_events: Vec::new(),
        marks: Marks::default(),
    }
}

/// What a SYN of today offers.
fn offers() -> DirectionStats {
    DirectionStats {
        mss_option_bytes: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: true,
        ..DirectionStats::default()
    }
}

fn kinds(evidence: &Evidence) -> Vec<FindingKind> {
    diagnose(evidence).findings.iter().map(|finding| finding.kind).collect()
}

/// Puts something into clean evidence.
type Make = fn(&mut Evidence);

#[test]
fn findings_follow_from_numbers() {
    let clean = || {
        let DirectionStats { mss_option_bytes, window_scale, sack_permitted, timestamps, .. } =
            offers();
        DirectionStats {
            mss_option_bytes,
            window_scale,
            sack_permitted,
            timestamps,
            ..stats(|_, _| ())
        }
    };
    assert_eq!(kinds(&evidence(clean())), []);
    let made: [(FindingKind, Make); 8] = [
        (FindingKind::SmallMss, |it| it.forward.mss_used_bytes = Some(524)),
        (FindingKind::Loss, |it| it.forward.retransmitted_packets = 5),
        (FindingKind::Timeouts, |it| it.forward.timeouts = 1),
        (FindingKind::Reordering, |it| it.forward.out_of_order_packets = 1),
        (FindingKind::ZeroWindow, |it| it.reverse.zero_windows = 1),
        (FindingKind::Fragmentation, |it| it.forward.fragmented_packets = 1),
        (FindingKind::OptionMissing, |it| it.reverse.sack_permitted = false),
        (FindingKind::CaptureQuality, |it| it.marks.one_way = true),
    ];
    for (kind, make) in made {
        let mut evidence = evidence(clean());
        make(&mut evidence);
        assert_eq!(kinds(&evidence), [kind]);
    }
}
