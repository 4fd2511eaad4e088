//! Packets that are sent to see what becomes of them: what a path carries, how long it takes, and who says so.
//!
//! ```text
//! Prober ── round of Probes ──→ path ──→ Shots: answer, refusal, round trip
//! tcp::raw ── old bytes ──→ path ──→ D-SACKs        tcp::sized ── full segments ──→ path ──→ acknowledgements
//! TooBigWatch: messages that come to this host, and those that its sockets receive
//! learnt: what probes taught the kernel, logged before they are sent
//! ```
//!
//! Nothing here judges: `maxseg_core::path_mtu` does.

pub mod learnt;
mod prober;
mod route;
mod rtt;
pub mod tcp;
mod too_big;

pub use prober::{Answer, AnswerKind, ProbeKind, Prober, Round, RoundEnd, Shot};
pub use route::{NextHop, RouteToHost, TRACEROUTE_PORT, next_hop, route_to_host};
pub use rtt::{SynTrip, syn_trips};
pub use too_big::{Dropper, TooBig, TooBigPacket, TooBigWatch, undelivered};
