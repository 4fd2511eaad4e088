//! When the last byte of a message arrived at the other end, as far as acknowledgements show it. What a message waits for in a
//! queue, its own bytes before all, is no time of the program that answers it: the acknowledgement of its last byte comes the same
//! way as the answer. Where the answer carries that acknowledgement, those of the bytes before tell how long the queue was.

use serde::{Deserialize, Serialize};

/// What one end sends until the other answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PackedMessage", into = "PackedMessage")]
pub(super) struct Message {
    /// When its first payload passed.
    begun: u64,
    /// The first of its acknowledgements without payload, and the last two.
    first: Part,
    before: Part,
    last: Part,
}

/// The same in little memory, while no packet of the connection comes: most messages have one acknowledgement. Times of parts are
/// since the message began.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PackedMessage(u64, Vec<Part>);

impl From<Message> for PackedMessage {
    fn from(Message { begun, first, before, last }: Message) -> Self {
        let since = |part: Part| Part { at: part.at.wrapping_sub(begun), ..part };
        let parts: &[Part] = match (last.at, before.at) {
            (0, _) => &[],
            (_, 0) => &[last],
            _ => &[last, before, first],
        };
        Self(begun, parts.iter().copied().map(since).collect())
    }
}

impl From<PackedMessage> for Message {
    fn from(PackedMessage(begun, parts): PackedMessage) -> Self {
        let mut parts =
            parts.into_iter().map(|part| Part { at: part.at.wrapping_add(begun), ..part });
        let last = parts.next().unwrap_or_default();
        let before = parts.next().unwrap_or_default();
        Self { begun, first: parts.next().unwrap_or(last), before, last }
    }
}

/// An acknowledgement of a part of a message; it passed at 0 where there was none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) at: u64,
    /// The offset up to which it acknowledges.
    pub(super) una: i64,
    /// Since the newest of what it acknowledges passed; 0 where that was sent again.
    pub(super) trip: u64,
    /// Whether it is of one segment, and none came so long before it as a timer of the receiver takes.
    pub(super) is_alone: bool,
}

/// The last payload of a message, and the way to the end that answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// When it passed.
    pub(super) sent: u64,
    /// The offset behind it.
    pub(super) end: i64,
    /// The least round trip between capture point and the end that answers, in nanoseconds.
    pub(super) least: u64,
}

/// When an answer passes that its end gave at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AtOnce {
    pub(super) at: u64,
    /// And at the latest, where a queue of others, or nothing, made the acknowledgement late; `u64::MAX` where none was seen.
    pub(super) latest: u64,
}

/// The least that a timer delays an acknowledgement, in nanoseconds: Linux's `TCP_DELACK_MIN` of 40 ms less a tick of 4 ms. What
/// comes sooner waited on its way.
const ACK_TIMER: u64 = 36_000_000;

impl Message {
    pub(super) fn beginning(at: u64) -> Self {
        Self { begun: at, ..Self::default() }
    }

    /// An acknowledgement without payload passes that brings something new: of one segment, or of more.
    #[inline]
    pub(super) fn on_acked(&mut self, part: Part, is_of_one: bool) {
        let is_late = part.at.saturating_sub(self.last.at) >= ACK_TIMER;
        let part = Part { is_alone: is_of_one && is_late, ..part };
        if self.last.at == 0 {
            self.first = part;
        }
        self.before = std::mem::replace(&mut self.last, part);
    }

    /// When the acknowledgement passed that covers what ends at `end`; `None` where none without payload did.
    pub(super) fn acked_at(&self, end: i64) -> Option<u64> {
        (self.last.at > 0 && self.last.una >= end).then_some(self.last.at)
    }

    /// When an answer that was given at once passes.
    pub(super) fn at_once(&self, asked: &Asked) -> AtOnce {
        let soonest = asked.sent.saturating_add(asked.least);
        let sure = |at: u64| AtOnce { at: at.max(soonest), latest: at.max(soonest) };
        let is_whole = self.last.at >= asked.sent && self.last.una >= asked.end;
        let late = self.last.at.saturating_sub(soonest);
        if is_whole && !(self.last.is_alone && late >= ACK_TIMER) {
            return sure(self.last.at);
        }
        let part = if is_whole { self.before } else { self.last };
        let latest = if is_whole { self.last.at.max(soonest) } else { u64::MAX };
        self.as_before(part, asked)
            .map_or(AtOnce { at: soonest, latest }, |at| sure(at.min(latest)))
    }

