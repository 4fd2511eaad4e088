//! The least room that is left in the receive window, interval by interval.

use maxseg_core::evidence::{Bin, later_stands};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

/// Intervals are longer than at first where there are too many. Of such a one it is the room of one part, as long as intervals are at
/// first, as it is of those that are joined ([`Bin::join`]).
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WindowLeft {
    /// Nanoseconds of a part.
    width: u64,
    /// When the present part ends, and whether it stands for its interval so far.
    until: u64,
    stands: bool,
}

impl WindowLeft {
    pub(super) const fn new(width: u64) -> Self {
        Self { width, until: 0, stands: true }
    }

    /// A segment was sent at `at`, which lies in the interval, and left so much room.
    #[inline(always)]
    pub(super) fn on_send(&mut self, at: u64, left: u64, bin: &mut Bin) {
        if at >= self.until {
            self.begin_part(at, bin);
        }
        if self.stands {
            bin.window_left_min = Some(bin.window_left_min.map_or(left, |least| least.min(left)));
        }
    }

    #[inline(never)]
    fn begin_part(&mut self, at: u64, bin: &mut Bin) {
        let begin = bin.at.as_nanos();
        let from = begin + at.saturating_sub(begin) / self.width.max(1) * self.width;
        self.until = (from + self.width).min(bin.end().as_nanos());
        let times = [begin, from, self.until].map(Time::from_nanos);
        self.stands = bin.window_left_min.is_none() || later_stands(times);
        if self.stands {
            bin.window_left_min = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::Bins;

    use super::*;

    const WIDTH: u64 = 10_000_000;

    /// However long a connection is, its window was full for as much of the time.
    #[test]
    fn a_window_is_full_for_as_much_of_the_time_in_long_intervals() {
        let full_share = |seconds: u64, is_full: fn(u64) -> bool| {
            let mut bins = Bins::new(Time::ZERO, Time::from_nanos(WIDTH));
            let mut window = WindowLeft::new(WIDTH);
            for n in 0..seconds * 200 {
                let at = WIDTH / 2 * n;
                let left = if is_full(n / 2) { 0 } else { 1 << 16 };
                window.on_send(at, left, bins.at(Time::from_nanos(at)));
            }
            let list = bins.as_slice();
            let full = list.iter().filter(|bin| bin.window_left_min == Some(0)).count();
            full as f64 / list.len() as f64
        };
        for seconds in [10, 40, 160, 640, 2560] {
            // Standard error of a share of a thousand draws: 1.6%; five of them.
            let near = |share: f64, wanted: f64| (share - wanted).abs() < 0.08;
            assert!(near(full_share(seconds, |n| n % 4 == 0), 0.25), "{seconds}");
            assert!(near(full_share(seconds, |n| n % 2 == 0), 0.5), "{seconds}");
            assert!(near(full_share(seconds, |n| n % 10 != 0), 0.9), "{seconds}");
            assert!(near(full_share(seconds, |n| n % 256 < 64), 0.25), "{seconds}");
        }
    }

    #[test]
    fn the_least_of_a_part_counts() {
        let mut bins = Bins::new(Time::ZERO, Time::from_nanos(WIDTH));
        let mut window = WindowLeft::new(WIDTH);
        for (at, left) in [(0, 9), (1, 3), (2, 5), (WIDTH, 7), (WIDTH + 1, 8)] {
            window.on_send(at, left, bins.at(Time::from_nanos(at)));
        }
        let left: Vec<_> = bins.as_slice().iter().map(|bin| bin.window_left_min).collect();
        assert_eq!(left, [Some(3), Some(7)]);
    }
}
