use std::collections::BTreeMap;

use maxseg_core::engine::EngineName;
use maxseg_core::evidence::{DirectionStats, Ending, Evidence};
use maxseg_core::results::Row;
use maxseg_core::units::Time;
use maxseg_testkit::rows::row;
use maxseg_testkit::{at, full_link, windowed};
use serde_json::{Value, json};

use super::*;
use crate::compare::{Between, RunSet, matched};
use crate::explain::fixtures::{capture, cut_capture};

fn runs(name: &str, mss: u64, goodputs: &[f64]) -> RunSet {
    let point = json!({"hop.0.errors.rate": 0.01});
    let rows: Vec<Row> = (1..)
        .zip(goodputs)
        .map(|(seed, goodput)| row(EngineName::Sim, Some(seed), &point, *goodput))
        .collect();
    let scenario = json!({"sender": {"mss": mss}});
    RunSet { name: name.to_owned(), scenario, rows, experiments: BTreeMap::new(), others: 0, later_others: 0 }
}

fn pairing(a: &[f64], b: &[f64]) -> RunPairing {
    let (a, b) = (runs("before", 536, a), runs("after", 1460, b));
    RunPairing {
        names: ["before".to_owned(), "after".to_owned()],
        matched: matched([&a, &b], None).unwrap(),
    }
}

