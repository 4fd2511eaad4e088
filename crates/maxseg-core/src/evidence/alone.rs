//! What one direction alone shows of a path, where the other end's packets were not captured.

use crate::units::Time;

/// The course of a transfer, from its data or its acknowledgements alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alone {
    /// From the SYN of the end that was captured to its next segment: a round trip at least, with nothing in flight.
    pub trip: Time,
    /// Payload that passed, or was acknowledged, over the whole time, in bits per second.
    pub rate_bps: f64,
    /// The rate of the fastest of the first flights that ended with a pause, while the window was small and the path empty
    /// between them, likewise.
    pub flight_bps: Option<f64>,
    /// The fastest that a few packets followed each other in that time, likewise.
    pub fastest_bps: f64,
    /// The time in which losses were repaired.
    pub repairing: Time,
    /// The first repair of each recovery that no silence preceded.
    pub repairs: Vec<Repair>,
}

/// How long a loss took to be repaired: a round trip, with what waited in queues then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Repair {
    /// From when the segment was first sent, or found to be missing, to when it was sent again, or arrived.
    pub after: Time,
    /// Payload that passed or arrived meanwhile, in bytes.
    pub bytes: u64,
}
