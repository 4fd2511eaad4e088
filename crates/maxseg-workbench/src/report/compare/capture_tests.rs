use maxseg_core::evidence::{DirectionStats, Ending, Evidence};
use maxseg_core::units::Time;
use maxseg_testkit::{at, full_link, windowed};

use super::tests::{is_well_formed, valid};
use super::*;
use crate::explain::fixtures::{capture, cut_capture};

#[test]
fn captures_before_and_after_a_change() {
    // Ports and times of both would be those of one transfer.
    let after = Evidence { client: "10.0.0.1:40001".parse().unwrap(), ..full_link(0) };
    let (before, after) = (capture(vec![windowed(0)]).explain(), capture(vec![after]).explain());
    let captures = CapturePairing::of([&before, &after], [None, None]).unwrap();
    assert_eq!(captures.limit_change(), "another");
    let lines = captures.lines();
    assert_eq!((lines[0].title, lines[0].change()), ("goodput", "x2.95".to_owned()));
    let compared = Compared::Captures(&captures);
    let document = valid(&compared);
    assert_eq!(document["captures"]["a"]["limited_by"], "receive-window");
    assert_eq!(document["captures"]["b"]["limited_by"], "bandwidth");
    let cautions = captures.cautions();
    assert!(cautions[0].contains("chance"), "{cautions:?}");
    is_well_formed(&page(&compared));
    let error = CapturePairing::of([&before, &after], [Some(9), None]).unwrap_err();
    assert!(error.to_string().contains("no TCP connection 9"), "{error}");
}

/// The connection of the highest impact may be another service's in the second capture.
#[test]
fn transfers_of_the_same_service_are_compared() {
    let of_port = |id, port, bytes: u64| {
        let mut evidence = windowed(id);
        evidence.server.set_port(port);
        (evidence.forward.acked_bytes, evidence.forward.unique_bytes) = (bytes, bytes);
        evidence
    };
    let before = capture(vec![of_port(0, 5201, 3_000_000)]).explain();
    let after =
        vec![of_port(0, 443, 90_000_000), of_port(1, 5201, 10), of_port(2, 5201, 3_000_000)];
    let after = capture(after).explain();
    let chosen = |before, after| {
        let captures = CapturePairing::of([before, after], [None, None]).unwrap();
        captures.cases.map(|case| case.evidence.id)
    };
    assert_eq!(chosen(&before, &after), [0, 2]);
    assert_eq!(
        chosen(&after, &before),
        [0, 0],
        "what matters most has no counterpart, and the others matter little"
    );
    let captures = CapturePairing::of([&before, &after], [None, Some(0)]).unwrap();
    assert_eq!(captures.cases[1].evidence.id, 0, "as asked");
    let others = "of different services, ports 5201 and 443";
    let said = captures.cautions().join("\n");
    assert!(said.contains(others) && !said.contains("no transfer"), "{said}");
    let said = |before, after| {
        CapturePairing::of([before, after], [None, None]).unwrap().cautions().join("\n")
    };
    assert!(!said(&before, &after).contains("different services"));
    let unlike = said(&after, &before);
    let why = "ports 443 and 5201: no transfer that matters in made.pcap has one of its service";
    assert!(unlike.contains(why), "{unlike}");
}

/// A connection that was never open has no limit that another capture would show: it was refused.
#[test]
fn what_was_never_open_is_compared_by_its_ending() {
    let mut refused = windowed(0);
    refused.ending = Ending::Refused;
    refused.end = at(40);
    let syn = |of: &DirectionStats| DirectionStats {
        packets: 1,
        syn: of.syn,
        mss_option_bytes: of.mss_option_bytes,
        ..DirectionStats::default()
    };
    (refused.forward, refused.reverse) = (syn(&refused.forward), DirectionStats::default());
    let (before, after) = (capture(vec![refused]).explain(), capture(vec![windowed(0)]).explain());
    let captures = CapturePairing::of([&before, &after], [None, None]).unwrap();
    assert_eq!(captures.limits()[0], "refused");
    assert!(captures.limits()[1].starts_with("receive-window"), "{:?}", captures.limits());
    assert_eq!(captures.endings(), ["refused", "closed"]);
    let document = CompareDocument::of(&Compared::Captures(&captures)).to_json();
    assert!(document.contains("\"ending\":\"refused\""), "{document}");
    assert_eq!((captures.limit_change(), captures.ending_change()), ("another", "another"));
    let cautions = captures.cautions().join("\n");
    assert!(!cautions.contains("unknown") && !cautions.contains("too few"), "{cautions}");
}

