//! What a receiving half does where its host sends data as well: acknowledgements ride on segments
//! (RFC 9293 §3.8.6.3).

use super::{Receiver, Segment, Time};

impl Receiver {
    /// The peer's SYN has come. Its answer is the business of the sending half.
    pub(in crate::tcp) fn on_syn(&mut self, segment: &Segment) {
        self.next = self.next.max(1);
        if self.timestamps {
            self.remember_timestamp(segment);
        }
    }

    /// An acknowledgement is to go at once, with whatever goes next.
    pub(in crate::tcp) fn acknowledge_at_once(&mut self) {
        self.ack_due = true;
    }

    /// Lets `segment` of the sending half say all that an acknowledgement would, but for SACK blocks: in a
    /// full segment there is no room for them. So while something is missing, an acknowledgement that is
    /// due goes on its own; riding on data it would not count as a duplicate either (RFC 5681 §2).
    pub(in crate::tcp) fn ride_on(&mut self, mut segment: Segment) -> Segment {
        segment.ack = self.next;
        segment.window = if segment.syn { self.window.in_syn } else { self.offer() };
        segment.echoes_marks = self.echoing_marks;
        if let (Some(recent), Some(options)) = (self.recent_timestamp, &mut segment.options)
            && let Some(timestamps) = &mut options.timestamps
        {
            timestamps.echo = recent;
        }
        self.acknowledged = self.next;
        let owes_duplicate = self.sack.as_ref().is_some_and(|sack| sack.duplicate.is_some());
        if self.beyond.is_empty() && !owes_duplicate {
            self.ack_due = false;
            self.unacknowledged = 0;
            self.timer = Time::NEVER;
        }
        segment
    }
}
