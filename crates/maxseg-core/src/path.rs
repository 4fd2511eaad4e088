//! What lies between two hosts: hops in order, each with a link in either direction.

mod queue;

use serde::Serialize;

pub use queue::{CodelSettings, Discipline, QueueLimit, RedSettings};

use crate::errors::{Arq, ErrorModel, Exposure, Schedule};
use crate::framing::{Framing, IpPacket, Tunnel};
use crate::units::{BitsPerSec, Bytes, Mtu, Probability, Time};

/// The hops from the sender to the receiver, in order; at least one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Path {
    /// From the sender's side to the receiver's.
    pub hops: Vec<HopSpec>,
}

/// One hop: a link towards the receiver and one towards the sender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HopSpec {
    /// What the file calls it, or its index. It names the hop's random streams as well.
    pub name: String,
    /// Towards the receiver.
    pub forward: LinkSpec,
    /// Towards the sender.
    pub reverse: LinkSpec,
}

/// A link in one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkSpec {
    /// How fast bits leave.
    pub rate: BitsPerSec,
    /// From the last bit's departure to its arrival: propagation, one way.
    pub delay: Time,
    /// The largest IP packet that the link takes; through a tunnel, the largest inner one.
    pub mtu: Mtu,
    /// What wraps each packet before the link's framing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    /// What wraps each packet on the wire.
    pub framing: Framing,
    /// Payload of a radio frame in bytes, where the link has frames.
    pub frame: Option<u32>,
    /// Whether the last frame of a packet is sent full.
    pub pad: bool,
    /// The waiting room before the wire.
    pub queue: QueueLimit,
    /// What drops or marks before the waiting room is full.
    pub discipline: Discipline,
    /// Whether packets that know ECN are marked where others would be dropped early: by the
    /// discipline or the policer, never because the room is full (RFC 3168 §5).
    pub ecn: bool,
    /// What is damaged on the way.
    pub errors: Schedule,
    /// How what was damaged is repeated, where it is.
    pub arq: Option<Arq>,
    /// Bytes on the wire that may exceed `rate` after idleness: a token bucket of this size in place
    /// of a wire. Nothing on a plain link.
    pub burst: Bytes,
    /// Drops what exceeds a rate, before the queue.
    pub policer: Option<PolicerSpec>,
    /// Each packet's delay lies anywhere from `delay − jitter` to `delay + jitter` with the same
    /// chance, and it may overtake (netem's `delay TIME JITTER`). At most `delay`.
    pub jitter: Time,
    /// The share of packets that leave out the delay, and so overtake (netem's `reorder`).
    pub reorder: Probability,
    /// The share of packets that enter the link twice, the copy right behind (netem's `duplicate`).
    pub duplicate: Probability,
    /// What becomes of news of a packet above the MTU that must not be fragmented.
    pub icmp: IcmpPolicy,
}

/// A policer: a token bucket that drops what finds too few tokens, and delays nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PolicerSpec {
    /// How fast tokens come; they count bytes on the wire.
    pub rate: BitsPerSec,
    /// How many bytes the bucket holds; it is full at the start.
    pub burst: Bytes,
}

/// Whether a hop tells the sender of a packet above its MTU (RFC 1191, RFC 8201).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IcmpPolicy {
    /// It does.
    #[default]
    Send,
    /// It does not, or a filter takes the news out: a black hole (RFC 2923).
    Drop,
}

/// The smallest MTU in either direction of these hops: what a packet must fit to pass them whole.
pub fn smallest_mtu(hops: &[HopSpec]) -> Mtu {
    hops.iter().flat_map(HopSpec::links).map(|link| link.mtu).min().unwrap_or(Mtu::ETHERNET)
}

impl HopSpec {
    /// What captures call it, as keys do: `radio`, or `hop.1` where the file gives no name.
    pub fn label(&self) -> String {
        let is_unnamed = self.name.parse::<usize>().is_ok();
        if is_unnamed { format!("hop.{}", self.name) } else { self.name.clone() }
    }

