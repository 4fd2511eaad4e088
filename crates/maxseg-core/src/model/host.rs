//! What hosts that take time for each packet allow.

use crate::scenario::{End, Flow, FlowKind, Scenario};

/// A host whose only processor takes as long for a packet that it sends as for one that it receives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostLimit {
    /// Seconds for each packet.
    pub packet_cost: f64,
    /// Segments per acknowledgement, b.
    pub per_ack: f64,
    /// Payload of a segment, in bits.
    pub payload: f64,
}

impl HostLimit {
    /// Packets in a second.
    pub fn packets_per_second(&self) -> f64 {
        1.0 / self.packet_cost
    }

    /// Packets that a host handles for a segment: the segment, and its part of an acknowledgement.
    pub fn packets_per_segment(&self) -> f64 {
        1.0 + 1.0 / self.per_ack
    }

    /// Seconds of a host's time for a segment.
    pub fn seconds_per_segment(&self) -> f64 {
        self.packets_per_segment() * self.packet_cost
    }

    /// Payload in bits per second.
    pub fn payload_limit(&self) -> f64 {
        self.payload / self.seconds_per_segment()
    }

    /// The cost of a packet, in seconds, above which a host holds back a link that carries `link_bps` of
    /// payload.
    pub fn cost_allowed(&self, link_bps: f64) -> f64 {
        self.payload / link_bps / self.packets_per_segment()
    }
}

/// The slower of a bulk flow's two hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SlowerHost {
    /// Payload in bits per second; infinite where neither takes time for packets.
    pub(super) payload_bps: f64,
    /// Seconds from one packet of the flow to the next, if it sent nothing else: the larger cost.
    pub(super) packet_cost: f64,
}

impl SlowerHost {
    /// For segments of `payload` bits and `per_ack` of them per acknowledgement. What datagrams and
    /// echoes leave of a host's time, bulk flows share.
    pub(super) fn of(scenario: &Scenario, flow: &Flow, payload: f64, per_ack: f64) -> Self {
        let none = Self { payload_bps: f64::INFINITY, packet_cost: 0.0 };
        [End::Sender, End::Receiver].into_iter().fold(none, |slower, end| {
            let Some(cost) = scenario.packet_cost(end) else {
                return slower;
            };
            let host = scenario.host(flow, end);
            let shares =
                |other: &&Flow| other.kind == FlowKind::Bulk && scenario.host(other, end) == host;
            let bulk = scenario.flows.iter().filter(shares).count().max(1) as f64;
            let packet_cost = cost.as_secs_f64();
            let limit = HostLimit { packet_cost, per_ack, payload };
            let left = (1.0 - scenario.steady_load(host)).max(0.0) / bulk;
            Self {
                payload_bps: slower.payload_bps.min(left * limit.payload_limit()),
                packet_cost: slower.packet_cost.max(packet_cost),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_counts_and_so_does_a_part_of_an_acknowledgement() {
        let limit = HostLimit { packet_cost: 0.4e-3, per_ack: 2.0, payload: 8.0 * 1460.0 };
        assert!((limit.packets_per_second() - 2500.0).abs() < 1e-9);
        assert!((limit.payload_limit() - 11_680.0 / 0.6e-3).abs() < 1e-6);
        // A link that carries just as much is not held back.
        assert!((limit.cost_allowed(limit.payload_limit()) - 0.4e-3).abs() < 1e-15);
    }
}
