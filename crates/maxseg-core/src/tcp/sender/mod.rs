//! The sending half of a connection: transmission, loss recovery, timers.
//!
//! One state machine in several files: [`Sender`] holds the state of each concern, and each concern's file has the
//! `impl Sender` that acts on it. The imports between them therefore form a circle.

mod black_hole;
mod handshake;
mod loss;
mod output;
mod passive;
mod persist;
mod sack;
mod timer;
mod undo;

use super::cc::{AckSample, Congestion, CongestionControl, CongestionSample, Controller};
use super::stats::{Limit, SenderStats};
use super::{Config, OptionsPool, Rto, SackBlocks, Segment, SegmentOptions, Timestamps};
use crate::settings::{FirstLoss, RecoveryName};
use crate::units::{Bytes, Time};
use black_hole::BlackHoleDetector;
use persist::Persist;
use sack::SackRecovery;
use undo::UndoState;

/// The sending half of a TCP connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own; RFC state machines have them"
)]
pub struct Sender {
    mss: u64,
    /// First unacknowledged byte (SND.UNA), next byte to send (SND.NXT), end of the highest byte ever sent (SND.MAX).
    una: u64,
    nxt: u64,
    max: u64,
    /// End of the bytes written by the application.
    end: u64,
    peer_window: u64,
    send_buffer: u64,
    /// The window's right edge, and the number of segments that may be sent until the next event.
    edge: u64,
    burst: u32,
    /// The congestion window when `edge` was computed.
    cwnd: u64,
    pending_control: PendingControl,
    established: bool,

    duplicate_acks: u32,
    /// Whether the sender is in fast recovery.
    recovering: bool,
    partial_ack_seen: bool,
    /// Bytes sent by limited transmit since the last new acknowledgement.
    limited_sent: u64,
    /// `max` at the last reduction: losses below it belong to the same window of data.
    recover: Option<u64>,
    /// `una` at the last timeout.
    timed_out_at: Option<u64>,
    /// End and transmission time of the segment being timed.
    timed: Option<(u64, Time)>,
    timer: Time,
    rto: Rto,
    cc: Controller,

    recovery: RecoveryName,
    recovery_burst: u32,
    first_loss: Option<FirstLoss>,
    limited_transmit: bool,
    handshake_ack: bool,
    sack: Option<Box<SackRecovery>>,
    /// The last reduction, while it may still prove spurious.
    undo_state: Option<UndoState>,
    persist: Option<Persist>,
    black_hole: Option<BlackHoleDetector>,
    timestamps: bool,
    /// The peer's timestamp to echo.
    peer_timestamp: Time,
    ecn: bool,
    /// The next segment with data carries CWR.
    reduced: bool,
    /// `max` at the last reduction for a mark: one reduction per window of data.
    marked_until: u64,

    limit: Limit,
    since: Time,
    stats: SenderStats,
}

/// A segment to be sent before any new data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingControl {
    Nothing,
    Syn,
    /// The acknowledgement that completes the handshake.
    HandshakeAck,
    /// A retransmission of the first unacknowledged segment.
    Unacknowledged,
    /// A zero-window probe.
    Probe,
}

impl Sender {
    /// A sender that opens its connection at `start`, without data.
    pub fn new(config: &Config, start: Time) -> Self {
        let settings = &config.sender;
        Self {
            mss: config.mss().get(),
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            peer_window: 0,
            send_buffer: settings.send_buffer.map_or(u64::MAX, Bytes::get),
            edge: 0,
            burst: 0,
            cwnd: 0,
            pending_control: PendingControl::Syn,
            established: false,
            duplicate_acks: 0,
            recovering: false,
            partial_ack_seen: false,
            limited_sent: 0,
            recover: None,
            timed_out_at: None,
            timed: None,
            timer: Time::NEVER,
            rto: Rto::new(settings.rto),
            cc: Controller::new(config),
            recovery: settings.recovery,
            recovery_burst: settings.recovery_burst.unwrap_or(u32::MAX),
            first_loss: settings.ns2.map(|rules| rules.first_loss),
            limited_transmit: settings.limited_transmit,
            handshake_ack: settings.handshake_ack,
            sack: config.uses_sack().then(|| Box::new(SackRecovery::new(settings.ns2.is_some()))),
            undo_state: None,
            persist: None,
            black_hole: settings.mtu_probing.is_on().then(|| BlackHoleDetector::new(config.clamp)),
            timestamps: config.uses_timestamps(),
            peer_timestamp: Time::ZERO,
            ecn: config.uses_ecn(),
            reduced: false,
            marked_until: 0,
            limit: Limit::StartUp,
            since: start,
            stats: SenderStats::default(),
        }
    }

    /// Adds `payload` to the data to send.
    pub fn write(&mut self, payload: Bytes) {
        self.end = self.end.saturating_add(payload.get());
        if self.established && !self.is_repairing() {
            self.open_up(u32::MAX, 0);
        }
    }

