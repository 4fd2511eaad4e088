//! Copies at other points, and acknowledgements before their data.

mod alone;
mod other_points;
mod repeats;
mod traced;

use maxseg_core::evidence::{ControlKind, Evidence};

use super::Connection;
use crate::flow::Seen;
use crate::flow::key::FlowKey;
use crate::flow::made::{answer, segment};
use crate::tcp::Flags;

/// The evidence of these packets.
fn evidence(packets: &[Seen<'_>]) -> Evidence {
    followed(packets, false)
}

/// Likewise, with or without a trace.
fn followed(packets: &[Seen<'_>], traced: bool) -> Evidence {
    let sender = |seen: &Seen<'_>| FlowKey::of(seen.source, seen.destination).1;
    let mut connection = Connection::new(&packets[0], sender(&packets[0]), traced);
    for (seen, frame) in packets.iter().zip(1..) {
        connection.on_segment(&Seen { frame, ..*seen }, sender(seen));
    }
    connection.into_evidence(0)
}

fn syn(micros: u64) -> Seen<'static> {
    Seen { seq: 999, ack: 0, flags: Flags::SYN, ..segment(micros) }
}

fn syn_ack(micros: u64) -> Seen<'static> {
    Seen { seq: 4999, flags: Flags::SYN | Flags::ACK, ..answer(micros) }
}

/// The n-th hundred bytes.
fn data(micros: u64, n: u32) -> Seen<'static> {
    let ip_id = Some(u16::try_from(100 + n).unwrap());
    Seen { seq: 1000 + 100 * n, payload_len: 100, ip_len: 140, ip_id, ..segment(micros) }
}

/// The acknowledgement of the first n hundred bytes.
fn ack(micros: u64, n: u32) -> Seen<'static> {
    let ip_id = Some(u16::try_from(500 + n).unwrap());
    Seen { ack: 1000 + 100 * n, ip_id, ..answer(micros) }
}

/// One hop behind.
fn routed(seen: Seen<'static>, later: u64) -> Seen<'static> {
    Seen { ttl: seen.ttl - 1, link: 7, at_nanos: seen.at_nanos + later * 1000, ..seen }
}

/// A transfer as a router sees it: before its queue, and behind it after `queue` microseconds.
fn through_a_router(queue: u64) -> Vec<Seen<'static>> {
    let mut packets = vec![syn(0), routed(syn(0), 2), syn_ack(100), routed(syn_ack(100), 2)];
    packets.extend([data(200, 0), routed(data(200, 0), 2), ack(300, 1), routed(ack(300, 1), 2)]);
    for n in 1..200 {
        let at = 1_000 + 100 * u64::from(n);
        packets.extend([data(at, n), routed(data(at, n), queue)]);
        packets.extend([ack(at + queue + 50, n + 1), routed(ack(at + queue + 50, n + 1), 2)]);
    }
    packets.sort_by_key(|seen| seen.at_nanos);
    packets
}

#[test]
fn packets_behind_a_routers_queue_are_copies() {
    for queue in [2, 40_000, 900_000] {
        let evidence = evidence(&through_a_router(queue));
        let (there, back) = (&evidence.forward, &evidence.reverse);
        assert_eq!((there.packets, there.capture_duplicates), (402, 201), "{queue}");
        assert_eq!((back.packets, back.capture_duplicates), (402, 201), "{queue}");
        assert_eq!((there.retransmitted_packets, there.out_of_order_packets), (0, 0), "{queue}");
        assert_eq!(there.unique_bytes, 20_000);
        assert_eq!(evidence.capture.repeating_points, 1);
        assert!(evidence.marks.seen_elsewhere);
    }
}

