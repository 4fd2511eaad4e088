//! What Linux makes of full segments that vanish without a word (`tcp_mtu_probing` in
//! `net/ipv4/tcp_timer.c`; RFC 2923 §2.1, RFC 4821 §7.7).

use crate::units::{Bytes, Mss};

/// Timeouts in a row that make a segment suspicious to the stacks that count them, as many as Linux's `tcp_retries1`. Linux itself
/// goes by the time: see [`timeouts_of_linux`].
pub const SUSPICIOUS: u32 = 3;
/// How long after the first retransmission, in seconds, a timeout of Linux makes a segment suspicious: as long as a timer of 200 ms
/// takes that expires once and doubles for each of `tcp_retries1` retransmissions (`retransmits_timed_out`, `tcp_model_timeout`).
pub const SUSPICIOUS_AFTER: f64 = SUSPICIOUS_AFTER_MILLIS as f64 / 1e3;
/// The same in milliseconds.
pub(crate) const SUSPICIOUS_AFTER_MILLIS: u64 = 3000;
/// The size with which probing begins: Linux's `tcp_base_mss`.
pub const BASE: u64 = 1024;
/// The size below which it does not go: Linux's `tcp_mtu_probe_floor`.
const FLOOR: u64 = 48;

/// The size that a sender takes to pass once segments are suspicious (`search_low` of `icsk_mtup`), in bytes of payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    low: u64,
    has_begun: bool,
}

impl Search {
    /// Before any segment is suspicious. `clamp` is the payload that the MSS options leave, whatever the MTU: a segment that the MTU
    /// makes smaller than the first size goes once more as it is.
    pub const fn new(clamp: Mss) -> Self {
        let clamp = clamp.bytes().get();
        Self { low: if clamp < BASE { clamp } else { BASE }, has_begun: false }
    }

    /// A timeout that makes the segment suspicious: the first begins the search, each further one halves the size. Gives the most
    /// payload of a segment from now on; `None` at the floor.
    pub fn on_suspicion(&mut self) -> Option<u64> {
        if self.has_begun {
            let half = halved(self.low);
            if half >= self.low {
                return None;
            }
            self.low = half;
        }
        self.has_begun = true;
        Some(self.low)
    }
}

/// The size to try once this one is suspicious, in bytes of payload.
pub(crate) fn halved(size: u64) -> u64 {
    (size / 2).clamp(FLOOR, BASE)
}

/// After how many timeouts in a row Linux finds what [`found`] gives after `timeouts` of them, where the first one comes after so
/// many seconds and each after twice as many: it goes by the time, not by their number.
pub fn timeouts_of_linux(first_timeout: f64, timeouts: u32) -> u32 {
    // The timeout k comes 2^k - 2 first timeouts after the first, which retransmits for the first time.
    let needed = libm::ceil(libm::log2(2.0 + SUSPICIOUS_AFTER / first_timeout.max(1e-3)));
    let halvings = timeouts.saturating_sub(SUSPICIOUS);
    (2..30).find(|k| f64::from(*k) >= needed).unwrap_or(30) + halvings
}

/// The first size that passes where `allowed` does, and how many timeouts in a row it takes to get there; `None` where none passes.
/// `clamp` is that of [`Search::new`].
pub fn found(mss: Mss, clamp: Mss, allowed: Bytes) -> Option<(Mss, u32)> {
    let mut search = Search::new(clamp);
    let mut size = mss.bytes().get();
    let mut timeouts = 0;
    while size > allowed.get() {
        size = size.min(search.on_suspicion()?);
        timeouts = if timeouts == 0 { SUSPICIOUS } else { timeouts + 1 };
    }
    Some((Mss::new(size).ok()?, timeouts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_counts_time_and_not_timeouts() {
        // Linux 6.18, RTT 30 ms: first retransmission at 0.33 s, then 0.81 and 1.77 s, the first smaller segment at 3.65 s.
        assert_eq!(timeouts_of_linux(0.24, 3), 4);
        assert_eq!(timeouts_of_linux(0.205, 3), 5);
        assert_eq!(timeouts_of_linux(0.5, 3), 3);
        assert_eq!(timeouts_of_linux(2.0, 3), 2);
        // The base size does not pass, its half does.
        assert_eq!(timeouts_of_linux(0.24, 4), 5);
    }

    #[test]
    fn the_search_begins_at_the_base_or_below_it_at_the_options() {
        let found = |mss, clamp, allowed| {
            let [mss, clamp] = [mss, clamp].map(|n| Mss::new(n).unwrap());
            found(mss, clamp, Bytes::new(allowed)).map(|(mss, timeouts)| (mss.get(), timeouts))
        };
        assert_eq!(found(1448, 1448, 1100), Some((1024, 3)));
        assert_eq!(found(1448, 1448, 660), Some((512, 4)));
        assert_eq!(found(900, 1448, 660), Some((512, 4)), "an MTU of the sender: 900 goes again");
        assert_eq!(found(900, 900, 660), Some((450, 4)), "the peer's option bounds what is halved");
        assert_eq!(found(524, 524, 200), Some((131, 5)));
        assert_eq!(found(500, 500, 500), Some((500, 0)));
        assert_eq!(found(1448, 1448, 47), None);
        assert_eq!(found(1448, 1448, 48), Some((48, 8)));
    }
}
