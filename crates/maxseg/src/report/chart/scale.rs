//! From values to places: linear or logarithmic, with ticks at round numbers.

/// A value range on a line of so many pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    /// Places `low` at `from` and `high` at `to`; logarithmic ranges must be positive.
    pub(super) fn new(low: f64, high: f64, from: f64, to: f64, log: bool) -> Self {
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
        Self { low, high, from, to, log }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low).log10() - self.low.log10())
                / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Round values within the range, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        if self.log { self.decades(wanted) } else { linear(self.low, self.high, wanted) }
    }

    /// Powers of ten; with 2 and 5 in between where there is room.
    fn decades(&self, wanted: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let steps: &[f64] =
            if (last - first) * 3.0 <= wanted as f64 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        let mut power = first;
        while power <= last {
            ticks.extend(steps.iter().map(|step| step * 10_f64.powf(power)));
            power += 1.0;
        }
        ticks.retain(|tick| *tick >= self.low * 0.999 && *tick <= self.high * 1.001);
        ticks
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let rough = (high - low) / wanted.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let mut ticks = Vec::new();
    let mut n = (low / step).ceil();
    while n * step <= high + step * 1e-9 {
        ticks.push(n * step);
        n += 1.0;
    }
    ticks
}

/// The range that holds all `values` with some air: from zero where they are not far from it, or, on
/// a logarithmic axis, to the next round numbers.
pub(super) fn padded(values: impl Iterator<Item = f64>, log: bool, from_zero: bool) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite() && (!log || *value > 0.0))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if low > high {
        return if log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    if log {
        return (low / 1.3, high * 1.3);
    }
    let low = if from_zero { 0.0_f64.min(low) } else { low };
    let air = 0.04 * (high - low);
    (if from_zero { low } else { low - air }, high + air)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            linear(0.0, 1460.0, 8),
            [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0, 1400.0]
        );
        let log = Scale::new(50.0, 3000.0, 0.0, 1.0, true);
        assert_eq!(log.ticks(10), [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]);
        let wide = Scale::new(50.0, 3_000_000.0, 0.0, 1.0, true);
        assert_eq!(wide.ticks(10).len(), 5);
    }

    #[test]
    fn places_lie_on_the_line() {
        let scale = Scale::new(10.0, 1000.0, 500.0, 0.0, true);
        assert!((scale.place(100.0) - 250.0).abs() < 1e-9);
        assert!((scale.place(10.0) - 500.0).abs() < 1e-9);
    }
}
