//! How a capture is read.

use crate::flow::FlowOptions;

/// How a capture is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// Only packets of this interface, by its name or its number from 0; all without.
    pub interface: Option<&'a str>,
    /// How connections are followed.
    pub flows: FlowOptions,
    /// Whether packets are also counted by tshark's definitions; see [`CaptureSummary::tshark`](super::CaptureSummary).
    pub tshark: bool,
}
