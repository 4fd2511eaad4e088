//! Connections made by hand, for tests.

use maxseg_core::evidence::{CaptureFacts, DirectionStats, Ending, Evidence, Handshake, Marks};
use maxseg_core::units::Time;

/// A connection of this number from 10.0.0.1:40000 to 10.0.0.2:443, of which nothing else was seen.
pub(crate) fn connection(id: u32) -> Evidence {
    Evidence {
        id,
        client: "10.0.0.1:40000".parse().unwrap(),
        server: "10.0.0.2:443".parse().unwrap(),
        begin: Time::ZERO,
        end: Time::ZERO,
        handshake: Handshake::default(),
        ending: Ending::default(),
        reset_at: None,
        reset_is_other_path: false,
        silence: None,
        requests: None,
        forward: DirectionStats::default(),
        reverse: DirectionStats::default(),
        path_mtu_events: Vec::new(),
        unreachable: Vec::new(),
        marks: Marks::default(),
        capture: CaptureFacts::default(),
        joined: None,
        beside: None,
    }
}
