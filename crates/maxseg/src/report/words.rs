//! Numbers as people read them, with their units.

use maxseg_core::settings::WindowSize;
use maxseg_core::units::{BitsPerSec, Bytes, Probability, Time};
use serde_json::Value;

/// A rate with three digits: `1.59 Mbit/s`.
pub fn rate(bps: f64) -> String {
    scaled(bps, &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)])
}

/// A rate for an axis: no zeros that say nothing.
pub fn round_rate(bps: f64) -> String {
    let text = rate(bps);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        Some(_) | None => text,
    }
}

/// A time with three digits: `464 ms`.
pub fn time(seconds: f64) -> String {
    scaled(seconds, &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)])
}

/// A share as a percentage with three digits.
pub fn percent(share: f64) -> String {
    format!("{}%", digits(100.0 * share))
}

/// A gain: `+12%`, or `x3.4` from a doubling on.
pub fn gain(relative: f64) -> String {
    if relative >= 1.0 {
        format!("x{}", digits(1.0 + relative))
    } else if relative.abs() < 0.1 {
        format!("{:+.1}%", 100.0 * relative)
    } else {
        format!("{:+.0}%", 100.0 * relative)
    }
}

/// Three digits, no more and no fewer than make sense.
pub fn digits(value: f64) -> String {
    match value.abs() {
        zero if zero < 1e-12 => "0".to_owned(),
        magnitude if magnitude >= 100.0 => format!("{value:.0}"),
        magnitude if magnitude >= 10.0 => format!("{value:.1}"),
        magnitude if magnitude >= 1.0 => format!("{value:.2}"),
        magnitude => {
            // Three digits behind the zeros.
            let decimals = (3..14).find(|n| magnitude * 10_f64.powi(*n) >= 99.95).unwrap_or(14);
            let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(3));
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// A value of an axis: whole where it is.
pub fn digits_whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 { format!("{value:.0}") } else { digits(value) }
}

fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    // Rounded first: 999.6 k is 1 M.
    let fits = |scale: f64| value.abs() >= 0.9995 * scale;
    let (unit, scale) = units.iter().rev().find(|(_, scale)| fits(*scale)).unwrap_or(&units[0]);
    format!("{} {unit}", digits(value / scale))
}

/// A window as a file writes it.
pub fn window(window: WindowSize) -> String {
    match window {
        WindowSize::Bytes(bytes) => bytes.to_string(),
        WindowSize::Segments(n) => format!("{n} segments"),
    }
}

/// What a swept key is, for an axis or a column: words and unit.
pub fn title(key: &str) -> String {
    let words: Vec<&str> = key.split('.').collect();
    match words.as_slice() {
        ["sender" | "receiver", "mss"] => "segment size (bytes)".to_owned(),
        ["flow", _, "size"] => "datagram size (bytes)".to_owned(),
        ["flow", _, "rate"] => "offered rate".to_owned(),
        ["sender" | "receiver", "window"] => "receive window".to_owned(),
        ["hop", hop, "errors", "rate"] => format!("error rate on {hop}"),
        ["hop", "*", "mtu"] => "MTU (bytes)".to_owned(),
        ["hop", hop, "mtu"] => format!("MTU of {hop} (bytes)"),
        ["hop", hop, what] => format!("{what} of {hop}"),
        _ => key.to_owned(),
    }
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

/// The number in a swept value: of a bare number, of a percentage, or of a quantity with its unit.
pub fn number(value: &Value) -> Option<f64> {
    let Some(text) = value.as_str() else { return value.as_f64() };
    let rate = text.parse::<BitsPerSec>().ok().map(|rate| rate.get() as f64);
    let bytes = || text.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64);
    let time = || text.parse::<Time>().ok().map(Time::as_secs_f64);
    let share = || text.parse::<Probability>().ok().map(Probability::get);
    let segments = || text.split_whitespace().next()?.parse().ok();
    rate.or_else(bytes).or_else(time).or_else(share).or_else(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        let cases = [
            (rate(1_587_769.2), "1.59 Mbit/s"),
            (rate(999_960.0), "1 Mbit/s"),
            (rate(87.48), "87.5 bit/s"),
            (rate(0.0), "0 bit/s"),
            (time(0.464_314), "464 ms"),
            (time(12.0), "12.0 s"),
            (percent(0.000_5), "0.05%"),
            (percent(0.114), "11.4%"),
            (gain(0.1204), "+12%"),
            (gain(0.012), "+1.2%"),
            (gain(2.4), "x3.40"),
            (gain(-0.3), "-30%"),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
    }

    #[test]
    fn swept_values_have_numbers() {
        let cases = [
            (serde_json::json!(536), Some(536.0)),
            (serde_json::json!("64 KiB"), Some(65_536.0)),
            (serde_json::json!("1%"), Some(0.01)),
            (serde_json::json!("20 segments"), Some(20.0)),
            (serde_json::json!("ns2-reno"), None),
        ];
        for (value, want) in cases {
            assert_eq!(number(&value), want, "{value}");
        }
    }
}
