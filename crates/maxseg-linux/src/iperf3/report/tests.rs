use proptest::prelude::*;

use super::*;

macro_rules! recorded {
    ($file:literal) => {
        include_str!(concat!("../../../../../testdata/iperf3/", $file))
    };
}

fn parsed(text: &str) -> Report {
    Report::parse(text).unwrap()
}

#[test]
fn asked_for_9000_on_an_mtu_of_9000_there_are_8948() {
    let report = parsed(recorded!("jumbo.json"));
    assert_eq!(
        (report.mss_asked, report.mss_default, report.error.as_deref()),
        (Some(9000), None, None)
    );
    // 9000 less 20 of IP, 20 of TCP, 12 of timestamps: what every window is a multiple of.
    for sample in report.intervals.iter().flat_map(|interval| &interval.streams) {
        assert_eq!(sample.snd_cwnd_bytes.unwrap() % 8948, 0, "{sample:?}");
        assert_eq!(sample.pmtu, Some(9000));
    }
    let first = report.intervals[0].streams[0];
    assert_eq!(
        (first.socket, first.snd_cwnd_bytes, first.snd_wnd_bytes),
        (Some(5), Some(644_256), Some(67_584))
    );
    assert_eq!(
        (first.rtt, first.rttvar),
        (Some(Duration::from_micros(186)), Some(Duration::from_micros(52)))
    );
    assert_eq!((first.sum.bytes, first.sum.retransmits), (Some(388_628_480), Some(4)));
    let sent = Sum {
        end_s: Some(1.001_258),
        bytes: Some(674_365_440),
        bits_per_second: Some(5_388_145_233.296_514),
        retransmits: Some(5),
    };
    assert_eq!(report.sent, Some(sent));
    assert_eq!(report.received.unwrap().bytes, Some(668_205_056));
    assert_eq!(report.received.unwrap().retransmits, None);
    assert_eq!(report.sender_congestion.as_deref(), Some("bbr"));
    assert_eq!(
        (report.send_buffer_bytes, report.receive_buffer_bytes),
        (Some(16_384), Some(131_072))
    );
}

#[test]
fn the_server_s_report_is_within_or_by_itself() {
    let client = parsed(recorded!("jumbo.json"));
    let within = client.server.unwrap();
    let itself = parsed(recorded!("server-jumbo.json"));
    assert_eq!((within.mss_asked, itself.mss_asked), (Some(9000), Some(9000)));
    assert_eq!(within.received.unwrap().bytes, itself.received.unwrap().bytes);
    assert_eq!(itself.received.unwrap().bytes, client.received.unwrap().bytes);
    assert!(!itself.intervals.is_empty());
    let text = parsed(recorded!("server-text.json"));
    assert_eq!(text.server, None);
    assert!(text.received.unwrap().bytes.is_some());
}

#[test]
fn parallel_streams_whose_keys_stand_twice() {
    let report = parsed(recorded!("parallel.json"));
    assert_eq!((report.streams.len(), report.intervals[0].streams.len()), (2, 2));
    let bytes: u64 = report.streams.iter().map(|stream| stream.sent.bytes.unwrap()).sum();
    assert_eq!(report.sent.unwrap().bytes, Some(bytes));
    assert_eq!(report.streams[1].mean_rtt, Some(Duration::from_micros(19)));
    assert_eq!(report.streams[1].max_snd_cwnd_bytes, Some(521_587));
    assert_eq!(report.send_buffer_bytes, Some(131_072)); // 64 KiB were asked
    assert_eq!(report.sender_congestion.as_deref(), Some("reno"));
}

#[test]
fn errors_stand_in_the_report() {
    let cases = [
        (recorded!("refused.json"), "unable to connect to server: Connection refused"),
        (
            recorded!("congestion.json"),
            "unable to set TCP_CONGESTION: Supplied congestion control algorithm not supported on this host",
        ),
        (recorded!("small-mss.json"), "unable to set TCP/SCTP MSS: Invalid argument"),
    ];
    for (text, error) in cases {
        let report = parsed(text);
        assert_eq!(report.error.as_deref(), Some(error));
        assert_eq!((report.sent, report.received), (None, None));
    }
    // Where no MSS is asked, the control connection's is told.
    assert_eq!(parsed(recorded!("congestion.json")).mss_default, Some(8948));
}

#[test]
fn a_usage_page_is_no_report() {
    let error = Report::parse("Usage: iperf3 [-s|-c host] [options]\n       iperf3 …").unwrap_err();
    assert_eq!(
        error.to_string(),
        "iperf3 printed `Usage: iperf3 [-s|-c host] [options]` instead of a report"
    );
    assert!(Report::parse("").is_err() && Report::parse("[]").is_err());
}

/// Every value of a document in turn becomes something else.
fn spoilt(document: &Value, with: &Value, spoil: &mut dyn FnMut(Value)) {
    spoil(with.clone());
    match document {
        Value::Object(fields) => {
            for (key, value) in fields {
                spoilt(value, with, &mut |value| {
                    let mut document = document.clone();
                    document[key] = value;
                    spoil(document);
                });
            }
        }
        Value::Array(items) => {
            for (n, value) in items.iter().enumerate() {
                spoilt(value, with, &mut |value| {
                    let mut document = document.clone();
                    document[n] = value;
                    spoil(document);
                });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn a_spoilt_report_is_read_as_far_as_it_goes() {
    let document: Value = serde_json::from_str(recorded!("parallel.json")).unwrap();
    for with in ["null", "-1", "1e300", "\"x\"", "[1]", "{\"bytes\": {}}"] {
        let with: Value = serde_json::from_str(with).unwrap();
        let mut read = 0;
        spoilt(&document, &with, &mut |spoilt| {
            let report = Report::of(&spoilt);
            assert!(report.streams.len() <= 2 && report.intervals.len() <= 1);
            read += 1;
        });
        assert!(read > 150, "{read} values in the document");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_report_or_none(text: String, cut in 0..2000_usize) {
        let whole = recorded!("jumbo.json");
        prop_assert!(Report::parse(&whole[..cut]).is_err());
        let _ = Report::parse(&text);
    }
}
