//! Segments that find what a path carries, on a TCP connection of our own, and what is heard of them.
//!
//! A TCP answers a segment that lies wholly before its window with an acknowledgement at once, and takes nothing from it (RFC 9293
//! §3.10.7.4). With SACK the answer names the bytes that came again (RFC 2883 §4, the D-SACK): it proves that this very packet
//! has arrived.

mod heard;
mod segment;
#[cfg(test)]
mod tests;

pub use heard::{Heard, HeardSegment, Quote, RouterMessage, hear};
pub use segment::{OldSegment, header_len};
