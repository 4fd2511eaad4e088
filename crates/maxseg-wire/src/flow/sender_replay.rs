//! A replay of a direction's sender: at each moment, whether it was limited by the application, by the receive window,
//! by its send buffer, by the retransmission timer, or by the congestion window.
//!
//! Times are the sender's: the caller shifts those of a capture point elsewhere.

mod news;
mod resumed;
mod revised;

use maxseg_core::evidence::{Cause, Refills};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use self::news::Flights;
pub(super) use self::news::{AckUpdate, NewSegment};
use super::ack_clock::AckClock;
use super::bin_recorder::BinRecorder;
use super::epoch_tracker::{EpochTracker, Resend};
use super::idle_restart::{Departure, IdleRestarts};
use super::opening_rounds::OpeningTracker;
use super::refills::{RefillTracker, Sent};
use super::window_left::WindowLeft;

/// The state of a sender, from the segments that it sent and the acknowledgements that it received.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SenderReplay {
    pub(super) bins: BinRecorder,
    window_left: WindowLeft,
    /// The time up to which the bins are complete.
    clock: u64,
    /// The byte that is sent next, and the first that is not acknowledged.
    nxt: i64,
    una: i64,
    /// The right edge of the window; `None` while its scale is not known.
    edge: Option<i64>,
    /// The largest window that it was offered.
    window_most: i64,
    /// Payload of a full segment, and the most that it may be: options take room of some, as the blocks of a SACK do of one with payload
    /// (RFC 2018 §3).
    full: i64,
    full_most: i64,
    /// The round trip of the handshake, in microseconds; 0 where none was seen.
    first_round_trip: u32,
    /// When the last short segment was sent, after which the send queue was empty.
    drained_from: Option<u64>,
    /// For how many milliseconds it was until all was acknowledged, where nothing was sent since.
    drained_last: u32,
    /// Whether more than a first flight was sent.
    flights: Flights,
    /// Full-sized segments since the last short one, and between the two short ones before.
    full_since_short: u32,
    full_before_short: u32,
    /// When the sender last sent new data or received an acknowledgement of it.
    last_progress: u64,
    pub(super) restarts: IdleRestarts,
    /// From the first flight on that is larger than [`FEW_SEGMENTS`], or the first loss of one larger than [`FEW_WITH_LOSSES`]: others show no
    /// congestion control, and short connections need no memory for them.
    pub(super) epochs: Option<Box<EpochTracker>>,
    /// From the first such flight on.
    refills: Option<Box<RefillTracker>>,
}

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
/// Least and most length of an interval, in nanoseconds.
const LEAST_WIDTH: u64 = 1_000_000;
const MOST_WIDTH: u64 = 100_000_000;
/// A flight of no more segments grows and falls by steps that tell no congestion control from another,
const FEW_SEGMENTS: i64 = 4;
/// but where losses cut it short again and again: then of no more than so many.
const FEW_WITH_LOSSES: i64 = 3;
/// Least full-sized segments between short ones of a sender whose send buffer is full; fewer mean short messages.
const FULL_BETWEEN_SHORT: u32 = 3;

