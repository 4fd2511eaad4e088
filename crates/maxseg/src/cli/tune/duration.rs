//! Times after which a change ends.

use std::time::Duration;

/// The least and the most that make sense: a change that nobody can see, and one that outlives most boots.
const RANGE_S: std::ops::RangeInclusive<f64> = 1.0..=30.0 * 86_400.0;

/// Reads `10m`, `60s`, `90 s`, `1.5h`, `2d`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("a time has a unit: 60s, 10m, 2h or 1d".to_owned()),
    };
    let seconds: f64 = number.parse().map_err(|_| "write for example 10m".to_owned())?;
    let seconds = seconds * factor;
    if RANGE_S.contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("it must be between 1s and 30d".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("10m", 600.0), ("60s", 60.0), ("1.5 h", 5400.0), ("1d", 86_400.0)]
        {
            assert_eq!(duration(text).map(|time| time.as_secs_f64()), Ok(seconds), "{text}");
        }
        for text in ["10", "", "m", "0s", "-5s", "31d", "1e9s", "10 parsecs"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
