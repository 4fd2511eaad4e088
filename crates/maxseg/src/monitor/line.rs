//! A packet in words: one line, and with `-v` another of what stands in its IP header.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use maxseg_linux::observe::capture::Direction;
use maxseg_wire::encapsulation::Undecodable;
use maxseg_wire::ip::{self, Header};
use maxseg_wire::options::{Item, RawOption, TcpOption, kind};
use maxseg_wire::tcp::{Flags, Segment};
use maxseg_wire::udp::{Datagram, Udp};
use maxseg_wire::{Checksum, DecodeError};
use maxseg_workbench::report::words::counted;

use super::Manner;
use super::connections::Numbers;
use super::decode::{Content, Decoded, Transport, protocol_name};
use super::hex::digits;
use super::icmp_words;
use super::view::View;
use crate::printer::Printer;

/// Appends what there is to say of a packet.
pub(super) fn write(
    printer: Printer,
    manner: Manner,
    time: &str,
    view: &View<'_>,
    decoded: &Decoded<'_>,
    out: &mut String,
) {
    let mut words = vec![printer.dim(time)];
    if manner.names_interface {
        words.extend(view.interface.map(on_one_line));
    }
    words.extend(view.direction.map(|way| format!("{:3}", direction(way))));
    words.extend(decoded.vlans.iter().map(|vlan| format!("VLAN {vlan}")));
    words.extend(decoded.around.iter().map(|around| format!("[{around}]")));
    let line = Line { printer, manner, view };
    match &decoded.content {
        Content::Ip(packet, transport) => line.ip(packet, transport, &mut words),
        Content::Arp(arp) => words.push(format!("ARP {arp}")),
        Content::Other(kind) => {
            words.push(format!("EtherType {kind:#06x} length {}", view.original_len));
        }
        Content::Broken(error) => words.push(line.broken(*error)),
    }
    words.retain(|word| !word.is_empty());
    let _ = writeln!(out, "{}", words.join(" "));
    if let (true, Content::Ip(packet, transport)) = (printer.is_verbose(), &decoded.content) {
        let more = [ip_words(packet), line.checksums(packet, transport)].concat();
        let _ = writeln!(out, "    {}", printer.dim(&more.join(" ")));
    }
}

/// A name that somebody else chose, without what would break the line or speak to the terminal.
fn on_one_line(name: &str) -> String {
    name.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// The word of a direction.
pub(super) const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::Broadcast => "broadcast",
        Direction::Multicast => "multicast",
        Direction::OtherHost => "other-host",
    }
}

struct Line<'a> {
    printer: Printer,
    manner: Manner,
    view: &'a View<'a>,
}

