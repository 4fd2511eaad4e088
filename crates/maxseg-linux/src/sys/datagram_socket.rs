//! Datagrams of UDP with the kernel's time of their arrival.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;

/// A datagram that arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived {
    /// Bytes of its payload.
    pub(crate) length: usize,
    /// Who sent it.
    pub(crate) from: SocketAddr,
    /// When the kernel had it (`SO_TIMESTAMPNS`), since 1970.
    pub(crate) at: Duration,
    /// Datagrams that the socket has dropped so far for want of room (`SO_RXQ_OVFL`); zero while there are none.
    pub(crate) dropped: u32,
}

/// Has the kernel note when each datagram arrives, and keep as many as it grants: a program reads some later.
///
/// # Errors
/// The kernel does not have these options.
pub(crate) fn note_arrivals(socket: &UdpSocket) -> io::Result<()> {
    /// More than `net.core.rmem_max` is not granted.
    const ROOM: usize = 8 << 20;
    setsockopt(socket, sockopt::RcvBuf, &ROOM)?;
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    Ok(setsockopt(socket, sockopt::RxqOvfl, &1)?)
}

/// The next datagram.
///
/// # Errors
/// None waits (`WouldBlock`), or an ICMP message about an earlier one that was sent.
pub(crate) fn receive_noted(socket: &UdpSocket, room: &mut [u8]) -> io::Result<Arrived> {
    let mut control = cmsg_space!(TimeSpec, u32);
    let mut room = [IoSliceMut::new(room)];
    let (file, flags) = (socket.as_raw_fd(), MsgFlags::empty());
    let message = recvmsg::<SockaddrStorage>(file, &mut room, Some(&mut control), flags)?;
    let (mut at, mut dropped) = (Duration::ZERO, 0);
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmTimestampns(time) = control {
            at = Duration::from(time);
        }
        if let ControlMessageOwned::RxqOvfl(count) = control {
            dropped = count;
        }
    }
    let from = message.address.as_ref().and_then(address_of);
    let from = from.ok_or_else(|| io::Error::other("a datagram without its address"))?;
    Ok(Arrived { length: message.bytes, from, at, dropped })
}

fn address_of(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddrV4::from(*address).into());
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddrV6::from(*address).into()))
}
