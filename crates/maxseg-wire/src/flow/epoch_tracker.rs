//! Congestion epochs: growth of the flight between losses.

mod ends;

use maxseg_core::evidence::{
    CongestionEpoch, CongestionEpochs, FlightAtLoss, Outage, RecoveryBefore, RoundFlight,
};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::drop_lines::DropLines;
use super::identifications::Identifications;
use super::opening_rounds::OpeningTracker;
use super::recovery_rounds::RecoveryRounds;
use super::segments::Echo;

/// Why a segment is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resend {
    /// Acknowledgements show that it is lost, or a probe of the tail asks.
    Loss,
    /// The retransmission timer has expired: it is the first that is sent again since,
    Expiry,
    /// or a further one.
    AfterExpiry,
}

/// Follows the flight, round trip by round trip. A packet costs two comparisons; the rest is work of once a round trip.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "what a round trip is or is not")]
pub(super) struct EpochTracker {
    /// Most in flight in this round trip.
    most: i64,
    /// The last acknowledgement brought nothing new: what it releases is more than the congestion window.
    is_stuck: bool,
    /// When this is acknowledged, the round trip or the recovery is over.
    round_end: i64,
    /// What was acknowledged when this round trip began, and when the retransmission timer last expired.
    round_una: i64,
    expiry_una: i64,
    /// A segment was sent again, and not all of that flight is acknowledged yet.
    is_recovering: bool,
    /// The receive window was full in this round trip.
    is_full: bool,
    /// The end of the last segment behind which its program had no more data.
    short_end: i64,
    /// The capture began in the midst of this round trip.
    is_cut: bool,
    epoch: CongestionEpoch,
    opening: OpeningTracker,
    /// The longest time that seemed idle, and ended behind a flight that was lost whole.
    pub(super) lost_flight: Option<Outage>,
    /// The last loss; its recovery may still go on.
    loss: Option<FlightAtLoss>,
    /// What had been sent when it was noticed.
    sent_until: i64,
    /// What the sender knew to be acknowledged, by the last timestamp that it echoed; then acknowledgements that pass elsewhere
    /// than at the sender tell nothing more.
    echoed: Option<Echo>,
    /// From when it passed to when the first segment did that echoes it: a round trip, with all that queued.
    round_trip: Time,
    pub(super) identifications: Identifications,
    pub(super) recovery: RecoveryRounds,
    pub(super) drop_lines: Option<Box<DropLines>>,
    pub(super) list: CongestionEpochs,
}

impl EpochTracker {
    /// A sender whose flight at `at` begins at `una`, in a capture that may have begun in the midst of it.
    pub(super) fn new(at: u64, una: i64, opening: OpeningTracker, is_cut: bool) -> Self {
        let epoch = CongestionEpoch { from: Time::from_nanos(at), ..CongestionEpoch::default() };
        Self { epoch, sent_until: una, opening, is_cut, ..Self::default() }
    }

    /// A new segment was sent: it may belong to the connection's opening.
    #[inline(always)]
    pub(super) fn on_new(&mut self, at: u64, payload: u64) {
        if at < self.opening.until {
            self.opening.on_send(at, payload);
        }
    }

    /// A segment passes that others have overtaken; `is_last`: nothing more is missing before one of these. It was sent before them, and belongs to the
    /// opening as they do.
    #[cold]
    pub(super) fn on_overtaken(&mut self, at: u64, payload: u64, is_last: bool) {
        self.on_new(at, payload);
        if is_last {
            let overtaking = self.list.overtaking.get_or_insert_default();
            *overtaking = overtaking.saturating_add(1);
        }
    }

    /// A new segment, which ends there, was short: its program had no more data then.
    pub(super) const fn on_short(&mut self, end: i64) {
        self.short_end = end;
    }

