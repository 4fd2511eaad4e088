//! A packet as JSON. Names are a contract; numbers are in base units, named in the key.

use std::net::IpAddr;

use maxseg_wire::Checksum;
use maxseg_wire::icmp::{Icmp, Message};
use maxseg_wire::ip::{self, Header};
use maxseg_wire::options::{Item, TcpOption};
use maxseg_wire::tcp::{Flags, Segment};
use serde::Serialize;

use super::arp::Arp;
use super::connections::Numbers;
use super::decode::{Content, Decoded, Transport, protocol_name};
use super::hex::digits;
use super::icmp_words;
use super::line::{direction, udp_len};
use super::view::View;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A line of JSON with its end.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("a line is plain data");
    text.push('\n');
    text
}

/// One packet. What its kind has not is left out; what is not known is null.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "packet")]
pub(super) struct Packet<'a> {
    #[serde(rename = "packet")]
    number: u64,
    time_s: Option<f64>,
    time_ns: Option<u64>,
    interface: Option<&'a str>,
    direction: Option<&'static str>,
    length_bytes: u32,
    captured_bytes: usize,
    /// It was seen before the network card had filled its checksum in: that one is `unknown`.
    checksum_pending: bool,
    #[serde(skip_serializing_if = "<[u16]>::is_empty")]
    vlans: &'a [u16],
    /// Tunnels and the like around the packet.
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    around: &'a [&'static str],
    protocol: String,
    #[serde(flatten)]
    ends: Option<Ends>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<Ip>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp: Option<Tcp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    udp: Option<Udp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icmp: Option<IcmpPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arp: Option<&'a Arp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

#[derive(Debug, Serialize)]
struct Ends {
    source: IpAddr,
    destination: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_port: Option<u16>,
}

#[derive(Debug, Serialize)]
struct Ip {
    version: u8,
    header_bytes: usize,
    payload_bytes: usize,
    ttl: u8,
    dscp: u8,
    ecn: u8,
    dont_fragment: bool,
    /// IPv4's; of IPv6 only fragments have one.
    identification: Option<u32>,
    flow_label: Option<u32>,
    fragment: Option<Fragment>,
    checksum: &'static str,
}

#[derive(Debug, Serialize)]
struct Fragment {
    offset_bytes: usize,
    more: bool,
    identification: u32,
}

#[derive(Debug, Serialize)]
struct Tcp {
    flags: Vec<String>,
    seq: u32,
    /// As the field is; it means something with the flag ACK alone.
    ack: u32,
    seq_relative: u32,
    /// `None` without the flag ACK.
    ack_relative: Option<u32>,
    window: u16,
    window_bytes: Option<u32>,
    urgent: u16,
    payload_bytes: usize,
    checksum: &'static str,
    /// As far as they were captured.
    options: Vec<OptionPart>,
    /// Bytes of options that the snap length left out.
    #[serde(skip_serializing_if = "is_zero")]
    options_left_out_bytes: usize,
}

/// An option: its kind, its word, and what it says.
#[derive(Debug, Serialize)]
struct OptionPart {
    kind: u8,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mss_bytes: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_scale: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sack_blocks: Option<Vec<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp_echo: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_hex: Option<String>,
}

#[derive(Debug, Serialize)]
struct Udp {
    payload_bytes: usize,
    checksum: &'static str,
}

#[derive(Debug, Serialize)]
struct IcmpPart {
    message: String,
    /// What fits, as "too big" says; 0 where a router does not say. Of a router advertisement the MTU of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    mtu_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u16>,
    /// The packet that an error is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    quoted: Option<Quoted>,
    checksum: &'static str,
}

#[derive(Debug, Serialize)]
struct Quoted {
    protocol: String,
    #[serde(flatten)]
    ends: Ends,
    length_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u32>,
}

impl<'a> Packet<'a> {
    pub(super) fn of(number: u64, view: &View<'a>, decoded: &'a Decoded<'_>, hex: bool) -> Self {
        let mut packet = Self {
            number,
            time_s: view.at_nanos.map(|nanos| nanos as f64 / 1e9),
            time_ns: view.at_nanos,
            interface: view.interface,
            direction: view.direction.map(direction),
            length_bytes: view.original_len,
            captured_bytes: view.bytes.len(),
            checksum_pending: view.checksum_pending,
            vlans: &decoded.vlans,
            around: &decoded.around,
            protocol: String::new(),
            ends: None,
            ip: None,
            tcp: None,
            udp: None,
            icmp: None,
            arp: None,
            problem: None,
            hex: hex.then(|| digits(view.bytes)),
        };
        match &decoded.content {
            Content::Ip(ip, transport) => packet.set_ip(ip, transport),
            Content::Arp(arp) => {
                "arp".clone_into(&mut packet.protocol);
                packet.arp = Some(arp);
            }
            Content::Other(kind) => packet.protocol = format!("ethertype {kind:#06x}"),
            Content::Broken(problem) => {
                "unknown".clone_into(&mut packet.protocol);
                packet.problem = Some(problem.to_string());
            }
        }
        if packet.checksum_pending {
            packet.leave_checksums_open();
        }
        packet
    }

    /// A checksum that the network card has yet to fill in is neither good nor bad.
    fn leave_checksums_open(&mut self) {
        let of_tcp = self.tcp.as_mut().map(|tcp| &mut tcp.checksum);
        let of_udp = self.udp.as_mut().map(|udp| &mut udp.checksum);
        for checksum in of_tcp.into_iter().chain(of_udp) {
            *checksum = verdict(Checksum::Unknown);
        }
    }

