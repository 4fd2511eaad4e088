//! `truth/NAME.json`: what tshark 4.0.17 said of a capture, per stream and direction.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use maxseg_wire::tshark::{Counts, Flag, Stream, Tshark, Value};
use serde_json::{Map, Value as Json};

/// What is not compared, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    ("frame_bytes", "length of the link layer's frame, of which the analysis of TCP knows nothing"),
    ("sack_perm", "always 0: the field has no value that could be counted"),
];

/// Compares every number; gives how many there were, and adds to `faults` what differs.
pub(crate) fn compare(tshark: &Tshark, truth: &Json, faults: &mut Vec<String>) -> usize {
    let streams = truth["streams"].as_object().unwrap();
    if streams.len() != tshark.streams().len() {
        faults.push(format!("{} streams, not {}", tshark.streams().len(), streams.len()));
    }
    let mut checked = 0;
    for (number, wanted) in streams {
        let Some(stream) = tshark.streams().get(number.parse::<usize>().unwrap()) else { continue };
        let directions = wanted["dirs"].as_object().unwrap();
        for (ends, wanted) in directions {
            let Some(counts) = direction(stream, ends) else {
                faults.push(format!("stream {number}: no {ends}"));
                continue;
            };
            let wanted = wanted.as_object().unwrap();
            let got = as_written(counts);
            let names: BTreeSet<&String> = wanted.keys().chain(got.keys()).collect();
            for name in names.into_iter().filter(|name| !is_left_out(name)) {
                let (got, wanted) = (got.get(name), wanted.get(name));
                checked += 1;
                if !equal(got, wanted) {
                    faults.push(format!("stream {number} {ends} {name}: {got:?}, not {wanted:?}"));
                }
            }
        }
        let got = stream.initial_rtt_nanos.map(seconds);
        if !equal(got.as_ref(), wanted.get("initial_rtt")) {
            faults.push(format!("stream {number} initial_rtt: {got:?}"));
        }
    }
    checked
}

fn is_left_out(name: &str) -> bool {
    LEFT_OUT.iter().any(|(left, _)| *left == name)
}

/// `10.0.0.1 80 > 10.0.0.2 1024`.
fn direction<'a>(stream: &'a Stream, ends: &str) -> Option<&'a Counts> {
    let end = |end: SocketAddr| format!("{} {}", end.ip(), end.port());
    let written =
        |counts: &&Counts| format!("{} > {}", end(counts.source), end(counts.destination));
    stream.directions.iter().find(|counts| written(counts) == ends)
}

fn seconds(nanos: i64) -> Json {
    Json::from(nanos as f64 / 1e9)
}

/// Where the truth cuts its lists: those of times, those of frames.
const CUT_AT: [usize; 2] = [50, 200];

/// Equal, or two times that differ by less than the truth's last digit.
fn equal(got: Option<&Json>, wanted: Option<&Json>) -> bool {
    /// Times were summed in floating point and written with a micro- or nanosecond's digits.
    const ROUNDING_S: f64 = 1e-6;
    match (got, wanted) {
        (Some(Json::Array(got)), Some(Json::Array(wanted))) => {
            let all = got.iter().zip(wanted).all(|(got, wanted)| equal(Some(got), Some(wanted)));
            let whole = wanted.len() == got.len();
            all && (whole || wanted.len() < got.len() && CUT_AT.contains(&wanted.len()))
        }
        (Some(Json::Number(got)), Some(Json::Number(wanted))) if wanted.is_f64() => {
            (got.as_f64().unwrap() - wanted.as_f64().unwrap()).abs() < ROUNDING_S
        }
        (got, wanted) => got == wanted,
    }
}

/// The counts as the truth is written: what was never seen is not there.
fn as_written(counts: &Counts) -> Map<String, Json> {
    let named = counts.named().into_iter().filter(|(name, _)| !has_no_list(name));
    let written = named.map(|(name, value)| {
        let value = match value {
            Value::Count(count) => count.into(),
            Value::Seconds(seconds) => seconds.into(),
            Value::Times(times) => times.into(),
            Value::Frames(frames) => frames.into(),
        };
        (name, value)
    });
    let is_always_told = |name: &str| ALWAYS_TOLD.contains(&name);
    let mut written: Map<String, Json> =
        written.filter(|(name, value)| *value != 0 || is_always_told(name)).collect();
    if counts.frames(Flag::Retransmission).is_empty() {
        written.remove("retransmission_bytes");
    } else {
        written.entry("retransmission_bytes").or_insert(0.into());
    }
    written
}

/// Of other counts, none is written as nothing.
const ALWAYS_TOLD: [&str; 14] = [
    "packets",
    "payload_bytes",
    "data_packets",
    "max_segment",
    "syn",
    "fin",
    "rst",
    "rtt_samples",
    "timestamps",
    "syn_window",
    "mss",
    "wscale",
    "min_window",
    "max_window",
];

/// Whether the truth has no list of the flag's frames.
fn has_no_list(name: &str) -> bool {
    const LISTS: [&str; 6] = [
        "retransmission_frames",
        "fast_retransmission_frames",
        "spurious_retransmission_frames",
        "out_of_order_frames",
        "window_full_frames",
        "zero_window_frames",
    ];
    name.ends_with("_frames") && !LISTS.contains(&name)
}
