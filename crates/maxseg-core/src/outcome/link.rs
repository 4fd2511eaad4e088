//! What became of the packets on a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One direction of a hop in a simulated run. The keys are those of a link of the lab. A packet on its way at the end of the run
/// counts on all of its links where every queue can be computed ahead, else on those that it has passed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkOutcome {
    /// The hop as keys name it, `hop.radio`; with `.reverse` towards the sender.
    pub link: String,
    /// Packets that went on the wire, damaged ones too.
    pub sent_packets: u64,
    /// Packets damaged on the wire.
    pub damaged: u64,
    /// Packets that found the queue full.
    pub refused: u64,
    /// Packets that exceeded the policer's rate.
    pub policed: u64,
    /// Packets that the queue discipline dropped.
    pub early: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that entered twice.
    pub doubled: u64,
    /// Packets above the MTU that must not be fragmented. In the lab routers drop these before the link, and it counts those that
    /// came in spite of it.
    pub too_big: u64,
    /// News of such packets that was withheld (`icmp = "drop"`).
    pub withheld: u64,
    /// Time that packets have waited in the queue, all together.
    pub waited_s: f64,
}
