//! `truth/NAME.json`: what tshark 4.0.17 said of a capture, per stream and direction.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use maxseg_wire::flow::tshark::{Counts, Flag, Stream, Tshark};
use serde_json::{Map, Value};

/// What is not compared, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    ("frame_bytes", "length of the link layer's frame, of which the analysis of TCP knows nothing"),
    ("sack_perm", "always 0: the field has no value that could be counted"),
];

/// Compares every number; gives how many there were, and adds to `faults` what differs.
pub(crate) fn compare(tshark: &Tshark, truth: &Value, faults: &mut Vec<String>) -> usize {
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

fn seconds(nanos: i64) -> Value {
    Value::from(nanos as f64 / 1e9)
}

/// Where the truth cuts its lists: those of times, those of frames.
const CUT_AT: [usize; 2] = [50, 200];

/// Equal, or two times that differ by less than the truth's last digit.
fn equal(got: Option<&Value>, wanted: Option<&Value>) -> bool {
    /// Times were summed in floating point and written with a micro- or nanosecond's digits.
    const ROUNDING_S: f64 = 1e-6;
    match (got, wanted) {
        (Some(Value::Array(got)), Some(Value::Array(wanted))) => {
            let all = got.iter().zip(wanted).all(|(got, wanted)| equal(Some(got), Some(wanted)));
            let whole = wanted.len() == got.len();
            all && (whole || wanted.len() < got.len() && CUT_AT.contains(&wanted.len()))
        }
        (Some(Value::Number(got)), Some(Value::Number(wanted))) if wanted.is_f64() => {
            (got.as_f64().unwrap() - wanted.as_f64().unwrap()).abs() < ROUNDING_S
        }
        (got, wanted) => got == wanted,
    }
}

/// The counts as the truth is written: what was not seen is not there.
fn as_written(counts: &Counts) -> Map<String, Value> {
    let mut fields = vec![
        ("packets", Value::from(counts.packets)),
        ("payload_bytes", counts.payload_bytes.into()),
        ("data_packets", counts.data_packets.into()),
        ("max_segment", counts.max_segment.into()),
        ("first_time", seconds(counts.first_at_nanos.cast_signed())),
        ("last_time", seconds(counts.last_at_nanos.cast_signed())),
        ("syn", counts.syn.into()),
        ("fin", counts.fin.into()),
        ("rst", counts.rst.into()),
        ("rtt_samples", counts.rtt.samples.into()),
    ];
    let mut some = |name, count: u64| fields.extend((count > 0).then(|| (name, count.into())));
    some("df_packets", counts.df_packets);
    some("sack_packets", counts.sack_packets);
    some("dsack_packets", counts.dsack_packets);
    let retransmitted = !counts.frames(Flag::Retransmission).is_empty();
    if retransmitted {
        fields.push(("retransmission_bytes", counts.retransmission_bytes.into()));
    }
    if let Some(handshake) = counts.handshake {
        fields.push(("sack_perm", u8::from(handshake.sack_permitted).into()));
        fields.push(("timestamps", u8::from(handshake.timestamps).into()));
        fields.push(("syn_window", handshake.window.into()));
        fields.extend(handshake.mss.map(|mss| ("mss", mss.into())));
        fields.extend(handshake.window_scale.map(|shift| ("wscale", shift.into())));
    }
    if let Some((least, most)) = counts.windows {
        fields.push(("min_window", least.into()));
        fields.push(("max_window", most.into()));
    }
    if let Some(mean) = counts.rtt.mean_s() {
        fields.push(("rtt_min", seconds(counts.rtt.min_nanos)));
        fields.push(("rtt_max", seconds(counts.rtt.max_nanos)));
        fields.push(("rtt_avg", mean.into()));
    }
    fields.extend(counts.max_in_flight.map(|bytes| ("max_in_flight", bytes.into())));
    if !counts.rto_nanos.is_empty() {
        fields.push(("rto_list", counts.rto_nanos.iter().copied().map(seconds).collect()));
    }
    let mut fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (flag, frames) in counts.flags().filter(|(_, frames)| !frames.is_empty()) {
        fields.insert(flag.name().to_owned(), frames.len().into());
        if has_frames(flag) {
            fields.insert(format!("{}_frames", flag.name()), frames.into());
        }
    }
    fields
}

/// Whether the truth lists the flag's frames.
fn has_frames(flag: Flag) -> bool {
    matches!(
        flag,
        Flag::Retransmission
            | Flag::FastRetransmission
            | Flag::SpuriousRetransmission
            | Flag::OutOfOrder
            | Flag::WindowFull
            | Flag::ZeroWindow
    )
}
