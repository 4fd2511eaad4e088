//! Segments of old bytes: with `CAP_NET_RAW`, on connections of our own.
//!
//! Each goes out in one packet with DF, whatever the kernel has learnt about the path, and has numbers of its own, which the far
//! end's D-SACK repeats. They lie before the connection's first byte: no application gets anything, and the port may be that of
//! any service. A router's message about such a packet changes nothing in the kernel, which expects no answer to old bytes
//! (`tcp_v4_err` in `net/ipv4/tcp_ipv4.c`); a forged one is shown up by the answer.

mod connection;
mod fates;
mod open;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use maxseg_core::path_mtu::ProbeFate;
use maxseg_wire::path_probe::{Heard, hear};

use crate::observe::capture::link_header_len;
use crate::sys::{PacketSocket, ReceivedFrame, wait_for};
use connection::Connection;
pub(super) use connection::is_rejection;
pub use connection::{Answer, Answered};
pub use fates::Contradiction;
pub use open::{RawError, RawOptions};

/// A packet to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawProbe {
    /// On which of the connections.
    pub flow: usize,
    /// Bytes of the IP packet.
    pub size: u32,
    /// Its TTL or hop limit, where it is to end at a router.
    pub hop: Option<u8>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RawFate {
    /// What was sent.
    pub probe: RawProbe,
    /// What became of it.
    pub fate: ProbeFate,
    /// Who answered: the destination, or a router.
    pub from: Option<IpAddr>,
    /// How long the answer took.
    pub rtt: Option<Duration>,
}

/// What has been sent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentTotal {
    /// Packets of probes; those of the connections themselves are not counted.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Connections to one port, from as many source ports, on which old bytes are sent.
#[derive(Debug)]
pub struct RawProber {
    socket: PacketSocket,
    room: Vec<u8>,
    local: IpAddr,
    far: SocketAddr,
    interface_mtu: u32,
    connections: Vec<Connection>,
    sent: SentTotal,
}

/// More than a message about a packet holds, and than any segment's headers.
const ROOM: usize = 2048;

impl RawProber {
    /// The connections: how many were opened, which may be fewer than asked for.
    pub fn flows(&self) -> usize {
        self.connections.len()
    }

    /// The source port of a connection.
    pub fn source_port(&self, flow: usize) -> Option<u16> {
        self.connections.get(flow).map(Connection::port)
    }

    /// The IPv6 flow label of a connection.
    pub fn flow_label(&self, flow: usize) -> Option<u32> {
        self.connections.get(flow).map(Connection::flow_label).filter(|_| self.far.is_ipv6())
    }

    /// The MSS that the far end offers, as its SYN-ACK arrived here; `None` of one that had no such option.
    pub fn offered_mss(&self) -> Option<u16> {
        self.connections.iter().find_map(Connection::offered_mss)
    }

    /// The MSS that this host's SYN offers, as it leaves.
    pub fn sent_mss(&self) -> Option<u16> {
        self.connections.iter().find_map(Connection::sent_mss)
    }

    /// Round trips of the handshakes whose SYN was sent once, one for each connection.
    pub fn handshakes(&self) -> Vec<Duration> {
        self.connections.iter().filter_map(Connection::handshake).collect()
    }

    /// The MTU of the interface that the connections go through: nothing larger can be sent.
    pub const fn interface_mtu(&self) -> u32 {
        self.interface_mtu
    }

    /// The least packet that can be a probe.
    pub fn least_size(&self) -> u32 {
        self.connections.iter().map(Connection::least_size).max().unwrap_or(0)
    }

    /// What was sent so far.
    pub const fn sent(&self) -> SentTotal {
        self.sent
    }

    /// The largest packet that has arrived on a connection, late answers included.
    pub fn largest_arrived(&self, flow: usize) -> Option<u32> {
        self.connections.get(flow)?.largest_arrived()
    }

    /// Whether the far end has closed or reset a connection: what is sent on it now shows nothing.
    pub fn is_over(&self, flow: usize) -> bool {
        self.connections.get(flow).is_none_or(Connection::is_over)
    }

    /// Reads whatever waits.
    fn read(&mut self) -> io::Result<()> {
        while let Some(frame) = self.socket.receive(&mut self.room)? {
            let Some(bytes) = self.room.get(..frame.len) else { continue };
            let Some(link) = link_header_len(frame.hardware) else { continue };
            let Some((header, packet)) = bytes.split_at_checked(link) else { continue };
            if let Some(heard) = hear(packet, self.local, self.far) {
                on_heard(&mut self.connections, &heard, (&frame, header));
            }
        }
        Ok(())
    }

    /// Waits until something can be read, or until `end`.
    fn wait_until(&self, end: Instant) -> io::Result<()> {
        let rest = end.saturating_duration_since(Instant::now());
        wait_for(&[self.socket.as_fd()], Some(rest))
    }
}

/// Gives what was heard to the connection that it is about.
fn on_heard(
    connections: &mut [Connection],
    heard: &Heard,
    (frame, header): (&ReceivedFrame, &[u8]),
) {
    let port = match heard {
        Heard::Ours(segment) => segment.tcp.source_port,
        Heard::Theirs(segment) => segment.tcp.destination_port,
        Heard::Router { quote, .. } => quote.port,
    };
    let Some(connection) = connections.iter_mut().find(|connection| connection.port() == port)
    else {
        return;
    };
    let at = frame.at;
    match heard {
        Heard::Ours(segment) => connection.on_ours(segment, frame, header),
        Heard::Theirs(segment) => connection.on_theirs(segment, at),
        Heard::Router { from, message, quote } => connection.on_router(*from, *message, *quote, at),
    }
}
