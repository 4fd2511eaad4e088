//! The packet that an error message is about, as far as its body quotes it.

use std::net::IpAddr;

use maxseg_core::framing::{IpVersion, largest_quote};

use super::Icmp;
use crate::fields::{Layout, Pass};
use crate::ip::{Packet, protocol};
use crate::{DecodeError, Layer};

/// As much of `packet`, which begins with its IP header, as an error message quotes that comes from
/// `source`: in IPv4 the header, as long as it says, and 8 bytes.
pub fn quote(packet: &[u8], source: IpAddr) -> &[u8] {
    let (version, options) = match source {
        IpAddr::V4(_) => {
            let words = packet.first().map_or(0, |first| first & 0xf);
            (IpVersion::V4, (usize::from(words) * 4).saturating_sub(V4_HEADER))
        }
        IpAddr::V6(_) => (IpVersion::V6, 0),
    };
    let most = usize::try_from(largest_quote(version).get()).unwrap_or(usize::MAX);
    packet.get(..most.saturating_add(options)).unwrap_or(packet)
}

/// Bytes of an IPv4 header without options.
const V4_HEADER: usize = 20;

/// What a body quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quoted<'a> {
    /// The packet. Its payload is what is there of it; its length is what its header says.
    pub packet: Packet<'a>,
    /// What begins a TCP segment or a UDP datagram, if it is one and that is there: enough to tell whose
    /// it was, and whether it was sent lately (RFC 5927 §4.1).
    pub flow: Option<QuotedFlow>,
}

/// The first octets of a TCP or UDP header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuotedFlow {
    /// Whence.
    pub source_port: u16,
    /// Whither.
    pub destination_port: u16,
    /// TCP's sequence number; UDP's length and checksum.
    pub word: u32,
}

impl Layout for QuotedFlow {
    const LAYER: Layer = Layer::Icmp;
    const LEN: usize = 8;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.u16(&mut self.source_port);
        pass.u16(&mut self.destination_port);
        pass.u32(&mut self.word);
    }
}

impl QuotedFlow {
    /// Appends them.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.write(out);
    }
}

impl<'a> Icmp<'a> {
    /// The packet that the body quotes; of an echo, nothing sensible.
    ///
    /// # Errors
    /// There is no whole IP header.
    pub fn quoted(&self) -> Result<Quoted<'a>, DecodeError> {
        // Cut here, not shorter than it says: the largest packet that there is.
        let packet = Packet::decode(self.body, usize::from(u16::MAX) + 40)?;
        let begins_here = packet.fragment.is_none_or(|fragment| fragment.offset == 0);
        let has_ports = matches!(packet.protocol, protocol::TCP | protocol::UDP);
        let flow = QuotedFlow::read(packet.payload).ok().filter(|_| begins_here && has_ports);
        Ok(Quoted { packet, flow: flow.map(|(flow, _)| flow) })
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;
    use crate::icmp::Message;
    use crate::ip::{Ipv4, Ipv6, Length};
    use crate::tcp::{Flags, Tcp};
    use crate::{Checksum, Payload};

