//! ICMP (RFC 792) and ICMPv6 (RFC 4443): echoes, and packets too big for a hop.

mod quote;

use std::net::IpAddr;

pub use quote::{Quoted, QuotedFlow, quote};

use crate::checksum::{Checksum, Payload, Sum};
use crate::fields::{Layout, Pass};
use crate::ip::protocol;
use crate::{DecodeError, Layer};

/// The eight octets with which every message here begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Head {
    kind: u8,
    code: u8,
    checksum: u16,
    /// What these are depends on type and code.
    high: u16,
    low: u16,
}

impl Layout for Head {
    const LAYER: Layer = Layer::Icmp;
    const LEN: usize = 8;

    fn fields(&mut self, pass: &mut impl Pass) {
        pass.u8(&mut self.kind);
        pass.u8(&mut self.code);
        pass.u16(&mut self.checksum);
        pass.u16(&mut self.high);
        pass.u16(&mut self.low);
    }
}

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Answer me.
    EchoRequest {
        /// Whose request.
        id: u16,
        /// Which request.
        seq: u16,
    },
    /// The answer.
    EchoReply {
        /// Whose request.
        id: u16,
        /// Which request.
        seq: u16,
    },
    /// A hop could not pass a packet on: in IPv4 "fragmentation needed and DF set" (RFC 1191 §4), in
    /// IPv6 "packet too big". The body quotes the packet.
    TooBig {
        /// What the next hop takes, in bytes; 0 from an IPv4 router that does not say (before RFC
        /// 1191). In IPv4 at most 65 535.
        mtu: u32,
    },
    /// Anything else, as it stands.
    Other {
        /// The type.
        kind: u8,
        /// What the type's code is.
        code: u8,
        /// The four octets behind the checksum.
        rest: [u8; 4],
    },
}

/// What the types mean: IPv4's type and code, then IPv6's.
const ECHO_REQUEST: [(u8, u8); 2] = [(8, 0), (128, 0)];
const ECHO_REPLY: [(u8, u8); 2] = [(0, 0), (129, 0)];
const TOO_BIG: [(u8, u8); 2] = [(3, 4), (2, 0)];

/// A decoded message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Icmp<'a> {
    /// What it says.
    pub message: Message,
    /// What follows, as far as it is there: an echo's payload, or the head of the packet that was
    /// refused.
    pub body: &'a [u8],
    /// Whether it arrived as it was sent.
    pub checksum: Checksum,
}

impl<'a> Icmp<'a> {
    /// The message in an IP packet's payload of `payload_len` bytes, of which `bytes` are there. The
    /// version is that of the packet's source.
    ///
    /// # Errors
    /// There are not even eight bytes.
    pub fn decode(
        bytes: &'a [u8],
        payload_len: usize,
        ends: (IpAddr, IpAddr),
    ) -> Result<Self, DecodeError> {
        let (head, body) = Head::read(bytes)?;
        let checksum = if bytes.len() < payload_len {
            Checksum::Unknown
        } else {
            sum(ends, bytes.len()).add_bytes(bytes).verdict()
        };
        Ok(Self { message: Message::of(head, version(ends.0)), body, checksum })
    }
}

impl Message {
    fn of(head: Head, version: usize) -> Self {
        let is = |meaning: [(u8, u8); 2]| meaning.get(version) == Some(&(head.kind, head.code));
        let ([a, b], [c, d]) = (head.high.to_be_bytes(), head.low.to_be_bytes());
        let (id, seq) = (head.high, head.low);
        if is(ECHO_REQUEST) {
            Self::EchoRequest { id, seq }
        } else if is(ECHO_REPLY) {
            Self::EchoReply { id, seq }
        } else if is(TOO_BIG) {
            // In IPv4 the upper half is unused, or another length (RFC 4884 §4.1).
            let unused = if version == 0 { 0 } else { u32::from(head.high) << 16 };
            Self::TooBig { mtu: unused | u32::from(head.low) }
        } else {
            Self::Other { kind: head.kind, code: head.code, rest: [a, b, c, d] }
        }
    }

