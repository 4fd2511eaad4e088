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
        })
    }
}

/// Why bytes mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// There are fewer bytes than what stands at their head takes.
    #[error("{layer}: {have} bytes are there where {need} are needed")]
    Short {
        /// Of which protocol.
        layer: Layer,
        /// How many bytes there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// A length field holds what cannot be: less than the header that it counts, or no multiple of
    /// what it must be a multiple of.
    #[error("{layer}: a length of {says} cannot be; the least is {least}")]
    Length {
        /// Of which protocol.
        layer: Layer,
        /// What the field says, in bytes.
        says: usize,
        /// The least that it could say.
        least: usize,
    },
    /// The first four bits are no version of IP.
    #[error("IP version {0} is neither 4 nor 6")]
    Version(u8),
    /// A capture file does not begin as one, or a section of it does not.
    #[error("{0:#010x} begins no pcapng section")]
    Magic(u32),
    /// A block's length stands at its head and at its foot, and they differ.
    #[error("pcapng: a block's length is {head} at its head and {foot} at its foot")]
    BlockLengths {
        /// In bytes.
        head: usize,
        /// In bytes.
        foot: usize,
    },
    /// A packet names an interface that its section does not describe.
    #[error("pcapng: a packet was captured on interface {0}, which is not described before it")]
    Interface(u32),
}

/// Why a value has no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{layer}: {length} bytes are more than the {limit} that there is room for")]
pub struct EncodeError {
    /// Of which protocol.
    pub layer: Layer,
    /// How long it would be.
    pub length: usize,
    /// How long it may be.
    pub limit: usize,
}

impl EncodeError {
    /// Refuses a length above the limit.
    pub(crate) fn check(layer: Layer, length: usize, limit: usize) -> Result<(), Self> {
        if length > limit { Err(Self { layer, length, limit }) } else { Ok(()) }
    }
}
