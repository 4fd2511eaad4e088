//! What is asked of a capture's connections, and what they come to.

use maxseg_core::evidence::PathMtuEvent;

/// What to look at, and how closely.
#[derive(Debug, Clone, Copy)]
pub struct FlowOptions {
    /// Connections that are followed at most; the packets of more are counted only.
    pub most_connections: usize,
    /// Whether every segment is kept, for graphs.
    pub trace: bool,
}

impl Default for FlowOptions {
    fn default() -> Self {
        Self { most_connections: 1_000_000, trace: false }
    }
}

/// What was seen, all in all.
#[derive(Debug)]
pub struct FlowResults<I> {
    /// The connections, in the order of their first packets. Each is made when it is asked for.
    pub connections: I,
    /// What hops said of packets that were too big for them, of all connections and of none.
    pub path_mtu_events: Vec<PathMtuEvent>,
    /// Connections that were not followed, because there were too many. With several threads it depends on chance which.
    pub untracked_connections: u64,
    /// Their packets.
    pub untracked_packets: u64,
}