fn time(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn bytes(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

impl SenderReplay {
    /// A sender whose first data segment is sent at `at`, after a handshake with this round trip in nanoseconds, 0 where none was
    /// seen.
    pub(super) fn new(at: u64, round_trip: u64, full: i64, nxt: i64, edge: Option<i64>) -> Self {
        let width = round_trip.clamp(LEAST_WIDTH, MOST_WIDTH);
        Self {
            bins: BinRecorder::new(time(at), time(width)),
            window_left: WindowLeft::new(width),
            clock: at,
            nxt,
            una: nxt,
            edge,
            window_most: 0,
            full: full.max(1),
            full_most: full.max(1),
            first_round_trip: u32::try_from(round_trip.div_ceil(MICRO)).unwrap_or(u32::MAX),
            drained_from: None,
            drained_last: 0,
            flights: Flights::First,
            full_since_short: 0,
            full_before_short: 0,
            last_progress: at,
            restarts: IdleRestarts::default(),
            epochs: None,
            refills: None,
        }
    }

    /// Windows are so many times as large as was taken for granted.
    pub(super) fn scale_windows(&mut self, times: i64) {
        self.edge = self.edge.map(|edge| self.una + (edge - self.una).saturating_mul(times));
        self.window_most = self.window_most.saturating_mul(times);
        self.bins.scale_windows(times.unsigned_abs());
    }

    /// Payload of a full segment.
    pub(super) const fn full(&self) -> i64 {
        self.full
    }

    /// Whether this payload consists of full-sized segments.
    const fn is_full(&self, payload: i64) -> bool {
        payload == self.full || payload % self.full == 0 // most are one, and a division takes long
    }

    /// Whether the last short segment came behind full ones: it is the rest of what was written.
    pub(super) const fn is_behind_full(&self) -> bool {
        self.full_before_short > 0 && self.full_since_short == 0
    }

    pub(super) const fn in_flight(&self) -> i64 {
        self.nxt - self.una
    }

    /// Accounts for the time up to `to`.
    #[inline(always)]
    fn advance(&mut self, to: u64) {
        let from = self.clock;
        if to <= from {
            return;
        }
        self.clock = to;
        let left = self.edge.map_or(i64::MAX, |edge| edge - self.nxt);
        // A sender fills a window of less than two segments by halves (RFC 9293 §3.8.6.2.1).
        if left < self.full && left < self.full.min(self.window_most / 2).max(1) {
            self.was_shut(from, to);
        } else if self.in_flight() <= 0 {
            self.was_idle(from, to);
        }
    }

    /// The window had no room from `from` to `to`.
    #[inline(never)]
    fn was_shut(&mut self, from: u64, to: u64) {
        self.drained_from = None;
        let is_zero = self.edge == Some(self.una);
        self.bins.spread(time(from), time(to), |bin, span| {
            bin.rwnd_limited = bin.rwnd_limited.saturating_add(span);
            if is_zero {
                bin.zero_window = bin.zero_window.saturating_add(span);
            }
        });
    }

    /// Nothing was in flight from `from` to `to`.
    #[inline(never)]
    fn was_idle(&mut self, from: u64, to: u64) {
        let after_full = self.full_since_short > 0;
        if let Some(drained) = self.drained_from {
            let millis = from.saturating_sub(drained).div_ceil(MILLI);
            self.drained_last = u32::try_from(millis).unwrap_or(u32::MAX);
            self.settle(from, false);
        }
        self.bins.spread(time(from), time(to), |bin, span| {
            bin.idle = bin.idle.saturating_add(span);
            if after_full {
                bin.idle_after_full = bin.idle_after_full.saturating_add(span);
            }
        });
    }

    /// Accounts for the time since the last short segment, up to `to`.
    #[inline(always)]
    fn settle(&mut self, to: u64, by_ack: bool) {
        if let Some(from) = self.drained_from.take() {
            self.was_drained(from, to, by_ack);
        }
    }

    #[inline(never)]
    fn was_drained(&mut self, from: u64, to: u64, by_ack: bool) {
        self.bins.spread(time(from), time(to), |bin, span| {
            let spent = if by_ack { &mut bin.sndbuf_limited } else { &mut bin.app_limited };
            *spent = spent.saturating_add(span);
        });
    }

    /// A segment with new payload was sent. Returns whether it left less room in the receive window than another needs.
    #[inline(always)]
    pub(super) fn on_send(&mut self, sent: NewSegment) -> bool {
        self.advance(sent.at);
        let by_ack = sent.is_clocked && self.full_before_short >= FULL_BETWEEN_SHORT;
        self.settle(sent.at, by_ack);
        self.drained_last = 0;
        self.restarts.on_send(&Departure {
            at: sent.at,
            start: self.nxt.max(sent.end - sent.payload),
            end: sent.end,
            una: self.una,
            last_progress: self.last_progress,
            is_full_and_clocked: sent.is_clocked && self.is_full(sent.payload),
            is_recovering: sent.is_recovering,
            has_window: self.edge.is_none_or(|edge| edge - sent.end >= self.full),
        });
        if !sent.is_pushed && sent.payload <= self.full_most {
            self.full = sent.payload.max(1);
        }
        let is_short = sent.is_pushed && !self.is_full(sent.payload) && !sent.is_recovering;
        if is_short {
            self.drained_from = Some(sent.at);
            self.full_before_short = self.full_since_short;
            self.full_since_short = 0;
        } else {
            self.full_since_short = self.full_since_short.saturating_add(1);
        }
        if self.flights == Flights::Acknowledged {
            self.flights = Flights::Further;
        }
        self.nxt = self.nxt.max(sent.end);
        self.last_progress = sent.at;
        let (in_flight, edge, una) = (bytes(self.in_flight()), self.edge, self.una);
        let has_filled_window = self.leaves_no_room(&sent);
        let nxt = self.nxt;
        let flight = sent.known.map_or(nxt - una, |known| sent.end - known.una);
        if self.epochs.is_some() || flight > FEW_SEGMENTS * self.full {
            let epochs = self.epochs.get_or_insert_with(|| {
                let begin = self.bins.begin().map_or(sent.at, Time::as_nanos);
                let before = bytes(sent.end - sent.payload - una);
                let round_trip = u64::from(self.first_round_trip) * MICRO;
                let opening = OpeningTracker::new(sent.at, begin, round_trip, before);
                Box::new(EpochTracker::new(sent.at, una, opening, round_trip == 0))
            });
            epochs.on_new(sent.at, bytes(sent.payload));
            epochs.identifications.on_new(sent.ip_id, sent.end - sent.payload, sent.end);
            match sent.known {
                None => epochs.on_send(flight),
                Some(known) => {
                    epochs.on_echo(sent.at, known, sent.end - sent.payload, sent.end);
                }
            }
            if is_short {
                epochs.on_short(sent.end);
            }
            if has_filled_window {
                epochs.on_full_window();
            }
            self.refills.get_or_insert_default().on_send(&Sent {
                at: sent.at,
                at_once: sent.at_once,
                is_short,
                end: sent.end,
                payload: sent.payload,
                full: self.full,
                una: sent.known.map_or(una, |known| known.una),
                stamp: sent.known.map(|known| known.stamp),
                is_recovering: sent.is_recovering,
                is_late: sent.waited > AckClock::LATE,
                is_at_once: sent.is_clocked,
            });
        }
        let bin = self.bins.at(time(sent.at));
        bin.sent_bytes += bytes(sent.payload);
        bin.clocked_bytes += if sent.is_clocked { bytes(sent.payload) } else { 0 };
        bin.segments += 1;
        bin.in_flight_max = bin.in_flight_max.max(in_flight);
        if let Some(edge) = edge {
            let left = bytes(edge - nxt);
            self.window_left.on_send(sent.at, left, bin);
            bin.window_max = bin.window_max.max(bytes(edge - una));
        }
        has_filled_window
    }

    /// The unused receive window, in bytes; `None` while its scale is not known.
    pub(super) fn window_left(&self) -> Option<i64> {
        self.edge.map(|edge| edge - self.nxt)
    }

    /// Whether a new segment left less room in the receive window than another needs. What it echoes tells which window its sender had,
    /// where an acknowledgement that was to be there in time by the least round trip was not.
    fn leaves_no_room(&self, sent: &NewSegment) -> bool {
        let known = sent.known.filter(|known| known.window > 0);
        let known = known.map(|known| known.una + i64::from(known.window) - sent.end);
        self.window_left().is_some_and(|left| left.min(known.unwrap_or(left)) < self.full)
    }

    /// A segment was retransmitted; `begins_timeout`: it is the first after an expiry of the retransmission timer.
    pub(super) fn on_resend(
        &mut self,
        at: u64,
        payload: i64,
        ip_id: Option<u16>,
        (cause, begins_timeout): (Cause, bool),
    ) {
        let is_lost = cause != Cause::TooLarge;
        let reason = match (cause == Cause::Rto, begins_timeout) {
            (true, true) => Resend::Expiry,
            (true, false) => Resend::AfterExpiry,
            (false, _) => Resend::Loss,
        };
        self.advance(at);
        self.drained_from = None;
        if cause == Cause::Rto {
            self.bins.spread(time(self.last_progress), time(at), |bin, span| {
                bin.rto_wait = bin.rto_wait.saturating_add(span);
            });
        }
        self.last_progress = at;
        if is_lost && self.epochs.is_none() && self.in_flight() > FEW_WITH_LOSSES * self.full {
            let begun = EpochTracker::new(at, self.una, OpeningTracker::default(), false);
            self.epochs = Some(Box::new(begun));
        }
        if let Some(epochs) = self.epochs.as_mut().filter(|_| is_lost) {
            let unseen = i64::from(epochs.identifications.on_resend(ip_id)) * self.full;
            epochs.on_resend(at, self.una, self.nxt + unseen, reason);
        }
        if let Some(refills) = &mut self.refills {
            refills.on_resend();
        }
        if is_lost {
            self.restarts.on_loss();
        }
        let bin = self.bins.at(time(at));
        bin.resent_bytes += bytes(payload);
        bin.segments += 1;
        bin.losses += u32::from(is_lost);
    }

    /// An acknowledgement reached the sender.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, at: u64, news: &AckUpdate) {
        self.advance(at);
        self.restarts.on_ack(at, news.una);
        let is_progress = news.una > self.una;
        if let Some(epochs) = &mut self.epochs {
            epochs.on_ack(at, news.una, self.nxt, is_progress);
        }
        if let Some(refills) = &mut self.refills {
            refills.on_ack(at, news.una - self.una, news.edge);
        }
        if is_progress {
            if self.flights == Flights::First {
                self.flights = Flights::Acknowledged;
            }
            self.una = news.una;
            self.nxt = self.nxt.max(news.una);
            self.last_progress = self.last_progress.max(at);
        }
        if news.delivered > 0 {
            self.bins.at(time(at)).acked_bytes += news.delivered;
        }
        self.edge = news.edge;
        self.window_most = self.window_most.max(news.edge.map_or(0, |edge| edge - news.una));
    }

    /// Times that the sender let acknowledgements pass without sending.
    pub(super) fn refills(&self) -> Option<Refills> {
        self.refills.as_ref().and_then(|refills| refills.found(self.full))
    }

    /// A round-trip sample, in nanoseconds.
    pub(super) fn on_round_trip(&mut self, at: u64, rtt: u64) {
        let rtt = time(rtt);
        let bin = self.bins.at(time(at));
        bin.rtt_count = bin.rtt_count.saturating_add(1);
        bin.rtt_sum = bin.rtt_sum.saturating_add(rtt);
        bin.rtt_min = Some(bin.rtt_min.map_or(rtt, |least| least.min(rtt)));
    }

    /// The capture ends. That the sender had no more behind its last segment held nothing up, but where all left in one flight: then no
    /// window did either.
    pub(super) fn finish(&mut self, at: u64) {
        self.advance(at);
        if self.flights == Flights::Further {
            self.was_not_drained_last();
        } else {
            self.settle(at, false);
        }
        self.restarts.finish(self.last_progress);
        if let Some(epochs) = &mut self.epochs {
            epochs.finish(at);
        }
        self.bins.finish(time(at));
    }
}

#[cfg(test)]
mod tests;
