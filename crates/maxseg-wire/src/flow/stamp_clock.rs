//! The clock behind one end's timestamps (RFC 7323 §5.4), as far as it shows how much time passed.

use serde::{Deserialize, Serialize};

use super::vantage::is_later;

/// The first and the last timestamp of an end, with their times in nanoseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct StampClock {
    first: Option<(u32, u64)>,
    last: (u32, u64),
}

/// Lengths of a tick that are in use, in nanoseconds.
const TICKS: [u64; 3] = [1_000_000, 4_000_000, 10_000_000];
/// So much may a measured tick be off, in percent: while a queue grows, timestamps come ever later.
const OFF: u64 = 50;
/// Ticks from which on the length of one is known.
const ENOUGH: u32 = 10;

impl StampClock {
    #[inline]
    pub(super) fn on_stamp(&mut self, stamp: u32, at: u64) {
        if self.first.is_none() {
            self.first = Some((stamp, at));
            self.last = (stamp, at);
        } else if is_later(stamp, self.last.0) {
            self.last = (stamp, at);
        }
    }

    /// Ticks since the last timestamp, and the time since then.
    pub(super) fn since(&self, stamp: u32, at: u64) -> Option<(u32, u64)> {
        self.first?;
        is_later(stamp, self.last.0.wrapping_sub(1))
            .then(|| (stamp.wrapping_sub(self.last.0), at.saturating_sub(self.last.1)))
    }

    /// How long a tick takes, in nanoseconds.
    pub(super) fn tick(&self) -> Option<u64> {
        let (stamp, at) = self.first?;
        let ticks = self.last.0.wrapping_sub(stamp);
        (ticks >= ENOUGH).then(|| self.last.1.saturating_sub(at) / u64::from(ticks))
    }

    /// The same, of those that are in use; `None` of any other.
    pub(super) fn usual_tick(&self) -> Option<u64> {
        let measured = self.tick()?;
        TICKS.into_iter().find(|usual| measured.abs_diff(*usual) * 100 <= usual * OFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_known_from_several() {
        let mut clock = StampClock::default();
        assert_eq!((clock.since(5, 9), clock.tick()), (None, None));
        for n in 0..20_u32 {
            clock.on_stamp((u32::MAX - 9).wrapping_add(n), u64::from(n) * 4_000_000);
        }
        assert_eq!(clock.tick(), Some(4_000_000));
        assert_eq!(clock.since(14, 86_000_000), Some((5, 10_000_000)));
        assert_eq!(clock.since(3, 86_000_000), None, "older than the last");
    }
}