    /// Both directions.
    pub fn links(&self) -> [&LinkSpec; 2] {
        [&self.forward, &self.reverse]
    }
}

impl Path {
    /// The smallest MTU in either direction: what a packet must fit to pass whole.
    pub fn smallest_mtu(&self) -> Mtu {
        smallest_mtu(&self.hops)
    }

    /// The link towards the receiver with the smallest radio frames: the one that decides how a packet
    /// meets frames. `None` where no link has any.
    pub fn smallest_frames(&self) -> Option<(&LinkSpec, u32)> {
        let links = self.hops.iter().map(|hop| &hop.forward);
        links.filter_map(|link| Some((link, link.frame?))).min_by_key(|(_, frame)| *frame)
    }

    /// Propagation there and back, nothing queued and no time on any wire; at most [`Time::NEVER`].
    pub fn propagation_rtt(&self) -> Time {
        let delays = self.hops.iter().flat_map(HopSpec::links).map(|link| link.delay);
        delays.fold(Time::ZERO, Time::saturating_add)
    }
}

impl LinkSpec {
    /// A link that only takes time: room for 100 packets, MTU 1500, no errors, nothing else.
    pub fn plain(rate: BitsPerSec, delay: Time) -> Self {
        Self {
            rate,
            delay,
            mtu: Mtu::ETHERNET,
            tunnel: None,
            framing: Framing::default(),
            frame: None,
            pad: false,
            queue: QueueLimit::Packets(100),
            discipline: Discipline::TailDrop,
            ecn: false,
            errors: Schedule::default(),
            arq: None,
            burst: Bytes::ZERO,
            policer: None,
            jitter: Time::ZERO,
            reorder: Probability::NEVER,
            duplicate: Probability::NEVER,
            icmp: IcmpPolicy::Send,
        }
    }

    /// Whether a packet may overtake another here.
    pub fn overtakes(&self) -> bool {
        self.jitter > Time::ZERO || self.reorder > Probability::NEVER
    }

    /// Whether what becomes of a packet is known when it comes: not with a discipline that decides
    /// when it leaves.
    pub fn is_foreseeable(&self) -> bool {
        !matches!(self.discipline, Discipline::Codel(_))
    }

    /// Whether chance decides about any packet.
    pub fn is_random(&self) -> bool {
        self.errors.is_random()
            || self.overtakes()
            || self.duplicate > Probability::NEVER
            || matches!(self.discipline, Discipline::Red(_))
    }

    /// The chance that a packet is lost on the wire for good, repeats included,
    /// averaged over the time until `until`: with ARQ 1 − ∏(1 − e^(R+1)) over its frames, under each of the
    /// models in their time.
    pub fn loss(&self, packet: impl Into<IpPacket>, until: Time) -> Probability {
        let packet = packet.into();
        let Some(arq) = self.arq else {
            return self.errors.mean_chance(&self.exposure(packet), until);
        };
        let under = |model: &ErrorModel| {
            let lost = self.units(packet).fold(Probability::NEVER, |lost, (count, unit)| {
                lost.or(arq.residual(model.chance(&unit)).at_least_once_in(u64::from(count)))
            });
            lost.get()
        };
        Probability::clamped(self.errors.mean(until, under))
    }

    /// Seconds that a packet is on the wire on average, repeats included, and how
    /// much later it arrives because of them.
    pub fn mean_airtime(&self, packet: impl Into<IpPacket>, until: Time) -> (f64, f64) {
        let packet = packet.into();
        let bits = self.framing.bits_per_byte();
        let seconds = |bytes: u64| (bytes * bits) as f64 / self.rate.get() as f64;
        let Some(arq) = self.arq else {
            return (seconds(self.wire_bytes(packet).get()), 0.0);
        };
        self.units(packet).fold((0.0, 0.0), |(air, late), (count, unit)| {
            let tries = self.errors.mean(until, |model| arq.mean_tries(model.chance(&unit)));
            let count = f64::from(count);
            let repeats = count * (tries - 1.0);
            (
                air + count * tries * seconds(u64::from(unit.bytes)),
                late + repeats * arq.delay.as_secs_f64(),
            )
        })
    }

