//! Hosts on this host's links (`ip neigh`).
#![expect(clippy::wildcard_enum_match_arm, reason = "of many attributes and states, few matter")]

use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};

use super::{Netlink, of_one};

/// What the kernel knows of a host on a link (the states of `include/uapi/linux/neighbour.h`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Neighbour {
    /// It has answered address resolution, ARP or neighbour discovery, within the reachable time (RFC 4861 §6.3.2), with this link-layer
    /// address.
    Reachable(String),
    /// Whether it answers is not known yet: a packet to it has it asked, unless that is going on.
    Unconfirmed,
    /// It does not answer, or nobody asks it: an entry that was set by hand, a link without addresses.
    Unanswered,
}

impl Netlink {
    /// What is known of a host on an interface (`ip neigh get ADDRESS dev NAME`).
    ///
    /// # Errors
    /// rtnetlink does not answer.
    pub(crate) fn neighbour(&mut self, of: IpAddr, interface: u32) -> io::Result<Neighbour> {
        let mut message = NeighbourMessage::default();
        (message.header.family, _) = of_one(of);
        message.header.ifindex = interface;
        message.attributes.push(NeighbourAttribute::Destination(destination(of)));
        let answers = match self.answers(RouteNetlinkMessage::GetNeighbour(message), 0) {
            // There is no such entry.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                return Ok(Neighbour::Unanswered);
            }
            answers => answers?,
        };
        let entry = answers.iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewNeighbour(entry) => Some(known(entry)),
            _ => None,
        });
        Ok(entry.unwrap_or(Neighbour::Unanswered))
    }
}

fn destination(of: IpAddr) -> NeighbourAddress {
    match of {
        IpAddr::V4(of) => NeighbourAddress::Inet(of),
        IpAddr::V6(of) => NeighbourAddress::Inet6(of),
    }
}

fn known(entry: &NeighbourMessage) -> Neighbour {
    match entry.header.state {
        NeighbourState::Reachable => {
            address(entry).map_or(Neighbour::Unanswered, Neighbour::Reachable)
        }
        NeighbourState::Incomplete
        | NeighbourState::Stale
        | NeighbourState::Delay
        | NeighbourState::Probe => Neighbour::Unconfirmed,
        _ => Neighbour::Unanswered,
    }
}

fn address(entry: &NeighbourMessage) -> Option<String> {
    entry.attributes.iter().find_map(|attribute| match attribute {
        NeighbourAttribute::LinkLayerAddress(bytes) if !bytes.is_empty() => Some(in_hex(bytes)),
        _ => None,
    })
}

/// Tells what the kernel learns of hosts on this namespace's links (`ip monitor neigh`).
pub(crate) struct NeighbourEvents {
    socket: Socket,
    buffer: Vec<u8>,
}

impl NeighbourEvents {
    /// From now on.
    pub(crate) fn listen() -> io::Result<Self> {
        /// `RTNLGRP_NEIGH` of `linux/rtnetlink.h`.
        const GROUP: u32 = 3;
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.add_membership(GROUP)?;
        Ok(Self { socket, buffer: vec![0; 32 << 10] })
    }

    /// What was learnt of a host on an interface since: that it was reachable, where it was. `None` where there was no news of it.
    ///
    /// # Errors
    /// News was lost for lack of room (`ENOBUFS`), or netlink fails.
    pub(crate) fn learnt(&mut self, of: IpAddr, interface: u32) -> io::Result<Option<Neighbour>> {
        let mut learnt = None;
        loop {
            let length =
                match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
                    Ok(length) => length,
                    Err(Errno::EAGAIN) => return Ok(learnt),
                    Err(Errno::EINTR) => continue,
                    Err(error) => return Err(error.into()),
                };
            // The kernel tells of a neighbour in a message of its own (`__neigh_notify`).
            let Ok(message) = NetlinkMessage::deserialize(&self.buffer[..length]) else { continue };
            if let NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewNeighbour(entry)) =
                message.payload
                && is_of(&entry, of, interface)
                && !matches!(learnt, Some(Neighbour::Reachable(_)))
            {
                learnt = Some(known(&entry));
            }
        }
    }
}

fn is_of(entry: &NeighbourMessage, host: IpAddr, interface: u32) -> bool {
    entry.header.ifindex == interface
        && entry.attributes.contains(&NeighbourAttribute::Destination(destination(host)))
}

impl AsFd for NeighbourEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn in_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let colon = if text.is_empty() { "" } else { ":" };
        // To a string it does not fail.
        let _ = write!(text, "{colon}{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(state: NeighbourState) -> NeighbourMessage {
        let mut entry = NeighbourMessage::default();
        entry.header.state = state;
        entry.attributes.push(NeighbourAttribute::LinkLayerAddress(vec![2, 0, 0, 0, 0, 0xab]));
        entry
    }

    #[test]
    fn only_what_is_reachable_has_answered() {
        let known = |state| known(&entry(state));
        let address = "02:00:00:00:00:ab".to_owned();
        assert_eq!(known(NeighbourState::Reachable), Neighbour::Reachable(address));
        // That of a host which was switched off a minute ago is as old.
        for state in [NeighbourState::Stale, NeighbourState::Delay, NeighbourState::Probe] {
            assert_eq!(known(state), Neighbour::Unconfirmed, "{state:?}");
        }
        for state in [NeighbourState::Failed, NeighbourState::Permanent, NeighbourState::Noarp] {
            assert_eq!(known(state), Neighbour::Unanswered, "{state:?}");
        }
    }
}