/// A transfer as both ends see it, 20 ms apart, with the receiver's clock so many microseconds ahead: a window of 20
/// segments each round trip.
fn at_both_ends(ahead: u64) -> Vec<Seen<'static>> {
    const WAY: u64 = 20_000;
    let sent_there = |seen: Seen<'static>| [seen, Seen { link: 0, ..routed(seen, WAY + ahead) }];
    let sent_back = |seen: Seen<'static>| {
        let later = |seen: Seen<'static>, micros: u64| Seen {
            at_nanos: seen.at_nanos + micros * 1000,
            ..seen
        };
        [later(seen, ahead), Seen { ttl: seen.ttl - 1, ..later(seen, WAY) }]
    };
    let mut packets = Vec::new();
    packets.extend(sent_there(syn(0)));
    packets.extend(sent_back(syn_ack(WAY)));
    for n in 0..400_u32 {
        let at = 2 * WAY * (1 + u64::from(n / 20)) + u64::from(n % 20) * 50;
        packets.extend(sent_there(data(at, n)));
        packets.extend(sent_back(ack(at + WAY, n + 1)));
    }
    packets.sort_by_key(|seen| seen.at_nanos);
    packets
}

#[test]
fn a_file_merged_from_both_ends_is_known_by_the_path_between() {
    for ahead in [0, 5_000, 100_000, 5_000_000] {
        let evidence = evidence(&at_both_ends(ahead));
        let (there, back) = (&evidence.forward, &evidence.reverse);
        assert!(evidence.capture.is_merged, "{ahead}");
        assert_eq!((there.retransmitted_packets, there.unique_bytes), (0, 40_000), "{ahead}");
        assert_eq!((there.capture_duplicates, back.duplicate_acks), (401, 0), "{ahead}");
    }
    // Some files do not say which packet was captured where.
    let mut unnamed = at_both_ends(0);
    for seen in &mut unnamed {
        (seen.interface, seen.link, seen.ttl) = (0, 0, 64);
    }
    let unnamed = evidence(&unnamed);
    assert!(unnamed.capture.is_merged);
    // Of two flights of 20 segments, until it is known.
    let there = &unnamed.forward;
    let (resent, copies) = (there.retransmitted_packets, there.capture_duplicates);
    assert!(resent <= 40 && copies >= 360, "{resent} and {copies} of 400");
    for queue in [2, 40_000, 900_000] {
        assert!(!evidence(&through_a_router(queue)).capture.is_merged, "{queue}");
    }
}

#[test]
fn copies_may_have_other_checksums() {
    let mut packets = vec![syn(0), syn_ack(100)];
    for n in 0..50 {
        let at = 200 + 200_000 * u64::from(n);
        // An old stack: the same identification in each packet.
        let data = Seen { ip_id: Some(1), ..data(at, n) };
        packets.extend([(5, 1), (7, 2), (0, 3)].map(|(link, checksum)| Seen {
            link,
            checksum,
            ..data
        }));
        packets.push(Seen { ip_id: Some(1), ..ack(at + 100_000, n + 1) });
    }
    let evidence = evidence(&packets);
    assert_eq!(evidence.forward.retransmitted_packets, 0);
    assert_eq!((evidence.forward.capture_duplicates, evidence.forward.unique_bytes), (100, 5000));
}

#[test]
fn what_was_dropped_before_the_second_point_was_still_sent() {
    let mut packets = through_a_router(40_000);
    // The router dropped the fiftieth; it comes again, and passes.
    let lost = packets.iter().position(|seen| seen.ttl == 63 && seen.seq == 1000 + 5000).unwrap();
    packets.remove(lost);
    let again = Seen { ip_id: Some(900), ..data(300_000, 50) };
    packets.extend([again, routed(again, 40_000)]);
    let evidence = evidence(&packets);
    assert_eq!(evidence.forward.retransmitted_packets, 1);
    assert_eq!(evidence.forward.capture_duplicates, 201);
}

#[test]
fn two_links_that_share_the_load_have_no_copies() {
    let mut packets = vec![syn(0), syn_ack(100)];
    for n in 0..100 {
        let at = 200 + 100 * u64::from(n);
        packets.push(Seen { link: n % 2, ..data(at, n) });
        packets.push(Seen { link: n % 3, ..ack(at + 50, n + 1) });
    }
    let evidence = evidence(&packets);
    assert_eq!(evidence.forward.capture_duplicates + evidence.reverse.capture_duplicates, 0);
    assert_eq!((evidence.forward.unique_bytes, evidence.forward.unseen_bytes), (10_000, 0));
}

