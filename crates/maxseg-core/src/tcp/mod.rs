//! TCP, sans-IO: a sender and a receiver that are told what arrives and asked what to send.
//!
//! ```text
//!        on_ack(now, segment)                        on_segment(now, segment)
//!        on_timeout(now)            segments →       on_timeout(now)
//! Sender poll_transmit(now) ─────────────────→ Receiver poll_transmit(now)
//!        next_timeout()             ← acks           next_timeout()
//! ```
//!
//! An [`Endpoint`] has one of each, for connections with data in both directions. After telling, poll until `None`. Which stack's behaviour is meant is data
//! ([`Settings`](crate::settings::Settings)); what a congestion window does is behind
//! [`cc::CongestionControl`]; what is resent, and when, is in [`Sender`].
//!
//! Sequence numbers are 64-bit and do not wrap: the SYN is number 0, payload begins at 1.

pub mod cc;
mod config;
mod endpoint;
pub mod linux;
mod ranges;
mod reader;
mod receiver;
pub mod rto;
mod segment;
mod sender;
mod stats;

pub use config::Config;
pub use endpoint::Endpoint;
pub use receiver::{Receiver, ReceiverStats};
pub use rto::Rto;
pub use segment::{OptionsPool, SackBlocks, Segment, SegmentOptions, Timestamps};
pub use sender::Sender;
pub use stats::{Limit, SenderStats};