    /// What a packet consists of where lost units are repeated one by one: so many
    /// full frames, and the last; or the packet as one.
    fn units(&self, packet: IpPacket) -> impl Iterator<Item = (u32, Exposure)> {
        let whole = self.exposure(packet);
        let (full, last) = match self.frame {
            None => (0, whole.bytes),
            Some(frame) => {
                let full = (whole.bytes.max(1) - 1) / frame;
                (full, whole.bytes - full * frame)
            }
        };
        let units = [(full, self.frame.unwrap_or(0)), (1, last)];
        units.into_iter().map(|(count, bytes)| (count, self.unit(bytes)))
    }

    /// What one frame of so many bytes, or a packet as one unit, exposes to errors.
    pub fn unit(&self, bytes: u32) -> Exposure {
        let bits = u64::from(bytes) * self.framing.bits_per_byte();
        Exposure { bytes, frames: 1, airtime: self.rate.time_for_bits(bits) }
    }

    /// What a packet exposes to errors here.
    ///
    /// # Panics
    /// Never: a packet is at most 1 GiB, and no framing makes four times as much of it.
    pub fn exposure(&self, packet: impl Into<IpPacket>) -> Exposure {
        let packet = packet.into();
        Exposure {
            bytes: u32::try_from(self.wire_bytes(packet).get())
                .expect("a packet on the wire is below 4 GiB"),
            frames: self.frames(packet),
            airtime: self.airtime(packet),
        }
    }

    /// Bytes that a packet takes on the wire, tunnel, framing and padding included.
    pub fn wire_bytes(&self, packet: impl Into<IpPacket>) -> Bytes {
        let bytes = self.framed(packet);
        match self.frame {
            Some(frame) if self.pad => Bytes::new(bytes.get().next_multiple_of(u64::from(frame))),
            Some(_) | None => bytes,
        }
    }

    /// The same in bits: what the link's rate counts.
    pub fn wire_bits(&self, packet: impl Into<IpPacket>) -> u64 {
        self.wire_bytes(packet).get() * self.framing.bits_per_byte()
    }

    /// How long a packet is on the wire, to the nearest nanosecond below.
    pub fn airtime(&self, packet: impl Into<IpPacket>) -> Time {
        self.rate.time_for_bits(self.wire_bits(packet))
    }

    /// Radio frames that a packet takes; 1 on a link without frames (equation 1 of Choi, Choi and
    /// Yoo).
    pub fn frames(&self, packet: impl Into<IpPacket>) -> u32 {
        let bytes = self.framed(packet).get();
        match self.frame {
            Some(frame) => u32::try_from(bytes.div_ceil(u64::from(frame))).unwrap_or(u32::MAX),
            None => 1,
        }
    }

    /// Bytes of a packet in its tunnel and framing, before a last frame is padded.
    pub fn framed(&self, packet: impl Into<IpPacket>) -> Bytes {
        let packet = packet.into();
        let packet = self.tunnel.map_or(packet, |tunnel| tunnel.wrap(packet, self.mtu));
        self.framing.on_wire(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_that_no_time_holds_add_up_to_the_longest_one() {
        let century = LinkSpec::plain(BitsPerSec::new(1).unwrap(), Time::from_secs(876_000 * 3600));
        let hop = HopSpec { name: "slow".into(), forward: century.clone(), reverse: century };
        let path = Path { hops: vec![hop; 3] };
        assert_eq!(path.propagation_rtt(), Time::NEVER);
    }
}