#[test]
fn the_other_point_counts_where_the_first_falls_silent() {
    let mut packets = through_a_router(2);
    let last = packets.last().unwrap().at_nanos / 1000 - segment(0).at_nanos / 1000;
    for n in 200..300 {
        packets.push(routed(data(last + 100 * u64::from(n), n), 0));
    }
    let evidence = evidence(&packets);
    assert_eq!(evidence.forward.unique_bytes, 30_000);
    assert_eq!(evidence.forward.retransmitted_packets, 0);
}

#[test]
fn each_direction_may_have_its_interface() {
    let mut packets = vec![syn(0), syn_ack(100)];
    for n in 0..50 {
        let at = 200 + 100 * u64::from(n);
        packets.extend([data(at, n), ack(at + 20, n + 1)]);
    }
    for seen in &mut packets {
        seen.interface = u32::from(seen.source.port() == 80);
    }
    let evidence = evidence(&packets);
    assert!(evidence.capture.is_split && !evidence.marks.seen_elsewhere);
    assert_eq!(evidence.capture.interface, None);
    assert_eq!((evidence.forward.acked_bytes, evidence.forward.unseen_bytes), (5000, 0));
    assert_eq!(evidence.forward.capture_duplicates + evidence.reverse.capture_duplicates, 0);
}

/// A bridge shows a packet first at the interface that it comes in by: another one for each direction, and both have both.
#[test]
fn interfaces_that_both_hold_both_directions_are_of_neither() {
    let mut packets = through_a_router(2);
    for seen in &mut packets {
        let comes_in = seen.link != 7;
        seen.interface = u32::from((seen.source.port() == 80) == comes_in);
    }
    let evidence = evidence(&packets);
    assert_eq!(evidence.forward.capture_duplicates, 201);
    assert!(!evidence.capture.is_split && evidence.marks.seen_elsewhere);
}

#[test]
fn acknowledgements_wait_for_their_data() {
    let mut packets = vec![syn(0), syn_ack(100)];
    for n in 0..50 {
        let at = 1000 + 1000 * u64::from(n);
        packets.extend([ack(at, n + 1), data(at + 400, n)]);
    }
    let evidence = evidence(&packets);
    assert_eq!((evidence.forward.unseen_bytes, evidence.forward.acked_bytes), (0, 5000));
    assert_eq!(evidence.forward.retransmitted_packets, 0);
    assert_eq!(evidence.capture.acks_before_data, 50);
}

#[test]
fn acknowledgements_do_not_wait_for_what_the_capture_lacks() {
    let mut packets = vec![syn(0), syn_ack(100), data(200, 0), ack(300, 1)];
    // The second hundred was not captured.
    packets.extend([ack(500, 2), data(700, 2), ack(800, 3), ack(900, 4)]);
    let evidence = evidence(&packets);
    assert_eq!(evidence.capture.acks_before_data, 0);
    assert_eq!((evidence.forward.unseen_bytes, evidence.forward.acked_bytes), (200, 400));
}

/// One segment in a round trip is what was missing; its acknowledgement covers what came behind it before the capture.
#[test]
fn a_capture_that_begins_in_a_recovery_lacks_nothing() {
    let mut packets = Vec::new();
    for n in (0..50_u32).step_by(5) {
        let at = 1000 + 10_000 * u64::from(n);
        packets.extend([data(at, n), ack(at + 10, n + 5)]);
    }
    let seen = evidence(&packets);
    assert!(seen.marks.mid_stream && !seen.marks.capture_lost, "{:?}", seen.marks);
    // A new segment, far ahead: what is between was sent before as well.
    packets.extend([data(600_000, 80), ack(600_010, 50), data(600_100, 50), ack(600_110, 81)]);
    assert_eq!(evidence(&packets).forward.unseen_bytes, 0);
    // What is acknowledged now and was not seen is missing.
    packets.extend([data(700_000, 81), data(700_100, 82), ack(700_200, 85)]);
    assert_eq!(evidence(&packets).forward.unseen_bytes, 200);
}

