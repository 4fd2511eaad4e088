//! The packets of request flows on their way.

use super::super::flow::{Cargo, RunningFlow, Traffic};
use super::super::net::Net;
use super::super::tap::Observer;
use super::Side;
use crate::scenario::End;
use crate::units::Time;

impl<E: Observer> Net<E> {
    /// Sends all that the flow's side at `end` has to send now; nothing unless it is a request flow.
    pub(in crate::sim) fn pump_requests(&mut self, now: Time, flow: &mut RunningFlow, end: End) {
        let side = Side::of(end, flow.from);
        let Traffic::Requests(requests) = &mut flow.traffic else { return };
        while let Some(segment) = requests.poll_transmit(now, side, &mut self.options_pool) {
            let shape = requests.sizes().packet(&segment);
            let has_payload = segment.len > 0;
            if let Some(at) = self.send(now, end, &flow.hop_spans, Cargo::Segment(segment), shape)
                && has_payload
            {
                flow.losses.push(now, at);
            }
        }
        self.wake = self.wake.min(requests.deadline());
    }
}
