//! BBR's throughput: it goes by the rate and the round trip that it measures, not by losses.
//!
//! BBR has no closed form. This is what its rules come to on a path with one flow (Linux `tcp_bbr.c`, version 1): the rate of the
//! slowest link, of which the lost share does not arrive. What it gives up to measure the round trip is left out.

use super::measured::{Measured, around};

/// Beyond this loss it is not to be used: the rate that BBR measures falls below the link's.
pub const VALID_UP_TO: f64 = 0.1;

/// `bbr_cwnd_min_target`: it never has fewer packets in flight.
pub(super) const LEAST_WINDOW: f64 = 4.0;
/// Mean queue in round trips: of eight phases of its cycle one sends 1.25 times the rate, and one drains what that queued
/// (`bbr_pacing_gain`): a triangle a quarter high and two phases wide.
const MEAN_QUEUE: f64 = 0.25 / 2.0 * 2.0 / 8.0;

/// Segments that arrive per second where the slowest link carries `link` per second.
pub fn goodput(link: f64, loss: f64) -> f64 {
    link * (1.0 - loss)
}

/// Mean time in the queue, in bare round trips, on a path that holds so many packets before a queue of so many.
pub fn queue_delay(path: f64, queue: f64) -> f64 {
    let standing = (LEAST_WINDOW - path).clamp(0.0, queue) / path;
    standing.max(MEAN_QUEUE)
}

/// Loss, and the range of [`goodput`] ÷ the simulator's, stack `linux`: 20 Mbit/s, round trips of 20, 100 and 300 ms, 60 s from
/// the handshake on. The high end is the longest round trip. `tests/agreement.rs` measures it again.
pub const MEASURED: [Measured; 7] = [
    (0.001, 1.01, 1.09),
    (0.003, 1.01, 1.09),
    (0.01, 1.01, 1.13),
    (0.03, 1.02, 1.17),
    (0.05, 1.03, 1.2),
    (0.1, 1.05, 1.35),
    (0.2, 4.4, 14.0),
];

/// How far this is from a packet-level simulation at this loss; `None` where nothing was measured.
pub fn ratio_to_simulation(loss: f64) -> Option<(f64, f64)> {
    around(&MEASURED, loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_cost_what_is_lost() {
        assert!((goodput(1000.0, 0.02) - 980.0).abs() < 1e-9);
    }

    #[test]
    fn four_packets_stand_in_the_queue_of_a_path_that_holds_fewer() {
        assert!((queue_delay(2.0, 100.0) - 1.0).abs() < 1e-12);
        assert!((queue_delay(2.0, 1.0) - 0.5).abs() < 1e-12);
        assert!((queue_delay(100.0, 100.0) - 1.0 / 32.0).abs() < 1e-12);
    }
}