/// What was lost before the capture is sent again behind what is new, as SACK lets a sender do.
#[test]
fn what_was_lost_before_the_capture_is_not_sent_in_vain() {
    let mut packets = vec![data(1_000, 60), ack(1_010, 10), data(1_100, 61), ack(1_110, 10)];
    for n in 10..20_u32 {
        let at = 2_000 + 1_000 * u64::from(n);
        packets.extend([data(at, n), ack(at + 10, n + 1)]);
    }
    packets.extend([data(50_000, 62), ack(50_010, 63)]);
    let forward = evidence(&packets).forward;
    assert_eq!((forward.retransmitted_packets, forward.spurious_retransmissions), (10, 0));
    // An acknowledgement had covered this one.
    packets.insert(6, Seen { ip_id: Some(900), ..data(12_500, 10) });
    let forward = evidence(&packets).forward;
    assert_eq!((forward.retransmitted_packets, forward.spurious_retransmissions), (11, 1));
}

/// At the receiver nothing is in flight: what the sender knew when it sent, by the timestamps that it echoes, tells how much it had.
#[test]
fn a_window_that_is_always_full_is_full_at_the_receiver_too() {
    const FLIGHT: u32 = 20;
    let stamps = |value: u32, echo: u32| {
        [&[1, 1, 8, 10][..], &value.to_be_bytes(), &echo.to_be_bytes()].concat()
    };
    let segments = 0..60 * FLIGHT;
    let options: Vec<_> = segments
        .clone()
        .map(|n| (stamps(90_000 + n, 10_000 + n - n.min(FLIGHT)), stamps(10_000 + n, 90_000 + n)))
        .collect();
    let packets: Vec<Seen<'_>> = segments
        .zip(&options)
        .flat_map(|(n, (of_data, of_ack))| {
            let at = u64::from(10_000 * (n / FLIGHT) + 100 * (n % FLIGHT));
            // A quarter of the window, which is one flight.
            let window = u16::try_from(FLIGHT * 100 / 4).unwrap();
            let ack = Seen { window, options: of_ack, ..ack(at + 10, n + 1) };
            [Seen { options: of_data, ..data(at, n) }, ack]
        })
        .collect();
    let bins = evidence(&packets).forward.bins;
    let late = &bins.as_slice()[bins.as_slice().len() / 2..];
    let least: Vec<_> = late.iter().filter_map(|bin| bin.window_left_min).collect();
    assert!(least.len() > 10 && least.iter().all(|left| *left < 200), "{least:?}");
}

#[test]
fn a_clock_that_was_set_changes_no_duration() {
    let hour = 3_600_000_000;
    let plain: Vec<Seen<'_>> = (0..100)
        .flat_map(|n| {
            let at = 1000 + 10_000 * u64::from(n);
            [data(at, n), ack(at + 9_000, n + 1)]
        })
        .collect();
    for (after, before) in [(0, 0), (hour, 0), (0, 5_000_000)] {
        let mut packets = plain.clone();
        for seen in &mut packets[101..] {
            seen.at_nanos = seen.at_nanos + after * 1000 - before * 1000;
        }
        let evidence = evidence(&packets);
        let seconds = evidence.end.since(evidence.begin).as_secs_f64();
        assert!((seconds - 1.0).abs() < 0.02, "{seconds} s");
        assert_eq!(evidence.capture.clock_steps, u64::from(after + before > 0));
        let least = evidence.forward.rtt_min_s.unwrap();
        assert!((least - 0.009).abs() < 1e-6, "{least}");
    }
}

