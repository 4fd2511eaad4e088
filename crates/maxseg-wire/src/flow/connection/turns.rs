//! Requests and replies: who sent last, and how long the other end took to send.

use maxseg_core::evidence::Requests;
use serde::{Deserialize, Serialize};

use super::message::{Asked, Message, Part};
use super::rests::{AT_ONCE, Held, Holder, LEAST_DELAY, MOST_DELAY};
use super::waits::{Samples, Wait, WayTo};
use crate::flow::pair::{Endpoint, Pair};

/// The turns of a connection.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    /// The end that sent payload last, and when.
    talker: Option<Endpoint>,
    at: u64,
    /// What it has sent since the other end spoke.
    message: Message,
    /// What was sent last is not known: the capture has a hole.
    is_cut: bool,
    /// When the first payload passed.
    begin: u64,
    /// How long the client waited before its first payload after a captured handshake, in nanoseconds; it goes to
    /// `waits`.
    first: Option<u64>,
    /// From the first change of the talker on, or from the first small segment after `first`.
    waits: Option<Box<TurnWaits>>,
}

/// What is known from the first turn on.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TurnWaits {
    /// Before each end sends.
    before: Pair<Samples>,
    nagle: Held,
    /// The last segment below half the MSS of each end, if nothing else of that end was outstanding.
    small: Pair<Option<Small>>,
    /// The end whose small segment was acknowledged late, when that passed, and how late it was.
    late_ack: Option<(Endpoint, u64, u64)>,
    /// Rests that left long after all before them was acknowledged: few connections have them.
    corked: Option<Box<Held>>,
}

impl TurnWaits {
    /// The rest of a message leaves behind its full segments, the last of which passed at `sent`; their acknowledgement passed at `acked`.
    #[cold]
    fn on_rest(&mut self, talk: &Talk, sent: u64, acked: u64) {
        let held = talk.at.saturating_sub(acked).saturating_sub(talk.to_sender);
        let late = acked.saturating_sub(sent).saturating_sub(talk.to_receiver);
        match Holder::of(held, late) {
            Some(Holder::Nagle(late)) => self.nagle.add(late, talk.by),
            Some(Holder::Cork(held)) => self.corked.get_or_insert_default().add(held, talk.by),
            None => {}
        }
    }

    /// Whether no small segment is outstanding, and none may follow a late acknowledgement.
    #[inline]
    const fn is_calm(&self) -> bool {
        self.late_ack.is_none() && self.small.low.is_none() && self.small.high.is_none()
    }
}

/// A segment below half the MSS: the offset behind its last byte, and when it passed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Small {
    end: i64,
    at: u64,
}

/// New payload of one end.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which holds or not")]
pub(super) struct Talk {
    pub(super) by: Endpoint,
    pub(super) at: u64,
    pub(super) end: i64,
    /// Its bytes.
    pub(super) payload: u32,
    /// The offset behind the last byte of the other end.
    pub(super) asked_end: i64,
    /// The least round trip between capture point and this end, as far as that is known, in nanoseconds.
    pub(super) least: u64,
    /// Whether the capture point is at this end.
    pub(super) is_at_sender: bool,
    /// Whether everything that the other end sent is acknowledged.
    pub(super) is_reply: bool,
    /// Whether it is below half the MSS, and nothing else of its end is outstanding.
    pub(super) is_small_alone: bool,
    /// Whether full segments came before it, of what was written with it.
    pub(super) is_rest: bool,
    /// Between capture point and this end, there and back, in nanoseconds; and the other.
    pub(super) to_sender: u64,
    pub(super) to_receiver: u64,
    /// When the SYN-ACK passed, where this is the client's.
    pub(super) since_answer: Option<u64>,
}

