//! Slow start after idle: a sender that pauses for a retransmission timeout begins again with a smaller congestion window
//! (RFC 5681 §4.1; Linux: `net.ipv4.tcp_slow_start_after_idle`).

use serde::{Deserialize, Serialize};

/// Restarts after idle times, and what they took.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct IdleRestarts {
    /// Most bytes in flight before the present burst.
    most: i64,
    burst: Option<Burst>,
    pub(super) count: u32,
    /// From the first flight of each burst until the flight was half as large as before, less a round trip, in
    /// nanoseconds.
    pub(super) lasted: u64,
}

/// What is sent after an idle time.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Burst {
    /// Its first byte, when that was sent, and for how many milliseconds the sender had been idle.
    start: i64,
    at: u64,
    idle_ms: u32,
    /// Bytes sent before its first acknowledgement.
    first_flight: i64,
    /// When that came.
    acknowledged: Option<u64>,
    /// Whether it counts as a restart.
    is_restart: bool,
}

const MILLI: u64 = 1_000_000;
/// A sender whose timer expired sends one segment, and two when that is acknowledged (RFC 5681 §3.1), or new data (RFC 5682 §2.1).
const FIRST_SEGMENTS: i64 = 1;
/// A hole of so many segments is what it had in flight.
const LOST_SEGMENTS: i64 = 3;

/// The shortest idle time after which stacks restart, in nanoseconds: Linux's minimum RTO.
const IDLE: u64 = 200_000_000;

/// A new segment, before it counts as sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Departure {
    pub(super) at: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    /// The first byte that is not acknowledged.
    pub(super) una: i64,
    /// When the sender last sent new data or received an acknowledgement of it.
    pub(super) last_progress: u64,
    /// Whether it has the size of a full segment, and an acknowledgement triggered it.
    pub(super) is_full_and_clocked: bool,
    /// Whether a loss is being repaired.
    pub(super) is_recovering: bool,
    /// Whether the window has room for a full segment behind it.
    pub(super) has_window: bool,
}

impl IdleRestarts {
    /// A new segment is sent.
    #[inline]
    pub(super) fn on_send(&mut self, sent: &Departure) {
        if sent.is_recovering {
            return self.on_loss();
        }
        let in_flight = sent.start - sent.una;
        if in_flight <= 0 && sent.at.saturating_sub(sent.last_progress) >= IDLE {
            self.end(sent.last_progress);
            self.burst = Some(Burst {
                start: sent.start,
                at: sent.at,
                idle_ms: u32::try_from(sent.at.saturating_sub(sent.last_progress) / MILLI)
                    .unwrap_or(u32::MAX),
                first_flight: 0,
                acknowledged: None,
                is_restart: false,
            });
        }
        let now = sent.end - sent.una;
        let Some(burst) = &mut self.burst else {
            self.most = self.most.max(now);
            return;
        };
        if burst.acknowledged.is_none() {
            burst.first_flight = sent.end - burst.start;
            return;
        }
        let was_smaller = burst.first_flight <= self.most / 2;
        if !burst.is_restart && was_smaller && sent.is_full_and_clocked && sent.has_window {
            burst.is_restart = true;
            self.count += 1;
        }
        if now >= self.most / 2 {
            self.end(sent.at);
        }
    }

    /// Something was lost: so much in flight the path did not carry, and what it carries shows anew.
    #[cold]
    pub(super) fn on_loss(&mut self) {
        self.burst = None;
        self.most = 0;
    }

    /// What seemed idle, from when to when, where a hole of so many bytes begins at `start` within two round trips after it: a flight was
    /// lost of which nothing passed here, and the sender waited for its timer. All that it sends first then is a segment.
    pub(super) fn lost_flight(
        &self,
        at: u64,
        (start, end): (i64, i64),
        full: i64,
        round_trip: u64,
    ) -> Option<(u64, u64)> {
        let burst = self.burst.as_ref()?;
        let is_first = start - burst.start <= FIRST_SEGMENTS * full;
        let is_flight = end - start >= LOST_SEGMENTS * full;
        let is_soon = at.saturating_sub(burst.at) <= 2 * round_trip;
        let since = burst.at.saturating_sub(u64::from(burst.idle_ms) * MILLI);
        (is_first && is_flight && is_soon).then_some((since, burst.at))
    }

