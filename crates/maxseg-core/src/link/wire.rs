//! The middle stage: how long a packet is on the wire, and whether it comes off damaged.

use super::arq::Repeater;
use super::streams::Streams;
use crate::errors::{ErrorProcess, Exposure};
use crate::framing::IpPacket;
use crate::path::LinkSpec;
use crate::units::Time;

/// The latest departure: 146 years, longer than any run, and a few sums below what nanoseconds count.
pub(super) const LATEST_DEPARTURE: Time = Time::from_nanos(u64::MAX / 4);

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
    /// What a plain wire has not.
    more: Option<Box<ArqAndBucket>>,
}

/// Repeats and a token bucket.
#[derive(Debug, Clone)]
struct ArqAndBucket {
    repeater: Option<Repeater>,
    /// How far departures may run ahead of the rate.
    ahead: Time,
    /// When all that was sent would be through at the link's rate: the bucket is full again.
    drained: Time,
}

/// What became of a packet on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transmission {
    /// When its last bit leaves.
    pub(super) departs: Time,
    /// Whether it comes off damaged.
    pub(super) damaged: bool,
    /// How much later it arrives because units were repeated, their airtime aside.
    pub(super) late: Time,
    /// How much of the link's time it took.
    pub(super) busy: Time,
    /// Units that were sent again.
    pub(super) repeats: u32,
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
            more: (spec.arq.is_some() || spec.burst.get() > 0).then(|| {
                Box::new(ArqAndBucket {
                    repeater: spec.arq.map(|arq| Repeater::new(spec, arq, seed, name)),
                    ahead: spec.rate.time_for_bits(spec.burst.get() * spec.framing.bits_per_byte()),
                    drained: Time::ZERO,
                })
            }),
        }
    }

    /// The wire that this one becomes when it is `free_at` then: by `spec`, its error process going on where
    /// that has not changed, and its bucket as empty as it is.
    pub(super) fn respec(self, spec: &LinkSpec, free_at: Time, streams: Streams<'_>) -> Self {
        let mut new = Self::new(spec, streams.seed, streams.name);
        let errs_the_same = spec.errors == self.spec.errors && spec.arq == self.spec.arq;
        let (repeater, drained) =
            self.more.map_or((None, Time::ZERO), |more| (more.repeater, more.drained));
        if errs_the_same {
            new.errors = self.errors;
        }
        if let Some(more) = &mut new.more {
            if let Some(repeater) = repeater.filter(|_| errs_the_same) {
                more.repeater = Some(repeater.respec(spec));
            }
            let owed = u128::from(drained.since(free_at).as_nanos()) * u128::from(self.rate);
            let owed = u64::try_from(owed / u128::from(new.rate)).unwrap_or(u64::MAX);
            more.drained = free_at.saturating_add(Time::from_nanos(owed)).min(LATEST_DEPARTURE);
        }
        new
    }

    /// The link that it is part of.
    pub(super) fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    /// The next packet does not go right after the one before.
    #[inline(always)]
    pub(super) fn on_idle(&mut self) {
        self.carry = 0;
    }

    /// Send a packet from `start` on, right after the one before unless the wire has had a rest. Gives the
    /// time when its last bit leaves. What else becomes of it, [`Wire::damages`] tells.
    #[inline(always)]
    pub(super) fn send(&mut self, start: Time, packet: IpPacket) -> Time {
        let slot = self.slot(packet);
        let cost = &self.known[slot];
        let mut nanos = start.as_nanos() + cost.whole_nanos;
        if cost.remainder > 0 {
            self.carry += cost.remainder;
            if self.carry >= self.rate {
                self.carry -= self.rate;
                nanos += 1;
            }
        }
        Time::from_nanos(nanos).min(LATEST_DEPARTURE)
    }

    /// Whether the packet sent last, from `start` on, comes off damaged. To be asked once for each.
    #[inline(always)]
    pub(super) fn damages(&mut self, packet: IpPacket, start: Time) -> bool {
        !self.errors.is_idle() && self.draw(packet, start)
    }

    fn draw(&mut self, packet: IpPacket, start: Time) -> bool {
        let exposure = self.cost(packet).exposure;
        self.errors.draw(&exposure, start)
    }

    /// The same for any wire: with repeats, and with a token bucket.
    ///
    /// A bucket that has the tokens lets a packet go at once. In general it goes when the link's rate
    /// would have let it go, less the time in which a full bucket fills.
    pub(super) fn send_any(
        &mut self,
        start: Time,
        back_to_back: bool,
        packet: IpPacket,
    ) -> Transmission {
        let Some(mut more) = self.more.take() else {
            if !back_to_back {
                self.on_idle();
            }
            let departs = self.send(start, packet);
            let damaged = self.damages(packet, start);
            return Transmission {
                departs,
                damaged,
                late: Time::ZERO,
                busy: departs - start,
                repeats: 0,
            };
        };
        let exposure = self.cost(packet).exposure;
        let (extra, repeats, damaged, late) = match &mut more.repeater {
            Some(repeater) => {
                let repeats = repeater.send(exposure.bytes, start);
                (repeats.bytes, repeats.count, repeats.dead, repeater.delay_of(repeats.count))
            }
            None => (0, 0, self.errors.draw(&exposure, start), Time::ZERO),
        };
        let from = start.max(more.drained);
        if from > more.drained {
            self.carry = 0;
        }
        let bits = (u64::from(exposure.bytes) + extra) * self.spec.framing.bits_per_byte();
        let nanos = u128::from(bits) * 1_000_000_000 + u128::from(self.carry);
        let (whole, carry) = (nanos / u128::from(self.rate), nanos % u128::from(self.rate));
        self.carry = u64::try_from(carry).expect("below the rate");
        let whole = Time::from_nanos(u64::try_from(whole).unwrap_or(u64::MAX));
        more.drained = from.saturating_add(whole).min(LATEST_DEPARTURE);
        let departs = start.max(more.drained.since(more.ahead));
        // What a bucket has tokens for goes at once: the link stands idle for others.
        let busy = departs - start;
        self.more = Some(more);
        Transmission { departs, damaged, late, busy, repeats }
    }

    /// Bytes on the wire of a packet.
    pub(super) fn bytes(&mut self, packet: IpPacket) -> u32 {
        self.cost(packet).exposure.bytes
    }

    /// How many bytes are so long on the wire: to the byte where one takes a nanosecond or more.
    pub(super) fn bytes_in(&self, time: Time) -> u64 {
        let bits = u128::from(time.as_nanos()) * u128::from(self.rate);
        let byte = u128::from(self.spec.framing.bits_per_byte()) * 1_000_000_000;
        u64::try_from((bits + byte / 2) / byte).unwrap_or(u64::MAX)
    }

    /// How long so many bytes are on the wire.
    pub(super) fn time_for(&self, bytes: u64) -> Time {
        self.spec.rate.time_for_bits(bytes * self.spec.framing.bits_per_byte())
    }

    fn cost(&mut self, packet: IpPacket) -> Cost {
        let slot = self.slot(packet);
        self.known[slot]
    }

    /// Where the cost of a packet stands, which is found out first if need be.
    #[inline(always)]
    fn slot(&mut self, packet: IpPacket) -> usize {
        let slot = packet.slot(self.known.len());
        if self.known[slot].packet != packet {
            self.learn(slot, packet);
        }
        slot
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
