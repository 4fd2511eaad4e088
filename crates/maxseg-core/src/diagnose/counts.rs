//! Counts of a direction, as far as its capture shows them.

use super::{Diagnosis, ReasonCode, overtaken};
use crate::evidence::{Direction, Evidence};

impl Diagnosis {
    /// The most bytes in flight of a direction; `None` where only one direction was captured: without the data nothing is sent, and
    /// without the acknowledgements nothing arrives.
    pub fn in_flight_max_bytes(&self, evidence: &Evidence, direction: Direction) -> Option<u64> {
        (!self.is_one_way()).then_some(evidence.stats(direction).in_flight_max_bytes)
    }

    /// Timeouts of a direction; `None` where retransmissions are unknown, or only its own packets were captured: without what
    /// acknowledges them a retransmission shows no cause.
    pub fn timeouts(&self, evidence: &Evidence, direction: Direction) -> Option<u64> {
        let is_alone = self.is_alone(evidence, direction);
        let again = self.retransmitted_packets(evidence, direction).filter(|_| !is_alone);
        again.map(|_| evidence.stats(direction).timeouts)
    }

    /// Whether nothing was captured that acknowledges what a direction carried.
    pub(crate) fn is_alone(&self, evidence: &Evidence, direction: Direction) -> bool {
        let (own, peer) = (evidence.stats(direction), evidence.stats(direction.other()));
        self.is_one_way() && peer.is_missing_beside(own)
    }

    fn is_one_way(&self) -> bool {
        self.quality.reason(ReasonCode::OneWay).is_some()
    }

    /// Retransmitted packets of a direction; `None` where its payload was not captured, or where a file holds what two places saw of
    /// each packet, or has no order, which looks like what is sent twice.
    pub fn retransmitted_packets(&self, evidence: &Evidence, direction: Direction) -> Option<u64> {
        let has_payload = evidence.forward.payload_bytes + evidence.reverse.payload_bytes > 0;
        let stats = evidence.stats(direction);
        let is_captured = !self.is_one_way() || has_payload && stats.packets > 0;
        let is_merged = self.quality.reason(ReasonCode::Merged).is_some();
        let has_order = !overtaken::has_no_order(evidence);
        (is_captured && !is_merged && has_order).then_some(stats.retransmitted_packets)
    }
}
