//! A sender that paces, and senders that only look like it.

use super::*;
use crate::evidence::{AckGaps, Bin, Bins, LoadedRoundTrips, Refills};

const ROUND_TRIP: Time = Time::from_millis(40);
/// Payload of a round trip at 5 Mbit/s.
const BYTES: u64 = 25_000;

/// A hundred round trips at 5 Mbit/s over a path that carried the first flight at 50 Mbit/s; each as `each` makes it.
fn transfer(each: impl Fn(u64, &mut Bin)) -> DirectionStats {
    let mut bins = Bins::new(Time::ZERO, ROUND_TRIP);
    for n in 0..100 {
        let bin = bins.at(ROUND_TRIP.times(n));
        (bin.segments, bin.sent_bytes, bin.acked_bytes) = (17, BYTES, BYTES);
        bin.in_flight_max = BYTES;
        bin.window_left_min = Some(10 * BYTES);
        // A tenth of the time is at once after an acknowledgement.
        bin.clock_time = Time::from_millis(4);
        bin.clocked_bytes = BYTES / 10;
        each(n, bin);
    }
    bins.finish(ROUND_TRIP.times(100));
    let mut data = DirectionStats {
        data_packets: 1700,
        goodput_bps: Some(5e6),
        capacity_bps: Some(5.5e6),
        first_flight_bps: Some(50e6),
        path_rtt_min_s: Some(0.04),
        rtt_min_s: Some(0.04),
        bins,
        ..DirectionStats::default()
    };
    data.loaded_round_trips = trips(Time::from_millis(41));
    data
}

fn trips(each: Time) -> LoadedRoundTrips {
    let mut trips = LoadedRoundTrips::default();
    for _ in 0..100 {
        trips.add(each);
    }
    trips
}

fn is_paced(data: &DirectionStats) -> bool {
    Pace::of(data, &DirectionStats::default()).is_paced
}

#[test]
fn an_even_rate_below_what_the_path_carries_is_paced() {
    let paced = transfer(|_, _| ());
    assert!(is_paced(&paced));
    assert!(!Pace::of(&paced, &DirectionStats::default()).trains_are_of_path);
    // Whoever fills a link for so long makes it queue or lose, however fast the first flight was.
    assert!(is_paced(&DirectionStats { first_flight_bps: Some(6e6), ..transfer(|_, _| ()) }));
    // Segments queue; segments are lost; the rate varies.
    let queued =
        DirectionStats { loaded_round_trips: trips(Time::from_millis(60)), ..transfer(|_, _| ()) };
    let lossy = DirectionStats { retransmitted_packets: 30, ..transfer(|_, _| ()) };
    let varied =
        transfer(|n, bin| bin.sent_bytes = if n / 20 % 2 == 0 { BYTES / 2 } else { BYTES });
    for other in [queued, lossy, varied] {
        assert!(!is_paced(&other), "{other:?}");
    }
}

/// A program that writes from the first moment on waits for slow start, and what has piled up behind it leaves at once.
#[test]
fn slow_start_is_no_variation_of_a_pace() {
    let slow_from = |begin| {
        transfer(move |n, bin| {
            bin.sent_bytes = match n.wrapping_sub(begin) {
                0..9 => BYTES / 4,
                9..12 => 3 * BYTES,
                _ => BYTES,
            }
        })
    };
    assert!(is_paced(&slow_from(0)));
    assert!(!is_paced(&slow_from(50)));
}

#[test]
fn single_losses_leave_a_sender_its_pace() {
    let lossy = || DirectionStats { retransmitted_packets: 3, ..transfer(|_, _| ()) };
    assert!(is_paced(&lossy()));
    let queued = DirectionStats { loaded_round_trips: trips(Time::from_millis(60)), ..lossy() };
    assert!(!is_paced(&queued), "of a queue");
    let clocked = transfer(|_, bin| bin.clocked_bytes = BYTES);
    assert!(!is_paced(&DirectionStats { retransmitted_packets: 3, ..clocked }), "it has no clock");
}

