//! What is wrong with a capture, or was left out of its analysis.

use thiserror::Error;

use crate::DecodeError;
use crate::capture_file::{Fault, ReadError};

/// A problem of a capture, with how often it was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// Where in the file, in bytes from its beginning; after decompression in a compressed one.
    pub offset: Option<u64>,
    /// How often; at least once.
    pub count: u64,
}

/// What is wrong with a capture, or was left out. The text is a sentence without its count.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProblemKind {
    /// The file ends within a record.
    #[error("{0}")]
    Truncated(String),
    /// The input fails, or its compression is broken.
    #[error("{0}")]
    Unreadable(String),
    /// A record contradicts itself, and the next cannot be found.
    #[error("{0}")]
    Corrupt(String),
    /// Packets of a link type that is not known here.
    #[error("link type {number} is not known: its packets are left out (first: packet {frame})")]
    LinkType {
        /// The link type.
        number: u16,
        /// The first such packet, counted from 1.
        frame: u64,
    },
    /// Packets that end within the headers below TCP.
    #[error("a packet ends within the headers below TCP (first: packet {frame})")]
    CutHeader {
        /// The first such packet, counted from 1.
        frame: u64,
    },
    /// Packets with a header that contradicts itself.
    #[error("a packet is broken: {reason} (first: packet {frame})")]
    BrokenHeader {
        /// What is wrong with the first.
        reason: HeaderFault,
        /// The first such packet, counted from 1.
        frame: u64,
    },
    /// Packets that the capturing host dropped: no room in its buffer, or no time.
    #[error("packets were dropped by the capture itself at interface {interface}")]
    CaptureDrops {
        /// The interface's name or number.
        interface: String,
    },
    /// Packets of which some fragments are missing.
    #[error("packets came in fragments of which some are missing")]
    IncompleteFragments,
    /// Fragments that repeat or contradict earlier ones.
    #[error("fragments bring again or contradict what was there")]
    OverlappingFragments,
    /// Packets without a time.
    #[error("packets carry no time: that of the one before counts")]
    NoTime,
    /// Packets with an earlier time than one before them.
    #[error("packets are older than one before them")]
    TimeGoesBack,
    /// Packets of connections beyond [`FlowOptions::most_connections`](crate::flow::FlowOptions).
    #[error("packets are of connections beyond the {most_connections} that are followed")]
    UntrackedPackets {
        /// Connections that are followed.
        most_connections: usize,
    },
}

/// What is wrong with a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderFault {
    /// A field of it.
    #[error(transparent)]
    Field(#[from] DecodeError),
    /// More headers below IP than are followed.
    #[error("more than {0} headers lie below IP")]
    TooDeep(u32),
}

impl ProblemKind {
    /// Its code, for programs: a contract of `explain --json`.
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
            Self::NoTime => "no-time",
            Self::TimeGoesBack => "time-goes-back",
            Self::UntrackedPackets { .. } => "untracked-packets",
        }
    }

    /// Whether nothing after it could be read.
    pub const fn ends_reading(&self) -> bool {
        matches!(self, Self::Truncated(_) | Self::Unreadable(_) | Self::Corrupt(_))
    }

    /// What to do about it, where something can be done.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::LinkType { .. } => Some(
                "capture on an Ethernet, PPP or loopback interface, or on `any`: their link types are known",
            ),
            Self::Truncated(_)
            | Self::Unreadable(_)
            | Self::Corrupt(_)
            | Self::CutHeader { .. }
            | Self::BrokenHeader { .. }
            | Self::CaptureDrops { .. }
            | Self::IncompleteFragments
            | Self::OverlappingFragments
            | Self::NoTime
            | Self::TimeGoesBack
            | Self::UntrackedPackets { .. } => None,
        }
    }
}

impl Problem {
    /// The problem, where there is one: `None` for a count of 0.
    pub(super) fn counted(count: u64, kind: ProblemKind) -> Option<Self> {
        (count > 0).then_some(Self { kind, offset: None, count })
    }
}

impl From<&ReadError> for Problem {
    fn from(error: &ReadError) -> Self {
        let text = error.fault.to_string();
        let kind = match &error.fault {
            Fault::Cut { .. } => ProblemKind::Truncated(text),
            Fault::Io(_) => ProblemKind::Unreadable(text),
            Fault::TooLong(_) | Fault::Interfaces | Fault::Block(_) => ProblemKind::Corrupt(text),
        };
        Self { kind, offset: Some(error.offset), count: 1 }
    }
}
