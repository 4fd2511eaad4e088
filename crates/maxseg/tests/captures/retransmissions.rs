//! Retransmissions: equal to what others count, or the difference has a reason that the numbers bear out.

use std::collections::BTreeMap;

use maxseg_testkit::captures::{Capture, captures, tcprs, tcptrace};
use serde_json::Value;

use super::{all_or_none, directions, explain};

/// Ours, over all connections of a capture.
#[derive(Debug, Default, Clone, Copy)]
struct Ours {
    retransmitted: u64,
    of_data: u64,
    overtaken: u64,
    copies: u64,
    /// Payload that came more than once.
    repeated_bytes: u64,
}

fn ours(document: &Value) -> Ours {
    let mut sum = Ours::default();
    for (_, _, _, direction) in directions(document) {
        // Null where too little was captured to tell.
        let count = |name: &str| direction[name].as_u64().unwrap_or(0);
        let retransmitted = count("retransmitted_packets");
        let of_control = direction["resent"]["control"].as_u64().unwrap_or(0);
        sum.retransmitted += retransmitted;
        sum.of_data += retransmitted.saturating_sub(of_control);
        sum.overtaken += count("out_of_order_packets");
        sum.copies += count("capture_duplicates");
        sum.repeated_bytes += count("payload_bytes") - count("unique_bytes");
    }
    sum
}

/// Zeek's TCPRS labels each retransmission; all but one capture in seven must have as many of ours.
#[test]
fn labelled_retransmissions_are_found() {
    let mut rows = BTreeMap::new();
    for capture in captures() {
        let labels = tcprs::labels(&capture.path).unwrap_or_default().len() as u64;
        if labels == 0 {
            continue;
        }
        let ours = ours(&explain(&capture.path).unwrap());
        println!("{}: {} of {labels}", capture.name, ours.retransmitted);
        let is_equal = [ours.retransmitted, ours.of_data].contains(&labels);
        rows.insert(capture.name, is_equal);
    }
    let wrong: Vec<&String> =
        rows.iter().filter(|(_, right)| !**right).map(|(name, _)| name).collect();
    println!(
        "checked {} captures with labelled retransmissions; others count in {wrong:?}",
        rows.len()
    );
    assert!(wrong.len() * 7 <= rows.len(), "{wrong:?}");
    all_or_none(rows.len(), "TCPRS's labels", "tcprs-labels");
}

/// tcptrace counts as many, or what it counts besides is told.
#[test]
fn retransmissions_are_tcptraces_or_explained() {
    let mut checked = 0;
    let mut faults = Vec::new();
    for capture in captures() {
        let Some(peers) = tcptrace::directions(&capture.path) else { continue };
        let Some(document) = explain(&capture.path) else { continue };
        let ours = ours(&document);
        let sum = |count: fn(&tcptrace::Direction) -> u64| peers.iter().map(count).sum::<u64>();
        let theirs = sum(|direction| direction.retransmitted_packets);
        let their_overtaken = sum(|direction| direction.out_of_order_packets);
        checked += 1;
        if ours.retransmitted == theirs {
            continue;
        }
        match reason(&capture, ours, theirs, their_overtaken) {
            Some(why) => println!("{}: {} of {theirs}: {why}", capture.name, ours.retransmitted),
            None => faults.push(format!("{}: {ours:?}, tcptrace {theirs}", capture.name)),
        }
    }
    println!("checked the retransmissions of {checked} captures against tcptrace's");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    all_or_none(checked, "tcptrace's rows", "truth");
}

/// Why the counts differ.
fn reason(capture: &Capture, ours: Ours, theirs: u64, their_overtaken: u64) -> Option<String> {
    let labels = tcprs::labels(&capture.path).unwrap_or_default().len() as u64;
    if labels > 0 && [ours.retransmitted, ours.of_data].contains(&labels) {
        return Some("as TCPRS labels them".to_owned());
    }
    // tcptrace counts what its "hardware duplicates" are among retransmissions as well.
    let repeated = ours.retransmitted + ours.copies;
    if ours.copies > 0 && theirs <= repeated && repeated <= theirs + their_overtaken + ours.copies {
        return Some(format!("{} are copies made by the capture", ours.copies));
    }
    if ours.retransmitted + ours.overtaken == theirs + their_overtaken {
        return Some("it takes some of them for overtaken".to_owned());
    }
    let tshark = tshark(capture.truth.as_ref()?);
    if ours.retransmitted + ours.overtaken == tshark {
        return Some("as many as tshark's retransmissions and out-of-order segments".to_owned());
    }
    if ours.retransmitted < tshark
        && ours.retransmitted == 0
        && ours.repeated_bytes == 0
        && is_out_of_step(capture.truth.as_ref()?)
    {
        return Some(
            "the two directions were captured out of step; nothing is in it twice".to_owned(),
        );
    }
    None
}

/// tshark's repeated and out-of-order segments together: it takes quick recoveries for the latter.
fn tshark(truth: &Value) -> u64 {
    let mut sum = 0;
    for stream in truth["streams"].as_object().unwrap().values() {
        for direction in stream["dirs"].as_object().unwrap().values() {
            sum += direction["retransmission"].as_u64().unwrap_or(0);
            sum += direction["out_of_order"].as_u64().unwrap_or(0);
        }
    }
    sum
}

/// Acknowledgements stand before what they acknowledge.
fn is_out_of_step(truth: &Value) -> bool {
    let mut streams = truth["streams"].as_object().unwrap().values();
    streams.any(|stream| {
        let mut ways = stream["dirs"].as_object().unwrap().values();
        ways.any(|way| way["ack_lost_segment"].as_u64().is_some_and(|count| count > 0))
    })
}
