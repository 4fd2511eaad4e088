//! Values of a point in base units, with the unit in the key: `receiver.window = "64 KiB"` is `receiver.window_bytes = 65536`.

use serde_json::{Map, Value};

use crate::units::AnyQuantity;

/// The values of a point in base units: bytes, seconds, bits per second, packets, segments, shares. Words and plain numbers keep their
/// keys.
pub fn in_base_units(point: &Map<String, Value>) -> Map<String, Value> {
    point.iter().map(|(key, value)| one(key, value)).collect()
}

/// Bare numbers of the scenario file that are bytes, by the last word of their keys.
const BYTES: [&str; 9] = [
    "mss",
    "mss_option",
    "off_subnet_mss",
    "mtu",
    "route_mtu",
    "route_advmss",
    "frame",
    "size",
    "header",
];
/// Those that are shares, from 0 to 1. A rate of errors has no unit, that of a link always has one.
const SHARES: [&str; 7] = ["rate", "good", "bad", "reorder", "duplicate", "max_p", "weight"];

fn one(key: &str, value: &Value) -> (String, Value) {
    let with = |unit: &str, value: Value| (format!("{key}_{unit}"), value);
    match value {
        Value::String(text) => match AnyQuantity::of(text).map(number_of) {
            Some((unit, number)) => with(unit, number),
            None => (key.to_owned(), value.clone()),
        },
        Value::Number(_) if BYTES.contains(&last_word(key)) => with("bytes", value.clone()),
        Value::Number(_) if SHARES.contains(&last_word(key)) => with("share", value.clone()),
        Value::Number(_) | Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => {
            (key.to_owned(), value.clone())
        }
    }
}

fn last_word(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, word)| word)
}

/// The unit in a key's name, and the number.
fn number_of(quantity: AnyQuantity) -> (&'static str, Value) {
    match quantity {
        AnyQuantity::Bytes(bytes) => ("bytes", bytes.get().into()),
        AnyQuantity::Time(time) => ("s", time.as_secs_f64().into()),
        AnyQuantity::Rate(rate) => ("bps", rate.get().into()),
        AnyQuantity::Share(share) => ("share", share.get().into()),
        AnyQuantity::Packets(count) => ("packets", count.into()),
        AnyQuantity::Segments(count) => ("segments", count.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_unit_of_a_scenario_file_has_its_base() {
        let point = json!({
            "receiver.window": "64 KiB", "hop.radio.delay": "200 ms", "hop.0.rate": "2 Mbit/s",
            "hop.radio.errors.rate": "1%", "hop.1.errors.rate": 0.05, "hop.0.queue": "49 packets",
            "sender.initial_window": "2 segments", "sender.mss": 536, "seed": 7, "sender.congestion": "reno",
            "sender.sack": true, "sender.delayed_ack.every": 2,
        });
        let wanted = json!({
            "receiver.window_bytes": 65_536, "hop.radio.delay_s": 0.2, "hop.0.rate_bps": 2_000_000,
            "hop.radio.errors.rate_share": 0.01, "hop.1.errors.rate_share": 0.05, "hop.0.queue_packets": 49,
            "sender.initial_window_segments": 2, "sender.mss_bytes": 536, "seed": 7, "sender.congestion": "reno",
            "sender.sack": true, "sender.delayed_ack.every": 2,
        });
        assert_eq!(Value::from(in_base_units(point.as_object().unwrap())), wanted);
    }
}
