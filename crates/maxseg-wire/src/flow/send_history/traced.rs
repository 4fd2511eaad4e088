//! What is kept for the graphs of a page, and acknowledgements as they reach the sender.

use maxseg_core::evidence::{AckPoint, SegmentPoint, Trace};
use maxseg_core::units::Time;

use super::SendHistory;
use crate::flow::segments::{AckSegment, DataSegment, HistoryStart};
use crate::flow::sender_replay::AckUpdate;
use crate::flow::vantage::Distance;

/// A trace where one is asked for, with the window that the first segment is sent into.
pub(super) fn begun(begin: &HistoryStart) -> Option<Box<Trace>> {
    begin.traced.then(|| {
        let window = begin.edge.map(|edge| bytes(edge - begin.nxt));
        let first_window = window.map(|window| (Time::from_nanos(begin.at), window));
        Box::new(Trace { first_window, ..Trace::default() })
    })
}

pub(super) fn bytes(count: i64) -> u64 {
    count.max(0).cast_unsigned()
}

impl SendHistory {
    /// What has reached the sender by `at`, which is away from the capture point.
    #[inline(always)]
    pub(super) fn on_arrived_by(&mut self, at: u64) {
        let next = |distance: &mut Distance| distance.arrived_by(at);
        while let Some((at, news)) = self.distance.as_mut().and_then(next) {
            self.on_arrived(at, &news);
        }
    }

    /// An acknowledgement reaches the sender.
    #[inline(always)]
    pub(super) fn on_arrived(&mut self, at: u64, news: &AckUpdate) {
        self.sender.on_ack(at, news);
        if let Some(trace) = &mut self.trace {
            trace.on_arrived(Time::from_nanos(at), bytes(self.sender.in_flight()));
        }
    }

    /// A segment passes, which the replay of the sender has sent.
    #[inline(never)]
    pub(super) fn trace_segment(&mut self, data: &DataSegment, is_resent: bool) {
        let in_flight = bytes(self.sender.in_flight());
        let segment = SegmentPoint {
            at: Time::from_nanos(data.at),
            frame: data.frame,
            offset: bytes(data.start),
            bytes: u32::try_from(data.end - data.start).unwrap_or(0),
            is_resent,
        };
        if let Some(trace) = &mut self.trace {
            trace.on_segment(segment, in_flight);
        }
    }

    /// An acknowledgement passes.
    #[inline(never)]
    pub(super) fn trace_ack(&mut self, ack: &AckSegment) {
        let point = AckPoint {
            at: Time::from_nanos(ack.at),
            frame: ack.frame,
            offset: bytes(ack.una),
            edge: ack.edge.map(|edge| bytes(edge - ack.behind)),
        };
        if let Some(trace) = &mut self.trace {
            trace.on_ack(point);
        }
    }
}
