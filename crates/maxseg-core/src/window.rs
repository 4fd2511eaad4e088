//! Windows: how much fills a path, how fast a window lets data go, what it leaves in the queue, and how
//! the header carries it.

use crate::units::{BitsPerSec, Bytes, Time};

/// The largest value of the window field.
pub const FIELD: u64 = 65_535;
/// The largest shift (RFC 7323 §2.3).
pub const LARGEST_SHIFT: u8 = 14;
/// The largest window that TCP can offer: 65 535 · 2¹⁴, just below 2³⁰ (RFC 7323 §2.3).
pub const LARGEST: u64 = FIELD << LARGEST_SHIFT;

/// The memory of a Linux socket for each byte of payload: packets count with their overhead, which is about as much. Half of a receive
/// buffer is window until packets show how large they are (`TCP_DEFAULT_SCALING_RATIO`; `tcp_adv_win_scale` before Linux 6.6), and
/// `SO_SNDBUF` counts twice (socket(7)).
pub const MEMORY_PER_PAYLOAD: u64 = 2;
/// The window shuts where so much of the receive buffer, in parts of a whole, waits to be read: the rest is for overhead.
pub const SHUT_AT_UNREAD: (u64, u64) = (2, 5);

/// Whether an unscaled window comes so near the largest value of its field that this may be what holds it. A buffer of half as much offers
/// half as much, with a scale or without.
pub const fn is_near_field(window: u64) -> bool {
    window > FIELD / 2
}

/// A path as a window sees it: the rate of its slowest link, all bytes of a packet counted alike, and
/// the round trip with nothing queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipe {
    /// The slowest link's rate.
    pub rate: BitsPerSec,
    /// The round trip, nothing queued.
    pub rtt: Time,
}

impl Pipe {
    /// The bandwidth-delay product in bytes: the window that just fills the path.
    pub fn bdp(&self) -> f64 {
        self.bit_nanos() as f64 / 8e9
    }

    /// Segments of `mss` that the path holds, the last one counted whole; the multiplier of Open
    /// Transport's `tcp_rwin_mss_multiplier`. Zero where the segment is.
    pub fn segments(&self, mss: Bytes) -> u128 {
        self.bit_nanos().div_ceil((u128::from(mss.bits()) * 1_000_000_000).max(1))
            * u128::from(mss > Bytes::ZERO)
    }

    /// The rate that `window` allows, in bits per second: a window each round trip, at most the link's
    /// rate.
    pub fn rate_with(&self, window: Bytes) -> f64 {
        rate_per_round_trip(window.get() as f64, self.rtt.as_secs_f64()).min(self.rate.get() as f64)
    }

    /// How long a packet waits behind what `window` holds beyond a full path, in seconds.
    pub fn standing_queue(&self, window: Bytes) -> f64 {
        let beyond = u128::from(window.bits()) * 1_000_000_000;
        beyond.saturating_sub(self.bit_nanos()) as f64 / self.rate.get() as f64 / 1e9
    }

    /// How long the link needs for all of `window`, in seconds.
    pub fn drain_time(&self, window: Bytes) -> f64 {
        window.bits() as f64 / self.rate.get() as f64
    }

    /// Rate × round trip in bits × nanoseconds ÷ second.
    fn bit_nanos(&self) -> u128 {
        u128::from(self.rate.get()) * u128::from(self.rtt.as_nanos())
    }
}

/// A window of so many bytes each round trip of so many seconds, in bits per second.
pub fn rate_per_round_trip(window: f64, rtt: f64) -> f64 {
    8.0 * window / rtt
}

/// The smallest shift that carries `window`, or the largest there is (RFC 7323 §2.3).
pub fn smallest_shift(window: Bytes) -> u8 {
    (0..LARGEST_SHIFT).find(|shift| FIELD << shift >= window.get()).unwrap_or(LARGEST_SHIFT)
}

/// The shift that Linux chooses for a buffer that can grow to `space` (`tcp_select_initial_window`):
/// ⌊log₂ space⌋ − 15, which is at times one less than what would carry all of it.
pub fn linux_shift(space: Bytes) -> u8 {
    let bits = space.get().checked_ilog2().unwrap_or(0);
    u8::try_from(bits.saturating_sub(15)).unwrap_or(LARGEST_SHIFT).min(LARGEST_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe(rate: u64, rtt_ms: u64) -> Pipe {
        Pipe { rate: BitsPerSec::new(rate).unwrap(), rtt: Time::from_millis(rtt_ms) }
    }

    #[test]
    fn a_cable_modem_needs_69_segments_not_66() {
        let cable = pipe(10_000_000, 80);
        assert!((cable.bdp() - 100_000.0).abs() < 1e-9);
        assert_eq!(cable.segments(Bytes::new(1460)), 69);
        assert!(cable.rate_with(Bytes::new(66 * 1460)) < 10e6);
        assert!(cable.rate_with(Bytes::new(69 * 1460)) >= 10e6);
    }

    #[test]
    fn what_does_not_fit_the_path_stands_in_the_queue() {
        // 17520 bytes over a 28.8 kbit/s modem: what makes a browser wait.
        let modem = pipe(28_800, 200);
        let window = Bytes::new(17_520);
        assert!((modem.standing_queue(window) - (4.866_666_667 - 0.2)).abs() < 1e-6);
        assert!((modem.drain_time(window) - 4.866_666_667).abs() < 1e-6);
    }

    #[test]
    fn shifts_end_at_fourteen() {
        let cases =
            [(0, 0, 0), (65_535, 0, 0), (65_536, 1, 1), (131_071, 2, 1), (u64::MAX, 14, 14)];
        for (window, rfc, linux) in cases {
            let window = Bytes::new(window);
            assert_eq!((smallest_shift(window), linux_shift(window)), (rfc, linux), "{window}");
        }
    }
}