#[test]
fn an_even_rate_that_the_first_flight_hardly_exceeded_may_be_that_of_a_link() {
    let first = |first_flight_bps| DirectionStats { first_flight_bps, ..transfer(|_, _| ()) };
    assert!(is_paced(&first(Some(7e6))));
    let even = first(Some(5.5e6));
    assert!(!is_paced(&even) && Pace::of(&even, &DirectionStats::default()).is_spaced);
    // Without data for some of the time it has a pace of its own.
    let writes = transfer(|_, bin| bin.app_limited = Time::from_millis(5));
    assert!(is_paced(&DirectionStats { first_flight_bps: Some(5.5e6), ..writes }));
}

#[test]
fn losses_that_leave_the_rate_of_the_trains_are_those_of_a_full_link() {
    let lossy = |goodput| DirectionStats {
        goodput_bps: Some(goodput),
        retransmitted_packets: 30,
        train_mode_bps: Some(5.2e6),
        loaded_round_trips: trips(Time::from_millis(60)),
        ..transfer(|_, _| ())
    };
    let is_full = |data| Pace::of(&data, &DirectionStats::default()).is_at_rate_of_link;
    assert!(is_full(lossy(5e6)));
    assert!(!is_full(lossy(4e6)), "they cost a part of it");
    let flat = DirectionStats { loaded_round_trips: trips(Time::from_millis(41)), ..lossy(5e6) };
    assert!(!is_full(flat), "the first flight was faster, and nothing queues");
}

#[test]
fn bursts_at_an_even_rate_are_paced_by_their_own_clock_alone() {
    let bursts = |clocked| DirectionStats {
        capacity_bps: Some(50e6),
        ..transfer(move |_, bin| {
            bin.clocked_bytes = clocked;
            // A program that writes a little at a time has nothing more to send for some of the time.
            bin.app_limited = Time::from_millis(5);
        })
    };
    assert!(is_paced(&bursts(BYTES / 10)), "by chance");
    let full =
        DirectionStats { capacity_bps: Some(50e6), ..transfer(|_, bin| bin.in_flight_max = BYTES) };
    assert!(!is_paced(&full), "never out of data: a buffer that BBR drains");
    assert!(is_paced(&bursts(BYTES)), "at acknowledgements, but out of data: no full buffer");
    let clocked = |acks_an_answer| {
        let refills = Refills { acks_an_answer: Some(acks_an_answer), ..Refills::default() };
        let data = transfer(|_, bin| bin.clocked_bytes = BYTES);
        let data = DirectionStats { capacity_bps: Some(50e6), refills: Some(refills), ..data };
        Pace::of(&data, &DirectionStats::default()).may_be_buffered
    };
    assert!(clocked(2.0) && !clocked(1.0), "a window of a few segments that is held");
}

#[test]
fn without_the_first_flight_nothing_shows_what_the_path_would_carry() {
    assert!(!is_paced(&DirectionStats { begins_late: true, ..transfer(|_, _| ()) }));
}

#[test]
fn round_trips_of_another_part_of_the_path_show_no_pace() {
    // A third of the path lies before the capture point.
    let part = |first| DirectionStats {
        rtt_min_s: Some(0.027),
        first_flight_bps: Some(first),
        ..transfer(|_, _| ())
    };
    assert!(!is_paced(&part(6e6)));
    assert!(is_paced(&part(50e6)), "what it carried at once is faster than this even rate");
}

#[test]
fn a_first_flight_that_is_no_faster_is_of_a_full_link() {
    let is_as_first = |first, each: fn(u64, &mut Bin)| {
        let data = DirectionStats { first_flight_bps: Some(first), ..transfer(each) };
        Pace::of(&data, &DirectionStats::default()).is_as_first
    };
    assert!(is_as_first(5.5e6, |_, _| ()));
    assert!(!is_as_first(7e6, |_, _| ()));
    let out_of_data = |_, bin: &mut Bin| bin.app_limited = Time::from_millis(2);
    assert!(!is_as_first(5.5e6, out_of_data), "it writes as fast");
}

#[test]
fn losses_that_leave_an_even_rate_are_those_of_a_full_link_where_no_round_trip_is_seen() {
    let keeps_rate = |path_rtt_min_s, each: fn(u64, &mut Bin)| {
        let data = DirectionStats { path_rtt_min_s, retransmitted_packets: 30, ..transfer(each) };
        Pace::of(&data, &DirectionStats::default()).keeps_rate
    };
    assert!(keeps_rate(None, |_, _| ()));
    assert!(!keeps_rate(Some(0.04), |_, _| ()));
    let halves =
        |n, bin: &mut Bin| bin.sent_bytes = if n / 20 % 2 == 0 { BYTES / 2 } else { BYTES };
    assert!(!keeps_rate(None, halves), "they halve it");
}

