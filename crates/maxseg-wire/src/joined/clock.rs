//! The difference of two clocks, from packets that passed both captures.
//!
//! A packet that travels from the first capture to the second shows the difference plus its delay; one that travels back
//! shows the difference less its delay. Delays are never negative, so that the difference runs below all points of the one
//! direction and above all of the other. It is taken to be a line, whose slope is the one that keeps the points closest to
//! the lines through the least delays (Moon, Skelly, Towsley, INFOCOM 1999), in both directions at once; its height is the
//! middle between these lines (Paxson, SIGMETRICS 1998).

/// The clock of the second capture against that of the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    /// Time of the first capture at which the difference is [`offset`](Self::offset), in nanoseconds since 1970.
    middle: i64,
    /// Second less first, in nanoseconds.
    pub(super) offset: i64,
    /// By how much the second is faster, as a share.
    pub(super) skew: f64,
    /// The least delays of both directions together, in nanoseconds; `None` where one direction is missing.
    pub(super) base: Option<i64>,
}

/// A packet that passed both captures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// When it passed the first, and how much later the second's clock was when it passed that; in nanoseconds.
    pub(super) at: i64,
    pub(super) later: i64,
    /// Whether it travels from the first to the second.
    pub(super) is_down: bool,
}

/// No two clocks differ more: the worst quartz is off by 200 millionths, a virtual machine by more.
const MOST_SKEW: f64 = 2e-3;
/// A skew explains something where it brings points closer by this share, and by so many nanoseconds.
const LEAST_SHARE: f64 = 0.05;
const LEAST_NANOS: f64 = 2_000.0;
/// The least delays may seem negative by so many nanoseconds: clocks are disciplined while they run, and no line.
const TOLERANCE: i64 = 1_000_000;

/// The difference is no line: a clock was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockWasSet;

impl Clock {
    /// As if both were one.
    pub(super) const EQUAL: Self = Self { middle: 0, offset: 0, skew: 0.0, base: None };

    /// The clock that these points show; `None` without points.
    pub(super) fn of(points: &[Point]) -> Result<Option<Self>, ClockWasSet> {
        let (Some(first), Some(last)) =
            (points.iter().map(|point| point.at).min(), points.iter().map(|point| point.at).max())
        else {
            return Ok(None);
        };
        let middle = first + (last - first) / 2;
        let Some(zero) = points.first().map(|point| point.later) else { return Ok(None) };
        let side = |is_down| Side::of(points, is_down, middle, zero);
        let (down, up) = (side(true), side(false));
        let skew = best_skew(&down, &up);
        let (below, above) = (down.edge(skew), up.edge(skew));
        let (offset, base) = match (below, above) {
            (Some(below), Some(above)) => (f64::midpoint(below, above), Some(below - above)),
            (Some(one), None) | (None, Some(one)) => (one, None),
            (None, None) => return Ok(None),
        };
        let base = base.map(nanos);
        if base.is_some_and(|base| base < -TOLERANCE) {
            return Err(ClockWasSet);
        }
        let base = base.map(|base| base.max(0));
        Ok(Some(Self { middle, offset: zero + nanos(offset), skew, base }))
    }

    /// A time of the second capture as the first would have noted it.
    #[inline]
    pub(super) fn to_first(self, at: i64) -> i64 {
        let about = at.saturating_sub(self.offset);
        let since = about.saturating_sub(self.middle) as f64;
        about.saturating_sub(nanos(since * self.skew))
    }
}

/// The points of one direction, about the middle.
struct Side {
    is_down: bool,
    points: Vec<(f64, f64)>,
    mean: (f64, f64),
}