impl Line<'_> {
    /// Without an IP header that can be read. One that the snap length cut is not broken.
    fn broken(&self, error: Undecodable) -> String {
        if error == Undecodable::Short && self.view.is_cut() {
            let kept = counted(self.view.bytes.len() as u64, "byte");
            format!("[{kept} captured, fewer than its headers]")
        } else {
            format!("broken: {error}")
        }
    }

    fn ip(&self, packet: &ip::Packet<'_>, transport: &Transport<'_>, words: &mut Vec<String>) {
        let (source, destination) = packet.ends();
        words.push(match transport.ports() {
            Some((from, to)) => {
                format!("{} > {}", SocketAddr::new(source, from), SocketAddr::new(destination, to))
            }
            None => format!("{source} > {destination}"),
        });
        let name = protocol_name(packet.protocol);
        match transport {
            Transport::Tcp(segment, numbers) => self.tcp(segment, *numbers, words),
            Transport::Udp(datagram) => words.push(format!("UDP len {}", udp_len(datagram))),
            Transport::Icmp(icmp, begin) => {
                let begin = begin.filter(|_| !self.manner.absolute_seq).unwrap_or(0);
                let is_v4 = source.is_ipv4();
                let mtu = icmp_words::advertised_mtu(icmp, is_v4);
                let mtu = mtu.map_or_else(String::new, |mtu| format!(", MTU {mtu}"));
                words.push(format!("{name} {}{mtu}", icmp_words::words(icmp.message, is_v4)));
                match icmp_words::quoted(icmp, is_v4) {
                    Some(quoted) => {
                        let about = icmp_words::about(&quoted, begin);
                        words.push(format!("(about {about})"));
                    }
                    None => words.push(format!("length {}", packet.payload_len)),
                }
            }
            Transport::LaterFragment | Transport::Other => {
                words.push(format!("{name} length {}", packet.payload_len));
            }
            Transport::Broken(DecodeError::Short { have, need, .. }) if self.view.is_cut() => {
                words.push(format!("{name} [{have} of {need} bytes of its header captured]"));
            }
            Transport::Broken(error) => words.push(format!("{name} broken: {error}")),
        }
        words.extend(packet.fragment.map(|fragment| {
            let end = fragment.offset + packet.payload_len;
            let more = if fragment.more { "+" } else { "" };
            let text = format!(
                "fragment {:#06x} {}:{end}{more}",
                fragment.identification, fragment.offset
            );
            self.printer.bold(&text)
        }));
    }

    fn tcp(&self, segment: &Segment<'_>, numbers: Numbers, words: &mut Vec<String>) {
        let flags = segment.header.flags;
        let [own, other] = if self.manner.absolute_seq { numbers.begins } else { [0, 0] };
        let [seq, ack] = [numbers.seq.wrapping_add(own), numbers.ack.wrapping_add(other)];
        let text = flags.to_string();
        let is_event =
            [Flags::SYN, Flags::FIN, Flags::RST].iter().any(|flag| flags.contains(*flag));
        words.push(if is_event { self.printer.bold(&text) } else { text });
        words.push(match u32::try_from(segment.payload_len) {
            Ok(len) if len > 0 => format!("seq {seq}:{}", seq.wrapping_add(len)),
            _ => format!("seq {seq}"),
        });
        if flags.contains(Flags::ACK) {
            words.push(format!("ack {ack}"));
        }
        words.push(match numbers.window {
            Some(bytes) => format!("win {bytes}"),
            None => format!("rawwin {}", segment.header.window),
        });
        words.push(format!("len {}", segment.payload_len));
        if flags.contains(Flags::URG) {
            words.push(format!("urg {}", segment.header.urgent));
        }
        let begin = if self.manner.absolute_seq { 0 } else { numbers.begins[1] };
        words.extend(segment.walk_options().filter_map(|item| self.option(item, begin)));
    }

    /// An option by its name; padding with `-v` only. `begin` is where the numbers of SACK blocks begin.
    fn option(&self, item: Item<'_>, begin: u32) -> Option<String> {
        match item {
            Item::EndOfList | Item::NoOperation => {
                self.printer.is_verbose().then(|| item.to_string())
            }
            Item::Option(raw) => Some(option_words(raw, self.printer.is_verbose(), begin)),
            Item::Truncated | Item::BadLength => Some(item.to_string()),
            Item::NotCaptured(bytes) => {
                Some(format!("[{} of options not captured]", counted(bytes as u64, "byte")))
            }
        }
    }

    /// What is wrong with checksums that should be right: those of our own packets the network card fills in.
    fn checksums(&self, packet: &ip::Packet<'_>, transport: &Transport<'_>) -> Vec<String> {
        let pending = self.view.checksum_pending || self.view.direction == Some(Direction::Out);
        let of_transport = match transport {
            Transport::Tcp(segment, _) => segment.checksum,
            Transport::Udp(datagram) => datagram.checksum,
            Transport::Icmp(icmp, _) => icmp.checksum,
            Transport::LaterFragment | Transport::Other | Transport::Broken(_) => Checksum::Absent,
        };
        let whole = packet.fragment.is_none();
        let mut words = Vec::new();
        if packet.checksum == Checksum::Bad && !pending {
            words.push("bad-header-checksum".to_owned());
        }
        if of_transport == Checksum::Bad && !pending && whole {
            words.push("bad-checksum".to_owned());
        }
        words
    }
}

