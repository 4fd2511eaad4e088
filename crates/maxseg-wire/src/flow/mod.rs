//! From packets to evidence: the connections of a capture, and what each shows of itself.

mod decode;
mod fragments;
mod seen;
pub mod tshark;

pub use decode::{Decoded, Decoder, Part, QuotedSegment, Skimmed, TooBig};
pub use fragments::FragmentCounts;
pub use seen::Seen;
