//! An end begins to send payload.

use maxseg_core::framing::TCP_TIMESTAMPS;

use super::super::Seen;
use super::super::pair::Endpoint;
use super::super::segments::HistoryStart;
use super::super::send_history::SendHistory;
use super::Connection;

impl Connection {
    /// The first payload of an end, from this offset on.
    pub(super) fn begin_stream(&mut self, seen: &Seen<'_>, s: Endpoint, start: i64) {
        let (to_sender, to_receiver) = (self.to_end(s), self.to_end(s.other()));
        let peer = self.halves.of(s.other());
        let (own, other) = (self.halves.of(s).offered, peer.offered);
        let is_stamped = own.uses_timestamps || own.timestamps && other.timestamps;
        let stamps = if is_stamped { TCP_TIMESTAMPS.get().cast_signed() } else { 0 };
        let full = peer.offered.mss.map_or_else(|| seen.usual_mss(), i64::from) - stamps;
        let window = peer.window_bytes();
        let acked = [s, s.other()].map(|end| Some(self.halves.of(end).last_ack));
        let silent_since = acked.into_iter().chain([self.syn_at, self.answer_at]).flatten().max();
        let begins_late = self.begins_late() || self.holes_within > 0;
        let half = self.halves.of_mut(s);
        half.first_data = seen.at_nanos;
        half.stream = Some(Box::new(SendHistory::new(&HistoryStart {
            at: seen.at_nanos,
            silent_since: silent_since.filter(|at| *at > 0),
            to_sender,
            to_receiver,
            has_stamps: is_stamped,
            full,
            nxt: start,
            edge: window.map(|window| half.una.max(0) + window),
            traced: self.aside.as_ref().is_some_and(|aside| aside.is_traced()),
            begins_late,
        })));
    }
}
