use std::fmt;

use thiserror::Error;

/// A protocol whose header is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Either version of the Internet Protocol.
    Ip,
    /// The Internet Control Message Protocol, of either version.
    Icmp,
    /// The User Datagram Protocol.
    Udp,
    /// The Transmission Control Protocol.
    Tcp,
    /// TCP's options.
    TcpOptions,
    /// A capture file.
    Pcapng,
    /// What the kernel says of a connection.
    TcpInfo,
    /// The kernel's list of sockets.
    InetDiag,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ip => "IP",
            Self::Icmp => "ICMP",
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::TcpOptions => "TCP options",
            Self::Pcapng => "pcapng",
            Self::TcpInfo => "tcp_info",
            Self::InetDiag => "inet_diag",
        })
    }
}

/// Why bytes cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Fewer bytes than the header or block takes.
    #[error("{layer}: {have} of {need} bytes are present")]
    Short {
        /// The protocol.
        layer: Layer,
        /// Bytes present.
        have: usize,
        /// Bytes needed.
        need: usize,
    },
    /// A length field below the size of its own header, or not a multiple of the required unit.
    #[error("{layer}: invalid length {says}; the minimum is {least}")]
    Length {
        /// The protocol.
        layer: Layer,
        /// The field's value, in bytes.
        says: usize,
        /// The least valid value, in bytes.
        least: usize,
    },
    /// The first four bits are neither 4 nor 6.
    #[error("IP version {0} is neither 4 nor 6")]
    Version(u8),
    /// A file or section of pcapng does not begin with a section header.
    #[error("{0:#010x} is not the beginning of a pcapng section")]
    Magic(u32),
    /// A section of a version that is not known.
    #[error("pcapng: a section has version {0}.{1}; only version 1 is supported")]
    SectionVersion(u16, u16),
    /// The two lengths of a block, leading and trailing, differ.
    #[error("pcapng: a block states the length {head} at its start and {foot} at its end")]
    BlockLengths {
        /// The leading length, in bytes.
        head: usize,
        /// The trailing length, in bytes.
        foot: usize,
    },
    /// A packet refers to an interface that its section has not described.
    #[error("pcapng: a packet refers to interface {0}, which is not described before it")]
    Interface(u32),
}

/// Why a value cannot be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{layer}: {length} bytes exceed the limit of {limit}")]
pub struct EncodeError {
    /// The protocol.
    pub layer: Layer,
    /// The encoded length, in bytes.
    pub length: usize,
    /// The largest length, in bytes.
    pub limit: usize,
}

impl EncodeError {
    /// Refuses a length above the limit.
    pub(crate) fn check(layer: Layer, length: usize, limit: usize) -> Result<(), Self> {
        if length > limit { Err(Self { layer, length, limit }) } else { Ok(()) }
    }
}