    fn set_ip(&mut self, packet: &ip::Packet<'_>, transport: &Transport<'_>) {
        self.protocol = protocol_name(packet.protocol).to_lowercase();
        self.ends = Some(Ends::of(packet, transport.ports()));
        self.ip = Some(Ip::of(packet));
        match transport {
            Transport::Tcp(segment, numbers) => self.tcp = Some(Tcp::of(segment, *numbers)),
            Transport::Udp(datagram) => {
                let checksum = verdict(datagram.checksum);
                self.udp = Some(Udp { payload_bytes: udp_len(datagram), checksum });
            }
            Transport::Icmp(icmp, _) => {
                self.icmp = Some(IcmpPart::of(icmp, packet.ends().0.is_ipv4()));
            }
            Transport::Broken(error) => self.problem = Some(error.to_string()),
            Transport::LaterFragment | Transport::Other => {}
        }
    }
}

impl Ends {
    fn of(packet: &ip::Packet<'_>, ports: Option<(u16, u16)>) -> Self {
        let (source, destination) = packet.ends();
        let (source_port, destination_port) = ports.unzip();
        Self { source, destination, source_port, destination_port }
    }
}

impl Ip {
    fn of(packet: &ip::Packet<'_>) -> Self {
        let fragment = packet.fragment.map(|fragment| Fragment {
            offset_bytes: fragment.offset,
            more: fragment.more,
            identification: fragment.identification,
        });
        let checksum = verdict(packet.checksum);
        let payload_bytes = packet.payload_len;
        match packet.header {
            Header::V4(header) => Self {
                version: 4,
                header_bytes: usize::from(header.header_words) * 4,
                payload_bytes,
                ttl: header.ttl,
                dscp: header.dscp,
                ecn: header.ecn,
                dont_fragment: header.dont_fragment,
                identification: Some(header.identification.into()),
                flow_label: None,
                fragment,
                checksum,
            },
            Header::V6(header) => Self {
                version: 6,
                header_bytes: 40 + packet.extra.len(),
                payload_bytes,
                ttl: header.hop_limit,
                dscp: header.dscp,
                ecn: header.ecn,
                dont_fragment: true,
                identification: fragment.as_ref().map(|fragment| fragment.identification),
                flow_label: Some(header.flow_label),
                fragment,
                checksum,
            },
        }
    }
}

impl Tcp {
    fn of(segment: &Segment<'_>, numbers: Numbers) -> Self {
        let header = &segment.header;
        Self {
            flags: header.flags.to_string().split_whitespace().map(str::to_owned).collect(),
            seq: header.seq,
            ack: header.ack,
            seq_relative: numbers.seq,
            ack_relative: header.flags.contains(Flags::ACK).then_some(numbers.ack),
            window: header.window,
            window_bytes: numbers.window,
            urgent: header.urgent,
            payload_bytes: segment.payload_len,
            checksum: verdict(segment.checksum),
            options: segment.walk_options().filter_map(OptionPart::of).collect(),
            options_left_out_bytes: segment.options_left_out(),
        }
    }
}

impl OptionPart {
    /// Padding is left out.
    fn of(item: Item<'_>) -> Option<Self> {
        let Item::Option(raw) = item else { return None };
        let mut part = Self {
            kind: raw.kind,
            name: item.to_string(),
            mss_bytes: None,
            window_scale: None,
            sack_blocks: None,
            timestamp: None,
            timestamp_echo: None,
            data_hex: None,
        };
        match TcpOption::of(raw) {
            TcpOption::Mss(mss) => part.mss_bytes = Some(mss),
            TcpOption::WindowScale(shift) => part.window_scale = Some(shift),
            TcpOption::Sack(blocks) => {
                part.sack_blocks =
                    Some(blocks.iter().map(|block| [block.left, block.right]).collect());
            }
            TcpOption::Timestamps { value, echo } => {
                part.timestamp = Some(value);
                part.timestamp_echo = Some(echo);
            }
            TcpOption::NoOperation | TcpOption::SackPermitted => {}
            TcpOption::FastOpen(_)
            | TcpOption::Md5(_)
            | TcpOption::Ao { .. }
            | TcpOption::Other { .. } => part.data_hex = Some(digits(raw.data)),
        }
        Some(part)
    }
}

impl IcmpPart {
    fn of(icmp: &Icmp<'_>, is_v4: bool) -> Self {
        let echo = match icmp.message {
            Message::EchoRequest { id, seq } | Message::EchoReply { id, seq } => Some((id, seq)),
            Message::TooBig { .. } | Message::Other { .. } => None,
        };
        let mtu_bytes = match icmp.message {
            Message::TooBig { mtu } => Some(mtu),
            Message::Other { .. } => icmp_words::advertised_mtu(icmp, is_v4),
            Message::EchoRequest { .. } | Message::EchoReply { .. } => None,
        };
        let (id, seq) = echo.unzip();
        let message = icmp_words::words(icmp.message, is_v4);
        let quoted = icmp_words::quoted(icmp, is_v4).map(|quoted| Quoted {
            protocol: protocol_name(quoted.packet.protocol).to_lowercase(),
            ends: Ends::of(
                &quoted.packet,
                quoted.flow.map(|flow| (flow.source_port, flow.destination_port)),
            ),
            length_bytes: icmp_words::length(&quoted.packet),
            seq: quoted
                .flow
                .filter(|_| quoted.packet.protocol == ip::protocol::TCP)
                .map(|flow| flow.word),
        });
        Self { message, mtu_bytes, id, seq, quoted, checksum: verdict(icmp.checksum) }
    }
}

const fn verdict(checksum: Checksum) -> &'static str {
    match checksum {
        Checksum::Good => "good",
        Checksum::Bad => "bad",
        Checksum::Absent => "absent",
        Checksum::Unknown | Checksum::Partial => "unknown",
    }
}
