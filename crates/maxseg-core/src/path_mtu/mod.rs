//! The path MTU, found by probes (packetization layer path MTU discovery: RFC 4821, RFC 8899).
//!
//! ```text
//! prober ──ProbeFate──→ Search ──sizes──→ prober          sizes: the largest packet that arrives
//!        ──answers────→ Reach  ──hops───→ prober          hops: how far a packet of one size comes
//! ```
//!
//! Nothing here sends, or knows the time. A size is too large only where a router says so and nothing contradicts it, or where it
//! is silent so often, between smaller packets that arrive, that losses do not explain it ([`MOST_ERROR`]).

mod probe;
mod reach;
mod search;
mod threshold;
mod well_known;

pub use probe::{Probe, ProbeFate, Refusal};
pub use reach::Reach;
pub use search::{Confidence, Search, Settled};
pub use threshold::{
    ALIKE_AT_LAST, LARGE_AMONG_SMALL, LossEstimate, MOST_ERROR, SILENT_ROUNDS, SURE_SILENCES,
    pure_chance,
};
pub use well_known::well_known_mtu;

#[cfg(test)]
mod tests;
