//! Messages "too big" about this host's packets: those that come to it, and those of them that its sockets receive.
//!
//! ```text
//! link → packet socket → routing, netfilter's input hook → raw socket, error queues, TCP
//! ```
//!
//! A packet socket hears a message before this host's firewall does, a raw socket behind it (`ip_protocol_deliver_rcu` in the
//! kernel's `net/ipv4/ip_input.c`, `ip6_protocol_deliver_rcu` in `net/ipv6/ip6_input.c`). What the first hears and the second does not,
//! the host has dropped: no connection of its own learns of it.

use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use maxseg_wire::Checksum;
use maxseg_wire::bpf::{Protocol as Selected, Selection, compile};
use maxseg_wire::icmp::{Icmp, Message};
use maxseg_wire::inet_diag::Prefix;
use maxseg_wire::ip::{Header, Packet, protocol};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use crate::observe::capture::{LINKS, link_header_len};
use crate::observe::host::counters;
use crate::sys::PacketSocket;

/// Hears messages "too big" that come to this host, at the interface and behind its firewall.
#[derive(Debug)]
pub struct TooBigWatch {
    heard: PacketSocket,
    received: Socket,
    /// This host's address.
    local: IpAddr,
    /// The address of which packets are watched.
    far: IpAddr,
    room: Vec<u8>,
    messages: Vec<Noted>,
    /// What sockets received.
    bodies: Vec<Vec<u8>>,
    reverse_path_drops: Option<u64>,
}

/// A message "too big" that came to the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBig {
    /// Who sent it, or is said to have.
    pub from: IpAddr,
    /// The MTU that it states; 0 of an IPv4 router that does not say.
    pub mtu: u32,
    /// Of which packet.
    pub about: TooBigPacket,
    /// Whether a socket of this host received it.
    pub is_received: bool,
    /// The index of the interface by which IP got it, or would have: of several that it passed the last.
    pub interface: u32,
}

impl TooBig {
    /// The name of that interface; `None` where it is gone.
    pub fn interface_name(&self) -> Option<String> {
        nix::net::if_::if_indextoname(self.interface).ok()?.into_string().ok()
    }
}

/// A packet that was too big.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBigPacket {
    /// The number of its protocol.
    pub protocol: u8,
    /// Its source port; of an echo its identifier.
    pub port: u16,
    /// Its bytes, as its header says.
    pub size: u32,
}

/// What drops a message that came to the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropper {
    /// A firewall of this host.
    Firewall,
    /// The kernel's check of the way back to the sender (`net.ipv4.conf.*.rp_filter`).
    ReversePathFilter,
}

#[derive(Debug)]
struct Noted {
    message: TooBig,
    /// Its ICMP body, by which it is known again.
    body: Vec<u8>,
}

/// More than a message holds (RFC 1812 §4.3.2.3, RFC 4443 §2.4).
const ROOM: usize = 2048;
/// More messages are not kept.
const MOST: usize = 1000;

impl TooBigWatch {
    /// Watches from now on for messages to `local` about its packets to `far`.
    ///
    /// # Errors
    /// This process has no `CAP_NET_RAW`.
    pub fn open(local: IpAddr, far: IpAddr) -> io::Result<Self> {
        let received = raw_socket(far)?;
        let heard = PacketSocket::new()?;
        let selection = Selection {
            hosts: vec![Prefix::host(local)],
            ports: Vec::new(),
            protocols: vec![Selected::Icmp],
        };
        let room = u32::try_from(ROOM).unwrap_or(u32::MAX);
        heard.attach(&compile(&selection, &LINKS, &[], room).map_err(io::Error::other)?)?;
        heard.bind(None)?;
        let mut watch = Self {
            heard,
            received,
            local,
            far,
            room: vec![0; ROOM],
            messages: Vec::new(),
            bodies: Vec::new(),
            reverse_path_drops: reverse_path_drops(),
        };
        // What came before the filter was there.
        watch.collect()?;
        watch.messages.clear();
        Ok(watch)
    }

    /// Reads what has come.
    ///
    /// # Errors
    /// An interface is gone.
    pub fn collect(&mut self) -> io::Result<()> {
        while let Some(frame) = self.heard.receive(&mut self.room)? {
            let Some(bytes) = self.room.get(..frame.len) else { continue };
            let Some(link) = link_header_len(frame.hardware) else { continue };
            let Some(packet) = bytes.get(link..) else { continue };
            let Some(mut noted) = noted(packet, self.local, self.far) else { continue };
            noted.message.interface = frame.interface;
            // A packet passes several interfaces, each below the next: port, bridge; member, bond.
            match self.messages.iter().position(|known| known.body == noted.body) {
                Some(at) => self.messages[at].message.interface = frame.interface,
                None if self.messages.len() < MOST => self.messages.push(noted),
                None => {}
            }
        }
        loop {
            let length = match (&self.received).read(&mut self.room) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = self.room.get(..length).unwrap_or_default();
            let header = if self.far.is_ipv4() {
                usize::from(bytes.first().copied().unwrap_or(0) & 0xf) * 4
            } else {
                0
            };
            if let Some(body) = bytes.get(header + ICMP_HEADER..)
                && self.bodies.len() < MOST
            {
                self.bodies.push(body.to_vec());
            }
        }
        for noted in &mut self.messages {
            noted.message.is_received |= self.bodies.contains(&noted.body);
        }
        Ok(())
    }