    /// A new segment was sent, with so much in flight then.
    #[inline(always)]
    pub(super) fn on_send(&mut self, in_flight: i64) {
        if in_flight > self.most && !self.is_stuck {
            self.most = in_flight;
        }
    }

    /// A new segment from `start` to `end` was sent when its sender knew as much to be acknowledged as it echoes: all before it had
    /// been sent then.
    #[inline]
    pub(super) fn on_echo(&mut self, at: u64, known: Echo, start: i64, end: i64) {
        if self.echoed != Some(known) {
            let is_progress = self.echoed.is_none_or(|before| known.una > before.una);
            self.echoed = None;
            self.on_ack(at, known.una, start, is_progress);
            self.round_trip = Time::from_nanos(at.saturating_sub(known.at));
            self.echoed = Some(known);
        }
        self.on_send(end - known.una);
    }

    /// A segment left less room in the receive window than another needs.
    pub(super) const fn on_full_window(&mut self) {
        self.epoch.is_capped = true;
        self.is_full = true;
    }

    /// Windows are larger than was taken for granted: none was full.
    pub(super) const fn on_wider_windows(&mut self) {
        self.epoch.is_capped = false;
        self.epoch.open_rounds = 0;
        self.is_full = false;
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
        let is_open = !std::mem::take(&mut self.is_full);
        let acked = una - std::mem::replace(&mut self.round_una, una);
        self.round_end = nxt.max(una.saturating_add(1));
        if self.is_recovering || std::mem::take(&mut self.is_cut) {
            self.is_recovering = false;
            self.epoch.from = Time::from_nanos(at);
            self.epoch.before.acked = u64::try_from(una - self.expiry_una).unwrap_or(0);
            return;
        }
        let epoch = &mut self.epoch;
        let flight = u64::try_from(most).unwrap_or(0);
        // A flight that ended where its program had no more data is as large as the congestion window by chance alone
        // (`tcp_is_cwnd_limited` in `include/net/tcp.h`).
        if flight == 0 || self.short_end == nxt {
            epoch.short_rounds += u32::from(flight > 0 && epoch.rounds > 0);
            return;
        }
        if epoch.rounds == 0 {
            epoch.first = flight;
        }
        if epoch.before.in_flight > 0 && epoch.is_next_kept() {
            let bytes = |bytes: i64| u32::try_from(bytes).unwrap_or(u32::MAX);
            self.list.push_flight(RoundFlight { most: bytes(most), acked: bytes(acked) }, epoch);
        }
        epoch.rounds = epoch.rounds.saturating_add(1);
        epoch.flat_rounds = epoch.flat_rounds.saturating_add(1);
        epoch.sum = epoch.sum.saturating_add(flight);
        epoch.open_rounds += u32::from(epoch.is_capped && is_open);
        if flight > epoch.most {
            epoch.most = flight;
            epoch.flat_rounds = 0;
        }
        epoch.last = flight;
    }

    /// A segment was sent again; what is new begins at `nxt`, what is not acknowledged at `una`.
    #[inline(never)]
    pub(super) fn on_resend(&mut self, at: u64, una: i64, nxt: i64, reason: Resend) {
        let (by_timer, has_expired) = (reason != Resend::Loss, reason == Resend::Expiry);
        if has_expired {
            self.expiry_una = una;
        }
        if self.is_recovering {
            self.epoch.after_timer |= by_timer;
            self.epoch.before.resent += 1;
            if has_expired {
                self.epoch.before.resent = 1;
                // All that is outstanding then is sent again (`high_seq` in `tcp_enter_loss`, `net/ipv4/tcp_input.c`).
                self.round_end = self.round_end.max(nxt);
            }
            if let Some(loss) = &mut self.loss {
                loss.resent = loss.resent.saturating_add(1);
                loss.by_timer |= by_timer;
            }
            return;
        }
        self.begin_loss(at, una, nxt, by_timer);
        self.is_recovering = true;
        self.round_end = nxt;
        let most = u64::try_from(std::mem::take(&mut self.most)).unwrap_or(0);
        let peak = if self.epoch.rounds == 0 { 0 } else { most.max(self.epoch.last) };
        if self.epoch.rounds > 0 {
            self.end(at, true);
        }
        let in_flight = u64::try_from(nxt - una).unwrap_or(0);
        let was_capped = self.epoch.is_capped;
        let before = RecoveryBefore { in_flight, was_capped, resent: 1, acked: 0 };
        self.epoch =
            CongestionEpoch { peak, before, after_timer: by_timer, ..CongestionEpoch::default() };
    }