/// Shares differ by points, whether one of them is nothing or not.
#[test]
fn shares_differ_by_points() {
    let lossy = |resent: u64| {
        let mut evidence = windowed(0);
        evidence.forward.data_packets = 10_000;
        evidence.forward.retransmitted_packets = resent;
        capture(vec![evidence]).explain()
    };
    let cases = [
        (0, 212, "+2.12 points"),
        (424, 212, "-2.12 points"),
        (5, 5, "equal"),
        (2, 4, "+0.02 points"),
    ];
    for (before, after, change) in cases {
        let (before, after) = (lossy(before), lossy(after));
        let captures = CapturePairing::of([&before, &after], [None, None]).unwrap();
        let lines = captures.lines();
        let share = lines.iter().find(|line| line.key == "retransmitted_share").unwrap();
        assert_eq!(share.change(), change, "{:?}", share.texts());
    }
    // Two retransmissions each, of a few packets more.
    let [before, after] = [10_000, 10_009].map(|packets| {
        let mut evidence = windowed(0);
        (evidence.forward.data_packets, evidence.forward.retransmitted_packets) = (packets, 2);
        capture(vec![evidence]).explain()
    });
    let captures = CapturePairing::of([&before, &after], [None, None]).unwrap();
    let lines = captures.lines();
    let share = lines.iter().find(|line| line.key == "retransmitted_share").unwrap();
    assert_eq!(share.change(), "less than 0.01 points", "{:?}", share.texts());
    let mss = lines.iter().find(|line| line.key == "mss_used_bytes").unwrap();
    assert_eq!(mss.texts()[0], "1448 B");
}

/// What a hop refused as too large was sent again as well: the count has it, and so has the share.
#[test]
fn the_share_is_of_the_packets_that_are_counted() {
    let refused = |packets: u64| {
        let mut evidence = windowed(0);
        evidence.forward.data_packets = 1200;
        evidence.forward.retransmitted_packets = packets;
        evidence.forward.resent.too_large = packets;
        capture(vec![evidence]).explain()
    };
    let (before, after) = (refused(0), refused(12));
    let captures = CapturePairing::of([&before, &after], [None, None]).unwrap();
    let lines = captures.lines();
    let values = |key| lines.iter().find(|line| line.key == key).unwrap().texts();
    assert_eq!(values("retransmitted_packets"), ["0", "12"]);
    assert_eq!(values("retransmitted_share"), ["0%", "1.00%"]);
}

/// Of a direction alone, no more is known than what it shows: nothing of what was in flight, and of the size what was acknowledged.
#[test]
fn of_one_direction_nothing_is_in_flight() {
    let of_acknowledgements = |acked: u64| {
        let mut evidence = windowed(0);
        evidence.marks.one_way = true;
        let stats = &mut evidence.forward;
        (stats.packets, stats.data_packets, stats.payload_bytes) = (0, 0, 0);
        (stats.unique_bytes, stats.acked_bytes, stats.in_flight_max_bytes) = (0, acked, 0);
        capture(vec![evidence]).explain()
    };
    let whole = capture(vec![windowed(0)]).explain();
    let (mut values, mut said) = (Vec::new(), Vec::new());
    for acked in [1_000_000, whole.connections[0].forward.acked_bytes] {
        let acks = of_acknowledgements(acked);
        let captures = CapturePairing::of([&whole, &acks], [None, None]).unwrap();
        let lines = captures.lines();
        let line = lines.iter().find(|line| line.key == "in_flight_max_bytes").unwrap();
        values.push((line.values[0].is_some(), line.values[1], line.change()));
        said.push(captures.cautions().iter().any(|text| text.contains("of different size")));
    }
    assert_eq!(values, vec![(true, None, "unknown".to_owned()); 2]);
    assert_eq!(said, [true, false]);
}