    fn head(self, version: usize) -> Head {
        let of = |meaning: [(u8, u8); 2], high, low| {
            let (kind, code) = meaning.get(version).copied().unwrap_or_default();
            Head { kind, code, checksum: 0, high, low }
        };
        match self {
            Self::EchoRequest { id, seq } => of(ECHO_REQUEST, id, seq),
            Self::EchoReply { id, seq } => of(ECHO_REPLY, id, seq),
            Self::TooBig { mtu } => {
                let mtu = if version == 0 { mtu.min(u16::MAX.into()) } else { mtu };
                let [a, b, c, d] = mtu.to_be_bytes();
                of(TOO_BIG, u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
            }
            Self::Other { kind, code, rest: [a, b, c, d] } => {
                let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                Head { kind, code, checksum: 0, high, low }
            }
        }
    }

    /// Appends the message with its body; the version is that of the source.
    pub fn encode(self, ends: (IpAddr, IpAddr), body: Payload<'_>, out: &mut Vec<u8>) {
        let mut head = self.head(version(ends.0));
        let mut unsummed = Vec::with_capacity(Head::LEN);
        head.write(&mut unsummed);
        let sum = sum(ends, Head::LEN + body.len());
        head.checksum = sum.add_bytes(&unsummed).add_bytes(body.written()).checksum();
        head.write(out);
        out.extend_from_slice(body.written());
    }
}

/// Which column of the tables above.
const fn version(source: IpAddr) -> usize {
    match source {
        IpAddr::V4(_) => 0,
        IpAddr::V6(_) => 1,
    }
}

/// ICMPv6 sums a pseudo header as well (RFC 4443 §2.3).
fn sum(ends: (IpAddr, IpAddr), length: usize) -> Sum {
    match ends.0 {
        IpAddr::V4(_) => Sum::default(),
        IpAddr::V6(_) => Sum::pseudo_header(ends, protocol::ICMPV6, length),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const V4: (IpAddr, IpAddr) = (
        IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)),
        IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)),
    );
    const V6: (IpAddr, IpAddr) =
        (IpAddr::V6(std::net::Ipv6Addr::LOCALHOST), IpAddr::V6(std::net::Ipv6Addr::LOCALHOST));

    fn bytes(message: Message, ends: (IpAddr, IpAddr)) -> Vec<u8> {
        let mut out = Vec::new();
        message.encode(ends, Payload::Bytes(b"quoted"), &mut out);
        out
    }

    #[test]
    fn a_hop_says_what_fits() {
        let cases: [(_, u32, &[u8], u32); 4] = [
            (V4, 1400, &[3, 4], 1400),
            (V4, 70_000, &[3, 4], 65_535), // the field has 16 bits
            (V6, 1280, &[2, 0], 1280),
            (V6, 70_000, &[2, 0], 70_000),
        ];
        for (ends, mtu, head, want) in cases {
            let bytes = bytes(Message::TooBig { mtu }, ends);
            assert_eq!(&bytes[..2], head);
            let icmp = Icmp::decode(&bytes, bytes.len(), ends).unwrap();
            assert_eq!(icmp.message, Message::TooBig { mtu: want });
            assert_eq!((icmp.body, icmp.checksum), (&b"quoted"[..], Checksum::Good));
        }
        // RFC 4884 puts a length where RFC 1191 has zeros: it is no part of the MTU.
        let mut bytes = bytes(Message::TooBig { mtu: 1400 }, V4);
        bytes[5] = 17;
        let icmp = Icmp::decode(&bytes, bytes.len(), V4).unwrap();
        assert_eq!((icmp.message, icmp.checksum), (Message::TooBig { mtu: 1400 }, Checksum::Bad));
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail(bytes: Vec<u8>, len: u16, ends: (IpAddr, IpAddr)) {
            let _ = Icmp::decode(&bytes, usize::from(len), ends);
        }

        #[test]
        fn what_is_encoded_decodes(id: u16, seq: u16, kind in 10..20_u8, rest: [u8; 4], n in 0..99_usize) {
            let other = Message::Other { kind, code: 1, rest };
            for message in [Message::EchoRequest { id, seq }, Message::EchoReply { id, seq }, other] {
                for ends in [V4, V6] {
                    let (mut whole, mut cut) = (Vec::new(), Vec::new());
                    message.encode(ends, Payload::Bytes(&vec![0; n]), &mut whole);
                    message.encode(ends, Payload::Zeros(n), &mut cut);
                    prop_assert_eq!(&cut[..], &whole[..Head::LEN]);
                    let icmp = Icmp::decode(&whole, whole.len(), ends).unwrap();
                    prop_assert_eq!((icmp.message, icmp.checksum), (message, Checksum::Good));
                    let icmp = Icmp::decode(&cut, whole.len(), ends).unwrap();
                    prop_assert_eq!(icmp.checksum == Checksum::Unknown, n > 0);
                }
            }
        }
    }
}
