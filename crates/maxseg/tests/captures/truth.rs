//! Counts that have one right answer: tshark's.

use std::collections::BTreeMap;

use maxseg_testkit::captures::captures;
use serde_json::Value;

use super::{all_or_none, directions, explain};

/// Ours, and tshark's name of the same.
const SAME: [(&str, &str); 6] = [
    ("packets", "packets"),
    ("data_packets", "data_packets"),
    ("payload_bytes", "payload_bytes"),
    ("largest_segment_bytes", "max_segment"),
    ("mss_option_bytes", "mss"),
    ("window_scale", "wscale"),
];

#[test]
fn counts_are_tsharks_in_every_stream() {
    let (mut files, mut numbers) = (0, 0);
    let mut faults = Vec::new();
    for capture in captures() {
        let Some(truth) = &capture.truth else { continue };
        let Some(document) = explain(&capture.path) else {
            println!("refused: {}", capture.name);
            continue;
        };
        files += 1;
        let mut differ = |what: String, ours: &Value, theirs: &Value| {
            numbers += 1;
            if !is_same(ours, theirs) {
                faults.push(format!("{}: {what}: {ours}, tshark {theirs}", capture.name));
            }
        };
        streams(&document, truth, &mut differ);
        around(&document, truth, &mut differ);
    }
    println!("checked {numbers} numbers of {files} captures against tshark's");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    all_or_none(files, "tshark's counts", "truth");
}

/// tshark leaves out what is zero or was not seen.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    ours == theirs || theirs.is_null() && (ours.is_null() || ours == 0)
}

fn streams(document: &Value, truth: &Value, differ: &mut impl FnMut(String, &Value, &Value)) {
    let ours: BTreeMap<(String, String), &Value> = directions(document)
        .into_iter()
        .map(|(id, from, to, direction)| {
            ((id.to_string(), format!("{} > {}", spaced(from), spaced(to))), direction)
        })
        .collect();
    let nothing = Value::Null;
    for (stream, said) in truth["streams"].as_object().unwrap() {
        for (ends, said) in said["dirs"].as_object().unwrap() {
            let direction = ours.get(&(stream.clone(), ends.clone())).copied().unwrap_or(&nothing);
            for (own, name) in SAME {
                differ(format!("stream {stream} {ends} {own}"), &direction[own], &said[name]);
            }
        }
    }
}

/// `10.0.0.1:80` as tshark's rows have it: `10.0.0.1 80`.
fn spaced(end: &str) -> String {
    let (address, port) = end.rsplit_once(':').unwrap();
    format!("{} {port}", address.trim_matches(['[', ']']))
}

/// Fragments, and what hops said of packets that were too big.
fn around(document: &Value, truth: &Value, differ: &mut impl FnMut(String, &Value, &Value)) {
    for (own, name) in [("ipv4", "ipv4_fragments"), ("ipv6", "ipv6_fragments")] {
        differ(format!("fragments of {own}"), &document["fragments"][own], &truth[name]);
    }
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let mtus = |events: &Value, key: &str| -> Vec<u64> {
        let list = events.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|event| number(&event[key])).collect()
    };
    let ours = mtus(&document["path_mtu_events"], "mtu_bytes");
    let mut theirs = mtus(&truth["icmp_frag_needed"], "mtu");
    theirs.extend(mtus(&truth["icmpv6_too_big"], "mtu"));
    differ("MTUs that hops told".to_owned(), &ours.into(), &theirs.into());
}