/// Without acknowledgements a retransmission has no cause: that is no lack of timeouts, nor of data.
#[test]
fn of_data_alone_timeouts_are_unknown() {
    let mut whole = windowed(0);
    (whole.forward.retransmitted_packets, whole.forward.timeouts) = (2, 2);
    let mut data = windowed(0);
    data.marks.one_way = true;
    data.reverse = DirectionStats::default();
    (data.forward.retransmitted_packets, data.forward.acked_bytes) = (2, 0);
    let [whole, data] = [whole, data].map(|evidence| capture(vec![evidence]).explain());
    let captures = CapturePairing::of([&whole, &data], [None, None]).unwrap();
    let lines = captures.lines();
    let texts = |key| lines.iter().find(|line| line.key == key).unwrap().texts();
    assert_eq!(texts("timeouts"), ["2", "unknown"]);
    assert_eq!(texts("retransmitted_packets"), ["2", "2"]);
    let case = &captures.cases[1];
    assert_eq!(case.data_bytes(), case.data().unique_bytes, "so much was captured");
}

/// What two captures of one transfer differ by is no change of anything, nor chance.
#[test]
fn one_transfer_that_was_captured_twice_is_named_as_such() {
    let said = |a: Evidence, b: Evidence| {
        let [a, b] = [a, b].map(|evidence| capture(vec![evidence]).explain());
        CapturePairing::of([&a, &b], [None, None]).unwrap().cautions().join("\n")
    };
    let mut at_receiver = full_link(0);
    (at_receiver.begin, at_receiver.end) =
        (at(40), at_receiver.end.saturating_add(at(40).since(at(0))));
    at_receiver.handshake.server_rtt = Some(Time::ZERO);
    at_receiver.handshake.client_rtt = Some(Time::from_millis(80));
    let twice = said(full_link(0), at_receiver.clone());
    assert!(twice.contains("the same transfer, captured twice"), "{twice}");
    assert!(!twice.contains("chance"), "{twice}");
    let places = "was captured nearer to the sender and made.pcap nearer to the receiver";
    assert!(twice.contains(places), "{twice}");
    assert!(!said(full_link(0), full_link(0)).contains(places));

    let mut later = at_receiver;
    let hour = Time::from_secs(3600);
    (later.begin, later.end) = (later.begin.saturating_add(hour), later.end.saturating_add(hour));
    let apart = said(full_link(0), later);
    assert!(!apart.contains("the same transfer"), "ports are used again: {apart}");
    assert!(apart.contains(places) && apart.contains("chance"), "{apart}");

    // Simulations begin at 0, whatever they are of.
    let simulated = |mut evidence: Evidence| {
        (evidence.begin, evidence.end) = (Time::ZERO, Time::from_secs(30));
        evidence
    };
    let of_two = said(simulated(windowed(0)), simulated(full_link(0)));
    assert!(!of_two.contains("the same transfer"), "{of_two}");
    let copies = said(simulated(full_link(0)), simulated(full_link(0)));
    assert!(copies.contains("the same transfer"), "{copies}");
}

/// How many other transfers there are does not depend on which is chosen, nor ends it at those that matter most.
#[test]
fn other_transfers_of_the_service_are_all_counted() {
    let of_port = |id: u32, port: u16| {
        let mut evidence = windowed(id);
        evidence.client.set_port(port);
        evidence
    };
    let many = capture((0..120).map(|id| of_port(id, 40_000)).collect()).explain();
    let few = capture(vec![of_port(0, 50_000)]).explain();
    for numbers in [[None, None], [Some(2), Some(0)]] {
        let captures = CapturePairing::of([&many, &few], numbers).unwrap();
        let said = captures.cautions().join("\n");
        assert!(said.contains("120 in made.pcap"), "{numbers:?}: {said}");
    }
}

/// As a capture that was killed does.
#[test]
fn a_file_that_ends_within_a_packet_is_named() {
    let (whole, cut) = (capture(vec![windowed(0)]), cut_capture(vec![full_link(0)]));
    let (whole, cut) = (whole.explain(), cut.explain());
    for (a, b, count) in
        [(&whole, &whole, 0), (&whole, &cut, 1), (&cut, &whole, 1), (&cut, &cut, 2)]
    {
        let captures = CapturePairing::of([a, b], [None, None]).unwrap();
        let said = captures.cautions();
        let is_cut = |text: &&String| text.ends_with("packets are compared");
        assert_eq!(said.iter().filter(is_cut).count(), count, "{said:?}");
    }
}
