//! The kernel's list of TCP sockets (`sock_diag(7)`). No privilege is needed.

use std::io;
use std::os::fd::AsRawFd as _;

use maxseg_wire::DecodeError;
use maxseg_wire::inet_diag::{Family, Framed, Message, Messages, Request, Socket, StateSet};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, getsockopt, recv, setsockopt, sockopt};

/// Bytes that are read at once: the kernel fills up to 32 KiB (`NETLINK_DUMP` in `net/netlink/af_netlink.c`), and a
/// smaller buffer costs a call for each part of it.
const BUFFER: usize = 32 << 10;

/// A socket that asks for sockets, of the network namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct SockDiag {
    socket: netlink_sys::Socket,
    sequence: u32,
    buffer: Vec<u8>,
}

/// How a list was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListReading {
    /// The kernel says that the list changed while it was read: a socket may be missing from it. `inet_diag` says so of no list (`net/ipv4/inet_diag.c`
    /// sets no `cb->seq`): without the flag a list that took several messages may have changed as well.
    pub interrupted: bool,
    /// Sockets that could not be decoded.
    pub unreadable: u64,
}

impl SockDiag {
    /// For the calling thread's namespace.
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = netlink_sys::Socket::new(NETLINK_SOCK_DIAG)?;
        socket.bind_auto()?;
        // Else an error has the whole request behind it (`netlink_ack` in `net/netlink/af_netlink.c`), which may be longer than a list's messages.
        socket.set_cap_ack(true)?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; BUFFER] })
    }

    /// Asks for sockets and gives each to `on_socket`.
    ///
    /// # Errors
    /// The kernel has no list (`ENOENT`: the module `tcp_diag` is missing), or netlink fails.
    pub(crate) fn list(
        &mut self,
        request: &Request,
        mut on_socket: impl FnMut(&Socket<'_>),
    ) -> io::Result<ListReading> {
        self.list_payloads(request, |payload| {
            Socket::decode(payload).map(|socket| on_socket(&socket))
        })
    }

    /// The same, of each socket the payload of its message; `on_payload` says whether it can be decoded.
    ///
    /// # Errors
    /// As of [`Self::list`].
    pub(crate) fn list_payloads(
        &mut self,
        request: &Request,
        mut on_payload: impl FnMut(&[u8]) -> Result<(), DecodeError>,
    ) -> io::Result<ListReading> {
        let own_filter = request.filter.as_ref().filter(|filter| !filter.fits_request());
        let is_asked_for = |payload: &[u8]| {
            own_filter.is_none_or(|filter| match Socket::decode(payload) {
                Ok(socket) => filter.matches(socket.local, socket.remote),
                Err(_) => true,
            })
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.socket.send(&request.encode(self.sequence), 0)?;
        let mut reading = ListReading::default();
        loop {
            let length = self.receive()?;
            let mut messages = Messages::new(&self.buffer[..length]);
            while let Some(message) = messages.next_framed() {
                match message {
                    Ok(Framed::Socket(payload)) if !is_asked_for(payload) => {}
                    Ok(Framed::Socket(payload)) => {
                        reading.unreadable += u64::from(on_payload(payload).is_err());
                    }
                    Ok(Framed::Done { interrupted }) => {
                        reading.interrupted |= interrupted;
                        return Ok(reading);
                    }
                    Ok(Framed::Error(0) | Framed::Other) => {}
                    Ok(Framed::Error(number)) => {
                        return Err(io::Error::from_raw_os_error(number));
                    }
                    Err(_) => reading.unreadable += 1,
                }
            }
        }
    }

    /// Whether the kernel has such lists at all: asks for sockets in no state.
    ///
    /// # Errors
    /// As of [`Self::list`].
    pub(crate) fn probe(&mut self) -> io::Result<()> {
        let (family, states) = (Some(Family::Ipv4), StateSet::NONE);
        let request = Request { family, states, filter: None, type_of_service: false };
        self.list(&request, |_| {}).map(|_| ())
    }

    /// A buffer of messages; an error where they are longer than it, as what is lost may be the end of the list.
    fn receive(&mut self) -> io::Result<usize> {
        loop {
            match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_TRUNC) {
                Err(Errno::EINTR) => {}
                Ok(length) if length > self.buffer.len() => {
                    let text = format!("netlink gave {length} bytes at once, more than {BUFFER}");
                    return Err(io::Error::other(text));
                }
                done => return Ok(done?),
            }
        }
    }
}

/// Sockets as they are destroyed (`SKNLGRP_INET_TCP_DESTROY`): each with its last `tcp_info`, those too that lived between two
/// lists. No privilege is needed.
#[derive(Debug)]
pub(crate) struct DestroyEvents {
    socket: netlink_sys::Socket,
    buffer: Vec<u8>,
    room: usize,
}

/// The groups of `include/uapi/linux/sock_diag.h`: TCP over IPv4 and over IPv6.
const GROUPS: [u32; 2] = [1, 3];
/// What events need that come in a burst: 4,000 of them fill half of it.
const ROOM: usize = 4 << 20;

impl DestroyEvents {
    /// In the calling thread's namespace. The buffer is as large as this user may have it.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut socket = netlink_sys::Socket::new(NETLINK_SOCK_DIAG)?;
        if setsockopt(&socket, sockopt::RcvBufForce, &ROOM).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &ROOM)?;
        }
        // The kernel doubles what is asked for, and gives the doubled number back.
        let room = getsockopt(&socket, sockopt::RcvBuf)? / 2;
        socket.bind_auto()?;
        for group in GROUPS {
            socket.add_membership(group)?;
        }
        Ok(Self { socket, buffer: vec![0; BUFFER], room })
    }

    /// Bytes of events that may wait, and how many it should be.
    pub(crate) const fn room(&self) -> (usize, usize) {
        (self.room, ROOM)
    }

    /// Gives each socket that was destroyed since to `on_socket`. How often events were lost for lack of room: how many they
    /// were the kernel does not tell.
    ///
    /// # Errors
    /// Netlink fails.
    pub(crate) fn drain(&mut self, mut on_socket: impl FnMut(&Socket<'_>)) -> io::Result<u64> {
        let mut losses = 0;
        loop {
            match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
                Ok(length) => {
                    for message in Messages::new(&self.buffer[..length]).flatten() {
                        if let Message::Socket(socket) = message {
                            on_socket(&socket);
                        }
                    }
                }
                Err(Errno::EAGAIN) => return Ok(losses),
                Err(Errno::ENOBUFS) => losses += 1,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
