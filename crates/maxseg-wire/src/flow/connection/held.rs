//! Acknowledgements that were captured before the data that they acknowledge: by another card or interface, whose clock
//! is ahead or whose packets were stored first. They wait until the data comes, so that nothing is acknowledged
//! before it was sent.

use std::collections::VecDeque;

use super::super::Seen;
use super::super::owned_segment::OwnedSegment;
use super::super::pair::Endpoint;
use super::super::send_history::SendHistory;
use super::Connection;
use crate::tcp::Flags;

/// Segments of one end that wait, in order.
#[derive(Debug)]
pub(super) struct Held {
    list: VecDeque<OwnedSegment>,
    of: Endpoint,
}

/// Most segments that wait.
const MOST: usize = 64;
/// Longest time that they wait, in nanoseconds: data that comes later was sent again.
const LONGEST: u64 = 100_000_000;
/// The same for data in a gap, which is sent again: later data comes meanwhile.
const LONGEST_OF_A_GAP: u64 = 10_000_000;
/// From so many vain waits more than successful ones on nothing waits any more: the capture lacks the data.
const VAIN: u8 = 16;

impl Connection {
    /// A segment of this end passes while others wait, perhaps for it. Gives whether it waits as well.
    #[cold]
    pub(super) fn joins_held(&mut self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let Some(held) = &mut self.held else { return false };
        let first = held.list.front().map_or(seen.at_nanos, OwnedSegment::at);
        let is_late = seen.at_nanos.saturating_sub(first) > LONGEST || held.list.len() >= MOST;
        if !is_late && held.of == s {
            held.list.push_back(OwnedSegment::of(seen, 0));
            return true;
        }
        // What begins behind the awaited data shows that the capture lacks it.
        let ack = held.list.front().map_or(0, |first| first.seen().ack);
        let half = self.halves.of(s);
        let is_gap = half.sequence.is_some_and(|it| it.offset(ack, half.nxt) <= half.nxt);
        let is_late = is_late || is_gap && seen.at_nanos.saturating_sub(first) > LONGEST_OF_A_GAP;
        let skips = !is_gap
            && half.sequence.is_some_and(|it| {
                seen.seq_len() > 0 && it.offset(seen.seq, half.nxt) >= it.offset(ack, half.nxt)
            });
        if is_late || skips {
            self.vain_waits = self.vain_waits.saturating_add(1);
            self.release_held();
        }
        false
    }

    /// Whether a segment acknowledges what was not seen yet, and waits for that now.
    #[inline]
    pub(super) fn waits(&mut self, seen: &Seen<'_>, s: Endpoint) -> bool {
        seen.flags.contains(Flags::ACK) && self.is_ahead(seen.ack, s.other()) && self.hold(seen, s)
    }

    /// Whether this end's data up to this acknowledgement was not all seen. Gaps count where acknowledgements are known
    /// to come early: elsewhere the capture lost what is in them.
    #[inline]
    fn is_ahead(&self, ack: u32, s: Endpoint) -> bool {
        let half = self.halves.of(s);
        let Some(sequence) = half.sequence else { return false };
        let ack = sequence.offset(ack, half.nxt);
        let lacks = |stream: &SendHistory| stream.gaps.lack_before(ack);
        ack > half.nxt
            || self.acks_before_data > 0
                && ack > half.una
                && half.stream.as_deref().is_some_and(lacks)
    }

    #[cold]
    fn hold(&mut self, seen: &Seen<'_>, s: Endpoint) -> bool {
        // Where an end was not heard yet, or breaks the connection off, there is nothing to wait for.
        let is_control = seen.flags.bits() & (Flags::SYN | Flags::RST).bits() != 0;
        let is_heard = self.halves.of(s.other()).counts.packets > 0;
        if is_control || !is_heard || self.vain_waits >= VAIN {
            return false;
        }
        self.release_held();
        let list = VecDeque::from([OwnedSegment::of(seen, 0)]);
        self.held = Some(Box::new(Held { list, of: s }));
        true
    }

    /// A segment of the other end passed at `at`: those leave that it was awaited by.
    #[cold]
    pub(super) fn release_acknowledged(&mut self, at: u64) {
        let Some(mut held) = self.held.take() else { return };
        while let Some(first) = held.list.front() {
            let seen = first.seen();
            if self.is_ahead(seen.ack, held.of.other()) {
                break;
            }
            self.acks_before_data = self.acks_before_data.saturating_add(1);
            self.vain_waits = self.vain_waits.saturating_sub(1);
            let late = Seen { at_nanos: seen.at_nanos.max(at), ..seen };
            self.on_released(&late, held.of);
            held.list.pop_front();
        }
        if !held.list.is_empty() {
            self.held = Some(held);
        }
    }

    /// All that wait leave, with their own times.
    #[cold]
    pub(super) fn release_held(&mut self) {
        let Some(held) = self.held.take() else { return };
        for segment in &held.list {
            self.on_released(&segment.seen(), held.of);
        }
    }

    /// One that has waited.
    #[cold]
    #[inline(never)]
    fn on_released(&mut self, seen: &Seen<'_>, s: Endpoint) {
        self.on_arrived(seen, s);
    }
}
