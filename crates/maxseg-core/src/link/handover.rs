//! A link that changes while it carries packets: what it leaves to the link that it becomes.
//!
//! Whatever waits or is on its way keeps the times that it was promised; whoever comes later finds the new link behind
//! it, with the wire as busy and the waiting room as full as they are.

use super::Counters;
use super::codel::Codel;
use super::impairments::Impairments;
use super::wire::Wire;
use crate::units::Time;

/// What a link leaves behind.
#[derive(Debug)]
pub(super) struct Handover {
    pub(super) wire: Wire,
    /// Of a link that needed it.
    pub(super) impairments: Option<Impairments>,
    pub(super) codel: Option<Codel>,
    /// Packets that have not left, in the order in which they will; the first of them is on the wire.
    pub(super) promised: Vec<PendingDeparture>,
    /// When the last bit of the last packet leaves, or left.
    pub(super) free_at: Time,
    pub(super) horizon: Time,
    pub(super) counters: Counters,
}

/// A packet that will leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingDeparture {
    /// When its last bit does.
    pub(super) departs: Time,
    /// Its bytes on the wire.
    pub(super) bytes: u64,
}

/// Where the random numbers of a link begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams<'a> {
    pub(super) seed: u64,
    pub(super) name: &'a str,
}
