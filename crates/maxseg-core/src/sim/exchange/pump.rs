//! The packets of request flows on their way.

use super::super::flow::{Cargo, Packet, RunningFlow, Traffic};
use super::super::tap::Eyes;
use super::super::world::Net;
use super::Side;
use crate::link::Passage;
use crate::scenario::End;
use crate::units::Time;

impl<E: Eyes> Net<E> {
    /// Sends all that the flow's side at `end` has to send now; nothing unless it is a request flow.
    pub(in crate::sim) fn pump_exchange(
        &mut self,
        now: Time,
        index: u32,
        flow: &mut RunningFlow,
        end: End,
    ) {
        let (side, passage) = (Side::of(end, flow.from), flow.passage(end));
        let Traffic::Exchange(exchange) = &mut flow.traffic else { return };
        while let Some(segment) = exchange.poll_transmit(now, side) {
            let shape = exchange.sizes().packet(&segment);
            let passage = Passage { ect: segment.markable, ..passage };
            let has_payload = segment.len > 0;
            let packet = Packet::new(index, Cargo::Segment(segment));
            if let Some(at) = self.send(now, end, packet, shape, passage)
                && has_payload
            {
                flow.losses.push(now, at);
            }
        }
    }
}
