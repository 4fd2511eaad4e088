//! What hops say of packets that are too big for them.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// "Fragmentation needed" (RFC 1191 §4) or "packet too big" (RFC 4443 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathMtuEvent {
    /// When it passed.
    pub at: Time,
    /// Which packet of the capture it is, counted from 1.
    pub frame: u64,
    /// The hop that says it.
    pub hop: IpAddr,
    /// What the next link takes, in bytes; 0 from an IPv4 router that does not say.
    pub mtu_bytes: u32,
    /// Whose packet it was, and whither it was to go, as far as that is quoted.
    pub quoted: Option<(SocketAddr, SocketAddr)>,
    /// Length of the packet that was refused, as its quoted header says.
    pub packet_bytes: u32,
    /// Which connection it was, where there is one with those ends.
    pub connection: Option<u32>,
}

impl PathMtuEvent {
    /// What the next link takes, where the hop says something that can be (RFC 791 §3.2: 68 at least).
    pub const fn told_mtu(&self) -> Option<u32> {
        if self.mtu_bytes >= 68 { Some(self.mtu_bytes) } else { None }
    }
}
