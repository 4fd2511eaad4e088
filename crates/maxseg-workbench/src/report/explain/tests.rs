use maxseg_core::advise::Case;
use maxseg_core::diagnose::FindingKind;
use maxseg_core::evidence::{Event, EventKind, Evidence, UnreachableCode, UnreachableEvent};
use maxseg_core::units::Time;
use maxseg_testkit::{at, full_link, traced, windowed};
use maxseg_wire::reading::{Problem, ProblemKind};
use maxseg_wire::tshark::FlagCounts;
use serde_json::Value;

use super::*;
use crate::explain::Capture;
use crate::explain::fixtures::capture;

fn two() -> Capture<'static> {
    let mut full = full_link(1);
    full.client = "[2001:db8::1]:5000".parse().unwrap();
    full.server = "[2001:db8::2]:80".parse().unwrap();
    capture(vec![windowed(0), full])
}

fn document(capture: Capture<'_>) -> Value {
    let mut json = Vec::new();
    let explanation = write_connections(&mut json, capture).unwrap();
    write_conclusion(&mut json, &explanation, explanation.headline().as_ref()).unwrap();
    assert_eq!(json.last(), Some(&b'\n'));
    serde_json::from_slice(&json).unwrap()
}

#[test]
fn a_document_without_connections_has_its_problems() {
    let mut empty = capture(Vec::new());
    empty.summary.problems.push(Problem {
        kind: ProblemKind::Truncated("the file ends within a packet".to_owned()),
        offset: Some(4711),
        count: 1,
        file: None,
    });
    let json = document(empty);
    assert_eq!(json["problems"][0]["offset"], 4711);
    assert_eq!(json["matters_most"], Value::Null);
}

#[test]
fn the_document_has_the_names_that_were_fixed() {
    let mut capture = two();
    let (client, server) = (windowed(0).client, windowed(0).server);
    let counts = FlagCounts::from([("retransmission", 3)]);
    capture.summary.tshark.insert(client, server, at(0), [(client, counts)].into());
    let json = document(capture);
    for name in [
        "schema_version",
        "file",
        "packets",
        "bytes",
        "first_time_s",
        "last_time_s",
        "problems",
        "connections",
        "fragments",
        "path_mtu_events",
    ] {
        assert!(!json[name].is_null(), "{name}");
    }
    let connection = &json["connections"][0];
    for name in ["id", "client", "server", "forward", "reverse", "limits", "limited_by", "findings"]
    {
        assert!(!connection[name].is_null(), "{name}");
    }
    let forward = connection["forward"].as_object().unwrap();
    for name in [
        "packets",
        "data_packets",
        "payload_bytes",
        "mss_option_bytes",
        "window_scale",
        "sack_permitted",
        "timestamps",
        "largest_segment_bytes",
        "retransmitted_packets",
        "retransmitted_bytes",
        "spurious_retransmissions",
        "capture_duplicates",
        "out_of_order_packets",
        "duplicate_acks",
        "zero_windows",
        "window_full",
        "rtt_min_s",
        "rtt_mean_s",
        "in_flight_max_bytes",
        "goodput_bps",
    ] {
        assert!(forward.contains_key(name), "{name}");
    }
    assert_eq!(connection["forward"]["tshark"]["retransmission"], 3);
    assert!(json["connections"][1]["forward"].get("tshark").is_none());
    assert_eq!(connection["limits"][0]["kind"], "receive-window");
    assert_eq!(connection["limited_by"], "receive-window");
    let finding = &connection["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["severity"]),
        (&"window-clamped".into(), &"problem".into())
    );
    assert_eq!(finding["evidence"]["window_max_bytes"], 65_535.0);
    let change = json["matters_most"]["change"].as_str().unwrap();
    assert!(
        finding["advice"].as_str().unwrap().eq_ignore_ascii_case(change),
        "one change for one problem: {finding}"
    );
    assert!(json["matters_most"]["gain"]["gain"].as_f64().unwrap() > 1.0);
    assert_eq!(json["fragments"], serde_json::json!({ "ipv4": 0, "ipv6": 0 }));
}

#[test]
fn icmp_messages_about_a_connection_are_listed() {
    let mut refused = windowed(0);
    refused.unreachable.push(UnreachableEvent {
        at: at(5),
        frame: 2,
        from: "192.0.2.1".parse().unwrap(),
        code: UnreachableCode { is_v4: true, number: 13 },
        quoted: (refused.client, refused.server),
    });
    let json = document(capture(vec![refused, windowed(1)]));
    let [event] = json["connections"][0]["unreachable"].as_array().unwrap().as_slice() else {
        panic!("one message: {json}")
    };
    assert_eq!((&event["frame"], &event["from"]), (&2.into(), &"192.0.2.1".into()));
    assert_eq!(event["code"], "ICMP type 3, code 13");
    assert_eq!(event["meaning"], "administratively prohibited");
    assert_eq!(event["source"], json["connections"][0]["client"]);
    assert_eq!(json["connections"][1]["unreachable"], serde_json::json!([]));
}

