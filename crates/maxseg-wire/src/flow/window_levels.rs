//! What the window field of an end's segments tells where no SYN tells its scale: the least scale that what was in flight
//! allows, and how long it was low beside the largest.

use maxseg_core::window::LARGEST_SHIFT;
use serde::{Deserialize, Serialize};

/// The windows of an end, as the field has them.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct WindowLevels {
    /// The least scale that what was in flight allows.
    shift: u8,
    largest: u16,
    /// By how much the smallest is less: nothing of most connections, and short when packed.
    range: u16,
    few: u8,
    is_low: bool,
    is_full: bool,
    /// When the last one passed.
    last: u64,
    /// How long they were known, low and full, in nanoseconds.
    known: u64,
    low: u64,
    full: u64,
}

/// A window is low below this share of the largest before: a reader that keeps pace leaves it near that.
const LOW: (u32, u32) = (2, 3);
/// It is full from this share of the largest before on: a reader that keeps pace empties the buffer before the next segment.
const FULL: (u32, u32) = (49, 50);
/// Times are kept from so many segments on, so that short connections need no memory for them.
const FEW: u8 = 16;

impl WindowLevels {
    /// A segment behind the SYN has this window.
    #[inline]
    pub(super) fn on_window(&mut self, window: u16, at: u64) {
        let least = if self.few == 0 { window } else { window.min(self.largest - self.range) };
        self.largest = self.largest.max(window);
        self.range = self.largest - least;
        if self.few < FEW {
            self.few += 1;
            return;
        }
        if self.last > 0 {
            let since = at.saturating_sub(self.last);
            self.known += since;
            self.low += if self.is_low { since } else { 0 };
            self.full += if self.is_full { since } else { 0 };
        }
        self.last = at;
        let is_below =
            |(of, all): (u32, u32)| u32::from(window) * all < u32::from(self.largest) * of;
        (self.is_low, self.is_full) = (is_below(LOW), !is_below(FULL));
    }

    /// Whether what was in flight allows that it is not scaled.
    pub(super) const fn is_unscaled(&self) -> bool {
        self.shift == 0
    }

    /// The shares of the time in which it was low, and full.
    pub(super) fn shares(&self) -> Option<(f64, f64)> {
        let share = |time: u64| time as f64 / self.known as f64;
        (self.known > 0).then(|| (share(self.low), share(self.full)))
    }

    /// The smallest as a share of the largest, whatever the scale.
    pub(super) fn least_share(&self) -> Option<f64> {
        let least = f64::from(self.largest - self.range);
        (self.largest > 0).then(|| least / f64::from(self.largest))
    }

    /// The window of a segment in bytes, by the least scale that holds what is in flight, for no window is ever exceeded
    /// (RFC 9293 §3.8.6); and how many times as large that makes those before.
    pub(super) fn least(&mut self, window: u16, in_flight: i64) -> (i64, i64) {
        let before = self.shift;
        let window = i64::from(window);
        while window > 0 && window << self.shift < in_flight && self.shift < LARGEST_SHIFT {
            self.shift += 1;
        }
        (window << self.shift, 1 << (self.shift - before))
    }

    /// The windows are at least twice as large; gives whether that can be.
    pub(super) const fn double(&mut self) -> bool {
        let can_be = self.shift < LARGEST_SHIFT;
        self.shift += can_be as u8;
        can_be
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_what_is_in_flight() {
        let mut levels = WindowLevels::default();
        assert_eq!(levels.least(1000, 900), (1000, 1));
        assert!(levels.is_unscaled());
        assert_eq!(levels.least(1000, 3500), (4000, 4));
        assert!(!levels.is_unscaled());
        assert_eq!(levels.least(1000, 900), (4000, 1));
        assert_eq!(levels.least(0, 3500), (0, 1), "shut, whatever the scale");
        assert!(levels.double());
        assert_eq!(levels.least(1000, 900), (8000, 1));
    }

    #[test]
    fn windows_are_low_or_full_beside_the_largest_before() {
        let mut levels = WindowLevels::default();
        for _ in 0..FEW {
            levels.on_window(500, 1);
        }
        levels.on_window(500, 1);
        assert_eq!(levels.shares(), None);
        for (window, at) in [(600, 11), (350, 21), (900, 51), (900, 101)] {
            levels.on_window(window, at);
        }
        assert_eq!(levels.shares(), Some((0.3, 0.7)));
        assert_eq!(levels.least_share(), Some(350.0 / 900.0));
    }
}
