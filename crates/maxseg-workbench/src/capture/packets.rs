//! What the simulation knows of a packet, as the bytes of its headers.
//!
//! A host's IPv4 identification counts the packets that it sent, so that a packet is known at every
//! capture point, and a repetition is told from it. Sequence numbers are the simulator's: the SYN is 0.
//! Payloads are zeros, which count in every length and checksum and are not written, but for those of
//! fragments.

use std::net::IpAddr;

use maxseg_core::framing::{ICMP_ECHO_HEADER, IpVersion, UDP_HEADER, ip_header};
use maxseg_core::scenario::{End, Flow, FlowKind, Scenario};
use maxseg_core::sim::{Content, PacketForm, PacketView, Sighting, TcpView};
use maxseg_core::units::Bytes;
use maxseg_wire::icmp::{self, Message};
use maxseg_wire::ip::{Ipv4, Ipv6, protocol};
use maxseg_wire::options::{SackBlock, SackBlocks, TcpOption};
use maxseg_wire::tcp::{Flags, Tcp};
use maxseg_wire::udp::Udp;
use maxseg_wire::{EncodeError, Layer, Payload};

use super::places::Places;
use crate::error::{CaptureError, Error};

/// Encodes the packets of one run.
#[derive(Debug)]
pub(super) struct Packets {
    ip: IpVersion,
    flows: Vec<Service>,
}

/// Who begins a flow, and to which port of the other.
#[derive(Debug, Clone, Copy)]
struct Service {
    from: End,
    port: u16,
}

/// The port at which everything is thrown away (RFC 863), as the simulated receivers do.
const DISCARD: u16 = 9;
/// The port at which everything is answered (RFC 862), as requests are.
const ECHO: u16 = 7;
/// The first of the ports that a flow may choose for itself (RFC 6335 §6): each has its own.
const DYNAMIC: u16 = 49_152;
/// A packet's hop limit when it is sent.
const TTL: u8 = 64;

impl Packets {
    /// For the packets of `scenario`.
    ///
    /// # Errors
    /// A flow sends packets that are shorter than their headers.
    pub(super) fn new(scenario: &Scenario) -> Result<Self, Error> {
        for (index, flow) in scenario.flows.iter().enumerate() {
            let (packet, inner) = match flow.kind {
                FlowKind::Bulk | FlowKind::Request(_) => continue,
                FlowKind::Cbr { size, header, .. } => (size + header, UDP_HEADER),
                FlowKind::Ping { size, header, .. } => (size + header, ICMP_ECHO_HEADER),
            };
            let least = ip_header(scenario.ip) + inner;
            if packet < least {
                return Err(CaptureError::TooShort { flow: index, packet, headers: least }.into());
            }
        }
        let service = |flow: &Flow| Service {
            from: flow.from,
            port: if matches!(flow.kind, FlowKind::Request(_)) { ECHO } else { DISCARD },
        };
        let flows = scenario.flows.iter().map(service).collect();
        Ok(Self { ip: scenario.ip, flows })
    }

    /// Appends the headers of what is seen. Gives its whole length.
    pub(super) fn encode(
        &self,
        places: &Places,
        seen: &Sighting,
        out: &mut Vec<u8>,
    ) -> Result<usize, EncodeError> {
        let packet = &seen.packet;
        let mut inner = Vec::with_capacity(64);
        let room = packet.ip_len as usize - length(ip_header(self.ip));
        self.encode_payload(packet, places.ends_of_packet(seen), room, &mut inner)?;
        let passed = places.routers_passed(seen);
        let (header, payload_len) = match seen.form {
            PacketForm::Whole => (self.header(packet, passed), room),
            PacketForm::Fragment(part) => {
                let (offset, len) = (part.offset as usize, part.len as usize);
                inner.drain(..offset.min(inner.len()));
                // Whole: of cut fragments no program puts a packet together.
                inner.resize(len, 0);
                let header = self.header(packet, passed);
                let fragment_offset = u16::try_from(part.offset / 8).unwrap_or(u16::MAX);
                (Header { fragment_offset, more_fragments: part.more, ..header }, len)
            }
            PacketForm::TooBig { hop, mtu } => {
                let quoted = self.header(packet, places.routers_passed_before(seen, hop));
                let mut whole = Vec::with_capacity(packet.ip_len as usize);
                quoted.encode(places.ends_of_packet(seen), room, &mut whole)?;
                whole.append(&mut inner);
                whole.resize(packet.ip_len as usize, 0);
                let ends = places.ends(seen);
                let quote = Payload::Bytes(icmp::quote(&whole, ends.0));
                Message::TooBig { mtu: mtu.get().into() }.encode(ends, quote, &mut inner);
                (self.header_of_news(packet, passed), inner.len())
            }
        };
        let begin = out.len();
        header.encode(places.ends(seen), payload_len, out)?;
        let whole = out.len() - begin + payload_len;
        out.append(&mut inner);
        Ok(whole)
    }

