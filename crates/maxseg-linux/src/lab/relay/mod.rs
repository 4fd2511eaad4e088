//! The relay: carries what one interface sends to another through a link of the core, in real time.
//!
//! ```text
//! kernel → TUN → super-packet → its packets, one by one → LinkChain (queue, wire, errors, delay)
//!                                                          └→ when due: joined again → TUN → kernel
//! ```
//! One thread for each direction of each hop. Segmentation offload stays on, so that the kernel hands over
//! up to 64 KiB at once, but every packet passes queue, wire and errors alone. Packets
//! carry the time at which they are due; one that leaves late delays none after it.

mod buffer;
mod header_limiter;
mod lateness;
mod layout;
mod link_relay;
mod meter;
mod spacing;
mod split;
mod tap;
mod wakeup;
mod wire_packet;

pub(crate) use header_limiter::HeaderLimits;
pub(crate) use lateness::LatenessMeter;
pub(crate) use link_relay::{Command, RelayConfig, Report};
pub(crate) use meter::FlowMeter;

#[cfg(test)]
mod tests;
