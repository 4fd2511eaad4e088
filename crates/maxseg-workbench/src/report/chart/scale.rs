//! From values to places: linear or logarithmic, with ticks at round numbers.

use super::figure::Spacing;

/// A value range on a line of so many pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    spacing: Spacing,
}

impl Scale {
    /// Places `low` at `from` and `high` at `to`; logarithmic ranges must be positive.
    pub(super) fn new(low: f64, high: f64, from: f64, to: f64, spacing: Spacing) -> Self {
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
        Self { low, high, from, to, spacing }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.spacing.is_log() {
            (value.max(self.low).log10() - self.low.log10())
                / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Where the range ends.
    pub(super) fn end(&self) -> f64 {
        self.to
    }

    /// How much of a linear range a pixel is.
    pub(super) fn per_pixel(&self) -> f64 {
        (self.high - self.low) / self.length()
    }

    /// How long the line is.
    pub(super) fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Round values within the range, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear | Spacing::FromZero | Spacing::Gains | Spacing::Categories => {
                linear(self.low, self.high, wanted)
            }
            Spacing::Log(10) => self.decades(wanted),
            Spacing::Log(base) => self.powers(f64::from(base), wanted),
        }
    }

    /// Powers of `base`, or every second, third … of them where there are too many.
    fn powers(&self, base: f64, wanted: usize) -> Vec<f64> {
        let (first, last) = (self.low.log(base).ceil(), self.high.log(base).floor());
        let step = ((last - first + 1.0) / wanted.max(1) as f64).ceil().max(1.0);
        let mut ticks = Vec::new();
        let mut power = first;
        while power <= last {
            ticks.push(base.powf(power).round());
            power += step;
        }
        ticks
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
        ticks.push(n * step + 0.0); // -0 + 0 is 0
        n += 1.0;
    }
    ticks
}

/// The range that holds all `values` with some air.
pub(super) fn padded(values: impl Iterator<Item = f64>, spacing: Spacing) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite() && (!spacing.is_log() || *value > 0.0))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if low > high {
        return if spacing.is_log() { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    match spacing {
        Spacing::Log(_) => (low / 1.3, high * 1.3),
        Spacing::FromZero | Spacing::Gains => {
            let low = low.min(0.0);
            (low, high + 0.04 * (high - low))
        }
        Spacing::Linear | Spacing::Categories => {
            let air = 0.04 * (high - low);
            (low - air, high + air)
        }
    }
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
        let log = Scale::new(50.0, 3000.0, 0.0, 1.0, Spacing::Log(10));
        assert_eq!(log.ticks(10), [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]);
        let wide = Scale::new(50.0, 3_000_000.0, 0.0, 1.0, Spacing::Log(10));
        assert_eq!(wide.ticks(10).len(), 5);
        let windows = Scale::new(50_000.0, 1_400_000.0, 0.0, 1.0, Spacing::Log(2));
        let wanted = [65_536.0, 131_072.0, 262_144.0, 524_288.0, 1_048_576.0];
        assert_eq!(windows.ticks(9), wanted);
        assert!(
            linear(-0.3, 0.3, 3).iter().all(|tick| tick.abs() > 0.0 || tick.is_sign_positive())
        );
    }

    #[test]
    fn places_lie_on_the_line() {
        let scale = Scale::new(10.0, 1000.0, 500.0, 0.0, Spacing::Log(10));
        assert!((scale.place(100.0) - 250.0).abs() < 1e-9);
        assert!((scale.place(10.0) - 500.0).abs() < 1e-9);
    }
}
