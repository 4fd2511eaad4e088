//! One socket: `struct inet_diag_msg` and its attributes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use super::framing::aligned;
use super::selection::Family;
use crate::numbers::Numbers;
use crate::tcp_info::{State, TcpInfo};
use crate::{DecodeError, Layer};

/// Bytes of `struct inet_diag_msg`.
pub(super) const LEN: usize = 72;
/// Bytes of `struct nlattr`, and its bits that are no type (`NLA_F_NESTED`, `NLA_F_NET_BYTEORDER`).
const ATTRIBUTE: usize = 4;
const TYPE: u16 = 0x3fff;

/// A TCP socket, as the kernel lists it. Names borrow the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Socket<'a> {
    /// The socket's family; a connection over IPv4 may belong to a socket of IPv6.
    pub family: Family,
    /// The connection's state; `None` for a number that is none.
    pub state: Option<State>,
    /// The timer that runs.
    pub timer: Option<Timer>,
    /// This end.
    pub local: SocketAddr,
    /// The peer's end; unspecified, with port 0, of a listening socket.
    pub remote: SocketAddr,
    /// The interface that the socket is bound to; 0 for none.
    pub interface: u32,
    /// The number that the kernel gives this socket alone, as long as it runs.
    pub cookie: u64,
    /// Bytes that arrived in order and were not read; of a listening socket the connections that wait to be accepted.
    pub receive_queue: u32,
    /// Bytes that were written and not acknowledged; of a listening socket the most connections that may wait.
    pub send_queue: u32,
    /// The user that opened it.
    pub uid: u32,
    /// Its inode, by which `/proc/PID/fd` names it; 0 where no process has it open.
    pub inode: u32,
    /// The state of its TCP.
    pub info: Option<TcpInfo>,
    /// The congestion control's name; `None` where the kernel gave none, or one that is no text.
    pub congestion: Option<&'a str>,
    /// Its memory.
    pub memory: Option<Memory>,
    /// The model of BBR.
    pub bbr: Option<Bbr>,
    /// The round trips of Vegas, and of what gives the same numbers (Illinois, Westwood, Veno).
    pub vegas: Option<Vegas>,
    /// Directions that are shut down: 1 receiving, 2 sending.
    pub shutdown: Option<u8>,
    /// The IPv4 type of service.
    pub tos: Option<u8>,
    /// The IPv6 traffic class.
    pub traffic_class: Option<u8>,
    /// Whether a listening socket of IPv6 refuses IPv4.
    pub v6_only: Option<bool>,
    /// `SO_MARK`; only for whoever has `CAP_NET_ADMIN`.
    pub mark: Option<u32>,
    /// The class of a classful queue discipline, else `SO_PRIORITY`.
    pub class_id: Option<u32>,
    /// The cgroup (version 2).
    pub cgroup: Option<u64>,
    /// The upper-layer protocol, `tls` or `mptcp`; only for whoever has `CAP_NET_ADMIN`.
    pub upper_layer: Option<&'a str>,
    /// The protocol (`INET_DIAG_PROTOCOL`): 262 is MPTCP.
    pub protocol: Option<u8>,
    /// The payload of the message itself: what a recording keeps.
    pub payload: &'a [u8],
}

/// A socket's timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// What runs out.
    pub kind: TimerKind,
    /// How often it has run out since the last acknowledgement.
    pub expiries: u8,
    /// Until it runs out.
    pub expires_in: Duration,
}

/// What a timer is for (`idiag_timer`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerKind {
    /// Retransmission, loss probe or RACK's reordering timer.
    Retransmission,
    /// Keep-alive, or the SYN-ACK of a connection that is half open.
    KeepAlive,
    /// The time that a closed connection is kept.
    TimeWait,
    /// The probe of a closed window.
    WindowProbe,
    /// A number that is not known.
    Other(u8),
}

/// A socket's memory, bytes (`INET_DIAG_SKMEMINFO`), the kernel's own accounting: with the headers and the slack of its
/// buffers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Received and not read.
    pub receive_alloc: u32,
    /// Most that may be received (`SO_RCVBUF`, doubled).
    pub receive_buffer: u32,
    /// Handed to the link and not freed.
    pub send_alloc: u32,
    /// Most that may wait to be sent (`SO_SNDBUF`, doubled).
    pub send_buffer: u32,
    /// Taken from the common store ahead.
    pub forward_alloc: u32,
    /// Written by the application and not acknowledged.
    pub send_queued: u32,
    /// For options.
    pub options: u32,
    /// Packets that arrived while the socket was in use.
    pub backlog: u32,
    /// Packets that were dropped for lack of room.
    pub drops: u32,
}

/// The model of BBR (`struct tcp_bbr_info`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bbr {
    /// The bottleneck's bandwidth, bytes a second.
    pub bandwidth: u64,
    /// The least round-trip time of late.
    pub min_rtt: Duration,
    /// By how much faster than the bandwidth it sends.
    pub pacing_gain: f64,
    /// How many times the path's product the window may hold.
    pub cwnd_gain: f64,
}

/// The round trips of Vegas (`struct tcpvegas_info`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vegas {
    /// Whether it acts at present.
    pub enabled: bool,
    /// Samples within this round trip.
    pub rtt_count: u32,
    /// The last round-trip time.
    pub rtt: Duration,
    /// The least one.
    pub min_rtt: Duration,
}

