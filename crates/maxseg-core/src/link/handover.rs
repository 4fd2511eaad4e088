//! A link that changes while it carries packets: what it leaves to the link that it becomes.
//!
//! Whatever waits or is on its way keeps the times that it was promised; packets that come later find the new link behind
//! it, with the wire as busy and the waiting room as full as they are.

use super::codel::Codel;
use super::counters::Counters;
use super::impairments::Impairments;
use super::queue::PendingDeparture;
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