#[test]
fn the_document_is_as_its_schema_says() {
    let schema = serde_json::to_value(schemars::schema_for!(ExplainDocument<'_>)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for capture in [two(), capture(Vec::new()), capture(vec![traced(windowed(0))])] {
        let document = document(capture);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn one_row_per_direction() {
    let mut csv_text = Vec::new();
    write_csv(&mut csv_text, two()).unwrap();
    let mut reader = ::csv::Reader::from_reader(csv_text.as_slice());
    let head = reader.headers().unwrap().clone();
    let place = |name: &str| head.iter().position(|column| column == name).unwrap();
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    let of = |row: usize, name: &str| rows[row][place(name)].to_owned();
    assert_eq!(of(0, "way"), "forward");
    assert_eq!(of(0, "limited_by"), "receive-window");
    assert_eq!(of(1, "limited_by"), "", "limits are of the direction that carried more");
    assert_eq!(of(0, "mss_option_bytes"), "1460");
    assert_eq!(of(0, "resent.rto"), "0");
    assert_eq!(of(0, "findings"), "window-clamped option-missing");
    assert_eq!(of(1, "goodput_bps"), "", "unknown is empty");
}

#[test]
fn a_finding_leads_where_nothing_can_be_done_about_the_limit() {
    let mut small = full_link(0);
    small.forward.mss_used_bytes = Some(524);
    small.reverse.mss_option_bytes = Some(536);
    let explained = capture(vec![small]).explain();
    let headline = explained.headline().unwrap();
    let kinds: Vec<FindingKind> =
        headline.case.diagnosis.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::SmallMss]);
    let text = headline.text();
    assert!(
        text.contains("A link of the path was full") && text.contains("Segments carry 524"),
        "{text}"
    );
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_else() {
    for explained in [vec![traced(windowed(0)), windowed(1)], Vec::new()] {
        let explained = capture(explained).explain();
        let page = page(&explained, explained.headline().as_ref());
        // But for its head, whose elements HTML leaves open, it is XML.
        let body =
            page.split_once("</head>").unwrap().1.trim_end().strip_suffix("</html>").unwrap();
        let tree = roxmltree::Document::parse(body).unwrap_or_else(|error| panic!("{error}"));
        let is_link = |node: &roxmltree::Node<'_, '_>| {
            let is_elsewhere = |href: &str| !href.starts_with('#');
            node.has_attribute("src") || node.attribute("href").is_some_and(is_elsewhere)
        };
        assert!(!tree.descendants().any(|node| is_link(&node)), "nothing is loaded");
    }
}

#[test]
fn graphs_show_every_retransmission_and_the_packets_of_findings() {
    let mut evidence = traced(windowed(0));
    for segment in evidence.forward.trace.as_mut().unwrap().segments.iter_mut().take(300) {
        segment.is_resent = true;
    }
    for frame in [50, 60, 70] {
        let (kind, lasted) = (EventKind::OutOfOrder, Time::ZERO);
        let event = Event { kind, at: at(frame), frame, offset: 0, bytes: 1448, lasted };
        evidence.forward.events.note(event);
    }
    evidence.forward.out_of_order_packets = 3;
    let explained = capture(vec![evidence]).explain();
    let page = page(&explained, explained.headline().as_ref());
    let body = page.split_once("</head>").unwrap().1.trim_end().strip_suffix("</html>").unwrap();
    let tree = roxmltree::Document::parse(body).unwrap();
    let titled = |title: &str| -> Vec<usize> {
        let paths = tree
            .descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "path")));
        let of = paths.filter(|path| {
            path.first_element_child().and_then(|child| child.text()) == Some(title)
        });
        of.map(|path| path.attribute("d").unwrap().matches('M').count()).collect()
    };
    // 300, and the one among the others.
    assert_eq!(titled("retransmitted")[0], 301);
    assert_eq!(titled("of a finding"), [3], "packets 50, 60 and 70");
    let panels =
        tree.descendants().filter(|node| node.attribute("class") == Some("chart panel")).count();
    assert!(page.contains("<dt>began</dt>"), "what to look for in other logs");
    assert_eq!(panels, 6, "sequence, limits, findings, throughput, round trips, window");
}

#[test]
fn findings_say_of_which_direction_they_are_where_one_is_of_the_other() {
    let texts = |evidence: &Evidence| {
        let case = Case::of(evidence);
        let findings = case.diagnosis.findings.iter();
        findings.map(|finding| finding_text(&case, finding)).collect::<Vec<_>>().join("\n")
    };
    let mut evidence = windowed(0);
    evidence.forward.timeouts = 1;
    assert!(!texts(&evidence).contains(" → "), "{}", texts(&evidence));
    evidence.reverse.timeouts = 2;
    let told = texts(&evidence);
    for wanted in [
        "10.0.0.1:40000 → 10.0.0.2:443: The retransmission timer expired at least once",
        "10.0.0.2:443 → 10.0.0.1:40000: The retransmission timer expired 2 times",
    ] {
        assert!(told.contains(wanted), "{wanted}\n{told}");
    }
}