    fn begin_loss(&mut self, at: u64, una: i64, nxt: i64, by_timer: bool) {
        let bytes = |span: i64| u64::try_from(span).unwrap_or(0);
        let loss = FlightAtLoss {
            at: Time::from_nanos(at),
            in_flight: bytes(nxt - una),
            sent_since: bytes(nxt - self.sent_until),
            resent: 1,
            by_timer,
            is_capped: self.epoch.is_capped,
            round_trip: self.round_trip,
        };
        self.sent_until = nxt;
        if let Some(before) = self.loss.replace(loss) {
            self.list.push_loss(before);
        }
    }

    fn end(&mut self, at: u64, by_loss: bool) {
        self.list.push(CongestionEpoch { to: Time::from_nanos(at), by_loss, ..self.epoch });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;
    const SEGMENT: i64 = 1000;

    /// A sender with a window per round trip of 10 ms: sends the window, and all of it is acknowledged.
    struct Sender {
        epochs: EpochTracker,
        at: u64,
        nxt: i64,
    }

    impl Sender {
        fn round(&mut self, window: i64) {
            let una = self.nxt;
            for _ in 0..window {
                self.nxt += SEGMENT;
                self.epochs.on_send(self.nxt - una);
            }
            self.at += 10 * MILLI;
            self.epochs.on_ack(self.at, self.nxt, self.nxt, true);
        }
    }

    #[test]
    fn epochs_run_from_loss_to_loss() {
        let mut sender = Sender {
            epochs: EpochTracker::new(0, 0, OpeningTracker::default(), false),
            at: 0,
            nxt: 0,
        };
        sender.epochs.on_ack(0, 0, 0, true);
        for window in [10, 20, 40, 40] {
            sender.round(window);
        }
        // The last flight loses one: duplicates release more, which is no congestion window.
        let una = sender.nxt;
        for _ in 0..40 {
            sender.nxt += SEGMENT;
            sender.epochs.on_send(sender.nxt - una);
        }
        for _ in 0..3 {
            sender.epochs.on_ack(sender.at, una, sender.nxt, false);
            sender.nxt += SEGMENT;
            sender.epochs.on_send(sender.nxt - una);
        }
        sender.epochs.on_resend(sender.at, una, sender.nxt, Resend::Loss);
        sender.at += 10 * MILLI;
        sender.epochs.on_ack(sender.at, sender.nxt, sender.nxt, true);
        for window in [20, 21, 22] {
            sender.round(window);
        }
        sender.epochs.finish(sender.at);
        let [one, two] = sender.epochs.list.as_slice() else { panic!() };
        assert_eq!((one.first, one.most, one.peak), (10_000, 40_000, 0));
        assert!(one.by_loss && !two.by_loss);
        assert_eq!((two.peak, two.first, two.last, two.rounds), (40_000, 20_000, 22_000, 3));
        assert_eq!((two.before.in_flight, two.before.resent), (43_000, 1));
        let flights = sender.epochs.list.flights_of(two).iter().map(|it| (it.most, it.acked));
        assert!(flights.eq([(20_000, 20_000), (21_000, 21_000), (22_000, 22_000)]));
        let [loss] = sender.epochs.list.losses() else { panic!() };
        assert_eq!((loss.in_flight, loss.sent_since), (43_000, 153_000));
    }

    /// A reply that is smaller than the congestion window tells nothing of its growth.
    #[test]
    fn flights_that_end_with_the_program_s_data_do_not_count() {
        let mut sender = Sender {
            epochs: EpochTracker::new(0, 0, OpeningTracker::default(), false),
            at: 0,
            nxt: 0,
        };
        sender.epochs.on_ack(0, 0, 0, true);
        for window in [6, 7, 8, 9] {
            sender.epochs.on_short(sender.nxt + window * SEGMENT);
            sender.round(window);
        }
        for window in [10, 20, 40] {
            // A short segment in the midst of a flight is not the last of it.
            sender.epochs.on_short(sender.nxt + 3 * SEGMENT);
            sender.round(window);
        }
        sender.epochs.on_short(sender.nxt + 6 * SEGMENT);
        sender.round(6);
        sender.epochs.finish(sender.at);
        let [epoch] = sender.epochs.list.as_slice() else { panic!() };
        let rounds = (epoch.rounds, epoch.short_rounds);
        assert_eq!((rounds, epoch.first, epoch.most), ((3, 1), 10_000, 40_000));
    }

    /// One segment that overtook three others is one, and these belong to the opening.
    #[test]
    fn who_overtakes_many_counts_once() {
        let opening = OpeningTracker::new(0, 0, 10 * MILLI, 2000);
        let mut tracker = EpochTracker::new(0, 0, opening, false);
        for is_last in [false, false, true] {
            tracker.on_overtaken(1, 1000, is_last);
        }
        assert_eq!(tracker.list.overtaking, Some(1));
        assert_eq!(tracker.opening.found.rounds[0].bytes, 5000);
    }

    /// A timestamp that is echoed tells what the sender knew, however long the way is.
    #[test]
    fn echoes_tell_flights_anywhere() {
        let mut tracker = EpochTracker::new(0, 0, OpeningTracker::default(), false);
        for round in 0..5_i64 {
            let una = round * 8 * SEGMENT;
            let stamp = u32::try_from(round).unwrap();
            for segment in 1..=8 {
                // What passes here has been acknowledged here long since.
                tracker.on_ack(0, una + segment * SEGMENT, una + segment * SEGMENT, true);
                let start = una + (segment - 1) * SEGMENT;
                tracker.on_echo(0, Echo { stamp, window: 0, una, at: 0 }, start, start + SEGMENT);
            }
        }
        tracker.finish(0);
        assert!(tracker.list.is_by_echo);
        assert_eq!(tracker.list.as_slice()[0].most, 8000);
    }

    /// A segment that echoes the end of a round trip was sent in the next: what grows there is none of the first flight.
    #[test]
    fn round_trips_end_before_the_segment_that_echoes_their_end() {
        let mut tracker = EpochTracker::new(0, 0, OpeningTracker::default(), false);
        // Four in flight, and five from the round trip on that the fourth acknowledgement begins.
        let sent: [(i64, &[i64]); 6] =
            [(0, &[0, 1, 2, 3]), (1, &[4]), (2, &[5]), (3, &[6]), (4, &[7, 8]), (5, &[9])];
        for (una, places) in sent {
            let stamp = u32::try_from(una).unwrap();
            for place in places {
                let known = Echo { stamp, window: 0, una: una * SEGMENT, at: 0 };
                tracker.on_echo(7 * MILLI, known, place * SEGMENT, (place + 1) * SEGMENT);
            }
        }
        tracker.on_resend(40 * MILLI, 5 * SEGMENT, 10 * SEGMENT, Resend::Loss);
        tracker.finish(40 * MILLI);
        let epoch = tracker.list.as_slice()[0];
        assert_eq!((epoch.rounds, epoch.first, epoch.last), (2, 4000, 4000), "{epoch:?}");
        assert_eq!(tracker.list.losses()[0].round_trip, Time::from_millis(7));
    }
}
