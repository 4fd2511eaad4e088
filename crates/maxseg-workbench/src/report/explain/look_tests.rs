use maxseg_core::evidence::{
    AckPoint, ControlKind, ControlPoint, FileInterface, Outage, Points, Trace,
};
use maxseg_testkit::{at, traced, windowed};

use super::*;

/// Five segments of a flight, sent again over a second.
fn lossy() -> Evidence {
    let mut evidence = traced(windowed(0));
    let trace = evidence.forward.trace.as_mut().unwrap();
    let again = [(5000, 100, 3), (5001, 300, 4), (5002, 1000, 7), (5003, 1040, 8), (5004, 1080, 9)];
    let again = again.map(|(frame, ms, n)| SegmentPoint {
        at: at(ms),
        frame,
        offset: n * 1448,
        bytes: 1448,
        is_resent: true,
    });
    let mut all: Vec<SegmentPoint> = trace.segments.to_vec();
    all.retain(|segment| !segment.is_resent);
    all.extend(again);
    all.sort_by_key(|segment| segment.at);
    trace.segments = Points::default();
    for segment in all {
        trace.segments.note(segment, segment.is_resent);
    }
    evidence.forward.retransmitted_packets = 5;
    evidence
}

fn text(evidence: &Evidence) -> String {
    places(&Headline::of(Case::of(evidence), "slow.pcap"), "slow.pcap").into_string()
}

