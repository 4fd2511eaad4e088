//! Time and bytes that a test may take.

use std::time::{Duration, Instant};

/// What a test may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    begun: Instant,
    time: Duration,
    bytes: u64,
}

/// Up to an MTU of 1500: what remains of 10 s and 200 kB for what is under way.
const SMALL: (u32, Duration, u64) = (1500, Duration::from_secs(8), 170_000);
/// Above, or where round trips are long: of 20 s and 1 MB.
const LARGE: (Duration, u64) = (Duration::from_secs(16), 800_000);
/// Round trips that are longer than this are long: 200 ms with room for what queues add.
const LONG_TRIP: Duration = Duration::from_millis(230);

/// Round trips that hops, ports, the search and other flows take: above a second each, more time than that is needed.
const TRIPS: u32 = 16;

impl Budget {
    pub(super) fn new(interface_mtu: u32) -> Self {
        let (mtu, time, bytes) = SMALL;
        let (time, bytes) = if interface_mtu <= mtu { (time, bytes) } else { LARGE };
        Self { begun: Instant::now(), time, bytes }
    }

    /// Goes by the round trip of the path.
    pub(super) fn set_round_trip(&mut self, least: Duration) {
        if least > LONG_TRIP {
            self.time = LARGE.0.max(least * TRIPS);
        }
    }

    /// Time that passed for what is no part of the search.
    pub(super) fn extend(&mut self, time: Duration) {
        self.time += time;
    }

    /// Bytes that are sent where a fault was found, to know more of it.
    pub(super) fn extend_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    pub(crate) fn has_left(&self, sent_bytes: u64) -> bool {
        self.begun.elapsed() < self.time && sent_bytes < self.bytes
    }

    /// A quarter remains for the place of a black hole and for other flows.
    pub(in crate::path) fn has_left_to_search(&self, sent_bytes: u64) -> bool {
        self.begun.elapsed() < self.time * 3 / 4 && sent_bytes < self.bytes * 3 / 4
    }

    /// Half of the time is left: enough for one more question.
    pub(in crate::path) fn has_half_left(&self) -> bool {
        self.begun.elapsed() < self.time / 2
    }

    /// Bytes that are left.
    pub(crate) const fn bytes_left(&self, sent_bytes: u64) -> u64 {
        self.bytes.saturating_sub(sent_bytes)
    }

    pub(crate) fn elapsed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}
