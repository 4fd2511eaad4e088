//! The middle stage: how long a packet is on the wire, and whether it comes off damaged.

use crate::errors::{ErrorProcess, Exposure};
use crate::path::LinkSpec;
use crate::units::{Bytes, Time};

/// A transmitter with its error process. Keeps the sub-nanosecond remainder of each transmission, so
/// that the long-run rate is exact.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    spec: LinkSpec,
    rate: u64,
    /// What the last transmission took beyond whole nanoseconds, in nanoseconds ÷ rate.
    carry: u64,
    errors: ErrorProcess,
    /// What a packet of a certain length costs: packets come in few lengths.
    known: [Cost; 4],
}

/// What a packet of `ip_len` bytes costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    ip_len: u32,
    whole_nanos: u64,
    remainder: u64,
    exposure: Exposure,
}

const UNKNOWN: Cost = Cost {
    ip_len: u32::MAX,
    whole_nanos: 0,
    remainder: 0,
    exposure: Exposure { bytes: 0, frames: 0, airtime: Time::ZERO },
};

impl Wire {
    pub(super) fn new(spec: &LinkSpec, seed: u64, name: &str) -> Self {
        Self {
            spec: spec.clone(),
            rate: spec.rate.get(),
            carry: 0,
            errors: ErrorProcess::start(&spec.errors, seed, name),
            known: [UNKNOWN; 4],
        }
    }

    /// Send a packet from `start` on, right after the one before if `back_to_back`. Gives the time
    /// when its last bit leaves, and whether it is damaged.
    #[inline]
    pub(super) fn send(&mut self, start: Time, back_to_back: bool, ip_len: u32) -> (Time, bool) {
        let cost = self.cost(ip_len);
        let mut nanos = start.as_nanos() + cost.whole_nanos;
        self.carry = if back_to_back { self.carry + cost.remainder } else { cost.remainder };
        if self.carry >= self.rate {
            self.carry -= self.rate;
            nanos += 1;
        }
        (Time::from_nanos(nanos), self.errors.draw(&cost.exposure, start))
    }

    /// Bytes on the wire of a packet of `ip_len` bytes.
    pub(super) fn bytes(&mut self, ip_len: u32) -> u32 {
        self.cost(ip_len).exposure.bytes
    }

    #[inline]
    fn cost(&mut self, ip_len: u32) -> Cost {
        let slot = ip_len as usize % self.known.len();
        if self.known[slot].ip_len != ip_len {
            self.learn(slot, ip_len);
        }
        self.known[slot]
    }

    #[cold]
    fn learn(&mut self, slot: usize, ip_len: u32) {
        let exposure = self.spec.exposure(Bytes::new(u64::from(ip_len)));
        let nanos = u128::from(exposure.bytes) * 8_000_000_000;
        let (whole, remainder) = (nanos / u128::from(self.rate), nanos % u128::from(self.rate));
        self.known[slot] = Cost {
            ip_len,
            whole_nanos: u64::try_from(whole).expect("a packet at 1 bit/s takes six days at most"),
            remainder: u64::try_from(remainder).expect("below the rate"),
            exposure,
        };
    }
}
