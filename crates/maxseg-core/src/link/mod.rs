//! Links: a queue, a wire that takes time for every bit, a pipe of constant delay; and what else a link
//! may have.
//!
//! ```text
//!         too large? cut, or back      drop or mark        drop or mark (CoDel)
//! packet → [MTU] → [twice?] → [policer, RED] → [queue: limit] → (wire: rate, burst, errors, repeats)
//!        → [pipe: delay ± jitter, overtaking] → arrival or damage
//! ```
//!
//! Sans-IO: `now` is an argument, so the simulator (time jumps) and the lab (time passes) drive the
//! same code. Two forms give the same fate and the same times for every packet (property tests hold them
//! together), and both consist of the same parts (`wire`, `impairments`):
//!
//! - [`Hop`] *computes*: for a FIFO queue, a packet's departure, damage and arrival are known when it
//!   comes, so `admit` answers at once and holds no packet. Hops chain into a [`Route`].
//! - [`Staged`] *holds*: packets wait and leave as time passes. It is for what cannot be known ahead:
//!   `CoDel`, and packets that join in mid-path.
//!
//! A [`LinkChain`] is a direction of a path in either form, with the packets on their way; a reader of the
//! simulator or the lab need not know which.
//!
//! A packet's fate is decided by its place in the order on the wire, never by when somebody looks. At
//! one instant an arrival goes before a departure. A damaged packet has used its time on the wire and
//! vanishes at the far end. Each part draws from a random stream of its own, so that adding one
//! reshuffles no other.

mod arq;
mod arrival_queue;
mod codel;
mod counters;
mod fate;
mod handover;
mod hop;
mod impairments;
mod link_chain;
mod pieces;
mod policer;
mod queue;
mod red;
mod route;
mod sighting;
mod staged;
mod stages;
mod streams;
mod wire;

pub use arrival_queue::ArrivalQueue;
pub use counters::Counters;
pub use fate::Fate;
pub use hop::Hop;
pub use link_chain::{LinkChain, SendOutcome};
pub use pieces::{FragmentRange, HopSpan, Markable};
pub use route::Route;
pub use sighting::HopSighting;
pub use staged::{DecidedPacket, Offer, Staged};

#[cfg(test)]
mod tests;
