//! Rates, which the kernel gives in bytes a second.

use super::TcpInfo;

impl TcpInfo {
    /// The rate at which segments are spaced, bits a second; `None` without pacing.
    pub fn pacing_bps(&self) -> Option<f64> {
        self.pacing_rate.filter(|rate| !is_unlimited(*rate)).map(bits)
    }

    /// The application's limit of that rate (`SO_MAX_PACING_RATE`), bits a second; `None` for no limit.
    pub fn max_pacing_bps(&self) -> Option<f64> {
        self.max_pacing_rate.filter(|rate| !is_unlimited(*rate)).map(bits)
    }

    /// The latest sample of the rate at which data arrived, bits a second; `None` before there is one, which the kernel tells as 0
    /// (`tcp_compute_delivery_rate`).
    pub fn delivery_bps(&self) -> Option<f64> {
        self.delivery_rate.filter(|rate| *rate > 0).map(bits)
    }
}

/// Whether a rate is none: all ones, in 64 bits or in the 32 of older kernels.
const fn is_unlimited(rate: u64) -> bool {
    rate == u64::MAX || rate == u32::MAX as u64
}

fn bits(bytes: u64) -> f64 {
    bytes as f64 * 8.0
}
