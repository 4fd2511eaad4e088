//! A receive window that became smaller once, and is the same since.

use crate::evidence::DirectionStats;

/// It was never far below that.
const NEVER_BELOW: f64 = 0.8;
/// It became smaller at the beginning where it is the same, to the byte, for so much of the time: the window of a reader that keeps an even
/// rate is about the same as well, but rises and falls with what it has just read.
const SINCE: f64 = 0.9;
/// A reader that is behind leaves less room than so many segments.
const ROOM: u64 = 4;

/// The window, where it became much smaller once, and is the same since: that of a buffer which a program sets once it is connected, and of
/// no reader that is behind.
pub(crate) fn smaller_window(data: &DirectionStats, acks: &DirectionStats) -> Option<u64> {
    let (least, most) = acks.window_min_bytes.zip(acks.window_max_bytes)?;
    let used = || data.bins.as_slice().iter().filter(|bin| bin.segments > 0);
    let mut windows: Vec<u64> = used().map(|bin| bin.window_max).collect();
    windows.sort_unstable();
    let usual = *windows.get(windows.len() / 2)?;
    let (mut same, mut all) = (0.0, 0.0);
    for bin in used() {
        let seconds = bin.duration.as_secs_f64();
        all += seconds;
        same += if bin.window_max == usual { seconds } else { 0.0 };
    }
    let is_smaller = 2 * usual < most
        && least as f64 >= NEVER_BELOW * usual as f64
        && least >= ROOM * u64::from(data.full_segment())
        && acks.zero_windows == 0
        && same >= SINCE * all;
    is_smaller.then_some(usual)
}

/// Whether a reader is behind: its window is low, and not as a smaller buffer makes it.
pub(crate) fn has_slow_reader(data: &DirectionStats, acks: &DirectionStats) -> bool {
    acks.has_slow_reader() && smaller_window(data, acks).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Bins;
    use crate::units::Time;

    /// `SO_RCVBUF` of 20 000 after `accept`: 63 744 bytes, and 25 088 for the rest (Linux 6.18).
    #[test]
    fn a_window_that_shrinks_once_is_a_buffers() {
        let step = Time::from_millis(100);
        let with = |later: &dyn Fn(u64) -> u64| {
            let mut bins = Bins::new(Time::ZERO, step);
            for n in 0..50 {
                let bin = bins.at(step.times(n));
                (bin.segments, bin.window_max) = (10, if n < 2 { 63_744 } else { later(n) });
            }
            DirectionStats { bins, mss_used_bytes: Some(1448), ..DirectionStats::default() }
        };
        let acks = DirectionStats {
            window_min_bytes: Some(23_680),
            window_max_bytes: Some(63_744),
            ..DirectionStats::default()
        };
        let same = with(&|_| 25_088);
        assert_eq!(smaller_window(&same, &acks), Some(25_088));
        let varies = with(&|n| 25_088 + 128 * (n % 4));
        assert_eq!(smaller_window(&varies, &acks), None, "a reader is behind");
        let shut = DirectionStats { zero_windows: 1, ..acks.clone() };
        assert_eq!(smaller_window(&same, &shut), None);
        let small = DirectionStats { window_min_bytes: Some(2_896), ..acks };
        assert_eq!(smaller_window(&with(&|_| 2_896), &small), None, "what a reader leaves");
    }
}