#[test]
fn acknowledgements_at_the_links_distances_are_of_a_full_link() {
    let gaps = |deviation| Some(AckGaps { count: 500, ratio: 2.0, deviation });
    let fills = |clocked, deviation, flight| {
        let data = transfer(move |_, bin| {
            (bin.clocked_bytes, bin.in_flight_max) = (clocked, flight);
        });
        let data = DirectionStats { capacity_bps: Some(5.1e6), ack_gaps: gaps(deviation), ..data };
        Pace::of(&data, &DirectionStats::default()).fills_link
    };
    assert!(fills(BYTES, 0.05, BYTES), "they clock the sender");
    assert!(!fills(BYTES, 0.6, BYTES), "with pauses");
    assert!(!fills(0, 0.05, BYTES), "of a sender with a pace of its own");
    assert!(fills(0, 0.05, 2 * BYTES), "of which half waits");
}

#[test]
fn where_no_round_trip_is_seen_acknowledgements_of_one_segment_may_be_the_clock() {
    // At the receiver, without timestamps.
    let far = DirectionStats { rtt_min_s: Some(0.0001), ..transfer(|_, _| ()) };
    let each = |packets| DirectionStats { packets, ..DirectionStats::default() };
    assert!(!Pace::of(&far, &each(1700)).is_paced);
    assert!(Pace::of(&far, &each(850)).is_paced, "those of two would let two go at once");
    let stamped = DirectionStats { timestamps: true, ..far.clone() };
    let acks = DirectionStats { timestamps: true, ..DirectionStats::default() };
    assert!(Pace::of(&stamped, &acks).is_paced);
    let unseen = Pace::of(&far, &each(1700));
    assert!(unseen.is_spaced && !unseen.may_be_buffered, "by somebody");
}

#[test]
fn a_dialogue_is_neither_paced_nor_buffered() {
    let replies = DirectionStats { data_packets: 50, ..DirectionStats::default() };
    let pace = Pace::of(&transfer(|_, _| ()), &replies);
    assert!(pace.is_dialogue && !pace.is_paced && !pace.may_be_buffered && !pace.pauses_are_paced);
    let few = DirectionStats { data_packets: 2, ..DirectionStats::default() };
    assert!(!Pace::of(&transfer(|_, _| ()), &few).is_dialogue);
}

#[test]
fn a_queue_that_stands_at_an_even_rate_is_a_full_link() {
    let ceiling =
        |data: DirectionStats| Pace::of(&data, &DirectionStats::default()).has_standing_queue;
    let queued = |data| DirectionStats {
        // The trains are those of a burst.
        capacity_bps: Some(50e6),
        loaded_round_trips: trips(Time::from_millis(80)),
        ..data
    };
    let clocked = || transfer(|_, bin| bin.clocked_bytes = BYTES);
    assert!(ceiling(queued(clocked())));
    assert!(!ceiling(queued(transfer(|_, _| ()))), "a pace of its own");
    let varied =
        transfer(|n, bin| bin.sent_bytes = if n / 20 % 2 == 0 { BYTES / 2 } else { BYTES });
    assert!(!ceiling(queued(varied)), "not even");
    assert!(!ceiling(transfer(|_, _| ())), "no queue");
}

#[test]
fn messages_of_the_other_program_within_a_level_flight_are_its_window() {
    let admitted = |flight: u64, messages: u64, data: DirectionStats| {
        let data =
            DirectionStats { unique_bytes: 100 * BYTES, in_flight_max_bytes: flight, ..data };
        let acks = DirectionStats { data_packets: messages, ..DirectionStats::default() };
        Pace::of(&data, &acks).has_application_window
    };
    let level = || transfer(|_, _| ());
    assert!(admitted(BYTES, 400, level()), "each admits a quarter of what is in flight");
    assert!(!admitted(BYTES, 100, level()), "a message for each flight: a dialogue");
    let sometimes =
        transfer(|n, bin| bin.in_flight_max = if n % 2 == 0 { BYTES } else { BYTES / 9 });
    assert!(!admitted(BYTES, 400, sometimes), "the flight has no level");
    let clocked = transfer(|_, bin| bin.clocked_bytes = BYTES);
    assert!(!admitted(BYTES, 400, clocked), "acknowledgements clock it: a full buffer");
}

