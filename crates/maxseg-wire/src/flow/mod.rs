//! From packets to evidence: the connections of a capture, and what each shows of itself.
//!
//! ```text
//! Seen → Flows: TimeOrder → Follower → Connection → two HalfConnections → SendHistory of payload → Evidence
//!                           (one, or one a part)      (options, windows)    (segments in flight, gaps,
//!                                                                          retransmissions, sender, trains)
//! ```

mod ack_clock;
mod ack_gaps;
mod alone;
mod backlog;
mod bin_recorder;
mod black_hole;
mod capacity;
mod capture_duplicates;
mod capture_points;
mod clock;
mod connection;
mod connection_store;
mod decode;
mod departures;
mod drop_lines;
mod ecn;
mod epoch_tracker;
mod follower;
mod fragments;
mod gaps;
mod half_connection;
mod hole;
mod identifications;
mod idle_restart;
mod in_flight;
mod intervals;
mod key;
mod lane_batch;
mod lanes;
mod last_flows;
#[cfg(test)]
mod made;
mod opening_rounds;
mod options;
mod owned_segment;
mod pair;
mod part;
mod payload_counts;
mod places;
mod recovery_rounds;
mod refills;
mod results;
mod retransmissions;
mod round_trips;
mod sacked_ranges;
mod seen;
mod seen_options;
mod segment_batch;
mod segments;
mod send_history;
mod sender_replay;
mod sequence;
mod sizes;
mod small_setting;
mod squeezed;
mod stamp_clock;
mod table;
mod time_order;
mod trains;
mod unanswered;
mod vantage;
mod way_delays;
mod window_left;
mod window_levels;

pub use decode::{Datagram, Decoded, DecodedPacket, Decoder, FragmentInfo, QuotedSegment, TooBig};
pub(crate) use ecn::CE;
pub use fragments::FragmentCounts;
pub(crate) use key::FlowKey;
pub use options::{FlowOptions, FlowResults};
pub(crate) use pair::{Endpoint, Pair};
pub use seen::Seen;
pub(crate) use sequence::Sequence;
pub use table::Flows;
