//! A link in three stages: a queue, a wire that takes time for every bit, a pipe of constant delay.
//!
//! ```text
//! packet → [queue: limit, tail drop] → (wire: rate, errors) → [pipe: delay] → arrival or damage
//! ```
//!
//! Sans-IO: `now` is an argument, so the simulator (time jumps) and the lab (time passes) drive the
//! same code. Two forms give the same fate and the same times for every packet (a property test
//! holds them together):
//!
//! - [`Hop`] *computes*: for a FIFO queue, a packet's departure, damage and arrival are known when it
//!   comes, so `admit` answers at once and holds no packet. Hops chain into a [`Route`].
//! - [`Staged`] *holds*: packets move from stage to stage as time passes. It is for what cannot be
//!   known ahead.
//!
//! A packet's fate is decided by its place in the order on the wire, never by when somebody looks. At
//! one instant an arrival goes before a departure. A damaged packet has used its time on the wire and
//! vanishes at the far end.

mod hop;
mod lane;
mod staged;
mod wire;

pub use hop::{Counters, Fate, Hop, Route};
pub use lane::Lane;
pub use staged::{Delivery, Offer, Staged};

#[cfg(test)]
mod tests;
