//! Explanations of made-up captures, for tests.

use maxseg_core::evidence::Evidence;
use maxseg_testkit::at;
use maxseg_wire::capture_file::Format;
use maxseg_wire::flow::FragmentCounts;
use maxseg_wire::reading::{CaptureSummary, FileFacts};
use maxseg_wire::tshark::ConnectionCounts;

use super::Explanation;

/// The explanation of a capture of these connections.
pub(crate) fn explanation(connections: Vec<Evidence>) -> Explanation {
    let file = FileFacts {
        format: Format::Pcap,
        compression: None,
        packets: 25_500,
        bytes: 27_000_000,
        first: Some(at(0)),
        last: Some(at(30_100)),
        interfaces: Vec::new(),
        encapsulations: Vec::new(),
    };
    let capture = CaptureSummary {
        file,
        problems: Vec::new(),
        fragments: FragmentCounts::default(),
        path_mtu_events: Vec::new(),
        untracked_connections: 0,
        tshark: ConnectionCounts::default(),
    };
    let mut explanation = Explanation::new("made.pcap", capture);
    explanation.total_connections = connections.len() as u64;
    explanation.connections = connections;
    explanation
}
