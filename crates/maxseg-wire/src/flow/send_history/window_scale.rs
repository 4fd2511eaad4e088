//! Windows whose scale no SYN tells: taken for the least that holds what was in flight, they may turn out larger.

use super::SendHistory;

/// Segments in flight from which on a window may matter: more than an initial window's.
const LONG_FLIGHT: u64 = 12;

impl SendHistory {
    /// Whether so many segments were in flight that a window may have mattered.
    pub(in super::super) fn has_long_flights(&self) -> bool {
        self.counts.in_flight_max >= LONG_FLIGHT * self.sender.full().unsigned_abs()
    }

    /// Whether the sender had sent beyond the window that it knew: away from it, what it knew is known to a tenth or so.
    pub(in super::super) fn exceeds_window(&self) -> bool {
        let beyond = self.sender.window_left().map_or(0, |left| -left);
        let error = if self.distance.is_some() { self.sender.in_flight() / 8 } else { 0 };
        beyond > error + self.sender.full()
    }

    /// Windows are so many times as large as was taken for granted.
    pub(in super::super) fn scale_windows(&mut self, times: i64) {
        if times == 1 {
            return;
        }
        self.sender.scale_windows(times);
        if let Some(distance) = &mut self.distance {
            distance.scale_windows(times);
        }
        self.counts.window_full = 0;
    }
}
