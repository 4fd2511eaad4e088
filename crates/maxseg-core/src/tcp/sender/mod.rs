//! The sending half of a connection: what goes out, when, and what is resent.

mod black_hole;
mod loss;
mod passive;
mod persist;
mod sack;
mod undo;

use super::cc::{AckSample, Congestion, CongestionControl, CongestionSample, Controller};
use super::stats::{Limit, SenderStats};
use super::{Config, Rto, SackBlocks, Segment, Timestamps};
use crate::settings::{FirstLoss, RecoveryName};
use crate::units::{Bytes, Time};
use black_hole::BlackHole;
use persist::Persist;
use sack::SackRecovery;
use undo::Episode;

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
    resend_first: bool,
    handshake_ack_due: bool,
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
    /// The last cut, while it may still prove to have been needless.
    episode: Option<Episode>,
    persist: Option<Persist>,
    black_hole: Option<BlackHole>,
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

impl Sender {
    /// A sender that will open its connection at `start`; nothing is written yet.
    pub fn new(config: &Config, start: Time) -> Self {
        Self::with_controller(config, start, Controller::new(config))
    }

    /// The same with a congestion control of the caller's.
    pub fn with_controller(config: &Config, start: Time, cc: Controller) -> Self {
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
            burst: 1,
            resend_first: false,
            handshake_ack_due: false,
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
            cc,
            recovery: settings.recovery,
            recovery_burst: settings.recovery_burst.unwrap_or(u32::MAX),
            first_loss: settings.ns2.map(|rules| rules.first_loss),
            limited_transmit: settings.limited_transmit,
            handshake_ack: settings.handshake_ack,
            sack: config.uses_sack().then(|| Box::new(SackRecovery::new(settings.ns2.is_some()))),
            episode: None,
            persist: None,
            black_hole: settings.mtu_probing.then(BlackHole::default),
            timestamps: config.uses_timestamps(),
            peer_timestamp: Time::ZERO,
            ecn: config.uses_ecn(),
            reduced: false,
            marked_until: 0,
            limit: Limit::Opportunity,
            since: start,
            stats: SenderStats::default(),
        }
    }

    /// The application has `payload` more to send.
    pub fn write(&mut self, payload: Bytes) {
        self.end = self.end.saturating_add(payload.get());
        if self.established {
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
        if self.episode.is_some() {
            self.look_for_needless_cut(now, segment);
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
            } else {
                self.open_up(u32::MAX, 0);
            }
        }
    }

    /// A timer expires: the retransmission timer, or the one that probes a closed window.
    pub fn on_timeout(&mut self, now: Time) {
        debug_assert!(now >= self.timer, "the timer has not expired");
        if self.persist.is_some() {
            return self.probe_window(now);
        }
        self.limit = Limit::Rto;
        self.account(now);
        self.stats.timeouts += 1;
        let what = match (self.established, self.timed_out_at == Some(self.una)) {
            (false, _) => Congestion::LostSyn,
            (true, false) => Congestion::Timeout,
            (true, true) => Congestion::RepeatedTimeout,
        };
        self.cc.on_congestion(what, &self.congestion_sample());
        if what == Congestion::Timeout {
            self.begin_episode(now, true);
        }
        self.timed_out_at = Some(self.una);
        self.recover = Some(self.max);
        self.recovering = false;
        // ns-2's Tahoe goes on counting through a timeout (`tcp.cc`; its Reno does not).
        if self.recovery != RecoveryName::Tahoe || self.first_loss.is_none() {
            self.duplicate_acks = 0;
        }
        self.limited_sent = 0;
        self.resend_first = false;
        if let Some(sack) = &mut self.sack {
            sack.on_timeout();
        }
        self.timed = None; // Karn: what is sent from here on was sent before
        self.rto.on_timeout();
        self.suspect_black_hole();
        self.restart_timer(now);
        self.nxt = self.una; // go-back-N
        self.open_up(u32::MAX, 0);
    }

    /// The next segment to send, if any may go.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.burst == 0
            && !self.resend_first
            && !self.handshake_ack_due
            && self.persist.is_none()
        {
            return None;
        }
        if !self.established {
            return self.poll_syn(now);
        }
        if self.handshake_ack_due {
            self.handshake_ack_due = false;
            self.stats.packets += 1;
            return Some(self.with_options(now, Segment::ack(1, 0)));
        }
        if let Some(probe) = self.poll_probe(now) {
            return Some(probe);
        }
        if self.resend_first {
            self.resend_first = false;
            let len = self.first_unreceived();
            return Some(self.transmit(now, self.una, len));
        }
        let mut most = self.mss;
        if let Some(sack) = &self.sack {
            if self.recovering {
                return self.poll_sack(now);
            }
            (self.nxt, most) = sack.not_yet_received(self.nxt, self.mss);
        }
        let room = self.edge.saturating_sub(self.nxt);
        let mut len = most.min(self.end - self.nxt);
        if len > room && self.nxt == self.una {
            // The whole window is smaller than a segment: what fits, or nothing would ever go.
            len = room;
        }
        if len > room || len == 0 {
            self.burst = 0;
            self.limit = self.what_limits();
            if self.una == self.max && room == 0 && self.nxt < self.end {
                self.begin_persist(now);
            }
            return None;
        }
        self.burst -= 1;
        let seq = self.nxt;
        self.nxt += len;
        if self.duplicate_acks > 0 && self.duplicate_acks < loss::DUPLICATES {
            self.limited_sent += self.nxt.saturating_sub(self.max);
        }
        Some(self.transmit(now, seq, len))
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
        self.stats.flight_byte_nanos += (self.nxt - self.una) as f64 * span.as_nanos() as f64;
        self.since = now;
    }

    fn poll_syn(&mut self, now: Time) -> Option<Segment> {
        self.burst = 0;
        if self.nxt > 0 {
            return None;
        }
        self.nxt = 1;
        let repeated = self.max > 0;
        if !repeated {
            self.max = 1;
            self.timed = Some((1, now));
        }
        self.stats.packets += 1;
        self.start_timer(now);
        Some(self.with_options(now, Segment { syn: true, repeated, ..Segment::EMPTY }))
    }

    fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        if segment.ack == 0 {
            return;
        }
        let lost_syn = self.timed.is_none();
        self.established = true;
        self.una = 1;
        self.nxt = 1;
        self.peer_window = u64::from(segment.window);
        self.take_sample(now, 1, segment.timestamps());
        if lost_syn {
            self.rto.after_lost_syn();
        }
        self.timer = Time::NEVER;
        self.cc.on_established(lost_syn);
        self.handshake_ack_due = self.handshake_ack;
        self.open_up(u32::MAX, 0);
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

    /// Something happened: up to `burst` segments may go, `extra` bytes beyond the congestion window.
    #[inline(always)]
    fn open_up(&mut self, burst: u32, extra: u64) {
        let window = (self.cc.cwnd().get() + extra).min(self.peer_window).min(self.send_buffer);
        self.edge = self.una + window;
        self.burst = burst;
    }

    /// Which limit the last poll met.
    #[inline(always)]
    fn what_limits(&self) -> Limit {
        let cwnd = self.cc.cwnd().get();
        if self.nxt >= self.end {
            Limit::Application
        } else if self.send_buffer < cwnd.min(self.peer_window) {
            Limit::SendBuffer
        } else if self.peer_window < cwnd {
            Limit::ReceiveWindow
        } else if self.recover.is_none() && self.cc.ssthresh().get() > cwnd {
            Limit::Opportunity
        } else {
            Limit::Congestion
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: Time, seq: u64, len: u64) -> Segment {
        let end = seq + len;
        let repeated = seq < self.max;
        self.stats.packets += 1;
        self.stats.data_packets += 1;
        self.stats.data_bytes += len;
        if repeated {
            self.stats.retransmitted_packets += 1;
            self.stats.retransmitted_bytes += len;
        } else if self.timed.is_none() && !self.timestamps {
            self.timed = Some((end, now));
        }
        self.max = self.max.max(end);
        if self.timer == Time::NEVER {
            self.start_timer(now);
        }
        if repeated && let Some(episode) = &mut self.episode {
            episode.on_resent();
        }
        let len = u16::try_from(len).expect("a segment is at most an MSS long");
        let mut segment = Segment { seq, ack: 1, len, repeated, ..Segment::EMPTY };
        if self.ecn && !repeated {
            // RFC 3168 §6.1.5: what is sent again is not markable.
            segment.markable = true;
            segment.reduced = std::mem::take(&mut self.reduced);
        }
        self.with_options(now, segment)
    }

    #[inline(always)]
    fn with_options(&self, now: Time, segment: Segment) -> Segment {
        if !self.timestamps {
            return segment;
        }
        let timestamps = Timestamps { value: now, echo: self.peer_timestamp };
        segment.with_options(SackBlocks::NONE, Some(timestamps))
    }

    /// RFC 6298 §3: one segment at a time is timed, none that was sent twice; with timestamps every
    /// acknowledgement of new data is a sample (RFC 7323 §4.1).
    #[inline(always)]
    fn take_sample(&mut self, now: Time, ack: u64, timestamps: Option<Timestamps>) {
        if let Some(Timestamps { echo, .. }) = timestamps {
            self.rto.on_sample(echo, now);
            self.stats.rtt.record(now - echo);
        } else if let Some((_, sent)) = self.timed.take_if(|(end, _)| *end <= ack) {
            self.rto.on_sample(sent, now);
            self.stats.rtt.record(now - sent);
        }
    }

    fn start_timer(&mut self, now: Time) {
        self.timer = now + self.rto.current();
    }

    /// RFC 6298 §5.3, and §5.2 when nothing is outstanding.
    #[inline(always)]
    fn restart_timer(&mut self, now: Time) {
        if self.una < self.max {
            self.start_timer(now);
        } else {
            self.timer = Time::NEVER;
        }
    }
}