    /// The headers behind that of IP, with `room` for them and the payload.
    fn encode_payload(
        &self,
        packet: &PacketView,
        ends: (IpAddr, IpAddr),
        room: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match &packet.content {
            Content::Tcp(tcp) => encode_tcp(tcp, self.ports(packet), ends, room, out),
            Content::Datagram => {
                let (source_port, destination_port) = self.ports(packet);
                let payload = Payload::Zeros(room - length(UDP_HEADER));
                Udp { source_port, destination_port, ..Udp::default() }.encode(ends, payload, out)
            }
            Content::EchoRequest { number } => {
                let message = Message::EchoRequest { id: id(packet.flow), seq: wrap(*number) };
                message.encode(ends, Payload::Zeros(room - length(ICMP_ECHO_HEADER)), out);
                Ok(())
            }
            Content::EchoReply { number } => {
                let message = Message::EchoReply { id: id(packet.flow), seq: wrap(*number) };
                message.encode(ends, Payload::Zeros(room - length(ICMP_ECHO_HEADER)), out);
                Ok(())
            }
        }
    }

    /// The IP header of a packet that so many routers have passed on.
    fn header(&self, packet: &PacketView, routers: usize) -> Header {
        Header {
            identification: wrap(packet.number),
            dont_fragment: packet.dont_fragment,
            more_fragments: false,
            fragment_offset: 0,
            ecn: packet.ecn,
            // Each has counted it down.
            hop_limit: TTL.saturating_sub(u8::try_from(routers).unwrap_or(TTL)).max(1),
            protocol: protocol_of(packet, self.ip),
        }
    }

    /// That of the news that `packet` was too large; a router sends one for each such packet.
    fn header_of_news(&self, packet: &PacketView, routers: usize) -> Header {
        Header {
            dont_fragment: false,
            ecn: 0,
            protocol: icmp_of(self.ip),
            ..self.header(packet, routers)
        }
    }

    /// Source and destination: who begins the flow has a port of the flow's own, another for each of its
    /// connections.
    fn ports(&self, packet: &PacketView) -> (u16, u16) {
        let connection = match &packet.content {
            Content::Tcp(tcp) => usize::from(tcp.connection),
            Content::Datagram | Content::EchoRequest { .. } | Content::EchoReply { .. } => 0,
        };
        let own = DYNAMIC.saturating_add(id(packet.flow + connection * self.flows.len()));
        let Service { from, port } = self.flows[packet.flow];
        if packet.from == from { (own, port) } else { (port, own) }
    }
}

/// What an IP header of either version says. IPv6 knows nothing of the first four: no hop fragments it.
#[derive(Debug, Clone, Copy)]
struct Header {
    identification: u16,
    dont_fragment: bool,
    more_fragments: bool,
    fragment_offset: u16,
    ecn: u8,
    hop_limit: u8,
    protocol: u8,
}

impl Header {
    fn encode(
        self,
        ends: (IpAddr, IpAddr),
        payload_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let Self { identification, dont_fragment, more_fragments, fragment_offset, ecn, .. } = self;
        match ends {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let (ttl, protocol) = (self.hop_limit, self.protocol);
                let header = Ipv4 {
                    identification,
                    dont_fragment,
                    more_fragments,
                    fragment_offset,
                    ecn,
                    ttl,
                    protocol,
                    source,
                    destination,
                    ..Ipv4::default()
                };
                header.encode(&[], payload_len, out)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let (hop_limit, next_header) = (self.hop_limit, self.protocol);
                let header =
                    Ipv6 { ecn, next_header, hop_limit, source, destination, ..Ipv6::default() };
                header.encode(payload_len, out)
            }
            (a, b) => unreachable!("all addresses of a run are of one version, not {a} and {b}"),
        }
    }
}

