//! Sockets whose packets are not fragmented, and the queue of what routers say about them (`IP_RECVERR` in ip(7)).
#![expect(clippy::wildcard_enum_match_arm, reason = "of many control messages, few were asked for")]

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};

use super::send_as_probes;
use super::socket::set_option;

/// A socket that sends packets whole or not at all, whatever the kernel has learnt of the path (`IP_PMTUDISC_PROBE`).
#[derive(Debug)]
pub(crate) struct ProbeSocket {
    socket: Socket,
    is_v4: bool,
    /// Whether replies come with their IP header, as on a raw socket of IPv4.
    has_ip_header: bool,
    /// The TTL or hop limit that is set; `None` for the system's.
    hop: Option<u8>,
}

/// What became of a packet when it was to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendResult {
    /// It was.
    Sent,
    /// It exceeds the interface's MTU.
    TooBig,
    /// A firewall of this host refuses it (`EPERM` of a netfilter verdict).
    Refused,
    /// The interface dropped it (`ENOBUFS`): its queue is full, or its link takes less than the interface's MTU, as a veth whose peer has
    /// a smaller one. Sockets without `IP_RECVERR` are not told.
    Dropped,
}

/// An entry of the error queue.
#[derive(Debug, Clone)]
pub(crate) struct QueuedError {
    /// Whether a router or the destination sent it, by ICMP; else it is this host's own.
    pub(crate) is_icmp: bool,
    /// ICMP's type.
    pub(crate) kind: u8,
    /// ICMP's code.
    pub(crate) code: u8,
    /// The MTU that is stated, for a packet that is too big.
    pub(crate) info: u32,
    /// Who sent the message.
    pub(crate) from: Option<IpAddr>,
    /// The TTL or hop limit with which it arrived.
    pub(crate) ttl: Option<u8>,
    /// What is quoted of the packet, behind the IP header and, of UDP, its header.
    pub(crate) quoted: Vec<u8>,
}

/// Calls for one packet: the error of each may be that of an earlier one.
pub(crate) const TRIES: u32 = 4;
/// The largest packet.
const ROOM: usize = 1 << 16;

impl ProbeSocket {
    /// A UDP socket to an address.
    ///
    /// # Errors
    /// There is no route to it.
    pub(crate) fn udp(to: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
        Self::of(socket, to, false)
    }

    /// A socket for ICMP echoes: a raw one, or a ping socket (`net.ipv4.ping_group_range`).
    ///
    /// # Errors
    /// This process may have neither, or there is no route.
    pub(crate) fn echo(to: IpAddr) -> io::Result<Self> {
        let to = SocketAddr::new(to, 0);
        let protocol = if to.is_ipv4() { Protocol::ICMPV4 } else { Protocol::ICMPV6 };
        let domain = Domain::for_address(to);
        match Socket::new(domain, Type::RAW, Some(protocol)) {
            Ok(socket) => Self::of(socket, to, to.is_ipv4()),
            Err(_) => Self::of(Socket::new(domain, Type::DGRAM, Some(protocol))?, to, false),
        }
    }

    fn of(socket: Socket, to: SocketAddr, has_ip_header: bool) -> io::Result<Self> {
        let is_v4 = to.is_ipv4();
        send_as_probes(&socket, !is_v4)?;
        if is_v4 {
            setsockopt(&socket, sockopt::Ipv4RecvErr, &true)?;
            setsockopt(&socket, sockopt::Ipv4RecvTtl, &true)?;
        } else {
            set_option(&socket, libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG, 1)?;
            setsockopt(&socket, sockopt::Ipv6RecvErr, &true)?;
            setsockopt(&socket, sockopt::Ipv6RecvHopLimit, &true)?;
        }
        socket.set_nonblocking(true)?;
        socket.connect(&to.into())?;
        Ok(Self { socket, is_v4, has_ip_header, hop: None })
    }

    /// This end's address and port.
    pub(crate) fn local(&self) -> io::Result<SocketAddr> {
        let local = self.socket.local_addr()?.as_socket();
        local.ok_or_else(|| io::Error::other("the socket has no address"))
    }

    /// Sends what follows the UDP header, or the IP header of an echo. With `hop` it is to end there.
    ///
    /// # Errors
    /// There is no route.
    pub(crate) fn send(&mut self, bytes: &[u8], hop: Option<u8>) -> io::Result<SendResult> {
        if self.hop != hop {
            self.set_hop(hop)?;
        }
        match send_past_errors(|| self.socket.send(bytes)) {
            Ok(_) => Ok(SendResult::Sent),
            Err(error) => match error.raw_os_error() {
                Some(libc::EPERM) => Ok(SendResult::Refused),
                Some(libc::EMSGSIZE) => Ok(SendResult::TooBig),
                Some(libc::ENOBUFS) => Ok(SendResult::Dropped),
                _ => Err(error),
            },
        }
    }