impl Side {
    fn of(points: &[Point], is_down: bool, middle: i64, zero: i64) -> Self {
        let own = points.iter().filter(|point| point.is_down == is_down);
        let points: Vec<(f64, f64)> = own
            .map(|point| ((point.at - middle) as f64, point.later.saturating_sub(zero) as f64))
            .collect();
        let n = points.len().max(1) as f64;
        let mean =
            points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / n, sum.1 + point.1 / n));
        Self { is_down, points, mean }
    }

    /// Height of the line with this slope through the least delay.
    fn edge(&self, slope: f64) -> Option<f64> {
        let heights = self.points.iter().map(|(at, later)| later - slope * at);
        if self.is_down { heights.reduce(f64::min) } else { heights.reduce(f64::max) }
    }

    /// Mean distance of the points from that line.
    fn distance(&self, slope: f64) -> f64 {
        let Some(edge) = self.edge(slope) else { return 0.0 };
        (self.mean.1 - slope * self.mean.0 - edge).abs()
    }
}

/// The slope of least distance, or 0 where that explains little more. The distance is convex in the slope.
fn best_skew(down: &Side, up: &Side) -> f64 {
    let distance = |slope: f64| down.distance(slope) + up.distance(slope);
    let (mut low, mut high) = (-MOST_SKEW, MOST_SKEW);
    for _ in 0..80 {
        let third = (high - low) / 3.0;
        if distance(low + third) <= distance(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    let skew = f64::midpoint(low, high);
    let (with, without) = (distance(skew), distance(0.0));
    let is_proven = without - with > LEAST_NANOS + LEAST_SHARE * with;
    if is_proven { skew } else { 0.0 }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a span of nanoseconds; casts of floats saturate"
)]
fn nanos(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets in both directions, a hundred a second each for `seconds`; queues come and go.
    fn points(seconds: i64, offset: i64, skew: f64, least: (i64, i64), queue: i64) -> Vec<Point> {
        let begin = 1_700_000_000_000_000_000;
        let point = |n: i64| {
            let (at, is_down) = (begin + n * 5_000_000, n % 2 == 0);
            let wait = queue * ((n * 7919) % 101) / 100;
            let drift = nanos((n * 5_000_000) as f64 * skew);
            let delay = if is_down { least.0 + wait } else { -least.1 - wait / 9 };
            Point { at, later: offset + drift + delay, is_down }
        };
        (0..seconds * 200).map(point).collect()
    }

    #[test]
    fn offset_and_skew_are_found_below_queues() {
        let hours = 7_200_000_000_000;
        for (offset, skew) in [(0, 0.0), (hours, 40e-6), (-hours, -80e-6), (3_000_000, 60e-6)] {
            let points = points(60, offset, skew, (20_000_000, 20_000_000), 30_000_000);
            let clock = Clock::of(&points).unwrap().unwrap();
            assert!((clock.skew - skew).abs() < 1e-6, "{clock:?}");
            let middle = offset + nanos(30e9 * skew);
            assert!((clock.offset - middle).abs() < 100_000, "{offset} {skew}: {clock:?}");
            assert!((clock.base.unwrap() - 40_000_000).abs() < 200_000, "{clock:?}");
        }
    }

    #[test]
    fn an_asymmetric_path_is_within_the_uncertainty() {
        let clock = Clock::of(&points(10, 0, 0.0, (35_000_000, 5_000_000), 0)).unwrap().unwrap();
        assert_eq!(clock.base, Some(40_000_000));
        assert!(clock.offset.abs() <= clock.base.unwrap() / 2);
    }

    #[test]
    fn times_of_the_second_become_those_of_the_first() {
        let points = points(60, 5_000_000_000, 50e-6, (1_000_000, 1_000_000), 0);
        let clock = Clock::of(&points).unwrap().unwrap();
        for point in &points {
            let delay = clock.to_first(point.at + point.later) - point.at;
            let wanted = if point.is_down { 1_000_000 } else { -1_000_000 };
            assert!((delay - wanted).abs() < 5_000, "{delay}");
        }
    }

    #[test]
    fn a_clock_that_is_set_is_no_line() {
        let mut points = points(10, 0, 0.0, (1_000_000, 1_000_000), 0);
        let half = points.len() / 2;
        points.iter_mut().skip(half).for_each(|point| point.later += 3_000_000_000);
        assert_eq!(Clock::of(&points), Err(ClockWasSet));
    }
}
