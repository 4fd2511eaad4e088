//! Why a running connection of Linux has its segment size and its window: every bound with its value, and the one that holds.
//!
//! [`mss`](crate::mss) derives a number from what goes into it. Here the number is known, and some of what went into it is not:
//! a running socket hides the peer's MSS option and `TCP_MAXSEG`. What cannot be told apart stays one bound.

mod chain;
mod mss;
#[cfg(test)]
mod tests;
mod window;

pub use chain::{Chain, Link, Source};
pub use mss::{MssFacts, MssWhy, why_mss};
pub use window::{WindowFacts, WindowOptions, is_held_by_route, lasting_clamp, why_window};
