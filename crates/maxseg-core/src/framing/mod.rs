//! What a packet costs: payload → segment → packet → tunnel → bytes and bits on the wire. Every header
//! is counted once, here, for every engine and decoder.
//!
//! ```text
//! payload ─Headers→ IpPacket ─Tunnel→ IpPacket ─Framing→ bytes ─bits_per_byte→ bits
//! ```

mod fragments;
mod headers;
mod link_layer;
mod packet;
mod plateaus;
mod tunnel;

pub use fragments::{Fragment, fragments};
pub use headers::{
    Headers, ICMP_ECHO_HEADER, IpVersion, TCP_HEADER, TCP_SACK_BLOCK, TCP_TIMESTAMPS, UDP_HEADER,
    ip_header, largest_quote,
};
pub use link_layer::{Framing, ethernet_frame};
pub use packet::IpPacket;
pub use plateaus::{PLATEAUS, next_plateau};
pub use tunnel::{EspCipher, GreFields, Tunnel, TunnelKind};

#[cfg(test)]
mod tests;
