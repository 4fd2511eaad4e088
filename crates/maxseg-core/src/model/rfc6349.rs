//! The metrics of RFC 6349, "Framework for TCP Throughput Testing".

use crate::framing::Framing;
use crate::units::{BitsPerSec, Bytes, Mtu};
use crate::window::rate_per_round_trip;

/// Full packets that a link carries in a second (§4.1.1); not a whole number.
pub fn frames_per_second(rate: BitsPerSec, framing: Framing, mtu: Mtu) -> f64 {
    let packet = framing.on_wire(mtu.bytes()).get() * framing.bits_per_byte();
    rate.get() as f64 / packet as f64
}

/// The maximum achievable TCP throughput in bits per second: the payload of the *whole* packets that fit
/// into a second, behind `headers` bytes of IP and TCP (§4.1.1).
pub fn max_throughput(rate: BitsPerSec, framing: Framing, mtu: Mtu, headers: Bytes) -> f64 {
    let payload = mtu.bytes().saturating_sub(headers);
    libm::floor(frames_per_second(rate, framing, mtu)) * payload.bits() as f64
}

/// What a window of `window` bytes lets through each round trip of `rtt` seconds, at most `max`; in bits
/// per second (§3.3.1, figure 3.3.1a).
pub fn throughput_with_window(window: f64, rtt: f64, max: f64) -> f64 {
    rate_per_round_trip(window, rtt).min(max)
}

/// Seconds in which `bytes` go at `throughput` bits per second: the ideal transfer time (§4.1.2).
pub fn ideal_time(bytes: f64, throughput: f64) -> f64 {
    8.0 * bytes / throughput
}

/// Actual by ideal TCP transfer time (§4.1.2).
pub fn transfer_time_ratio(actual: f64, ideal: f64) -> f64 {
    actual / ideal
}

/// TCP efficiency: the share of transmitted bytes that were not sent again (§4.2).
pub fn efficiency(transmitted: f64, retransmitted: f64) -> f64 {
    (transmitted - retransmitted) / transmitted
}

/// Buffer delay: by what share of the baseline round trip the one under load is longer (§4.3).
pub fn buffer_delay(baseline: f64, average: f64) -> f64 {
    (average - baseline) / baseline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn max(rate: &str, framing: Framing) -> f64 {
        max_throughput(rate.parse().unwrap(), framing, Mtu::ETHERNET, Bytes::new(40))
    }

    #[test]
    fn the_rfcs_examples() {
        // Ours, published, half of the last printed digit.
        let cases = [
            (max("44.21 Mbit/s", Framing::Ppp) / 1e6, 42.8, 0.05), // 3664 packets a second
            (max("100 Mbit/s", Framing::Ethernet) / 1e6, 94.9, 0.05), // 8127
            (100.0 * efficiency(102_000.0, 2_000.0), 98.03, 0.01), // 98.039, cut off
            (100.0 * buffer_delay(25.0, 32.0), 28.0, 0.5),
            (transfer_time_ratio(12.0, 8.0), 1.5, 0.05),
            (throughput_with_window(16_000.0, 0.010, 42.8e6) / 1e6, 12.8, 0.05),
            (throughput_with_window(64_000.0, 0.010, 42.8e6) / 1e6, 42.8, 0.05), // the link's limit
            (ideal_time(100e6, 94.9e6), 8.43, 0.005), // the table says 9.0
        ];
        for (ours, published, half_digit) in cases {
            assert!((ours - published).abs() <= half_digit, "{ours} {published}");
        }
    }
}