    fn set_hop(&mut self, hop: Option<u8>) -> io::Result<()> {
        /// The route's, or the system's.
        const DEFAULT: u32 = u32::MAX;
        let value = hop.map_or(DEFAULT, u32::from);
        let (level, option) = if self.is_v4 {
            (libc::IPPROTO_IP, libc::IP_TTL)
        } else {
            (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS)
        };
        set_option(&self.socket, level, option, value)?;
        self.hop = hop;
        Ok(())
    }

    /// The next entry of the error queue, if there is one.
    ///
    /// # Errors
    /// The socket cannot be read.
    pub(crate) fn next_error(&self) -> io::Result<Option<QueuedError>> {
        let mut buffer = vec![0_u8; ROOM];
        let Some((length, controls)) = self.receive(&mut buffer, MsgFlags::MSG_ERRQUEUE)? else {
            return Ok(None);
        };
        buffer.truncate(length);
        let mut found = None;
        let mut ttl = None;
        for control in controls {
            match control {
                ControlMessageOwned::Ipv4RecvErr(error, from) => {
                    let from = from
                        .map(|from| IpAddr::V4(Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr))));
                    found = Some((error, from, libc::SO_EE_ORIGIN_ICMP));
                }
                ControlMessageOwned::Ipv6RecvErr(error, from) => {
                    let from = from.map(|from| IpAddr::V6(Ipv6Addr::from(from.sin6_addr.s6_addr)));
                    found = Some((error, from, libc::SO_EE_ORIGIN_ICMP6));
                }
                ControlMessageOwned::Ipv4Ttl(value) | ControlMessageOwned::Ipv6HopLimit(value) => {
                    ttl = u8::try_from(value).ok();
                }
                _ => {}
            }
        }
        let unspecified = |from: &IpAddr| !from.is_unspecified();
        Ok(found.map(|(error, from, icmp)| QueuedError {
            is_icmp: error.ee_origin == icmp,
            kind: error.ee_type,
            code: error.ee_code,
            info: error.ee_info,
            from: from.filter(unspecified),
            ttl,
            quoted: buffer,
        }))
    }

    /// The next packet that arrived, behind its IP header, with its TTL.
    ///
    /// # Errors
    /// The socket cannot be read.
    pub(crate) fn next_packet(&self) -> io::Result<Option<(Vec<u8>, Option<u8>)>> {
        let mut buffer = vec![0_u8; ROOM];
        loop {
            match self.receive(&mut buffer, MsgFlags::empty()) {
                Ok(None) => return Ok(None),
                Ok(Some((length, controls))) => {
                    buffer.truncate(length);
                    let ttl = controls.into_iter().find_map(|control| match control {
                        ControlMessageOwned::Ipv4Ttl(value)
                        | ControlMessageOwned::Ipv6HopLimit(value) => u8::try_from(value).ok(),
                        _ => None,
                    });
                    if self.has_ip_header {
                        let header = usize::from(buffer.first().copied().unwrap_or(0) & 0xf) * 4;
                        buffer.drain(..header.min(buffer.len()));
                    }
                    return Ok(Some((buffer, ttl)));
                }
                Err(error) if is_of_earlier(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn receive(
        &self,
        buffer: &mut [u8],
        flags: MsgFlags,
    ) -> io::Result<Option<(usize, Vec<ControlMessageOwned>)>> {
        let mut room = nix::cmsg_space!([u8; 256]);
        let mut parts = [IoSliceMut::new(buffer)];
        let flags = flags | MsgFlags::MSG_DONTWAIT;
        match recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut parts,
            Some(&mut room),
            flags,
        ) {
            Ok(message) => Ok(Some((message.bytes, message.cmsgs()?.collect()))),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Sends a packet by `send`, which is called again where an ICMP message about an earlier packet may have ended it: a message
/// ends one call, and the packet of that call was not sent.
///
/// # Errors
/// That of the last call.
pub(crate) fn send_past_errors(mut send: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    let mut result = send();
    for _ in 1..TRIES {
        if !result.as_ref().is_err_and(is_of_earlier) {
            break;
        }
        result = send();
    }
    result
}

/// What an ICMP message about an earlier packet makes of the next call (`icmp_err_convert` in `net/ipv4/icmp.c`).
fn is_of_earlier(error: &io::Error) -> bool {
    const OF_ICMP: [i32; 8] = [
        libc::ECONNREFUSED,
        libc::EHOSTUNREACH,
        libc::ENETUNREACH,
        libc::EMSGSIZE,
        libc::EPROTO,
        libc::ENOPROTOOPT,
        libc::EHOSTDOWN,
        libc::EACCES,
    ];
    error.raw_os_error().is_some_and(|number| OF_ICMP.contains(&number))
}

impl AsFd for ProbeSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
