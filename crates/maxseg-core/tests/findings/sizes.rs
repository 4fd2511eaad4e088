//! Segment sizes, the path MTU, black holes.

use maxseg_core::diagnose::{FindingKind, Severity};
use maxseg_core::evidence::{BlackHole, DirectionStats, PathMtuEvent};
use maxseg_testkit::ROUND_TRIP;

use super::{found, severities, told_mtu};

/// 12 of 1460 bytes are timestamps: 1448 are left, and 85% of them are 1230.8.
#[test]
fn segments_are_small_below_85_percent_of_what_fits() {
    let small = |used: u32, packets: u64, bytes: u64| {
        severities(|it| {
            it.forward.mss_used_bytes = Some(used);
            it.forward.data_packets = packets;
            it.forward.unique_bytes = bytes;
            it.reverse.mss_option_bytes = Some(u16::try_from(used + 12).unwrap());
        })
    };
    let warning = [(FindingKind::SmallMss, Severity::Warning)];
    assert_eq!(small(1230, 100, 144_800), warning);
    assert_eq!(small(1231, 100, 144_800), []);
    // Too few bytes, and too few packets, say nothing about segment sizes.
    assert_eq!(small(1230, 16, 20_000), warning);
    assert_eq!(small(1230, 15, 20_000), []);
    assert_eq!(small(1230, 16, 19_999), []);
}

/// Segments that an application writes one by one are small, and nobody asked for it.
#[test]
fn small_segments_need_somebody_who_asks_for_them() {
    let small = |asked: u16| {
        severities(|it| {
            it.forward.mss_used_bytes = Some(500);
            it.reverse.mss_option_bytes = Some(asked);
        })
    };
    assert_eq!(small(1460), []);
    assert_eq!(small(521), []); // 500 and 12 of timestamps are 9 below it
    assert_eq!(small(520), [(FindingKind::SmallMss, Severity::Warning)]);
    // A receiver that announces no less than the sender's own link takes asks for nothing smaller.
    let equal = found(|it| {
        it.forward.mss_used_bytes = Some(524);
        it.forward.mss_option_bytes = Some(536);
        it.reverse.mss_option_bytes = Some(536);
    });
    assert!(equal.iter().all(|finding| finding.kind != FindingKind::SmallMss), "{equal:?}");
}

/// The router that captures gets 1460 and sends 300 on.
#[test]
fn the_host_of_the_capture_may_ask_for_smaller_segments() {
    let found = found(|it| {
        it.forward.mss_used_bytes = Some(288);
        it.reverse.mss_option_bytes = Some(1460);
        it.reverse.mss_option_elsewhere = Some(300);
    });
    let small = found.iter().find(|finding| finding.kind == FindingKind::SmallMss).unwrap();
    assert_eq!(small.severity, Severity::Warning);
    assert!(small.text.contains("an MSS of 1460, and the host of the capture sends 300 on"));
}

/// A packet of 576 bytes passes every link of IPv4 (RFC 9293 §3.7.1): a sender whose own option is below 536 was told to be.
#[test]
fn an_own_option_below_what_every_link_takes_is_of_no_link() {
    let small = |own: u16, used: u32| {
        let found = found(|it| {
            it.forward.mss_used_bytes = Some(used);
            it.forward.mss_option_bytes = Some(own);
            it.reverse.mss_option_bytes = Some(1460);
        });
        found.into_iter().find(|finding| finding.kind == FindingKind::SmallMss)
    };
    assert!(small(400, 388).unwrap().text.contains("carries an MSS of 400"));
    assert!(small(536, 524).is_none(), "of a link with an MTU of 576");
    assert!(small(400, 300).is_none(), "what a program writes is smaller still");
}

/// 52 of 552 bytes are headers where 52 of 1500 could be: a full link carries so much less payload.
#[test]
fn the_gain_is_that_of_the_headers_share() {
    let found = found(|it| {
        it.forward.mss_used_bytes = Some(500);
        it.reverse.mss_option_bytes = Some(512);
    });
    let number = |name: &str| {
        found[0].evidence.iter().find(|number| number.name == name).map(|number| number.value)
    };
    let near = |got: Option<f64>, wanted: f64| (got.unwrap() - wanted).abs() < 1e-12;
    assert!(near(number("header_share"), 52.0 / 552.0), "{:?}", number("header_share"));
    let gain = (1448.0 / 1500.0) / (500.0 / 552.0) - 1.0;
    assert!(near(number("gain_on_a_full_link"), gain), "{:?}", number("gain_on_a_full_link"));
}

/// A reported MTU explains segments that fill it; smaller ones are what the application writes.
#[test]
fn a_reported_mtu_explains_small_segments() {
    let is_small = |mtu: u32| {
        let found = found(|it| {
            it.forward.mss_used_bytes = Some(500);
            it.path_mtu_events = vec![told_mtu(it, mtu)];
        });
        found.iter().any(|finding| finding.kind == FindingKind::SmallMss)
    };
    assert!(is_small(500 + 12 + 40));
    assert!(!is_small(1400) && !is_small(1500) && !is_small(68));
}

