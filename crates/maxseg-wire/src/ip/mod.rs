//! IP packets of either version.

mod fragment;
mod length;
mod outline;
mod packet;
mod v4;
mod v6;

pub use fragment::Fragment;
pub use length::Length;
pub use outline::Outline;
pub use packet::{Header, Packet};
pub use v4::Ipv4;
pub use v6::{Ipv6, Ipv6Fragment};

/// Protocol numbers (IANA), as IPv4's `protocol` and IPv6's `next_header` hold them.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// IPv4 within IP (RFC 2003).
    pub const IPV4: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 within IP (RFC 4213).
    pub const IPV6: u8 = 41;
    /// Generic routing encapsulation (RFC 2784).
    pub const GRE: u8 = 47;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// MPLS within IP (RFC 4023).
    pub const MPLS: u8 = 137;
    /// For experiments (RFC 3692).
    pub const EXPERIMENT: u8 = 253;
}

#[cfg(test)]
mod tests;