/// Bytes of a datagram's payload, as its header says.
pub(super) fn udp_len(datagram: &Datagram<'_>) -> usize {
    /// Bytes of the header.
    const HEADER: usize = 8;
    let Udp { length, .. } = datagram.header;
    usize::from(length).checked_sub(HEADER).unwrap_or(datagram.payload.len())
}

/// An option by its name. Those with little to say for a reader say it all with `-v` only.
fn option_words(raw: RawOption<'_>, verbose: bool, begin: u32) -> String {
    /// Kinds that have a name and no decoding here (IANA).
    const USER_TIMEOUT: u8 = 28;
    /// For experiments, and that of fast open's (RFC 6994, RFC 7413 appendix A).
    const EXPERIMENT: [u8; 2] = [253, 254];
    const FAST_OPEN_EXPERIMENT: [u8; 2] = [0xf9, 0x89];
    let shows_data = verbose && !raw.data.is_empty();
    let named = |name: &str| {
        if shows_data { format!("{name}={}", digits(raw.data)) } else { name.to_owned() }
    };
    match (TcpOption::of(raw), raw.kind) {
        (TcpOption::Sack(blocks), _) if verbose => {
            let relative = |number: u32| number.wrapping_sub(begin);
            let block = |left, right| format!("{}-{}", relative(left), relative(right));
            let blocks: Vec<String> =
                blocks.iter().map(|each| block(each.left, each.right)).collect();
            format!("SACK={}", blocks.join(","))
        }
        (_, kind::FAST_OPEN) => named("TFO"),
        (_, experiment)
            if EXPERIMENT.contains(&experiment) && raw.data.starts_with(&FAST_OPEN_EXPERIMENT) =>
        {
            named("TFO-experiment")
        }
        (_, kind::MD5) => named("MD5"),
        (_, kind::AO) => named("AO"),
        (_, kind::MULTIPATH) => named("MPTCP"),
        (_, USER_TIMEOUT) => named("UTO"),
        (TcpOption::Other { .. }, _) => named(&raw.to_string()),
        _ => raw.to_string(),
    }
}

/// What stands in the IP header besides addresses.
fn ip_words(packet: &ip::Packet<'_>) -> Vec<String> {
    let mut words = match packet.header {
        Header::V4(header) => vec![
            format!("ttl {}", header.ttl),
            format!("id {:#06x}", header.identification),
            if header.dont_fragment { "DF".to_owned() } else { "no DF".to_owned() },
            format!("tos {:#04x}", header.dscp << 2 | header.ecn),
            ecn_words(header.ecn),
            format!("length {}", header.total_length),
        ],
        Header::V6(header) => vec![
            format!("hops {}", header.hop_limit),
            format!("flow {:#07x}", header.flow_label),
            format!("class {:#04x}", header.dscp << 2 | header.ecn),
            ecn_words(header.ecn),
            format!("length {}", header.payload_length),
        ],
    };
    if !packet.extra.is_empty() {
        let what = if matches!(packet.ends().0, IpAddr::V4(_)) { "options" } else { "extensions" };
        words.push(format!("{what} {} bytes", packet.extra.len()));
    }
    match packet.length {
        ip::Length::Whole | ip::Length::Cut(_) => {}
        ip::Length::Overstated(bytes) => words.push(format!("{bytes} bytes missing")),
        ip::Length::Offloaded => words.push("length left to the card".to_owned()),
    }
    words
}

/// RFC 3168 §5.
fn ecn_words(ecn: u8) -> String {
    match ecn {
        0 => "not-ECT".to_owned(),
        1 => "ECT(1)".to_owned(),
        2 => "ECT(0)".to_owned(),
        _ => "CE".to_owned(),
    }
}