/// A router clamps the MSS, and the capture has the SYNs as they were before it.
#[test]
fn small_segments_that_nothing_explains_are_noted() {
    let small = |in_flight: u64, bytes: u64| {
        severities(|it| {
            it.forward.mss_used_bytes = Some(288);
            (it.forward.data_packets, it.forward.unique_bytes) = (10_000, bytes);
            it.forward.in_flight_max_bytes = in_flight;
        })
    };
    assert_eq!(small(383_000, 2_880_000), [(FindingKind::SmallMss, Severity::Note)]);
    assert_eq!(small(383_000, 2_000_000), [], "writes of many sizes");
    assert_eq!(small(2_880, 2_880_000), [], "a program that writes now and again");
}

/// Where smaller segments pass it is the size (RFC 2923 §2.1); where segments of its size passed before, the host.
#[test]
fn a_black_hole_is_proved_by_what_passes() {
    let hole = |passed_bytes: u32, passed_before_bytes: u32| {
        found(|it| {
            it.forward.black_hole = Some(BlackHole {
                from: ROUND_TRIP.times(2),
                to: ROUND_TRIP.times(4),
                frame: 7,
                segment_bytes: 1448,
                repeats: 4,
                passed_bytes,
                passed_before_bytes,
            });
        })
    };
    let proved = &hole(1024, 1024)[0];
    assert_eq!((proved.kind, proved.severity), (FindingKind::BlackHole, Severity::Problem));
    assert!(proved.text.contains("1500 bytes") && proved.text.contains("1024"), "{}", proved.text);
    // None of its size ever arrived; or some did, and the host is gone.
    assert_eq!(hole(0, 517)[0].severity, Severity::Warning);
    assert!(hole(0, 517)[0].text.contains("517"), "{}", hole(0, 517)[0].text);
    assert_eq!(hole(0, 1448), []);
}

/// A message that comes behind all retransmissions was late, and nobody left it unheeded.
#[test]
fn a_message_that_comes_at_the_end_is_not_unheeded() {
    let text = |told_after: u64| {
        let found = found(|it| {
            it.path_mtu_events =
                vec![PathMtuEvent { at: ROUND_TRIP.times(2 + told_after), ..told_mtu(it, 1300) }];
            it.forward.black_hole = Some(BlackHole {
                from: ROUND_TRIP.times(2),
                to: ROUND_TRIP.times(102),
                frame: 7,
                segment_bytes: 1448,
                repeats: 4,
                passed_bytes: 1248,
                passed_before_bytes: 0,
            });
        });
        let hole = found.into_iter().find(|finding| finding.kind == FindingKind::BlackHole);
        hole.unwrap().text
    };
    assert!(
        text(99).contains("until 10.0.0.9 reports a next-hop MTU of 1300, after"),
        "{}",
        text(99)
    );
    assert!(text(1).contains("which the sender does not heed"), "{}", text(1));
}

/// The smallest MTU of several reports is the path's (RFC 1191 §4).
#[test]
fn of_several_reported_mtus_the_smallest_counts() {
    let found = found(|it| {
        it.path_mtu_events = vec![told_mtu(it, 1400), told_mtu(it, 1280), told_mtu(it, 1380)];
    });
    let told = found.iter().find(|finding| finding.kind == FindingKind::PathMtuReduced).unwrap();
    let number = |name: &str| {
        told.evidence.iter().find(|number| number.name == name).map(|number| number.value)
    };
    assert_eq!(number("mtu_bytes"), Some(1280.0));
    assert_eq!(number("packet_bytes"), Some(1500.0));
}

/// A router, or a host's own card, quotes a packet of several segments: none of them is longer than both MSS options allow.
#[test]
fn of_joined_packets_that_are_quoted_one_is_told() {
    let sent = |options: Option<(u16, u16)>, packet_bytes: u32, mtu: u32| {
        let found = found(|it| {
            it.forward.offloaded_packets = 9;
            it.marks.offloaded = true;
            it.forward.mss_option_bytes = options.map(|(own, _)| own);
            it.reverse.mss_option_bytes = options.map(|(_, peer)| peer);
            it.path_mtu_events = vec![PathMtuEvent { packet_bytes, ..told_mtu(it, mtu) }];
        });
        let told = found.iter().find(|finding| finding.kind == FindingKind::PathMtuReduced);
        told.unwrap().text.rsplit_once("sent ").unwrap().1.to_owned()
    };
    assert_eq!(sent(Some((8960, 8960)), 26_896, 1500), "9000");
    assert_eq!(sent(Some((1460, 8960)), 7292, 1300), "1500", "its own link takes no more");
    assert_eq!(sent(Some((1460, 1460)), 1500, 1300), "1500");
    assert_eq!(sent(None, 7292, 1300), "larger packets");
    assert_eq!(sent(Some((1260, 1460)), 7292, 1400), "larger packets", "one of them was clamped");
}

/// Counts of segments are of payload where packets are joined, and copies count once, whatever they are cut into.
#[test]
fn joined_packets_count_as_the_segments_that_they_carry() {
    let joined = DirectionStats {
        packets: 750,
        data_packets: 750,
        payload_bytes: 2 * 1_448_000,
        unique_bytes: 1_448_000 - 14_480,
        retransmitted_bytes: 14_480,
        retransmitted_packets: 5,
        mss_used_bytes: Some(1448),
        offloaded_packets: 250,
        capture_duplicates: 500,
        ..DirectionStats::default()
    };
    assert_eq!(
        (joined.segments(), joined.lost_segments(), joined.resent_segments()),
        (1000, 10, 10)
    );
    let apart = DirectionStats { offloaded_packets: 0, ..joined };
    assert_eq!((apart.segments(), apart.lost_segments(), apart.resent_segments()), (250, 5, 5));
}
