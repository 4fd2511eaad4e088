//! Numbers as people read them, with their units.

use maxseg_core::advise::is_size_key;
use maxseg_core::settings::WindowSize;
pub use maxseg_core::units::approx::{digits, gain, percent, rate, rate_unit, time, whole_percent};
use maxseg_core::units::{BitsPerSec, Bytes, Probability, Time};
use serde_json::Value;

/// A time since a beginning, from a second on in thousandths: those of neighbours, and of hours, are told apart.
pub(super) fn moment(seconds: f64) -> String {
    if seconds < 1.0 { time(seconds) } else { format!("{seconds:.3} s") }
}

/// With a capital letter at its beginning, unless that is an address of IPv6, which is written small (RFC 5952 §4.3).
pub fn capital(text: &str) -> String {
    let first = text.split([' ', ',', ';']).next().unwrap_or_default();
    if first.parse::<std::net::Ipv6Addr>().is_ok() {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A rate for an axis: no zeros that say nothing.
pub(super) fn round_rate(bps: f64) -> String {
    let text = rate(bps);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        Some(_) | None => text,
    }
}

/// A gain with the interval that holds it with 95% confidence, where that is wide enough to be seen:
/// `+58% (+45% to +71%)`.
pub fn gain_within(relative: f64, half: f64) -> String {
    let mean = if relative.abs() > half { told_from_zero(relative) } else { gain(relative) };
    let [low, high] = gain_interval(relative, half);
    if low == high { mean } else { format!("{mean} ({low} to {high})") }
}

/// The ends of such an interval, in words: nothing falls by more than all of it. An end beside zero is none: whether zero lies within
/// is what an interval is read for.
pub fn gain_interval(relative: f64, half: f64) -> [String; 2] {
    [(relative - half).max(-1.0), relative + half].map(told_from_zero)
}

/// What is left of zero where a computation is a rounding error away from it.
const NO_GAIN: f64 = 1e-9;

/// A relative gain, with more digits where it would be rounded to zero and is none.
fn told_from_zero(relative: f64) -> String {
    match gain(relative) {
        zero if zero == "0%" && relative.abs() > NO_GAIN => {
            let sign = if relative < 0.0 { '-' } else { '+' };
            format!("{sign}{}%", digits(100.0 * relative.abs()))
        }
        text => text,
    }
}

/// A time that may be years: `8.91 days`.
pub fn long_time(seconds: f64) -> String {
    /// Unit, its seconds, and how many of the one before it must be there.
    const UNITS: [(&str, f64, f64); 4] = [
        ("years", 365.25 * 86_400.0, 700.0 * 86_400.0),
        ("days", 86_400.0, 48.0 * 3600.0),
        ("hours", 3600.0, 120.0 * 60.0),
        ("minutes", 60.0, 120.0),
    ];
    match UNITS.iter().find(|(.., from)| seconds >= *from) {
        Some((unit, of, _)) => format!("{} {unit}", count(seconds / of)),
        None => time(seconds),
    }
}

/// A large count: `23.1 million`.
pub fn count(count: f64) -> String {
    match count {
        n if n >= 1e12 => format!("{n:.2e}"),
        n if n >= 1e6 => format!("{} million", digits(n / 1e6)),
        n if n >= 100.0 => format!("{n:.0}"),
        n => digits(n),
    }
}

/// Some things in a row: `model, sim and lab`.
pub fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A count with all its digits, in groups of three: `100 003`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A size in decimal units: `24.6 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("bytes", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    let bytes = bytes as f64;
    let (unit, of) = UNITS.iter().rev().find(|(_, of)| bytes >= 0.9995 * of).unwrap_or(&UNITS[0]);
    if *of < 2.0 { format!("{bytes:.0} bytes") } else { format!("{} {unit}", digits(bytes / of)) }
}

/// One thing or several: `1 packet`, `2 packets`.
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(count))
}

/// A share as a percentage with up to four digits, for what is held against a configured one: `1.003%`.
pub(super) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = match percent.abs() {
        large if large >= 9.9995 => 2,
        middle if middle >= 0.099_995 => 3,
        _ => 5,
    };
    let text = format!("{percent:.decimals$}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A value of an axis: whole where it is.
pub(super) fn digits_whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        format!("{:.0}", value.round() + 0.0) // and never `-0`
    } else {
        digits(value)
    }
}

/// A number of bytes without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, and sizes are not negative"
)]
pub(super) fn rounded(bytes: f64) -> u64 {
    bytes.round() as u64
}

/// Bytes with the largest binary unit that fits: `64 KiB`.
fn bytes(count: f64) -> String {
    Bytes::new(rounded(count)).to_string()
}

/// A window as a file writes it.
pub fn window(window: WindowSize) -> String {
    match window {
        WindowSize::Bytes(bytes) => bytes.to_string(),
        WindowSize::Segments(n) => format!("{n} segments"),
        WindowSize::Auto { most } => format!("up to {most}"),
    }
}

/// What a swept key is, for an axis or a column: words and unit. Different keys have different titles.
pub fn title(key: &str) -> String {
    let words: Vec<&str> = key.split('.').collect();
    match words.as_slice() {
        ["sender", "mss"] => "segment size (bytes)".to_owned(),
        ["receiver", "mss"] => "receiver's segment size (bytes)".to_owned(),
        ["receiver", "window"] => "receive window".to_owned(),
        ["sender", "window"] => "sender's own receive window".to_owned(),
        ["flow", "0", "size"] => "datagram size (bytes)".to_owned(),
        ["flow", "0", "rate"] => "offered rate".to_owned(),
        ["flow", flow, "size"] => format!("datagram size of {} (bytes)", item("flow", flow)),
        ["flow", flow, "rate"] => format!("offered rate of {}", item("flow", flow)),
        ["flow", flow, what] => format!("{what} of {}", item("flow", flow)),
        ["lab", "as_netem"] => "loss as netem's".to_owned(),
        ["lab", "write_rate"] => "rate of writing".to_owned(),
        ["lab", "pacing_rate"] => "pacing rate".to_owned(),
        ["hop", hop, "errors", "rate"] => format!("error rate on {}", item("hop", hop)),
        ["hop", hop, "mtu"] => format!("MTU of {} (bytes)", item("hop", hop)),
        ["hop", hop, "frame"] => format!("frame of {} (bytes)", item("hop", hop)),
        ["hop", hop, what] => format!("{what} of {}", item("hop", hop)),
        _ => key.to_owned(),
    }
}

/// A hop or flow as a key names it: all of them, one by its number, or one by its own name.
fn item(kind: &str, name: &str) -> String {
    match name {
        "*" => format!("every {kind}"),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{kind} {number}"),
        name => name.to_owned(),
    }
}

/// Whether a swept key is for somebody to choose, and not a condition to be met: what hosts set, and
/// how large their packets are.
pub fn is_setting(key: &str) -> bool {
    ["sender.", "receiver."].iter().any(|host| key.starts_with(host)) || is_size_key(key)
}

/// A swept value as people read it: error rates as percentages.
pub fn value(key: &str, value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let share = value.as_f64().filter(|_| key.ends_with("errors.rate"));
    match share.and_then(|share| Probability::new(share).ok()) {
        Some(share) => share.to_string(),
        None => value.to_string(),
    }
}

/// What a swept value measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// A bare number.
    Plain,
    /// Bits per second.
    Rate,
    /// Bytes, written with their unit.
    Bytes,
    /// Seconds.
    Time,
    /// From 0 to 1.
    Share,
    /// Of so many things: packets, segments.
    Count(String),
}

impl Dimension {
    /// How to write a value of it.
    pub fn writer(&self) -> fn(f64) -> String {
        match self {
            Self::Plain | Self::Count(_) => digits_whole,
            Self::Rate => round_rate,
            Self::Bytes => bytes,
            Self::Time => time,
            Self::Share => percent,
        }
    }
}

/// The number in a swept value, and what it measures; `None` for a word. Only numbers of one dimension
/// belong on one axis.
pub fn quantity(key: &str, value: &Value) -> Option<(Dimension, f64)> {
    let is_share = key.ends_with("errors.rate");
    let Some(text) = value.as_str() else {
        return Some((if is_share { Dimension::Share } else { Dimension::Plain }, value.as_f64()?));
    };
    let rate = || Some((Dimension::Rate, text.parse::<BitsPerSec>().ok()?.get() as f64));
    let bytes = || Some((Dimension::Bytes, text.parse::<Bytes>().ok()?.get() as f64));
    let time = || Some((Dimension::Time, text.parse::<Time>().ok()?.as_secs_f64()));
    let share = || Some((Dimension::Share, text.parse::<Probability>().ok()?.get()));
    let count = || {
        let (number, of) = text.split_once(' ')?;
        Some((Dimension::Count(of.trim().to_owned()), number.parse().ok()?))
    };
    rate().or_else(bytes).or_else(time).or_else(share).or_else(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_neighbours_are_told_apart_after_hours() {
        let moments = [0.0564, 1.0796, 14_403.123, 14_403.125].map(moment);
        assert_eq!(moments, ["56.4 ms", "1.080 s", "14403.123 s", "14403.125 s"]);
    }

    #[test]
    fn an_address_at_the_beginning_of_a_sentence_stays_as_it_is() {
        assert_eq!(capital("packets vanish"), "Packets vanish");
        assert_eq!(capital("fd09:1::1 answers nothing"), "fd09:1::1 answers nothing");
        assert_eq!(capital("a: b"), "A: b");
        assert_eq!(capital(""), "");
    }

    #[test]
    fn gains_have_a_sign_unless_there_is_none() {
        let cases = [
            (gain(0.1204), "+12%"),
            (gain(0.012), "+1.2%"),
            (gain(2.4), "x3.40"),
            (gain(-0.3), "-30%"),
            (gain(-0.0002), "0%"),
            (gain(-0.0), "0%"),
            (gain_within(0.58, 0.13), "+58% (+45% to +71%)"),
            (gain_within(0.58, 0.001), "+58%"),
            (gain_within(-0.9, 0.3), "-90% (-100% to -60%)"),
            (gain_within(-0.041, 0.0409), "-4.1% (-8.2% to -0.01%)"),
            (gain_within(0.0002, 0.0001), "+0.02% (+0.01% to +0.03%)"),
            (gain_within(0.0, 0.0), "0%"),
            (long_time(59.04), "59.0 s"),
            (long_time(770_000.0), "8.91 days"),
            (long_time(1e16), "317 million years"),
            (count(12.0), "12.0"),
            (count(3.2e15), "3.20e15"),
            (listed(&["model", "sim"]), "model and sim"),
            (listed(&["model", "sim", "lab"]), "model, sim and lab"),
            (grouped(0), "0"),
            (grouped(999), "999"),
            (grouped(1_000_003), "1 000 003"),
            (share(0.01), "1%"),
            (share(0.010_03), "1.003%"),
            (share(0.0), "0%"),
            (share(0.123_456), "12.35%"),
            (share(0.000_012_3), "0.00123%"),
            (digits_whole(-0.0), "0"),
            (digits_whole(-1e-12), "0"),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
    }

    #[test]
    fn swept_values_have_numbers_of_a_dimension() {
        use Dimension::{Bytes, Count, Plain, Rate, Share, Time};
        let of = |key, value: Value| quantity(key, &value);
        let cases = [
            (of("sender.mss", 536.into()), Some((Plain, 536.0))),
            (of("hop.a.errors.rate", 0.01.into()), Some((Share, 0.01))),
            (of("hop.a.errors.rate", "1%".into()), Some((Share, 0.01))),
            (of("receiver.window", "64 KiB".into()), Some((Bytes, 65_536.0))),
            (
                of("receiver.window", "20 segments".into()),
                Some((Count("segments".to_owned()), 20.0)),
            ),
            (of("hop.a.rate", "2 Mbit/s".into()), Some((Rate, 2e6))),
            (of("hop.a.delay", "10 ms".into()), Some((Time, 0.01))),
            (of("sender.stack", "ns2-reno".into()), None),
            (of("sender.sack", true.into()), None),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
    }

    #[test]
    fn no_two_keys_have_one_title() {
        let ends = ["mss", "window", "send_buffer", "stack", "congestion", "rto.min"];
        let hosts =
            ["sender", "receiver"].iter().flat_map(|host| ends.map(|key| format!("{host}.{key}")));
        let of_hop =
            ["rate", "delay", "mtu", "queue", "frame", "errors", "errors.rate", "errors.burst"];
        let hops = ["*", "0", "1", "radio"]
            .iter()
            .flat_map(|hop| of_hop.map(|key| format!("hop.{hop}.{key}")));
        let of_flow = ["size", "rate", "interval", "kind"];
        let flows =
            ["*", "0", "1"].iter().flat_map(|flow| of_flow.map(|key| format!("flow.{flow}.{key}")));
        let keys: Vec<String> = hosts.chain(hops).chain(flows).collect();
        let keys: Vec<String> = keys
            .into_iter()
            .chain(
                ["as_netem", "backend", "traffic", "write_rate", "pacing_rate"]
                    .map(|key| format!("lab.{key}")),
            )
            .collect();
        let titles: std::collections::BTreeSet<String> =
            keys.iter().map(|key| title(key)).collect();
        assert_eq!(titles.len(), keys.len(), "{titles:#?}");
    }
}