    /// An acknowledgement reaches the sender.
    #[inline]
    pub(super) fn on_ack(&mut self, at: u64, una: i64) {
        if let Some(burst) = &mut self.burst
            && burst.acknowledged.is_none()
            && una > burst.start
        {
            burst.acknowledged = Some(at);
        }
    }

    /// The burst has ended, or its flight is as large as before.
    fn end(&mut self, at: u64) {
        let Some(burst) = self.burst.take() else { return };
        let round_trip = burst.acknowledged.map_or(0, |first| first.saturating_sub(burst.at));
        if burst.is_restart {
            self.lasted += at.saturating_sub(burst.at).saturating_sub(round_trip);
        }
        self.most = self.most.max(burst.first_flight);
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, last_progress: u64) {
        self.end(last_progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const FULL: i64 = 1448;

    /// Sends so many bytes from `start` with a window that begins with `window` segments and doubles each round trip of
    /// 100 ms, beginning at `at`. Gives when it is done.
    fn burst(
        restarts: &mut IdleRestarts,
        start: i64,
        segments: i64,
        window: i64,
        at: u64,
        last: u64,
    ) -> u64 {
        let (mut now, mut window, mut sent, mut una, mut progress) = (at, window, 0, start, last);
        while sent < segments {
            let flight = window.min(segments - sent);
            for n in 0..flight {
                let from = start + (sent + n) * FULL;
                restarts.on_send(&Departure {
                    at: now,
                    start: from,
                    end: from + FULL,
                    una,
                    last_progress: progress,
                    is_full_and_clocked: una > start,
                    is_recovering: false,
                    has_window: true,
                });
                progress = now;
            }
            sent += flight;
            now += 100 * MS;
            una = start + sent * FULL;
            restarts.on_ack(now, una);
            progress = now;
            window *= 2;
        }
        now
    }

    fn after(idle: u64, window: i64) -> IdleRestarts {
        let mut restarts = IdleRestarts::default();
        let first = burst(&mut restarts, 0, 150, 10, 1, 1);
        let second = burst(&mut restarts, 150 * FULL, 150, window, first + idle, first);
        restarts.finish(second);
        restarts
    }

    #[test]
    fn a_burst_that_begins_small_again_is_a_restart() {
        let restarts = after(1000 * MS, 10);
        // Flights of 10, 20, 40, 80: the third is half of the largest before.
        assert_eq!((restarts.count, restarts.lasted), (1, 100 * MS));
    }

    #[test]
    fn a_flight_that_was_lost_is_no_measure() {
        let mut restarts = IdleRestarts::default();
        let first = burst(&mut restarts, 0, 150, 10, 1, 1);
        restarts.on_loss();
        let second = burst(&mut restarts, 150 * FULL, 150, 10, first + 1000 * MS, first);
        restarts.finish(second);
        assert_eq!(restarts.count, 0);
    }

    #[test]
    fn a_window_that_was_kept_or_a_short_pause_is_none() {
        assert_eq!(after(1000 * MS, 80).count, 0);
        assert_eq!(after(100 * MS, 10).count, 0);
    }

    #[test]
    fn a_burst_of_one_flight_is_none() {
        let mut restarts = IdleRestarts::default();
        let first = burst(&mut restarts, 0, 150, 10, 1, 1);
        let second = burst(&mut restarts, 150 * FULL, 10, 10, first + 1000 * MS, first);
        restarts.finish(second);
        assert_eq!(restarts.count, 0);
    }
}