impl Talk {
    /// How long its end waited with what answers a message, whose last payload passed at `sent`; with the least round trip to it.
    fn wait(&self, asked: &Message, sent: u64) -> Wait {
        let took = self.at.saturating_sub(sent);
        if self.is_at_sender {
            return Wait { took, unsure: 0, queued: 0, payload: 0 };
        }
        let asked = asked.at_once(&Asked { sent, end: self.asked_end, least: self.least });
        let latest = asked.latest.min(self.at);
        Wait {
            took: self.at.saturating_sub(asked.at).saturating_add(self.least).min(took),
            unsure: latest.saturating_sub(asked.at),
            queued: asked.at.min(self.at).saturating_sub(sent.saturating_add(self.least)),
            payload: self.payload,
        }
    }
}

impl Turns {
    /// What passed since the last payload is not known: whoever sends next answers nothing that was seen.
    pub(super) fn forget_open(&mut self) {
        self.is_cut |= self.talker.take().is_some();
        if let Some(waits) = &mut self.waits {
            (waits.small, waits.late_ack) = (Pair::default(), None);
        }
    }

    /// An end retransmits: the wait for the reply begins again.
    #[inline]
    pub(super) fn on_resent(&mut self, by: Endpoint, at: u64) {
        if self.talker == Some(by) {
            self.at = at;
        }
    }

    /// New payload of an end. Gives whether that is all there is to it: the end sent last, and nothing is known that the
    /// payload would change. Otherwise [`on_turn`](Self::on_turn) follows.
    #[inline]
    pub(super) fn goes_on(&mut self, by: Endpoint, at: u64, is_small_alone: bool) -> bool {
        let is_calm = match &self.waits {
            Some(waits) => !is_small_alone && waits.is_calm(),
            None => !is_small_alone || self.first.is_none(),
        };
        let is_plain = is_calm && self.talker == Some(by);
        if is_plain {
            self.at = at;
        }
        is_plain
    }

    /// An end sends new payload that [does not just go on](Self::goes_on).
    pub(super) fn on_turn(&mut self, talk: &Talk) {
        let before = self.talker.replace(talk.by);
        let sent = std::mem::replace(&mut self.at, talk.at);
        let asked = if before == Some(talk.by) {
            self.message
        } else {
            std::mem::replace(&mut self.message, Message::beginning(talk.at))
        };
        if before.is_none() && std::mem::take(&mut self.is_cut) {
            return;
        }
        if before.is_none() {
            self.begin = talk.at;
            // The first segment is not kept for Nagle's algorithm: most connections have no turn.
            if let Some(answer) = talk.since_answer {
                self.begin = answer;
                self.first = Some(talk.at.saturating_sub(answer));
            }
            return;
        }
        let is_first = self.waits.is_none();
        let waits = self.waits.get_or_insert_default();
        if is_first && let (Some(waited), Some(client)) = (self.first, before) {
            waits.before.of_mut(client).add(&Wait {
                took: waited,
                unsure: 0,
                queued: 0,
                payload: 0,
            });
        }
        if before != Some(talk.by) && talk.is_reply {
            waits.before.of_mut(talk.by).add(&talk.wait(&asked, sent));
        }
        if let Some((end, ack_at, delay)) = waits.late_ack.take()
            && end == talk.by
            && talk.is_small_alone
            && talk.at.saturating_sub(ack_at) <= talk.to_sender.saturating_add(AT_ONCE)
        {
            waits.nagle.add(delay, end);
        }
        if talk.is_rest
            && before == Some(talk.by)
            && let Some(acked) = self.message.acked_at(talk.end - i64::from(talk.payload))
        {
            waits.on_rest(talk, sent, acked);
        }
        let small = talk.is_small_alone.then_some(Small { end: talk.end, at: talk.at });
        *waits.small.of_mut(talk.by) = small;
    }

    /// An acknowledgement of `end`'s payload passes, without payload: of one segment, or of more.
    #[inline]
    pub(super) fn on_acked(&mut self, end: Endpoint, part: Part, is_of_one: bool) {
        if self.talker == Some(end) {
            self.message.on_acked(part, is_of_one);
        }
    }

