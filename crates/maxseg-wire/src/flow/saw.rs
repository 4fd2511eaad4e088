//! The teeth of a sender's saw: growth of the flight between losses.

use maxseg_core::evidence::{Teeth, Tooth};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::segments::Echo;

/// Follows the flight, round trip by round trip. A packet costs two comparisons; the rest is work of once a round trip.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Saw {
    /// Most in flight in this round trip.
    most: i64,
    /// The last acknowledgement brought nothing new: what it releases is more than the congestion window.
    is_stuck: bool,
    /// When this is acknowledged, the round trip or the recovery is over.
    round_end: i64,
    /// A segment was sent again, and not all of that flight is acknowledged yet.
    is_recovering: bool,
    tooth: Tooth,
    /// What the sender knew to be acknowledged, by the last timestamp that it echoed; then acknowledgements that pass elsewhere
    /// than at the sender tell nothing more.
    echoed: Option<Echo>,
    pub(super) teeth: Teeth,
}

impl Saw {
    pub(super) fn new(at: u64) -> Self {
        let tooth = Tooth { from: Time::from_nanos(at), ..Tooth::default() };
        Self { tooth, ..Self::default() }
    }

    /// A new segment was sent, with so much in flight then.
    #[inline(always)]
    pub(super) fn on_send(&mut self, in_flight: i64) {
        if in_flight > self.most && !self.is_stuck {
            self.most = in_flight;
        }
    }

    /// A new segment that ends at `end` was sent when its sender knew as much to be acknowledged as it echoes.
    #[inline]
    pub(super) fn on_echo(&mut self, at: u64, known: Echo, end: i64) {
        if self.echoed != Some(known) {
            let is_progress = self.echoed.is_none_or(|before| known.una > before.una);
            self.echoed = None;
            self.on_ack(at, known.una, end, is_progress);
            self.echoed = Some(known);
        }
        self.on_send(end - known.una);
    }

    /// A segment left less room in the receive window than another needs.
    pub(super) const fn on_full_window(&mut self) {
        self.tooth.is_capped = true;
    }

    /// An acknowledgement of everything before `una`; what is sent next begins at `nxt`.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, at: u64, una: i64, nxt: i64, is_progress: bool) {
        if self.echoed.is_some() {
            return;
        }
        self.is_stuck = !is_progress;
        if una >= self.round_end && is_progress {
            self.next_round(at, una, nxt);
        }
    }

    #[cold]
    #[inline(never)]
    fn next_round(&mut self, at: u64, una: i64, nxt: i64) {
        let most = std::mem::take(&mut self.most);
        self.round_end = nxt.max(una.saturating_add(1));
        if self.is_recovering {
            self.is_recovering = false;
            self.tooth.from = Time::from_nanos(at);
            return;
        }
        let tooth = &mut self.tooth;
        let flight = u64::try_from(most).unwrap_or(0);
        if flight == 0 {
            return; // nothing was sent
        }
        if tooth.rounds == 0 {
            tooth.first = flight;
        }
        tooth.rounds = tooth.rounds.saturating_add(1);
        tooth.flat_rounds = tooth.flat_rounds.saturating_add(1);
        tooth.sum = tooth.sum.saturating_add(flight);
        tooth.falls += u32::from(flight < tooth.last - tooth.last / 8);
        if flight > tooth.most {
            tooth.most = flight;
            tooth.flat_rounds = 0;
        }
        tooth.last = flight;
    }

    /// A segment was sent again; what is new begins at `nxt`.
    #[inline(never)]
    pub(super) fn on_resend(&mut self, at: u64, nxt: i64, by_timer: bool) {
        if self.is_recovering {
            self.tooth.after_timer |= by_timer;
            return;
        }
        self.is_recovering = true;
        self.round_end = nxt;
        let most = u64::try_from(std::mem::take(&mut self.most)).unwrap_or(0);
        let peak = if self.tooth.rounds == 0 { 0 } else { most.max(self.tooth.last) };
        if self.tooth.rounds > 0 {
            self.end(at, true);
        }
        self.tooth = Tooth { peak, after_timer: by_timer, ..Tooth::default() };
    }

    fn end(&mut self, at: u64, by_loss: bool) {
        self.teeth.push(Tooth { to: Time::from_nanos(at), by_loss, ..self.tooth });
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, at: u64) {
        self.teeth.is_by_echo = self.echoed.is_some();
        if !self.is_recovering && self.tooth.rounds > 0 {
            self.end(at, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;
    const SEGMENT: i64 = 1000;

    /// A sender with a window per round trip of 10 ms: sends the window, and all of it is acknowledged.
    struct Sender {
        saw: Saw,
        at: u64,
        nxt: i64,
    }

    impl Sender {
        fn round(&mut self, window: i64) {
            let una = self.nxt;
            for _ in 0..window {
                self.nxt += SEGMENT;
                self.saw.on_send(self.nxt - una);
            }
            self.at += 10 * MILLI;
            self.saw.on_ack(self.at, self.nxt, self.nxt, true);
        }
    }

    #[test]
    fn teeth_are_what_a_saw_has() {
        let mut sender = Sender { saw: Saw::new(0), at: 0, nxt: 0 };
        sender.saw.on_ack(0, 0, 0, true);
        for window in [10, 20, 40, 40] {
            sender.round(window);
        }
        // The last flight loses one: duplicates release more, which is no congestion window.
        let una = sender.nxt;
        for _ in 0..40 {
            sender.nxt += SEGMENT;
            sender.saw.on_send(sender.nxt - una);
        }
        for _ in 0..3 {
            sender.saw.on_ack(sender.at, una, sender.nxt, false);
            sender.nxt += SEGMENT;
            sender.saw.on_send(sender.nxt - una);
        }
        sender.saw.on_resend(sender.at, sender.nxt, false);
        sender.at += 10 * MILLI;
        sender.saw.on_ack(sender.at, sender.nxt, sender.nxt, true);
        for window in [20, 21, 22] {
            sender.round(window);
        }
        sender.saw.finish(sender.at);
        let teeth = sender.saw.teeth.as_slice();
        assert_eq!(teeth.len(), 2, "{teeth:?}");
        assert_eq!((teeth[0].first, teeth[0].most, teeth[0].peak), (10_000, 40_000, 0));
        assert!(teeth[0].by_loss && !teeth[1].by_loss);
        assert_eq!((teeth[1].peak, teeth[1].first, teeth[1].last), (40_000, 20_000, 22_000));
        assert_eq!(teeth[1].rounds, 3);
    }

    /// A timestamp that is echoed tells what the sender knew, however long the way is.
    #[test]
    fn echoes_tell_flights_anywhere() {
        let mut saw = Saw::new(0);
        for round in 0..5_i64 {
            let una = round * 8 * SEGMENT;
            let stamp = u32::try_from(round).unwrap();
            for segment in 1..=8 {
                // What passes here has been acknowledged here long since.
                saw.on_ack(0, una + segment * SEGMENT, una + segment * SEGMENT, true);
                saw.on_echo(0, Echo { stamp, una }, una + segment * SEGMENT);
            }
        }
        saw.finish(0);
        assert!(saw.teeth.is_by_echo);
        assert_eq!(saw.teeth.as_slice()[0].most, 8000);
    }
}
