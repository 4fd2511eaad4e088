//! From packets to evidence: the connections of a capture, and what each shows of itself.

mod seen;
pub mod tshark;

pub use seen::Seen;