    /// Whether an acknowledgement of `end`'s payload up to `una` is one of a segment below half the MSS.
    #[inline]
    pub(super) fn awaits_ack(&self, end: Endpoint, una: i64) -> bool {
        self.waits.as_ref().is_some_and(|it| it.small.of(end).is_some_and(|it| it.end <= una))
    }

    /// An acknowledgement of `end`'s payload passes that was [awaited](Self::awaits_ack); `to_receiver` is the round trip
    /// between capture point and the end that acknowledges, in nanoseconds.
    pub(super) fn on_ack(&mut self, end: Endpoint, at: u64, is_pure: bool, to_receiver: u64) {
        let Some(waits) = &mut self.waits else { return };
        let Some(small) = waits.small.of_mut(end).take() else { return };
        let late = at.saturating_sub(small.at).saturating_sub(to_receiver);
        if is_pure && (LEAST_DELAY..=MOST_DELAY).contains(&late) {
            waits.late_ack = Some((end, at, late));
        }
    }

    /// The requests of `client`, by the ways between capture point and client, and server.
    pub(super) fn requests(
        self,
        client: Endpoint,
        to_client: &WayTo,
        to_server: &WayTo,
    ) -> Option<Requests> {
        let waits = self.waits?;
        let (server, think) = (waits.before.of(client.other()), waits.before.of(client));
        if server.count == 0 {
            return None;
        }
        let span = self.at.saturating_sub(self.begin);
        let taken = |samples: &Samples, way: &WayTo| samples.round_trips(way) as f64 / 1e9;
        let none = WayTo::default();
        let corked = waits.corked.unwrap_or_default();
        let first = self.first.map_or(0, |took| took.saturating_sub(to_client.round_trip));
        Some(Requests {
            first_think_s: first as f64 / 1e9,
            held_of_client: waits.nagle.of(client),
            corked: corked.times.less(&none),
            corked_of_client: corked.of(client),
            requests_queued_s: server.queued_s(),
            replies_queued_s: think.queued_s(),
            turns: server.count,
            span_s: span as f64 / 1e9,
            round_trips_s: taken(server, to_server) + taken(think, to_client),
            server: server.less(to_server),
            think: think.less(to_client),
            nagle: waits.nagle.times.less(&none),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    impl Turns {
        fn talk(&mut self, talk: &Talk) {
            if !self.goes_on(talk.by, talk.at, talk.is_small_alone) {
                self.on_turn(talk);
            }
        }

        fn ack(&mut self, end: Endpoint, at: u64, una: i64, to_receiver: u64) {
            if self.awaits_ack(end, una) {
                self.on_ack(end, at, true, to_receiver);
            }
        }
    }

    fn way(round_trip: u64) -> WayTo {
        WayTo { round_trip, ..WayTo::default() }
    }

    fn talk(by: Endpoint, at: u64, end: i64) -> Talk {
        Talk {
            by,
            at,
            end,
            payload: 100,
            asked_end: 100,
            least: 0,
            is_at_sender: false,
            is_reply: true,
            is_small_alone: true,
            is_rest: false,
            to_sender: 0,
            to_receiver: 0,
            since_answer: None,
        }
    }

    #[test]
    fn waits_are_less_the_round_trip() {
        let mut turns = Turns::default();
        for n in 0..10 {
            turns.talk(&talk(Endpoint::Low, n * 1000 * MS, 100));
            turns.talk(&talk(Endpoint::High, n * 1000 * MS + 340 * MS, 100));
        }
        let requests = turns.requests(Endpoint::Low, &way(0), &way(40 * MS)).unwrap();
        assert_eq!(requests.turns, 10);
        assert_eq!(requests.server.p50_s, Some(0.3));
        assert!((requests.server.total_s - 3.0).abs() < 1e-9);
        assert_eq!(requests.think.p99_s, Some(0.66));
        assert!((requests.round_trips_s - 0.4).abs() < 1e-9);
        assert_eq!(requests.nagle.count, 0);
    }

    #[test]
    fn payload_that_is_no_reply_is_no_turn() {
        let mut turns = Turns::default();
        turns.talk(&talk(Endpoint::Low, 0, 100));
        turns.talk(&Talk { is_reply: false, ..talk(Endpoint::High, MS, 100) });
        assert_eq!(turns.requests(Endpoint::Low, &way(0), &way(0)), None);
    }

    /// A segment that follows a late acknowledgement at once was held back; one that follows later was written later.
    /// The first of three is not counted: it comes before the first turn.
    #[test]
    fn nagle_waits_for_a_delayed_acknowledgement() {
        for (pause, held) in [(MS, 2), (20 * MS, 0)] {
            let mut turns = Turns::default();
            let mut at = 0;
            for _ in 0..3 {
                turns.talk(&talk(Endpoint::Low, at, 100));
                at += 50 * MS;
                turns.ack(Endpoint::Low, at, 100, 10 * MS);
                at += pause;
                turns.talk(&talk(Endpoint::Low, at, 200));
                at += 10 * MS;
                turns.talk(&talk(Endpoint::High, at, 100));
            }
            let requests = turns.requests(Endpoint::Low, &way(0), &way(10 * MS)).unwrap();
            assert_eq!((requests.nagle.count, requests.held_of_client), (held, held));
            assert_eq!(requests.nagle.p50_s, (held > 0).then_some(0.04));
        }
    }

    /// The reply came in between: the client waited for it, not for the acknowledgement.
    #[test]
    fn a_request_after_a_reply_was_not_held() {
        let mut turns = Turns::default();
        for n in 0..5 {
            let at = n * 100 * MS;
            turns.talk(&talk(Endpoint::Low, at, 100));
            turns.ack(Endpoint::Low, at + 50 * MS, 100, 10 * MS);
            turns.talk(&talk(Endpoint::High, at + 51 * MS, 100));
            turns.talk(&talk(Endpoint::Low, at + 52 * MS, 100));
        }
        assert_eq!(turns.requests(Endpoint::Low, &way(0), &way(10 * MS)).unwrap().nagle.count, 0);
    }

    /// What a reply waits for in its own queue is no time of the client.
    #[test]
    fn a_reply_that_fills_the_link_is_no_thinking() {
        let mut turns = Turns::default();
        for n in 0..5 {
            let at = n * 100 * MS;
            turns.talk(&talk(Endpoint::Low, at, 100));
            turns.talk(&talk(Endpoint::High, at + MS, 4000));
            let part = Part { at: at + 50 * MS, una: 4000, trip: 49 * MS, is_alone: false };
            turns.on_acked(Endpoint::High, part, false);
            turns.talk(&Talk { asked_end: 4000, ..talk(Endpoint::Low, at + 100 * MS, 200) });
        }
        let requests = turns.requests(Endpoint::Low, &way(0), &way(0)).unwrap();
        assert_eq!(requests.think.p50_s, Some(0.05));
        assert!((requests.replies_queued_s - 5.0 * 0.049).abs() < 1e-9);
        assert!(requests.think.unsure_s < 1e-9);
    }

    /// The wait before the first request counts from the SYN-ACK, and holds one round trip to the client.
    #[test]
    fn the_client_may_think_before_its_first_request() {
        let mut turns = Turns::default();
        let first = Talk { since_answer: Some(0), ..talk(Endpoint::Low, 500 * MS, 100) };
        turns.talk(&first);
        turns.talk(&talk(Endpoint::High, 510 * MS, 100));
        let requests = turns.requests(Endpoint::Low, &way(200 * MS), &way(0)).unwrap();
        assert_eq!((requests.think.p50_s, requests.first_think_s), (Some(0.3), 0.3));
        assert!((requests.span_s - 0.51).abs() < 1e-9);
    }
}
