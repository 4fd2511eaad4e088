//! From packets to evidence: the connections of a capture, and what each shows of itself.
//!
//! ```text
//! Seen → Flows: Store of Connections ─→ two Halves ─→ Stream of payload ─→ Evidence
//!                                        (options,     (sent, gaps, resends,
//!                                         windows)      sender, capacity)
//! ```

mod black_hole;
mod capacity;
mod connection;
mod covered;
mod decode;
mod fragments;
mod gaps;
mod half;
mod key;
mod options;
mod pair;
mod passing;
mod recent;
mod resent;
mod round_trips;
mod seen;
mod sender;
mod sent;
mod sequence;
mod sizes;
mod store;
mod stream;
mod table;
mod vantage;

pub use decode::{Decoded, Decoder, Part, QuotedSegment, Skimmed, TooBig};
pub use fragments::FragmentCounts;
pub use seen::Seen;
pub use table::{FlowOptions, Flows, Harvest};
