//! ICMP messages about packets that are too big.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::units::{Mtu, Time};

/// "Fragmentation needed" (RFC 1191 §4) or "packet too big" (RFC 4443 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathMtuEvent {
    /// When it was captured.
    pub at: Time,
    /// Which packet of the capture it is, counted from 1.
    pub frame: u64,
    /// The hop that sent it.
    pub hop: IpAddr,
    /// MTU of the next hop in bytes; 0 from an IPv4 router older than RFC 1191.
    pub mtu_bytes: u32,
    /// Source and destination of the refused packet, where the message quotes them.
    pub quoted: Option<(SocketAddr, SocketAddr)>,
    /// Length of the refused packet in bytes, from its quoted header.
    pub packet_bytes: u32,
    /// The connection of the refused packet, where it was captured.
    pub connection: Option<u32>,
}

impl PathMtuEvent {
    /// The reported MTU of the next hop, where it is a possible one: at least [`Mtu::MIN`].
    pub const fn next_hop_mtu(&self) -> Option<u32> {
        if self.mtu_bytes >= Mtu::MIN as u32 { Some(self.mtu_bytes) } else { None }
    }
}