fn encode_tcp(
    tcp: &TcpView,
    (source_port, destination_port): (u16, u16),
    ends: (IpAddr, IpAddr),
    room: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let options = options(tcp);
    let flag = |set, flag| if set { flag } else { Flags::default() };
    let header = Tcp {
        source_port,
        destination_port,
        seq: wrap_word(tcp.seq),
        ack: wrap_word(tcp.ack.unwrap_or(0)),
        flags: flag(tcp.syn, Flags::SYN)
            | flag(tcp.ack.is_some(), Flags::ACK)
            | flag(tcp.echoes_marks, Flags::ECE)
            | flag(tcp.reduced, Flags::CWR)
            | flag(tcp.push, Flags::PSH),
        window: tcp.window,
        ..Tcp::default()
    };
    let (begin, payload) = (out.len(), usize::from(tcp.payload));
    header.encode(&options, ends, Payload::Zeros(payload), out)?;
    // The simulated packet's length, which everything was computed with, is that of these headers.
    let length = out.len() - begin + payload;
    if length == room {
        Ok(())
    } else {
        Err(EncodeError { layer: Layer::Tcp, length, limit: room })
    }
}

/// The options in the order, and with the padding, that stacks use (RFC 7323 appendix A).
fn options(tcp: &TcpView) -> Vec<TcpOption<'static>> {
    let mut options = Vec::new();
    options.extend(tcp.mss.map(TcpOption::Mss));
    if tcp.sack_permitted {
        // With timestamps it takes the place of their padding.
        if tcp.timestamps.is_none() {
            options.extend([TcpOption::NoOperation; 2]);
        }
        options.push(TcpOption::SackPermitted);
    } else if tcp.timestamps.is_some() {
        options.extend([TcpOption::NoOperation; 2]);
    }
    if let Some((value, echo)) = tcp.timestamps {
        options.push(TcpOption::Timestamps { value, echo });
    }
    if let Some(shift) = tcp.window_scale {
        options.extend([TcpOption::NoOperation, TcpOption::WindowScale(shift)]);
    }
    let blocks: Vec<SackBlock> = tcp
        .sack
        .iter(tcp.ack.unwrap_or(0))
        .map(|(start, end)| SackBlock { left: wrap_word(start), right: wrap_word(end) })
        .collect();
    if !blocks.is_empty() {
        options.extend([TcpOption::NoOperation; 2]);
        options.extend(SackBlocks::new(&blocks).map(TcpOption::Sack));
    }
    options.extend(std::iter::repeat_n(TcpOption::NoOperation, usize::from(tcp.unwrapped)));
    options
}

const fn protocol_of(packet: &PacketView, ip: IpVersion) -> u8 {
    match &packet.content {
        Content::Tcp(_) => protocol::TCP,
        Content::Datagram => protocol::UDP,
        Content::EchoRequest { .. } | Content::EchoReply { .. } => icmp_of(ip),
    }
}

const fn icmp_of(ip: IpVersion) -> u8 {
    match ip {
        IpVersion::V4 => protocol::ICMP,
        IpVersion::V6 => protocol::ICMPV6,
    }
}

/// Tells flows apart; of more than 16 384, some share it.
fn id(flow: usize) -> u16 {
    u16::try_from(flow % usize::from(u16::MAX - DYNAMIC + 1)).unwrap_or(0)
}

/// As a field of 16 bits counts.
#[expect(clippy::cast_possible_truncation, reason = "the field wraps")]
const fn wrap(number: u64) -> u16 {
    number as u16
}

/// As sequence numbers count (RFC 9293 §3.4).
#[expect(clippy::cast_possible_truncation, reason = "the field wraps")]
const fn wrap_word(number: u64) -> u32 {
    number as u32
}

fn length(bytes: Bytes) -> usize {
    usize::try_from(bytes.get()).unwrap_or(usize::MAX)
}