    /// The same, where the rest waited as long as the part that this acknowledges, and came at the pace of the parts before: what was
    /// sent at once leaves the link one after the other.
    fn as_before(&self, part: Part, asked: &Asked) -> Option<u64> {
        let is_of_message = part.at.saturating_sub(part.trip) >= self.begun;
        let is_of_timer = part.is_alone && part.trip.saturating_sub(asked.least) >= ACK_TIMER;
        // A queue of long ago tells nothing of this one.
        let is_recent = part.at.saturating_add(part.trip) >= asked.sent;
        if part.at == 0 || part.trip == 0 || !is_of_message || is_of_timer || !is_recent {
            return None;
        }
        let rest = asked.end.saturating_sub(part.una).max(0).unsigned_abs();
        let paced = part.una.saturating_sub(self.first.una).max(0).unsigned_abs();
        let took = part.at.saturating_sub(self.first.at);
        let rest_took = (u128::from(took) * u128::from(rest)).checked_div(u128::from(paced));
        let rest_took = u64::try_from(rest_took.unwrap_or(0)).unwrap_or(u64::MAX);
        let queued = asked.sent.saturating_add(part.trip);
        Some(queued.max(part.at.saturating_add(rest_took)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const ASKED: Asked = Asked { sent: 100 * MS, end: 12_000, least: 10 * MS };

    fn message(acks: &[(u64, i64, u64)]) -> Message {
        let mut message = Message::beginning(100 * MS);
        for (at, una, trip) in acks {
            let part = Part { at: at * MS, una: *una, trip: trip * MS, is_alone: false };
            message.on_acked(part, *una == 12_000);
        }
        message
    }

    fn at_once(acks: &[(u64, i64, u64)]) -> (u64, u64) {
        let AtOnce { at, latest } = message(acks).at_once(&ASKED);
        (at / MS, latest.saturating_add(1) / MS)
    }

    #[test]
    fn a_packed_message_is_the_same() {
        let acks = [(122, 5800, 22), (134, 8700, 34), (148, 12_000, 48)];
        for count in 0..=acks.len() {
            let message = message(&acks[..count]);
            assert_eq!(Message::from(PackedMessage::from(message)), message);
        }
        assert_eq!(Message::from(PackedMessage::from(Message::default())), Message::default());
    }

    #[test]
    fn its_acknowledgement_tells_when_it_arrived() {
        assert_eq!(at_once(&[(122, 5800, 22), (134, 8700, 34), (148, 12_000, 48)]), (148, 148));
    }

    /// 48 ms of a link's time for 12 kB, as the acknowledgements of the first 8.7 kB show.
    #[test]
    fn the_pace_of_what_came_before_tells_when_the_rest_arrived() {
        let (at, latest) = at_once(&[(122, 5800, 22), (134, 8700, 34)]);
        assert_eq!((at, latest), (147, 147));
    }

    #[test]
    fn a_timer_of_the_receiver_is_no_queue() {
        let acks = [(112, 5800, 12), (114, 8700, 14), (155, 12_000, 55)];
        assert_eq!(at_once(&acks), (116, 116), "the last segment was alone");
        assert_eq!(at_once(&[(150, 12_000, 50)]), (110, 150), "or it was a queue: not sure");
    }

    #[test]
    fn an_answer_that_carries_the_only_acknowledgement_shows_no_arrival() {
        let nothing = message(&[]).at_once(&ASKED);
        assert_eq!(nothing, AtOnce { at: 110 * MS, latest: u64::MAX });
    }

    /// The queue of a transfer that ended before the last request is gone.
    #[test]
    fn a_queue_of_long_ago_is_none() {
        let later = Asked { sent: 900 * MS, ..ASKED };
        let found = message(&[(200, 5800, 90), (210, 8700, 95)]).at_once(&later);
        assert_eq!(found.at, 910 * MS);
    }
}
