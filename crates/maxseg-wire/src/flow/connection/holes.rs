//! A connection goes on behind a hole in the capture.

use super::super::Seen;
use super::super::hole::HoleInTime;
use super::super::pair::{Endpoint, Pair};
use super::Connection;
use crate::tcp::Flags;

impl Connection {
    /// The first packet behind holes of which the connection does not know yet, sent by this end.
    #[cold]
    #[inline(never)]
    pub(in crate::flow) fn on_holes(&mut self, holes: &[HoleInTime], seen: &Seen<'_>, s: Endpoint) {
        let unknown = holes.get(self.holes_before..).unwrap_or_default();
        self.holes_before = holes.len();
        let Some(first) = unknown.first() else { return };
        self.release_held();
        // What a handshake waits for may have passed in the hole.
        (self.syn_at, self.answer_at) = (None, None);
        if seen.flags.contains(Flags::SYN) || !self.may_miss(seen, s) {
            return;
        }
        let at = self.clock.pass_hole(seen.at_nanos);
        // Where the clock was set before, the hole is as much later or earlier.
        let from =
            at.saturating_sub(seen.at_nanos.saturating_sub(first.from)).max(self.end.min(at));
        let hole = HoleInTime { from, to: at };
        let number = seen.seq;
        self.halves.of_mut(s).resume(hole, number);
        if seen.flags.contains(Flags::ACK) {
            self.halves.of_mut(s.other()).resume(hole, seen.ack);
        } else {
            let other = self.halves.of_mut(s.other());
            if let Some(number) = other.number() {
                other.resume(hole, number);
            }
        }
        self.turns.forget_open();
        self.holes_within = self.holes_within.saturating_add(1);
    }

    /// Whether packets of the connection may have passed in a hole: payload was in flight before it, or this packet has numbers behind
    /// all that passed.
    fn may_miss(&self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let Pair { low, high } = &self.halves;
        let is_open = [low, high].iter().any(|half| half.nxt > half.una.max(0));
        let (own, peer) = (self.halves.of(s), self.halves.of(s.other()));
        let is_behind = own.sequence.is_none_or(|it| it.offset(seen.seq, own.nxt) != own.nxt)
            || seen.flags.contains(Flags::ACK)
                && peer.sequence.is_none_or(|it| it.offset(seen.ack, peer.nxt) != peer.nxt);
        is_open || is_behind
    }
}