fn valid(compared: &Compared<'_>) -> Value {
    let json = CompareDocument::of(compared).to_json();
    let document: Value = serde_json::from_str(&json).unwrap();
    let schema = serde_json::to_value(schemars::schema_for!(CompareDocument<'_>)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    document
}

fn is_well_formed(page: &str) {
    let body = page.split_once("</head>").unwrap().1.trim_end().strip_suffix("</html>").unwrap();
    roxmltree::Document::parse(body).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn pairs_of_seeds_show_a_difference() {
    let runs = pairing(&[1e6, 3e6, 2e6], &[1.1e6, 3.11e6, 2.09e6]);
    let line = &runs.lines(&runs.matched.points[0])[0];
    assert_eq!(line.means(), ["2.00 Mbit/s", "2.10 Mbit/s"]);
    assert_eq!(line.shown(), "+5.0% (+3.8% to +6.2%)");
    assert_eq!(runs.changes(), [("sender.mss", ["536".to_owned(), "1460".to_owned()])]);
    let compared = Compared::Runs(&runs);
    let document = valid(&compared);
    let number = &document["runs"]["points"][0]["numbers"][0];
    assert_eq!(
        (&number["name"], &number["pairs"], &number["verdict"]),
        (&json!("goodput_bps"), &json!(3), &json!("higher"))
    );
    is_well_formed(&page(&compared));
    let mut csv = Vec::new();
    write_csv(&mut csv, &compared).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains("sim,hop.0.errors.rate=0.01,goodput_bps,2000000,2100000,"), "{csv}");
}

#[test]
fn what_seeds_cannot_show_is_not_said() {
    let runs = pairing(&[1e6, 3e6, 2e6], &[2e6, 2.5e6, 1.8e6]);
    assert!(
        runs.conclusion().contains("no difference that 3 seeds can show"),
        "{}",
        runs.conclusion()
    );
    let one = pairing(&[1e6], &[2e6]);
    assert!(one.conclusion().contains("too few seeds"), "{}", one.conclusion());
}

#[test]
fn a_closed_form_has_no_seeds_and_no_seeds_are_asked_for() {
    let sim = runs("both", 536, &[1e6, 3e6, 2e6]);
    let point = json!({"hop.0.errors.rate": 0.01});
    let model = vec![row(EngineName::Model, None, &point, 2.2e6)];
    let both = RunSet { rows: [sim.rows, model].concat(), ..sim };
    let between =
        Between { key: "engine".to_owned(), values: ["sim".to_owned(), "model".to_owned()] };
    let runs = RunPairing {
        names: ["engine=sim".to_owned(), "engine=model".to_owned()],
        matched: matched([&both, &both], Some(&between)).unwrap(),
    };
    assert_eq!(
        runs.conclusion(),
        "Goodput of engine=model against engine=sim: +10%, without an interval, as one side has no seeds."
    );
    assert!(runs.notes()[0].starts_with("a closed form and a measurement have no seeds"));
    let document = valid(&Compared::Runs(&runs));
    let number = &document["runs"]["points"][0]["numbers"][0];
    assert_eq!((&number["verdict"], &number["ci95"]), (&json!("no-seeds"), &Value::Null));
}

/// What is exact is no chance, and where no goodput is known there is none to count.
#[test]
fn exact_points_are_not_said_to_differ_by_chance() {
    let of_points = |goodputs: [Option<f64>; 2]| {
        let [a, b] = goodputs.map(|goodput| {
            let rows = (0..14).map(|x| {
                let mut row = row(EngineName::Model, None, &json!({"x": x}), 1e6);
                row.outcome.goodput_bps = goodput;
                row
            });
            RunSet { rows: rows.collect(), ..runs("set", 536, &[]) }
        });
        let names = ["a".to_owned(), "b".to_owned()];
        RunPairing { names, matched: matched([&a, &b], None).unwrap() }
    };
    let exact = of_points([Some(1e6), Some(2e6)]);
    assert_eq!(exact.notes(), Vec::<String>::new());
    assert_eq!(exact.conclusion(), "Goodput of b against a, of 14 points: higher at 14.");
    let unknown = of_points([None, None]);
    assert_eq!(unknown.conclusion(), "Goodput of b against a: no point has a goodput.");
}

/// One seed of a scenario in which nothing is random says all; the MSS that ends agree on is no chance either.
#[test]
fn what_is_not_random_is_exact() {
    let random = pairing(&[1e6], &[2e6]);
    assert!(random.conclusion().contains("too few seeds"), "{}", random.conclusion());
    let [a, b] = [("before", 1e6), ("after", 2e6)].map(|(name, goodput)| {
        let mut set = runs(name, 536, &[goodput]);
        set.experiments.insert(set.rows[0].hash.clone(), false);
        set
    });
    let names = ["before".to_owned(), "after".to_owned()];
    let exact = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    assert_eq!(exact.conclusion(), "Goodput of after against before: x2.00.");
    let [a, b] = [536, 1460].map(|mss| {
        let mut set = runs("random", mss, &[1e6, 2e6]);
        set.rows.iter_mut().for_each(|row| row.outcome.mss_used_bytes = Some(mss));
        set
    });
    let names = ["before".to_owned(), "after".to_owned()];
    let chosen = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    let lines = chosen.lines(&chosen.matched.points[0]);
    let mss = lines.iter().find(|line| line.key == "mss_used_bytes").unwrap();
    assert!(!mss.shown().contains("too few"), "{}", mss.shown());
}

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
    for acked in [0, 1_000_000, whole.connections[0].forward.acked_bytes] {
        let acks = of_acknowledgements(acked);
        let captures = CapturePairing::of([&whole, &acks], [None, None]).unwrap();
        let lines = captures.lines();
        let line = lines.iter().find(|line| line.key == "in_flight_max_bytes").unwrap();
        values.push((line.values[0].is_some(), line.values[1], line.change()));
        said.push(captures.cautions().iter().any(|text| text.contains("of different size")));
    }
    assert_eq!(values, vec![(true, None, "unknown".to_owned()); 3]);
    assert_eq!(said, [false, true, false]);
}

/// What two captures of one transfer differ by is no change of anything, nor chance.
#[test]
fn one_transfer_that_was_captured_twice_is_named_as_such() {
    let said = |a: Evidence, b: Evidence| {
        let [a, b] = [a, b].map(|evidence| capture(vec![evidence]).explain());
        CapturePairing::of([&a, &b], [None, None]).unwrap().cautions().join("\n")
    };
    let mut at_receiver = full_link(0);
    (at_receiver.begin, at_receiver.end) = (at(40), at_receiver.end.saturating_add(at(40).since(at(0))));
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
    for (a, b, count) in [(&whole, &whole, 0), (&whole, &cut, 1), (&cut, &whole, 1), (&cut, &cut, 2)] {
        let captures = CapturePairing::of([a, b], [None, None]).unwrap();
        let said = captures.cautions();
        let is_cut = |text: &&String| text.ends_with("packets are compared");
        assert_eq!(said.iter().filter(is_cut).count(), count, "{said:?}");
    }
}

/// Rows behind those of the summary may be those that are meant.
#[test]
fn rows_of_a_run_that_did_not_finish_are_named_once() {
    let [mut a, b] = [("a", 1e6), ("b", 2e6)].map(|(name, goodput)| runs(name, 536, &[goodput; 2]));
    a.later_others = 3;
    let names = ["a", "b"].map(str::to_owned);
    let pairing = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    let document = valid(&Compared::Runs(&pairing));
    let said = document["runs"]["cautions"][0].as_str().unwrap();
    assert!(said.starts_with("a: 3 rows of another scenario or point"), "{said}");
    assert!(said.contains("did not finish"), "{said}");
    assert_eq!(matched([&a, &a], None).unwrap().unfinished, [("a".to_owned(), 3)]);
    assert_eq!(matched([&b, &b], None).unwrap().unfinished, []);
}
