//! Payload goes on behind a hole in the capture.

use maxseg_core::evidence::Unseen;
use maxseg_core::units::Time;

use super::super::ack_clock::AckClock;
use super::super::hole::HoleInTime;
use super::{ANY, BEFORE_ALL, SendHistory};

impl SendHistory {
    /// Packets of a hole are missing, and the next payload to be seen begins at `offset`, or an acknowledgement covers all before that: as
    /// in a capture that begins late, nothing else is known of what is in flight, and what is missing was not lost.
    #[cold]
    pub(in crate::flow) fn resume(&mut self, hole: HoleInTime, offset: i64) {
        self.on_arrived_by(hole.from);
        let missing = self.gaps.pass(offset).max(0) + (offset - self.nxt).max(0);
        self.gaps.forget_all();
        self.sent.forget_all();
        self.retransmissions.end_recovery();
        self.sender.resume(hole, offset);
        self.on_clock_set(hole.to);
        if let Some(distance) = &mut self.distance {
            distance.forget_under_way();
        }
        self.clock = AckClock::default();
        (self.nxt, self.una, self.probed) = (offset, offset, offset);
        (self.sacked, self.covered, self.earlier) = (BEFORE_ALL, BEFORE_ALL, ANY);
        self.edge = i64::MIN;
        (self.duplicates, self.delivered, self.newest_trip) = (0, 0, 0);
        (self.last_send, self.last_ack) = (hole.to, hole.to);
        self.refusal = None;
        self.holes.push(Unseen {
            from: Time::from_nanos(hole.from),
            to: Time::from_nanos(hole.to),
            bytes: 0,
        });
        self.miss(missing);
    }

    /// The first segment beyond what is acknowledged: what lies before it may have been sent before the capture, or in a hole.
    #[cold]
    pub(super) fn on_first_beyond(&mut self, start: i64) {
        self.earlier = start;
        if !self.holes.is_empty() {
            self.miss((start - self.nxt).max(0));
        }
    }

    /// So many bytes passed in the last hole.
    fn miss(&mut self, bytes: i64) {
        let bytes = bytes.cast_unsigned();
        self.counts.unseen_bytes += bytes;
        if let Some(hole) = self.holes.last_mut() {
            hole.bytes += bytes;
        }
    }
}