    /// The messages that came to the interface so far.
    pub fn messages(&self) -> impl Iterator<Item = TooBig> {
        self.messages.iter().map(|noted| noted.message)
    }

    /// What drops messages that came to the interface and to no socket, as many as `missed`.
    pub fn dropper(&self, missed: usize) -> Dropper {
        let since = self.reverse_path_drops.zip(reverse_path_drops());
        let dropped = since.map_or(0, |(before, now)| now.saturating_sub(before));
        if self.far.is_ipv4() && dropped >= missed as u64 && missed > 0 {
            Dropper::ReversePathFilter
        } else {
            Dropper::Firewall
        }
    }
}

/// Bytes of an ICMP error before the packet that it quotes.
const ICMP_HEADER: usize = 8;

/// A message about a packet from `local` to `far`; `None` of anything else, and of one that the kernel has other reasons to drop.
fn noted(packet: &[u8], local: IpAddr, far: IpAddr) -> Option<Noted> {
    let packet = Packet::decode(packet, packet.len()).ok()?;
    let (from, to) = packet.ends();
    let is_icmp = matches!(packet.protocol, protocol::ICMP | protocol::ICMPV6);
    let is_possible = !from.is_loopback() && !from.is_multicast() && !from.is_unspecified();
    if !is_icmp || to != local || from == local || packet.fragment.is_some() || !is_possible {
        return None;
    }
    let icmp = Icmp::decode(packet.payload, packet.payload_len, packet.ends()).ok()?;
    let Message::TooBig { mtu } = icmp.message else { return None };
    let quoted = icmp.quoted().ok()?;
    if icmp.checksum != Checksum::Good || quoted.packet.ends() != (local, far) {
        return None;
    }
    let port = match quoted.flow {
        Some(flow) => flow.source_port,
        // Type, code and checksum are before an echo's identifier.
        None => u16::from_be_bytes(*quoted.packet.payload.get(4..)?.first_chunk()?),
    };
    let protocol = quoted.packet.protocol;
    let size = match quoted.packet.header {
        Header::V4(header) => u32::from(header.total_length),
        Header::V6(header) => u32::from(header.payload_length) + 40,
    };
    let about = TooBigPacket { protocol, port, size };
    let message = TooBig { from, mtu, about, is_received: false, interface: 0 };
    Some(Noted { message, body: icmp.body.to_vec() })
}

/// A socket that receives messages "too big" behind the firewall, and nothing else.
fn raw_socket(far: IpAddr) -> io::Result<Socket> {
    let (domain, protocol, any): (_, _, IpAddr) = if far.is_ipv4() {
        (Domain::IPV4, Protocol::ICMPV4, Ipv4Addr::UNSPECIFIED.into())
    } else {
        (Domain::IPV6, Protocol::ICMPV6, Ipv6Addr::UNSPECIFIED.into())
    };
    let socket = Socket::new(domain, Type::RAW.nonblocking(), Some(protocol))?;
    socket.attach_filter(&filter(far))?;
    socket.bind(&std::net::SocketAddr::new(any, 0).into())?;
    Ok(socket)
}

/// Classic BPF (`linux/bpf_common.h`): keeps type 3, code 4 of ICMP, behind an IP header of any length; or type 2 of `ICMPv6`, with which
/// the packet begins.
fn filter(far: IpAddr) -> Vec<SockFilter> {
    const X_IS_HEADER: u16 = 0xb1;
    const LOAD_HALF_AT_X: u16 = 0x48;
    const LOAD_BYTE: u16 = 0x30;
    const IF_EQUAL: u16 = 0x15;
    const KEEP: u16 = 0x06;
    const ALL: u32 = 0xffff;
    let keep_or_not = [SockFilter::new(KEEP, 0, 0, ALL), SockFilter::new(KEEP, 0, 0, 0)];
    let begin = if far.is_ipv4() {
        vec![
            SockFilter::new(X_IS_HEADER, 0, 0, 0),
            SockFilter::new(LOAD_HALF_AT_X, 0, 0, 0),
            SockFilter::new(IF_EQUAL, 0, 1, 0x0304),
        ]
    } else {
        vec![SockFilter::new(LOAD_BYTE, 0, 0, 0), SockFilter::new(IF_EQUAL, 0, 1, 2)]
    };
    begin.into_iter().chain(keep_or_not).collect()
}

/// How many packets have come to this network namespace that no protocol of it has received and that it has not forwarded, since it is
/// there: what its firewall dropped of what came in, and a few things besides. Everybody may read it. `None` where the kernel does
/// not tell.
pub fn undelivered(is_v4: bool) -> Option<i64> {
    let [come, taken, passed] = if is_v4 {
        let counters = counters("snmp")?;
        ["InReceives", "InDelivers", "ForwDatagrams"].map(|name| counters.get("Ip", name))
    } else {
        let text = std::fs::read_to_string("/proc/thread-self/net/snmp6").ok()?;
        ["Ip6InReceives", "Ip6InDelivers", "Ip6OutForwDatagrams"].map(|wanted| {
            let mut lines = text.lines().map(str::split_whitespace);
            let mut line = lines.find(|line| line.clone().next() == Some(wanted))?;
            line.nth(1)?.parse::<i64>().ok()
        })
    };
    Some(come? - taken? - passed?)
}

/// Packets that the reverse path filter of this network namespace has dropped (`TcpExt: IPReversePathFilter`).
fn reverse_path_drops() -> Option<u64> {
    counters("netstat")?.get("TcpExt", "IPReversePathFilter")?.try_into().ok()
}
