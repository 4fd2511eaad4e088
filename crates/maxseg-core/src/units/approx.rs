//! Numbers as people read them: three digits and a unit that fits. Not for reading back.

/// Units with their sizes, rising.
type Units = [(&'static str, f64)];

const RATES: [(&str, f64); 4] = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];

/// A rate: `1.59 Mbit/s`.
pub fn rate(bps: f64) -> String {
    scaled(bps, &RATES)
}

/// The unit in which [`rate`] writes this rate, and its size in bits per second: for a column of rates.
pub fn rate_unit(bps: f64) -> (&'static str, f64) {
    unit_of(bps, &RATES)
}

/// A time: `464 ms`.
pub fn time(seconds: f64) -> String {
    if seconds.abs() < 1e-12 {
        return "0 s".to_owned();
    }
    scaled(seconds, &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)])
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{}%", digits(100.0 * share))
}

/// A share in whole percents: `90%`; `<1%` for less than one.
pub fn whole_percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 1.0 => "<1%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

/// A relative gain: `+12%`, or `x3.4` from a doubling on.
pub fn gain(relative: f64) -> String {
    if relative >= 1.0 {
        format!("x{}", digits(1.0 + relative))
    } else if relative.abs() < 0.0005 {
        "0%".to_owned()
    } else if relative.abs() < 0.1 {
        format!("{:+.1}%", 100.0 * relative)
    } else {
        format!("{:+.0}%", 100.0 * relative)
    }
}

/// Three digits, no more and no fewer than make sense.
pub fn digits(value: f64) -> String {
    match value.abs() {
        zero if zero < 1e-15 => "0".to_owned(),
        magnitude if magnitude >= 99.95 => format!("{value:.0}"),
        magnitude if magnitude >= 9.995 => format!("{value:.1}"),
        magnitude if magnitude >= 1.0 => format!("{value:.2}"),
        magnitude => {
            // Three digits behind the zeros.
            let decimals = (3..18).find(|n| magnitude * 10_f64.powi(*n) >= 99.95).unwrap_or(18);
            let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(3));
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn scaled(value: f64, units: &Units) -> String {
    let (unit, scale) = unit_of(value, units);
    format!("{} {unit}", digits(value / scale))
}

/// The largest unit of which `value` is at least one; the smallest where it is none.
fn unit_of(value: f64, units: &Units) -> (&'static str, f64) {
    // Rounded first: 999.6 k is 1 M.
    let fits = |scale: f64| value.abs() >= 0.9995 * scale;
    *units.iter().rev().find(|(_, scale)| fits(*scale)).unwrap_or(&units[0])
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
            (rate(99.96), "100 bit/s"),
            (rate(0.0), "0 bit/s"),
            (time(0.464_314), "464 ms"),
            (time(12.0), "12.0 s"),
            (time(0.0), "0 s"),
            (percent(0.000_5), "0.05%"),
            (percent(0.114), "11.4%"),
            (percent(1e-6), "0.0001%"),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
        assert_eq!(rate_unit(999_960.0).0, "Mbit/s");
        assert_eq!(rate_unit(0.0).0, "bit/s");
    }
}
