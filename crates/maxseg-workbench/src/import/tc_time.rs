//! Times as `tc` reads them.

use maxseg_core::units::Time;

/// What `tc` holds a time in: 32 bits of microseconds (tc(8), TIMES).
const LONGEST: Time = Time::from_nanos(u32::MAX as u64 * 1_000);

/// `text` as `tc` takes it: a decimal number, then s, ms or us in any case, also as sec, msec, usec and in the
/// plural; without a unit it is microseconds (tc(8), TIMES). To the nearest nanosecond; `None` for what `tc`
/// would refuse, a space before the unit included.
pub(super) fn tc_time(text: &str) -> Option<Time> {
    let split = unit_begins(text);
    let (number, unit) = (&text[..split], &text[split..]);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" => 1.0,
        "ms" | "msec" | "msecs" => 1e-3,
        "" | "us" | "usec" | "usecs" => 1e-6,
        _ => return None,
    };
    let time = Time::from_secs_f64(number * seconds);
    (number.is_finite() && number >= 0.0 && time <= LONGEST).then_some(time)
}

/// Where the number at the beginning ends: an exponent belongs to it.
fn unit_begins(text: &str) -> usize {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    let number = text.find(|c| !plain(c)).unwrap_or(text.len());
    let Some(exponent) = text[number..].strip_prefix(['e', 'E']) else { return number };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 { number } else { text.len() - digits.len() + end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_tc_reads_them() {
        // iproute2 6.1 encodes `delay 100` and `delay 100us` alike, and refuses `delay 10 ms`.
        let cases = [
            ("10ms", Some(10_000_000)),
            ("5us", Some(5_000)),
            ("1s", Some(1_000_000_000)),
            ("100", Some(100_000)),
            ("0.5MSECS", Some(500_000)),
            (".5s", Some(500_000_000)),
            ("1e3us", Some(1_000_000)),
            ("1E-3secs", Some(1_000_000)),
            ("4294967295", Some(4_294_967_295_000)),
            ("4294967296", None),
            ("10 ms", None),
            ("ms", None),
            ("-5ms", None),
            ("10min", None),
            ("1e", None),
            ("nan", None),
            ("1e999", None),
            ("", None),
            ("5µs", None),
        ];
        for (text, nanos) in cases {
            assert_eq!(tc_time(text).map(Time::as_nanos), nanos, "{text}");
        }
    }
}