#[test]
fn even_pauses_after_full_segments_are_a_pace() {
    let pauses = |after_full: u64| {
        transfer(move |_, bin| {
            bin.idle = Time::from_millis(30);
            bin.idle_after_full = Time::from_millis(after_full);
        })
    };
    let of = |data: &DirectionStats| Pace::of(data, &DirectionStats::default()).pauses_are_paced;
    assert!(of(&pauses(29)));
    assert!(!of(&pauses(20)), "many follow a short segment: there was no more to send");
    assert!(!of(&transfer(|_, _| ())), "no pauses");
    // At the receiver, without timestamps: what waits in a queue before this point is not seen, and nothing seems to be in flight.
    let of_link = DirectionStats {
        rtt_min_s: Some(0.0001),
        capacity_bps: None,
        first_flight_bps: None,
        ack_gaps: Some(AckGaps { count: 500, ratio: 2.0, deviation: 0.1 }),
        ..pauses(29)
    };
    assert!(!of(&of_link) && !is_paced(&of_link));
    assert!(
        of(&DirectionStats { capacity_bps: Some(20e6), ..of_link }),
        "trains show that it carries more"
    );
}

#[test]
fn the_queue_of_the_first_window_is_not_that_of_the_pace() {
    let with_queued = |count| {
        let mut data = transfer(|_, _| ());
        for _ in 0..count {
            data.loaded_round_trips.add(Time::from_millis(80));
        }
        data
    };
    assert!(is_paced(&with_queued(9)), "ten segments are sent at once");
    assert!(!is_paced(&with_queued(30)), "a quarter of the segments queue");
}

#[test]
fn segments_two_at_a_time_come_evenly() {
    // Twelve or fourteen segments in each stretch of time, as pairs fall into it.
    let segments = |n: u64| 12 + 2 * (n % 2);
    let slow = transfer(|n, bin| {
        bin.sent_bytes = if n % 8 == 0 { segments(n / 8) * 1460 } else { 0 };
    });
    let slow = DirectionStats { goodput_bps: Some(13.0 * 1460.0 * 8.0 / 0.32), ..slow };
    let varies = variation(&slow).unwrap();
    assert!(varies < 0.05, "{varies}");
}

#[test]
fn packets_before_their_segmentation_come_as_evenly_as_they_are_large() {
    // A packet of eight segments in each 20 ms: five or six fall into a tenth of a second, as it is cut.
    let packets = transfer(|n, bin| bin.sent_bytes = (2 + n % 2) * 8 * 1460);
    let goodput_bps = Some(2.5 * 8.0 * 1460.0 * 8.0 / 0.04);
    let varies = |data_packets| {
        let payload_bytes = 100 * 20 * 1460;
        variation(&DirectionStats { data_packets, payload_bytes, goodput_bps, ..packets.clone() })
    };
    let (joined, single) = (varies(250).unwrap(), varies(2000).unwrap());
    assert!(joined < single / 2.0, "{joined} {single}");
}

#[test]
fn a_program_that_writes_at_a_rate_has_no_faster_first_flight() {
    let writes = |idle_ms| {
        let bins = transfer(|_, bin| bin.app_limited = Time::from_millis(idle_ms));
        DirectionStats { first_flight_bps: Some(5e6), capacity_bps: Some(6.5e6), ..bins }
    };
    assert!(is_paced(&writes(10)), "it is out of data for a quarter of the time");
    assert!(!is_paced(&writes(0)), "nothing shows that it wants for data");
}

#[test]
fn a_program_that_writes_as_fast_as_its_first_flight_fills_no_link() {
    let of = |idle_ms| {
        let data = DirectionStats {
            first_flight_bps: Some(5e6),
            capacity_bps: Some(5.1e6),
            // As a delayed acknowledgement makes them.
            loaded_round_trips: trips(Time::from_millis(50)),
            ..transfer(|_, bin| bin.app_limited = Time::from_millis(idle_ms))
        };
        Pace::of(&data, &DirectionStats::default())
    };
    assert!(of(0).fills_link && !of(0).is_paced);
    assert!(!of(10).fills_link && of(10).is_paced, "it is out of data for a quarter of the time");
}
