//! The sending half of a connection: what goes out, when, and what is resent.
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
use super::{Config, Options, OptionsPool, Rto, SackBlocks, Segment, Timestamps};
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
    /// First byte not acknowledged (SND.UNA), next to send (SND.NXT), and after the highest ever sent.
    una: u64,
    nxt: u64,
    max: u64,
    /// After the last byte that the application has written.
    end: u64,
    peer_window: u64,
    send_buffer: u64,
    /// Segments may be sent up to here, and so many of them until something happens.
    edge: u64,
    burst: u32,
    /// The congestion window when this was found out.
    cwnd: u64,
    pending_control: PendingControl,
    established: bool,

    duplicate_acks: u32,
    /// In fast recovery.
    recovering: bool,
    partial_ack_seen: bool,
    /// Sent by limited transmit since the last new acknowledgement.
    limited_sent: u64,
    /// `max` at the last cut: losses below it belong to the same window of data.
    recover: Option<u64>,
    /// `una` at the last timeout.
    timed_out_at: Option<u64>,
    /// The segment being timed: its end, and when it was sent.
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
    /// The last cut, while it may still prove spurious.
    undo_state: Option<UndoState>,
    persist: Option<Persist>,
    black_hole: Option<BlackHoleDetector>,
    timestamps: bool,
    /// The peer's timestamp to echo.
    peer_timestamp: Time,
    ecn: bool,
    /// A cut for a mark is to be told of.
    reduced: bool,
    /// `max` at the last cut for a mark: one cut for a window of data.
    marked_until: u64,

    limit: Limit,
    since: Time,
    stats: SenderStats,
}

/// A segment that goes before any new data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingControl {
    Nothing,
    Syn,
    /// The acknowledgement that ends the handshake.
    HandshakeAck,
    /// The first segment that is not acknowledged, again.
    Unacknowledged,
    /// A probe of a closed window.
    Probe,
}

impl Sender {
    /// A sender that will open its connection at `start`; nothing is written yet.
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
            black_hole: settings.mtu_probing.then(BlackHoleDetector::default),
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

    /// The application has `payload` more to send.
    pub fn write(&mut self, payload: Bytes) {
        self.end = self.end.saturating_add(payload.get());
        if self.established && !self.is_repairing() {
            self.open_up(u32::MAX, 0);
        }
    }

    /// An acknowledgement has come.
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

    /// When the retransmission timer expires; [`Time::NEVER`] while it is off.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.timer
    }

    /// Payload bytes acknowledged.
    #[inline]
    pub fn acknowledged(&self) -> Bytes {
        Bytes::new(self.una.saturating_sub(1))
    }

    /// Whether all that was written is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una == self.end && self.established
    }

    /// Bytes that the sender takes to be in flight.
    pub fn in_flight(&self) -> Bytes {
        match &self.sack {
            Some(sack) if self.recovering => Bytes::new(sack.pipe()),
            Some(_) | None => Bytes::new(self.nxt - self.una),
        }
    }

    /// Payload of a full segment, as the path allows it now.
    pub fn mss(&self) -> Bytes {
        Bytes::new(self.mss)
    }

    /// The path takes segments of `mss` at most (RFC 1191 §6.4): what was larger was lost, and goes
    /// again at once without being taken for congestion.
    pub fn on_too_big(&mut self, now: Time, mss: Bytes) {
        let mss = mss.get().max(1);
        if mss >= self.mss {
            return;
        }
        self.account(now);
        self.mss = mss;
        self.cc.on_mss(Bytes::new(mss));
        self.timed = None; // Karn
        self.nxt = self.una;
        self.restart_timer(now);
        self.open_up(u32::MAX, 0);
    }

    /// Payload bytes that congestion control allows in flight.
    pub fn cwnd(&self) -> Bytes {
        self.cc.cwnd()
    }

    /// Where slow start ends.
    pub fn ssthresh(&self) -> Bytes {
        self.cc.ssthresh()
    }

    /// The window that the peer offers.
    pub fn peer_window(&self) -> Bytes {
        Bytes::new(self.peer_window)
    }

    /// The retransmission timer's estimate.
    pub fn rto(&self) -> &Rto {
        &self.rto
    }

    /// What was done so far; call [`Sender::account`] first to bring its times up to a point.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Charge the time since the last event to what limited the sender.
    #[inline(always)]
    pub fn account(&mut self, now: Time) {
        let span = now.since(self.since);
        self.stats.limited[self.limit as usize] += span;
        self.stats.flight_byte_nanos +=
            u128::from(self.nxt - self.una) * u128::from(span.as_nanos());
        self.since = now;
    }

    /// Whether something seems lost, so that what goes is bounded by more than the window: limited transmit
    /// (RFC 3042), bursts in recovery. Neither new data nor an acknowledgement that rides on the peer's lifts
    /// those bounds.
    fn is_repairing(&self) -> bool {
        self.duplicate_acks > 0 || self.recovering
    }

    fn congestion_sample(&self) -> CongestionSample {
        CongestionSample {
            // RFC 5681 §3.2 step 2: without what limited transmit has added.
            in_flight: Bytes::new((self.max - self.una).saturating_sub(self.limited_sent)),
            peer_window: Bytes::new(self.peer_window),
        }
    }

    /// RFC 3168 §6.1.2: a mark counts as a loss, once for a window of data.
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
