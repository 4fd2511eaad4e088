//! Problems of a capture: what could not be read, or was left out of the analysis.

use maxseg_core::units::{Time, approx};
use thiserror::Error;

use crate::DecodeError;
use crate::capture_file::{Fault, ReadError};
use crate::link_type::NETLINK;

/// A problem of a capture, with the number of its occurrences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The problem.
    pub kind: ProblemKind,
    /// Offset in the file in bytes, counted after decompression.
    pub offset: Option<u64>,
    /// Number of occurrences, at least 1.
    pub count: u64,
    /// The file that has it, where the capture is of several and it is of one.
    pub file: Option<String>,
}

/// A kind of problem. Its text is a sentence without the count.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProblemKind {
    /// The file ends within a record, or within what it was compressed to.
    #[error("{0}")]
    Truncated(String),
    /// Reading or decompression fails.
    #[error("{0}")]
    Unreadable(String),
    /// A record is malformed, so that the next cannot be found.
    #[error("{0}")]
    Corrupt(String),
    /// Packets of an unsupported link type.
    #[error(
        "link type {number} is not supported: its packets are left out (first: packet {frame})"
    )]
    LinkType {
        /// The link type.
        number: u16,
        /// The first such packet, counted from 1.
        frame: u64,
    },
    /// Packets that were cut within the headers of TCP or below: they are left out.
    #[error(
        "a packet was cut within its headers and is left out: `-s 256` keeps them, of tunnels as well (first: packet {frame})"
    )]
    CutHeader {
        /// The first such packet, counted from 1.
        frame: u64,
    },
    /// Packets with a malformed header.
    #[error("a packet is malformed: {reason} (first: packet {frame})")]
    BrokenHeader {
        /// The fault of the first such packet.
        reason: HeaderFault,
        /// The first such packet, counted from 1.
        frame: u64,
    },
    /// Packets dropped by the capturing host, for lack of buffer space or time.
    #[error("the capture dropped packets at interface {interface}")]
    CaptureDrops {
        /// The interface's name or number.
        interface: String,
    },
    /// Packets of which some fragments are missing.
    #[error("packets lack some of their fragments")]
    IncompleteFragments,
    /// Fragments that overlap earlier ones.
    #[error("fragments overlap earlier ones")]
    OverlappingFragments,
    /// Packets at the end of one file and at the begin of the next: both were captured at that time.
    #[error("packets are in two of the files, with the same time: each counts once")]
    InTwoFiles,
    /// Files of a ring between two of those that were given.
    #[error(
        "files are missing between {} and {}: at least {bytes} bytes of payload passed in those {} and are in neither (connections that show it: \
         {connections})",
        names[0], names[1], approx::time(lasts.as_secs_f64())
    )]
    MissingFiles {
        /// The file before them, and the file behind.
        names: [String; 2],
        /// From the last packet of the first to the first of the second.
        lasts: Time,
        /// Connections that show it.
        connections: u64,
        /// Payload that was acknowledged and is in neither, at least.
        bytes: u64,
    },
    /// Packets without a timestamp.
    #[error("packets have no timestamp: they take that of the packet before")]
    NoTime,
    /// Packets with an earlier timestamp than one before them.
    #[error("packets have an earlier timestamp than the packet before")]
    TimeGoesBack,
    /// Packets of connections beyond [`FlowOptions::most_connections`](crate::flow::FlowOptions).
    #[error("packets belong to connections beyond the limit of {most_connections}")]
    UntrackedPackets {
        /// Limit of connections.
        most_connections: usize,
    },
}

/// A fault of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderFault {
    /// A field cannot be decoded.
    #[error(transparent)]
    Field(#[from] DecodeError),
    /// More headers below IP than are decoded.
    #[error("it has more than {0} headers below IP")]
    TooDeep(u32),
}

impl ProblemKind {
    /// The code that `explain --json` uses; stable.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Truncated(_) => "truncated",
            Self::Unreadable(_) => "unreadable",
            Self::Corrupt(_) => "corrupt",
            Self::LinkType { .. } => "link-type",
            Self::CutHeader { .. } => "cut-header",
            Self::BrokenHeader { .. } => "broken-header",
            Self::CaptureDrops { .. } => "capture-drops",
            Self::IncompleteFragments => "incomplete-fragments",
            Self::OverlappingFragments => "overlapping-fragments",
            Self::InTwoFiles => "in-two-files",
            Self::MissingFiles { .. } => "missing-files",
            Self::NoTime => "no-time",
            Self::TimeGoesBack => "time-goes-back",
            Self::UntrackedPackets { .. } => "untracked-packets",
        }
    }

    /// Whether nothing after the problem could be read.
    pub const fn ends_reading(&self) -> bool {
        matches!(self, Self::Truncated(_) | Self::Unreadable(_) | Self::Corrupt(_))
    }

    /// What to do about the problem, where something helps.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::LinkType { number: NETLINK, .. } => Some(
                "these are no packets, but a kernel's messages: a recording of sockets is shown by `maxseg top --open FILE`",
            ),
            Self::LinkType { .. } => Some(
                "capture on an Ethernet, PPP or loopback interface, or on `any`: their link types are supported",
            ),
            Self::MissingFiles { .. } => Some(
                "give all files of the ring; what limited the connections between those two files is unknown",
            ),
            Self::Truncated(_)
            | Self::Unreadable(_)
            | Self::Corrupt(_)
            | Self::CutHeader { .. }
            | Self::BrokenHeader { .. }
            | Self::CaptureDrops { .. }
            | Self::IncompleteFragments
            | Self::OverlappingFragments
            | Self::InTwoFiles
            | Self::NoTime
            | Self::TimeGoesBack
            | Self::UntrackedPackets { .. } => None,
        }
    }
}

impl Problem {
    /// The problem; `None` for a count of 0.
    pub(super) fn counted(count: u64, kind: ProblemKind) -> Option<Self> {
        (count > 0).then_some(Self { kind, offset: None, count, file: None })
    }
}

impl From<&ReadError> for Problem {
    fn from(error: &ReadError) -> Self {
        let text = error.fault.to_string();
        let kind = match &error.fault {
            fault if fault.is_cut() => ProblemKind::Truncated(text),
            Fault::Io(_) => ProblemKind::Unreadable(text),
            Fault::Cut { .. } | Fault::TooLong(_) | Fault::Interfaces | Fault::Block(_) => {
                ProblemKind::Corrupt(text)
            }
        };
        Self { kind, offset: Some(error.offset), count: 1, file: None }
    }
}