#[test]
fn most_was_lost_of_the_flight_of_which_most_was_sent_again() {
    let evidence = lossy();
    let burst = Burst::densest(&evidence.forward).unwrap();
    assert_eq!((burst.first.frame, burst.last.frame, burst.packets), (5000, 5004, 5));
    let text = text(&evidence);
    for wanted in [
        "the flight of packets 13 to 19 (6.00 ms to 18.0 ms): 5 packets (7.24 kB) of it were sent again, in packets 5000 to 5004 (100 ms to 1.080 s)",
        "frame.number &gt;= 5000 &amp;&amp; frame.number &lt;= 5004 &amp;&amp; ip.addr == 10.0.0.1 &amp;&amp; tcp.port == 40000",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// Copies at other interfaces would be taken for sent again.
#[test]
fn of_a_file_of_several_interfaces_packets_are_named_one_by_one() {
    let mut evidence = lossy();
    evidence.capture.interface = Some(FileInterface { section: None, number: 1 });
    let shown = text(&evidence);
    let named = "frame.number == 5000 || frame.number == 5001 || frame.number == 5002";
    assert_eq!(shown.matches(named).count(), 2, "of the flight, and all: {shown}");
    assert!(
        shown.contains("frame.interface_id == 1") && !shown.contains("tcp.analysis"),
        "{shown}"
    );
    // Too many to name.
    let trace = evidence.forward.trace.as_mut().unwrap();
    for n in 0..200 {
        let offset = 1448 * (1000 + n);
        let at = at(10_000 + 100 * n);
        let segment = SegmentPoint { at, frame: 10_000 + n, offset, bytes: 1448, is_resent: true };
        trace.segments.note(segment, true);
    }
    let shown = text(&evidence);
    assert!(shown.contains("tshark -r slow.pcap -Y "), "{shown}");
    assert!(
        shown.contains(">tcp.analysis.retransmission || tcp.analysis.out_of_order<"),
        "{shown}"
    );
}

/// Without all first transmissions a repair may be told of no flight.
#[test]
fn of_a_long_transfer_the_most_lost_is_a_lower_bound() {
    let mut evidence = lossy();
    let trace = evidence.forward.trace.as_mut().unwrap();
    for n in 0..200_000 {
        let (at, offset) = (at(10_000 + n), 1448 * (1000 + n));
        let segment = SegmentPoint { at, frame: 10_000 + n, offset, bytes: 1448, is_resent: false };
        trace.segments.note(segment, false);
    }
    let text = text(&evidence);
    assert!(text.contains(": at least 2 packets"), "{text}");
}

/// Nothing of the data passes while a window is shut, or nothing at all.
#[test]
fn a_filter_shows_all_packets_of_its_time() {
    let mut evidence = windowed(0);
    let mut trace = Trace::default();
    let segment = SegmentPoint { at: at(0), frame: 30, offset: 0, bytes: 1448, is_resent: false };
    trace.on_segment(segment, 1448);
    for (ms, frame) in [(100, 31), (2000, 57), (4000, 61)] {
        trace.on_ack(AckPoint { at: at(ms), frame, offset: 1448, edge: Some(1448) });
    }
    let probe = ControlPoint { at: at(4500), frame: 62, kind: ControlKind::Probe };
    trace.controls.note(probe, false);
    evidence.forward.trace = Some(Box::new(trace));
    let frames = |from: u64, to: u64| {
        let filter = packets_of(&evidence, at(from), at(to)).unwrap();
        let numbers = filter.split(" && ").take(2).map(|part| part.rsplit_once(' ').unwrap().1);
        numbers.map(|number| number.parse().unwrap()).collect::<Vec<u64>>()
    };
    assert_eq!(frames(0, 5000), [30, 62]);
    assert_eq!(frames(1000, 4200), [57, 61]);
    assert_eq!(frames(2100, 3900), [57, 61], "those on both sides of a time without any");
    assert_eq!(frames(3900, 4200), [57, 62], "or with a single one");
}

#[test]
fn the_place_is_that_of_what_the_headline_names() {
    let mut evidence = traced(windowed(0));
    assert!(text(&evidence).contains("receive-window for 9"), "{}", text(&evidence));
    let case = Case::of(&evidence);
    let limited = |subject| longest_limit(&case, Some(subject)).into_string();
    let start_up = limited(Subject::Limit(LimitedBy::StartUp));
    assert!(start_up.contains("start-up for"), "{start_up}");
    // The timer: when nothing passed.
    evidence.forward.outage =
        Some(Outage { from: at(2490), to: at(6070), retransmissions: 4, of_payload: false });
    let stalled = longest(&Case::of(&evidence), LimitedBy::Rto);
    assert_eq!(stalled, Some((at(2490), at(6070))));
}

/// `-i any` of a router: its copies are in one interface.
#[test]
fn where_the_capture_has_copies_packets_are_named_one_by_one() {
    let mut evidence = lossy();
    evidence.forward.capture_duplicates = 40;
    let shown = text(&evidence);
    let named = "frame.number == 5000 || frame.number == 5001 || frame.number == 5002";
    assert_eq!(shown.matches(named).count(), 2, "of the flight, and all: {shown}");
    assert!(!shown.contains("tcp.analysis"), "{shown}");
}

#[test]
fn a_filter_is_of_the_data_where_the_other_direction_has_some_as_well() {
    let mut evidence = lossy();
    let of_data =
        "out_of_order) &amp;&amp; ip.src == 10.0.0.1 &amp;&amp; tcp.srcport == 40000 &amp;&amp;";
    assert_eq!(text(&evidence).matches(of_data).count(), 0);
    evidence.reverse.data_packets = 30;
    assert_eq!(text(&evidence).matches(of_data).count(), 2, "of the flight, and all");
}

/// What fell into a hole of the capture was sent before, with a flight that is not known.
#[test]
fn what_a_hole_hides_of_a_flight_is_said() {
    let mut evidence = lossy();
    evidence.forward.path_rtt_loaded_s = Some(0.2);
    let trace = evidence.forward.trace.as_mut().unwrap();
    let kept: Vec<SegmentPoint> =
        trace.segments.iter().filter(|it| it.is_resent || it.offset != 3 * 1448).copied().collect();
    trace.segments = Points::default();
    for segment in kept {
        trace.segments.note(segment, segment.is_resent);
    }
    let shown = text(&evidence);
    assert!(shown.contains("(1 of them not captured when they were sent first)"), "{shown}");
}