    const V4: (IpAddr, IpAddr) =
        (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)));
    const V6: (IpAddr, IpAddr) = (IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));

    /// A segment with `payload` zeros, whole.
    fn segment(ends: (IpAddr, IpAddr), seq: u32, payload: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        match ends {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                Ipv4 { protocol: protocol::TCP, source, destination, ..Ipv4::default() }
                    .encode(&[], 20 + payload, &mut bytes)
                    .unwrap();
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                Ipv6 { next_header: protocol::TCP, source, destination, ..Ipv6::default() }
                    .encode(20 + payload, &mut bytes)
                    .unwrap();
            }
            _ => panic!("{ends:?}"),
        }
        let tcp =
            Tcp { source_port: 1, destination_port: 9, seq, flags: Flags::ACK, ..Tcp::default() };
        tcp.encode(&[], ends, Payload::Zeros(payload), &mut bytes).unwrap();
        bytes.resize(bytes.len() + payload, 0);
        bytes
    }

    #[test]
    fn as_much_is_quoted_as_the_rfcs_ask_for() {
        let cases = [(V4, 1460, 28), (V4, 0, 28), (V6, 1440, 1232), (V6, 1000, 1060)];
        for (ends, payload, want) in cases {
            assert_eq!(quote(&segment(ends, 7, payload), ends.0).len(), want);
        }
        // With options the header is longer; what is no header is not looked into.
        let mut options = Vec::new();
        Ipv4::default().encode(&[1; 40], 100, &mut options).unwrap();
        options.resize(160, 0);
        assert_eq!(quote(&options, V4.0).len(), 68);
        assert_eq!(quote(&[], V4.0), &[] as &[u8]);
        assert_eq!(quote(&[0x4f], V6.0), &[0x4f]);
    }

    #[test]
    fn a_quoted_packet_is_cut_not_short() {
        for (ends, header, there) in [(V4, 20, 8), (V6, 40, 1192)] {
            let whole = segment(ends, 0x0102_0304, 1460);
            let quote = quote(&whole, ends.0);
            let mut bytes = Vec::new();
            Message::TooBig { mtu: 1400 }.encode(ends, Payload::Bytes(quote), &mut bytes);
            let icmp = Icmp::decode(&bytes, bytes.len(), ends).unwrap();
            assert_eq!(
                (icmp.message, icmp.checksum),
                (Message::TooBig { mtu: 1400 }, Checksum::Good)
            );
            let quoted = icmp.quoted().unwrap();
            assert_eq!((quoted.packet.payload.len(), quoted.packet.payload_len), (there, 1480));
            assert_eq!(quoted.packet.length, Length::Cut(header + 1480 - quote.len()));
            let flow = QuotedFlow { source_port: 1, destination_port: 9, word: 0x0102_0304 };
            assert_eq!(quoted.flow, Some(flow));
        }
    }

    #[test]
    fn what_lies_in_the_middle_of_a_packet_has_no_ports() {
        let mut bytes = Vec::new();
        Ipv4 { protocol: protocol::TCP, fragment_offset: 69, ..Ipv4::default() }
            .encode(&[], 8, &mut bytes)
            .unwrap();
        bytes.extend([1; 8]);
        let icmp =
            Icmp { message: Message::TooBig { mtu: 68 }, body: &bytes, checksum: Checksum::Good };
        let quoted = icmp.quoted().unwrap();
        assert_eq!((quoted.flow, quoted.packet.fragment.unwrap().offset), (None, 552));
    }

    proptest! {
        #[test]
        fn any_body_is_quoted_or_fails(version in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()], mut body: Vec<u8>) {
            if let Some(first) = body.first_mut() {
                *first = version;
            }
            let icmp = Icmp { message: Message::TooBig { mtu: 0 }, body: &body, checksum: Checksum::Unknown };
            if let Ok(quoted) = icmp.quoted() {
                prop_assert!(quoted.packet.payload.len() <= quoted.packet.payload_len);
            }
            for source in [V4.0, V6.0] {
                prop_assert!(body.starts_with(quote(&body, source)));
            }
        }

        #[test]
        fn what_is_quoted_is_what_was_sent(
            source_port: u16, destination_port: u16, word: u32, mtu in 0..=65_535_u32, payload in 0..3000_usize, v6: bool,
        ) {
            let ends = if v6 { V6 } else { V4 };
            let mut packet = segment(ends, word, payload);
            let flow = QuotedFlow { source_port, destination_port, word };
            let mut head = Vec::new();
            flow.encode(&mut head);
            let header = if v6 { 40 } else { 20 };
            packet[header..header + QuotedFlow::LEN].copy_from_slice(&head);
            let mut bytes = Vec::new();
            Message::TooBig { mtu }.encode(ends, Payload::Bytes(quote(&packet, ends.0)), &mut bytes);
            let icmp = Icmp::decode(&bytes, bytes.len(), ends).unwrap();
            prop_assert_eq!((icmp.message, icmp.checksum), (Message::TooBig { mtu }, Checksum::Good));
            let quoted = icmp.quoted().unwrap();
            prop_assert_eq!(quoted.flow, Some(flow));
            prop_assert_eq!(quoted.packet.payload_len, 20 + payload);
            prop_assert_eq!(quoted.packet.ends(), ends);
        }
    }
}