impl<'a> Socket<'a> {
    /// The socket of a message's payload.
    ///
    /// # Errors
    /// The payload is shorter than `struct inet_diag_msg`.
    #[inline]
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let short = DecodeError::Short { layer: Layer::InetDiag, have: payload.len(), need: LEN };
        let mut socket = Numbers(payload).socket().ok_or(short)?;
        socket.payload = payload;
        let mut attributes = payload.get(LEN..).unwrap_or_default();
        while let Some((kind, value, rest)) = attribute(attributes) {
            socket.take(kind, value);
            attributes = rest;
        }
        Ok(socket)
    }

    /// An attribute (`INET_DIAG_*`); one of another length than it should have is passed over.
    #[inline]
    fn take(&mut self, kind: u16, value: &'a [u8]) {
        match kind {
            2 => self.info = TcpInfo::decode(value).ok(),
            3 => self.vegas = Numbers(value).vegas(),
            4 => self.congestion = name(value),
            5 => self.tos = value.first().copied(),
            6 => self.traffic_class = value.first().copied(),
            7 => self.memory = Numbers(value).memory(),
            8 => self.shutdown = value.first().copied(),
            10 => self.protocol = value.first().copied(),
            11 => self.v6_only = value.first().map(|only| *only != 0),
            15 => self.mark = Numbers(value).u32(),
            16 => self.bbr = Numbers(value).bbr(),
            17 => self.class_id = Numbers(value).u32(),
            19 => self.upper_layer = upper_layer(value),
            21 => self.cgroup = Numbers(value).u64(),
            _ => {}
        }
    }
}

/// The first attribute: its type, its value, and what follows.
pub(super) fn attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let [low, high, kind_low, kind_high] = *bytes.first_chunk::<ATTRIBUTE>()?;
    let length = usize::from(u16::from_ne_bytes([low, high]));
    let value = bytes.get(ATTRIBUTE..length)?;
    let rest = bytes.get(aligned(length)..).unwrap_or_default();
    Some((u16::from_ne_bytes([kind_low, kind_high]) & TYPE, value, rest))
}

/// Text up to its terminating zero.
fn name(value: &[u8]) -> Option<&str> {
    let text = value.split(|byte| *byte == 0).next()?;
    std::str::from_utf8(text).ok().filter(|text| !text.is_empty())
}

/// The name within `INET_DIAG_ULP_INFO` (`INET_ULP_INFO_NAME`).
fn upper_layer(mut nested: &[u8]) -> Option<&str> {
    while let Some((kind, value, rest)) = attribute(nested) {
        if kind == 1 {
            return name(value);
        }
        nested = rest;
    }
    None
}

/// Fields of these structures alone.
impl Numbers<'_> {
    fn port(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    /// An address takes 16 bytes in both families.
    fn address(&mut self, family: Family) -> Option<IpAddr> {
        let bytes = self.take::<16>()?;
        let [a, b, c, d, ..] = bytes;
        Some(match family {
            Family::Ipv4 => Ipv4Addr::new(a, b, c, d).into(),
            Family::Ipv6 => Ipv6Addr::from(bytes).into(),
        })
    }

    /// 24.8 bits.
    fn gain(&mut self) -> Option<f64> {
        self.u32().map(|gain| f64::from(gain) / 256.0)
    }

    fn socket<'a>(&mut self) -> Option<Socket<'a>> {
        let family = if self.u8()? == Family::Ipv6 as u8 { Family::Ipv6 } else { Family::Ipv4 };
        let state = self.u8()?;
        let (timer, expiries) = (self.u8()?, self.u8()?);
        let (local_port, remote_port) = (self.port()?, self.port()?);
        let (local, remote) = (self.address(family)?, self.address(family)?);
        let (interface, cookie) = (self.u32()?, self.u32()?);
        let cookie = u64::from(cookie) | u64::from(self.u32()?) << 32;
        let expires_in = self.millis()?;
        Some(Socket {
            family,
            state: State::from_number(state),
            timer: TimerKind::from_number(timer).map(|kind| Timer { kind, expiries, expires_in }),
            local: SocketAddr::new(local, local_port),
            remote: SocketAddr::new(remote, remote_port),
            interface,
            cookie,
            receive_queue: self.u32()?,
            send_queue: self.u32()?,
            uid: self.u32()?,
            inode: self.u32()?,
            info: None,
            congestion: None,
            memory: None,
            bbr: None,
            vegas: None,
            shutdown: None,
            tos: None,
            traffic_class: None,
            v6_only: None,
            mark: None,
            class_id: None,
            cgroup: None,
            upper_layer: None,
            protocol: None,
            payload: &[],
        })
    }

    fn memory(&mut self) -> Option<Memory> {
        Some(Memory {
            receive_alloc: self.u32()?,
            receive_buffer: self.u32()?,
            send_alloc: self.u32()?,
            send_buffer: self.u32()?,
            forward_alloc: self.u32()?,
            send_queued: self.u32()?,
            options: self.u32()?,
            // Linux before 4.7 has no drops, before 3.14 no backlog.
            backlog: self.u32().unwrap_or_default(),
            drops: self.u32().unwrap_or_default(),
        })
    }

    fn bbr(&mut self) -> Option<Bbr> {
        let (low, high) = (self.u32()?, self.u32()?);
        Some(Bbr {
            bandwidth: u64::from(low) | u64::from(high) << 32,
            min_rtt: self.micros()?,
            pacing_gain: self.gain()?,
            cwnd_gain: self.gain()?,
        })
    }

    fn vegas(&mut self) -> Option<Vegas> {
        Some(Vegas {
            enabled: self.u32()? != 0,
            rtt_count: self.u32()?,
            rtt: self.micros()?,
            min_rtt: self.micros()?,
        })
    }
}

impl TimerKind {
    const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => None,
            1 => Some(Self::Retransmission),
            2 => Some(Self::KeepAlive),
            3 => Some(Self::TimeWait),
            4 => Some(Self::WindowProbe),
            other => Some(Self::Other(other)),
        }
    }
}
