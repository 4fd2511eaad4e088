//! Packets that are sent to see what becomes of them: what a path carries, how long it takes, and who says so.
//!
//! ```text
//! Prober ── round of Probes ──→ path ──→ Shots: answer, refusal, round trip
//! ```
//!
//! Nothing here judges: `maxseg_core::path_mtu` does.

mod prober;
mod route;
mod rtt;

pub use prober::{Answer, AnswerKind, ProbeKind, Prober, Round, Shot};
pub use route::{LearntMtu, RouteToHost, route_to_host};
pub use rtt::{SynTrip, syn_trips};
pub mod tcp;
