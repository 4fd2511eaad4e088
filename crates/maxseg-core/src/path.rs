//! What lies between two hosts: hops in order, each with a link in either direction.

use serde::Serialize;

use crate::errors::{Exposure, Schedule};
use crate::framing::{Framing, IpPacket, Tunnel};
use crate::units::{BitsPerSec, Bytes, Mtu, Time};

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
    /// What is damaged on the way.
    pub errors: Schedule,
}

/// How much may wait; what arrives beyond is dropped (tail drop). The packet on the wire does not
/// count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// Packets.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(Bytes),
}

impl Path {
    /// The smallest MTU in either direction: what a packet must fit to pass whole.
    pub fn smallest_mtu(&self) -> Mtu {
        let mtus = self.hops.iter().flat_map(|hop| [hop.forward.mtu, hop.reverse.mtu]);
        mtus.min().unwrap_or(Mtu::ETHERNET)
    }

    /// Propagation there and back, nothing queued and no time on any wire.
    pub fn propagation_rtt(&self) -> Time {
        self.hops.iter().fold(Time::ZERO, |sum, hop| sum + hop.forward.delay + hop.reverse.delay)
    }
}

impl QueueLimit {
    /// Whether `waiting` packets of `bytes` on the wire together fit.
    pub fn holds(self, waiting: usize, bytes: Bytes) -> bool {
        match self {
            Self::Packets(limit) => waiting <= limit as usize,
            Self::Bytes(limit) => bytes <= limit,
        }
    }
}

impl LinkSpec {
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
