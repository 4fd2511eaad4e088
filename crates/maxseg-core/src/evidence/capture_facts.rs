//! What the capture itself shows of a connection: points, order, clock, length.

use super::Translated;
use crate::units::Time;

/// How a connection was captured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which holds or not")]
pub struct CaptureFacts {
    /// Points of capture, beyond the one that counts, at which packets were seen again.
    pub repeating_points: u64,
    /// Whether each direction was captured at an interface of its own.
    pub is_split: bool,
    /// Whether its packets were captured at two places with a path between.
    pub is_merged: bool,
    /// Packets that were stored behind later ones.
    pub late_packets: u64,
    /// Whether connections of these addresses and ports are in the source with the later one first.
    pub later_first: bool,
    /// Acknowledgements that were captured before the data that they acknowledge.
    pub acks_before_data: u64,
    /// How often the clock was set while the connection was captured.
    pub clock_steps: u64,
    /// What all its times are multiples of, where that is 1 ms or more.
    pub clock_resolution: Option<Time>,
    /// The interface that its packets were captured at, where the source has packets of several; `None` where they are of more than one.
    pub interface: Option<FileInterface>,
    /// Its first and last packet, where another connection of the source has the same addresses and ports.
    pub frames: Option<(u64, u64)>,
    /// Whether a SYN was captured without all of its options.
    pub cut_syn: bool,
    /// Sequence numbers of the first byte of the client and of the server that passed, or would have; `None` where an end has none.
    pub numbers: Option<(u32, u32)>,
    /// The connection of the source that has the same packets with translated addresses.
    pub translated: Option<Translated>,
}

/// An interface of a capture file, as Wireshark numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInterface {
    /// The section of the file, counted from 1; `None` where the file has one.
    pub section: Option<u32>,
    /// Its number in the section, from 0.
    pub number: u32,
}
