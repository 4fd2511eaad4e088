//! The middle stage: how long a packet is on the wire, and whether it comes off damaged.

use crate::errors::{ErrorProcess, Exposure};
use crate::framing::IpPacket;
use crate::path::LinkSpec;
use crate::units::Time;

/// A transmitter with its error process. Keeps the sub-nanosecond remainder of each transmission, so
/// that the long-run rate is exact.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    spec: LinkSpec,
    rate: u64,
    /// What the last transmission took beyond whole nanoseconds, in nanoseconds ÷ rate.
    carry: u64,
    errors: ErrorProcess,
    /// What a packet of a certain kind costs: packets come in few lengths.
    known: [Cost; 4],
}

/// What a packet costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    packet: IpPacket,
    whole_nanos: u64,
    remainder: u64,
    exposure: Exposure,
}

const UNKNOWN: Cost = Cost {
    packet: IpPacket::NONE,
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
    pub(super) fn send(
        &mut self,
        start: Time,
        back_to_back: bool,
        packet: IpPacket,
    ) -> (Time, bool) {
        let cost = self.cost(packet);
        let mut nanos = start.as_nanos() + cost.whole_nanos;
        self.carry = if back_to_back { self.carry + cost.remainder } else { cost.remainder };
        if self.carry >= self.rate {
            self.carry -= self.rate;
            nanos += 1;
        }
        (Time::from_nanos(nanos), self.errors.draw(&cost.exposure, start))
    }

    /// Bytes on the wire of a packet.
    pub(super) fn bytes(&mut self, packet: IpPacket) -> u32 {
        self.cost(packet).exposure.bytes
    }

    #[inline]
    fn cost(&mut self, packet: IpPacket) -> Cost {
        let slot = packet.slot(self.known.len());
        if self.known[slot].packet != packet {
            self.learn(slot, packet);
        }
        self.known[slot]
    }

    #[cold]
    fn learn(&mut self, slot: usize, packet: IpPacket) {
        let nanos = u128::from(self.spec.wire_bits(packet)) * 1_000_000_000;
        let (whole, remainder) = (nanos / u128::from(self.rate), nanos % u128::from(self.rate));
        self.known[slot] = Cost {
            packet,
            whole_nanos: u64::try_from(whole).expect("a packet at 1 bit/s takes six days at most"),
            remainder: u64::try_from(remainder).expect("below the rate"),
            exposure: self.spec.exposure(packet),
        };
    }
}
