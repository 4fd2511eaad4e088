//! Ranges in words.

use std::ops::Range;

/// In another unit.
pub(crate) fn span(range: Range<f64>, unit: f64) -> String {
    format!("{} to {}", short(range.start * unit), short(range.end * unit))
}

pub(crate) fn percents(range: Range<f64>) -> String {
    format!("{} to {}", percent(range.start), percent(range.end))
}

pub(crate) fn percent(share: f64) -> String {
    format!("{}%", short(100.0 * share))
}

/// Without the noise of a product's last digits.
pub(crate) fn short(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_numbers() {
        assert_eq!(span(2e6..100e6, 1e-6), "2 to 100");
        assert_eq!(span(0.005..0.150, 1e3), "5 to 150");
        assert_eq!(percents(0.001..0.03), "0.1% to 3%");
    }
}
