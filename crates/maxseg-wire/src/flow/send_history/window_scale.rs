//! Windows whose scale no SYN tells: taken for the least that holds what was in flight, they may turn out larger.

use super::SendHistory;

/// Segments in flight from which on a window may matter: more than an initial window's.
const LONG_FLIGHT: u64 = 12;

impl SendHistory {
    /// Whether what was in flight tells the scale of this window field. What a few segments leave of a window says nothing of it;
    /// but Linux advertises whole segments where it does not scale, and multiples of a power of two where it does
    /// (`__tcp_select_window`).
    pub(in super::super) fn tells_scale(&self, field: u16, is_unscaled: bool) -> bool {
        let full = self.sender.full();
        self.counts.in_flight_max >= LONG_FLIGHT * full.unsigned_abs()
            || is_unscaled && field > 0 && full > 0 && i64::from(field) % full == 0
    }

    /// Whether this window tells how much room is left. The largest field is that of larger windows too: nothing shows that it is
    /// full when a flight comes within two segments of it.
    pub(in super::super) fn tells_room(&self, window: i64) -> bool {
        let filled = self.counts.in_flight_max.cast_signed() + 2 * self.sender.full();
        window != i64::from(u16::MAX) || filled < window
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
        if let Some(epochs) = &mut self.sender.epochs {
            epochs.on_wider_windows();
        }
        if let Some(distance) = &mut self.distance {
            distance.scale_windows(times);
        }
        if let Some(trace) = &mut self.trace {
            trace.scale_windows(times.unsigned_abs());
        }
        self.counts.window_full = 0;
    }
}