/// Whoever has all of the payload may take its time to answer a FIN: that is no clock that was set.
#[test]
fn a_late_answer_to_a_fin_is_a_pause() {
    let fin = Seen { flags: Flags::FIN | Flags::ACK, seq: 1100, ip_id: Some(900), ..segment(400) };
    let late =
        Seen { flags: Flags::FIN | Flags::ACK, ack: 1101, ip_id: Some(901), ..answer(235_000_400) };
    let packets = [syn(0), syn_ack(100), data(200, 0), ack(300, 1), fin, late];
    let evidence = evidence(&packets);
    assert_eq!(evidence.capture.clock_steps, 0);
    assert!(evidence.end.since(evidence.begin).as_secs_f64() > 230.0);
    // Nothing but that acknowledges the payload: no timer waited for so long.
    let packets = [syn(0), syn_ack(100), data(200, 0), Seen { ack: 1100, ..late }];
    assert_eq!(self::evidence(&packets).capture.clock_steps, 1);
}

/// Data after a long idle time is no clock that was set, though acknowledgements were not captured: the last, or all of one direction.
#[test]
fn idle_times_of_a_capture_that_lacks_acknowledgements_are_pauses() {
    let later = |micros: u64, n: u32| data(600_000_000 + micros, n);
    let opening = [syn(0), syn_ack(100), data(200, 0)];
    let steps = |rest: &[Seen<'static>]| {
        let evidence = evidence(&[&opening, rest].concat());
        evidence.capture.clock_steps
    };
    assert_eq!(steps(&[ack(300, 1), data(400, 1), data(500, 2), later(0, 3)]), 0, "the last");
    assert_eq!(steps(&[data(400, 1), data(500, 2), data(600, 3), later(0, 4)]), 0, "all");
    let flight: Vec<_> = (1..9).map(|n| data(400 + u64::from(n), n)).collect();
    assert_eq!(steps(&[&[ack(300, 1)], &flight[..], &[later(0, 9)]].concat()), 1, "in a transfer");
}

/// Nobody sends new data for so long without an answer, but retransmits: the acknowledgements were not captured.
#[test]
fn new_data_beyond_the_retransmission_timer_lacks_acknowledgements() {
    let late = |resent: bool| {
        let mut packets = vec![syn(0), syn_ack(100), data(200, 0), ack(300, 1)];
        packets.extend((1..60).map(|n| data(100_000 * u64::from(n), n)));
        if resent {
            let at = |seen: &Seen<'_>| seen.at_nanos;
            packets.extend((1..6_u64).map(|n| data(1_000_500 * n, 1)));
            packets.sort_by_key(at);
        }
        evidence(&packets).forward.beyond_timer
    };
    assert!((25..30).contains(&late(false)), "those after three seconds: {}", late(false));
    assert_eq!(late(true), 0, "the timer ran out");
}

/// Half of the packets of a path with asymmetric routes.
#[test]
fn the_time_of_data_alone_ends_with_its_last_segment() {
    let again = |micros, n| Seen { ip_id: Some(999), ..data(micros, n) };
    let mut packets: Vec<_> = (0..50).map(|n| data(10_000 * u64::from(n), n)).collect();
    packets.insert(20, again(195_000, 3));
    let there = evidence(&packets).forward;
    assert_eq!((there.retransmitted_packets, there.goodput_bps), (1, None));
    let lasted = there.limits_end.unwrap().since(there.first_data.unwrap());
    assert_eq!(lasted.as_nanos(), 490_000_000);
}

/// The hole takes the acknowledgements as well.
#[test]
fn what_a_hole_of_the_capture_swallows_is_not_in_flight() {
    let mut packets = vec![syn(0), syn_ack(100)];
    for n in 0..200 {
        let at = 1_000 + 1_000 * u64::from(n);
        packets.extend([data(at, n), ack(at + 500, n + 1)]);
    }
    packets.drain(2 + 100..2 + 300);
    let there = evidence(&packets).forward;
    assert_eq!(there.unseen_bytes, 10_000);
    // Acknowledgements behind the hole wait for their data for a few segments.
    assert!(there.in_flight_max_bytes < 1_000, "{}", there.in_flight_max_bytes);
}
