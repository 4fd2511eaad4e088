//! What a capture holds besides TCP: counted, not followed.

use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;

use foldhash::fast::RandomState;

use crate::flow::Datagram;
use crate::ip::protocol;

/// Packets of a protocol that is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFollowed {
    /// Its name, or its number: `QUIC`, `UDP`, `GRE`, `IP protocol 132`.
    pub protocol: String,
    /// Packets.
    pub packets: u64,
    /// Pairs of endpoints, where the protocol has ports.
    pub flows: Option<u64>,
}

/// What has been counted so far.
#[derive(Debug, Default)]
pub(super) struct OtherTraffic {
    udp: Flows,
    quic: Flows,
    /// By the protocol's number.
    others: BTreeMap<u8, u64>,
    not_ip: u64,
}

#[derive(Debug, Default)]
struct Flows {
    packets: u64,
    ends: HashSet<(SocketAddr, SocketAddr), RandomState>,
}

/// Most flows that are told apart.
const MOST_FLOWS: usize = 1 << 16;
/// The port of QUIC where it carries HTTP (RFC 9114 §3.1).
const HTTPS: u16 = 443;

impl OtherTraffic {
    /// A datagram of UDP.
    pub(super) fn on_datagram(&mut self, datagram: &Datagram<'_>) {
        let (a, b) = (datagram.source, datagram.destination);
        let ends = if a < b { (a, b) } else { (b, a) };
        let is_quic = self.quic.ends.contains(&ends) || is_quic(datagram);
        if is_quic && self.udp.ends.remove(&ends) {
            // What came before was QUIC as well; its packets are few.
            self.quic.ends.insert(ends);
        }
        let flows = if is_quic { &mut self.quic } else { &mut self.udp };
        flows.packets += 1;
        if flows.ends.len() < MOST_FLOWS {
            flows.ends.insert(ends);
        }
    }

    /// A packet of another protocol over IP.
    pub(super) fn on_other(&mut self, protocol: u8) {
        *self.others.entry(protocol).or_default() += 1;
    }

    /// A packet of something else than IP.
    pub(super) fn on_not_ip(&mut self) {
        self.not_ip += 1;
    }

    /// The most packets first.
    pub(super) fn finish(self) -> Vec<NotFollowed> {
        let flows = |name: &str, flows: &Flows| NotFollowed {
            protocol: name.to_owned(),
            packets: flows.packets,
            flows: Some(flows.ends.len() as u64),
        };
        let plain = |protocol: String, packets| NotFollowed { protocol, packets, flows: None };
        let mut all = vec![flows("QUIC", &self.quic), flows("UDP", &self.udp)];
        all.extend(self.others.iter().map(|(number, packets)| plain(name(*number), *packets)));
        all.push(plain("other than IP".to_owned(), self.not_ip));
        all.retain(|one| one.packets > 0);
        all.sort_by_key(|one| std::cmp::Reverse(one.packets));
        all
    }
}

/// Whether a datagram begins with a long header of a known version (RFC 9000 §17.2, RFC 9369), or goes to the port of
/// HTTP/3 with the fixed bit of a short header (§17.3).
fn is_quic(datagram: &Datagram<'_>) -> bool {
    let Some(first) = datagram.payload.first() else { return false };
    let version = match datagram.payload {
        [_, v0, v1, v2, v3, ..] => u32::from_be_bytes([*v0, *v1, *v2, *v3]),
        _ => 0,
    };
    let is_known =
        matches!(version, 1 | 0x6b33_43cf | 0xff00_0000..=0xff00_00ff) || version >> 16 == 0x5130; // Google's, "Q0.."
    let is_long = first & 0xc0 == 0xc0 && is_known;
    let is_https = datagram.source.port() == HTTPS || datagram.destination.port() == HTTPS;
    is_long || is_https && first & 0xc0 == 0x40
}

fn name(number: u8) -> String {
    match number {
        protocol::ICMP => "ICMP".to_owned(),
        protocol::ICMPV6 => "ICMPv6".to_owned(),
        protocol::GRE => "GRE".to_owned(),
        2 => "IGMP".to_owned(),
        50 => "ESP".to_owned(),
        89 => "OSPF".to_owned(),
        132 => "SCTP".to_owned(),
        other => format!("IP protocol {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(port: u16, payload: &[u8]) -> Datagram<'_> {
        Datagram {
            source: ([10, 0, 0, 1], 50_000).into(),
            destination: ([10, 0, 0, 2], port).into(),
            payload,
        }
    }

    #[test]
    fn quic_is_told_from_other_datagrams() {
        let mut others = OtherTraffic::default();
        let initial = [0xc3, 0, 0, 0, 1, 8];
        others.on_datagram(&datagram(443, &initial));
        others.on_datagram(&datagram(443, &[0x41, 9, 9]));
        others.on_datagram(&datagram(8443, &initial));
        others.on_datagram(&datagram(53, &[0xc3, 0, 1, 0, 0, 1]));
        others.on_other(protocol::GRE);
        others.on_not_ip();
        let of = |protocol: &str, packets, flows| NotFollowed {
            protocol: protocol.to_owned(),
            packets,
            flows,
        };
        let all = others.finish();
        assert_eq!(all[0], of("QUIC", 3, Some(2)));
        assert!(all.contains(&of("UDP", 1, Some(1))));
        assert!(all.contains(&of("GRE", 1, None)) && all.contains(&of("other than IP", 1, None)));
    }
}