    /// Processes an acknowledgement.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, segment: &Segment) {
        self.account(now);
        if let Some(timestamps) = segment.timestamps() {
            self.peer_timestamp = timestamps.value;
        }
        if !self.established {
            return self.on_syn_ack(now, segment);
        }
        if self.undo_state.is_some() {
            self.detect_spurious_cut(now, segment);
        }
        if segment.echoes_marks && self.ecn {
            self.on_echoed_mark(segment.ack);
        }
        if segment.ack > self.una && segment.ack <= self.max {
            self.peer_window = u64::from(segment.window);
            self.end_persist(now);
            self.on_new_ack(now, segment);
        } else if segment.ack == self.una {
            let window_update = u64::from(segment.window) != self.peer_window;
            self.peer_window = u64::from(segment.window);
            self.end_persist(now);
            if self.max > self.una && !window_update && self.may_be_duplicate(segment) {
                self.on_duplicate_ack(now, segment);
            } else if window_update || !self.is_repairing() {
                self.open_up(u32::MAX, 0);
            }
        }
    }

    /// Expiry of the retransmission timer; [`Time::NEVER`] while it is off.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.timer
    }

    /// Acknowledged payload.
    #[inline]
    pub fn acknowledged(&self) -> Bytes {
        Bytes::new(self.una.saturating_sub(1))
    }

    /// Whether all written data is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una == self.end && self.established
    }

    /// Bytes in flight, as the sender estimates them.
    pub fn in_flight(&self) -> Bytes {
        match &self.sack {
            Some(sack) if self.recovering => Bytes::new(sack.pipe()),
            Some(_) | None => Bytes::new(self.nxt - self.una),
        }
    }

    /// Bytes that are sent and not acknowledged: `FlightSize` (RFC 5681 §2), lost ones included.
    pub fn unacknowledged(&self) -> Bytes {
        Bytes::new(self.max.saturating_sub(self.una))
    }

    /// Payload of a full segment at the current path MTU.
    pub fn mss(&self) -> Bytes {
        Bytes::new(self.mss)
    }

    /// Reduces the segment size to `mss` (RFC 1191 §6.4). Larger segments were lost and are retransmitted at once,
    /// without a congestion response.
    pub fn on_too_big(&mut self, now: Time, mss: Bytes) {
        let mss = mss.get().max(1);
        if mss >= self.mss {
            return;
        }
        self.account(now);
        self.mss = mss;
        self.cc.on_mss(Bytes::new(mss));
        self.timed = None; // Karn's algorithm
        self.nxt = self.una;
        self.restart_timer(now);
        self.open_up(u32::MAX, 0);
    }

    /// The congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.cc.cwnd()
    }

    /// The slow start threshold.
    pub fn ssthresh(&self) -> Bytes {
        self.cc.ssthresh()
    }

    /// The peer's advertised window.
    pub fn peer_window(&self) -> Bytes {
        Bytes::new(self.peer_window)
    }

    /// The estimator of the retransmission timeout.
    pub fn rto(&self) -> &Rto {
        &self.rto
    }

    /// Statistics so far; [`Sender::account`] brings their times up to date.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Charges the time since the last event to the limit that held.
    #[inline(always)]
    pub fn account(&mut self, now: Time) {
        let span = now.since(self.since);
        let limit = if self.limit == Limit::Application && self.una < self.end {
            self.limit_of_rest()
        } else {
            self.limit
        };
        self.stats.limited[limit as usize] += span;
        self.stats.flight_byte_nanos +=
            u128::from(self.max.saturating_sub(self.una)) * u128::from(span.as_nanos());
        self.since = now;
    }

    /// What takes the time of the last data that are out: they are on their way, or lost.
    #[cold]
    fn limit_of_rest(&self) -> Limit {
        if self.recover.is_none() && self.cc.ssthresh() > self.cc.cwnd() {
            Limit::StartUp
        } else {
            Limit::Congestion
        }
    }

    /// Whether a loss is suspected, so that limited transmit (RFC 3042) or the burst limit of recovery applies besides
    /// the window. Neither new data nor a piggybacked acknowledgement lifts these.
    fn is_repairing(&self) -> bool {
        self.duplicate_acks > 0 || self.recovering
    }

    fn congestion_sample(&self) -> CongestionSample {
        CongestionSample {
            // RFC 5681 §3.2 step 2: without the segments of limited transmit.
            in_flight: Bytes::new((self.max - self.una).saturating_sub(self.limited_sent)),
            peer_window: Bytes::new(self.peer_window),
        }
    }

    /// RFC 3168 §6.1.2: a mark counts as a loss, once per window of data.
    fn on_echoed_mark(&mut self, ack: u64) {
        if ack < self.marked_until || self.recovering {
            return;
        }
        self.cc.on_congestion(Congestion::Mark, &self.congestion_sample());
        self.marked_until = self.max + 1;
        self.reduced = true;
        self.stats.mark_cuts += 1;
    }
}
