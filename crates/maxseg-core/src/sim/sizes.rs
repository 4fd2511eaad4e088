//! How large the packets of a connection are.

use crate::framing::{Headers, IpPacket, TCP_TIMESTAMPS};
use crate::scenario::{Flow, Scenario};
use crate::tcp::{Config, Segment, linux};
use crate::units::Bytes;

/// The sizes of segments as packets, the same in both directions.
#[derive(Debug)]
pub(super) struct Sizes {
    /// A segment without payload, the same with timestamps.
    header: IpPacket,
    stamped: IpPacket,
    /// The SYN, and the one that answers it.
    syn: IpPacket,
    syn_ack: IpPacket,
    options: OptionCharge,
    /// Bytes of options in every segment.
    constant_options: Bytes,
}

/// What options add to segments after the handshake, beyond those that every segment has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OptionCharge {
    /// Nothing.
    Absent,
    /// SACK blocks, and nothing to wrap them: ns-2 (`Sacker::append_ack`).
    BlocksAlone,
    /// As a header carries them.
    Padded,
}

impl Sizes {
    /// Those of a flow whose ends agree on `config`.
    pub(super) fn new(scenario: &Scenario, flow: &Flow, config: &Config) -> Self {
        let header = Headers::plain(scenario.ip);
        let (opens, answers) = scenario.endpoints(flow);
        let syn = |host| IpPacket::from(header.bytes() + config.syn_options(host));
        Self {
            header: header.packet(Bytes::ZERO),
            stamped: IpPacket::from(header.bytes() + TCP_TIMESTAMPS),
            syn: syn(opens),
            syn_ack: syn(answers),
            options: OptionCharge::of(config),
            constant_options: scenario.mss(flow).options,
        }
    }

    /// A segment without payload and options.
    pub(super) fn header(&self) -> IpPacket {
        self.header
    }

    /// `segment` as a packet.
    #[inline(always)]
    pub(super) fn packet(&self, segment: &Segment) -> IpPacket {
        if segment.syn {
            return self.of_syn(segment.ack);
        }
        let options = match self.options {
            OptionCharge::Absent => return self.header.with_payload(segment.len),
            OptionCharge::BlocksAlone => segment.sack().bytes(),
            OptionCharge::Padded => segment.option_bytes(),
        };
        IpPacket::from(self.header.length() + segment.payload() + options)
    }

    /// A packet of Linux's own TCP.
    #[inline(always)]
    pub(super) fn of_linux(&self, packet: &linux::Packet) -> IpPacket {
        let len = u16::try_from(packet.len).unwrap_or(u16::MAX);
        if packet.stamps.is_some() && packet.sack.is_empty() && packet.syn.is_none() {
            return self.stamped.with_payload(len);
        }
        if packet.syn.is_some() {
            return self.of_syn(packet.ack);
        }
        if self.options == OptionCharge::Absent {
            return self.header.with_payload(len);
        }
        IpPacket::from(self.header.length() + Bytes::new(packet.len + packet.option_bytes()))
    }

    /// The first of two SYNs acknowledges nothing.
    fn of_syn(&self, ack: u64) -> IpPacket {
        if ack == 0 { self.syn } else { self.syn_ack }
    }

    /// What a full segment's packet holds besides payload.
    pub(super) fn overhead(&self) -> Bytes {
        self.header.length() + self.constant_options
    }
}

impl OptionCharge {
    fn of(config: &Config) -> Self {
        match config.uses_sack() || config.uses_timestamps() {
            false => Self::Absent,
            true if config.has_options() => Self::Padded,
            true => Self::BlocksAlone,
        }
    }
}
