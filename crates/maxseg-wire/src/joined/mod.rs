//! Two captures of the same connections, one nearer to each end: what passed one and never the other was lost between
//! them.
//!
//! Both files are read twice, so that neither has to fit into memory.
//!
//! ```text
//! 1st reading: packets ─→ Census of each capture: connections (SYNs, ends), and a sample of packets that is the same
//!                            packets in both ("trajectory sampling")
//!              both     ─→ Pairing: which connections are the same, which capture is nearer to which end; Clock
//! 2nd reading: packets of both in the order of one clock ─→ Crossings ─→ two Ways a connection: on_sent, on_received
//!              a Way    ─→ Passage: lost, reordered, duplicated, delayed; missed by a capture
//!              Joined   ─→ Evidence of the capture nearer to the sender
//! ```
//!
//! In memory are 200 bytes for each connection, the packets on their way between the captures (about 150 bytes each, for
//! ten seconds at most and at most a million of each direction), and what follows a lost one until that is given up.

mod census;
mod changes;
mod clock;
mod connections;
mod coverage;
mod crossings;
mod delays;
mod pairing;
mod passing;
mod recent;
mod samples;
mod way;
mod windows;

use thiserror::Error;

pub(crate) use census::Census;
pub(crate) use crossings::{Crossings, Packet};

/// One of two captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture {
    /// The one that was given first.
    First,
    /// The one that was given second.
    Second,
}

impl Capture {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 or 1.
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// Why two captures cannot be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JoinError {
    /// No connection is in both.
    #[error("the captures share no connection")]
    NothingShared,
    /// All packets have the same times in both.
    #[error("one of the captures is a copy of the other: all packets have the same times in both")]
    SameCapture,
    /// The clocks' difference jumps.
    #[error(
        "a clock was set by more than a round trip while it captured: the captures have no common time"
    )]
    ClockWasSet,
}

impl JoinError {
    /// What to do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::NothingShared => {
                "capture the same transfer at both hosts at the same time, both directions at one of them at least; a proxy between them makes two \
                 connections of one"
            }
            Self::SameCapture => {
                "give the captures of two hosts, such as sender.pcap receiver.pcap"
            }
            Self::ClockWasSet => {
                "explain each capture alone, or capture while the clocks run on their own"
            }
        }
    }
}
