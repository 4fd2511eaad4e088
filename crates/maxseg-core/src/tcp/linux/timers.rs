//! The timers of a socket and what they do (`net/ipv4/tcp_timer.c`).

use super::Socket;
use super::clock::Clock;
use super::rtt::RTO_MAX_SECONDS;
use super::user_timeout::WindowProbes;
use super::{CaState, State};
use crate::units::Time;

/// What the retransmission timer is set for (`icsk_pending`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retransmit {
    /// `ICSK_TIME_RETRANS`.
    Timeout,
    /// `ICSK_TIME_PROBE0`: the window is closed.
    WindowProbe,
    /// `ICSK_TIME_LOSS_PROBE`.
    LossProbe,
    /// `ICSK_TIME_REO_TIMEOUT`.
    Reordering,
}

/// When the timers expire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timers {
    /// What the retransmission timer is set for, if it is.
    pub(super) pending: Option<Retransmit>,
    /// An acknowledgement has it set anew, once what that lets go is out: only the last setting counts.
    pub(super) is_owed: bool,
    /// When it runs.
    retransmit_at: Time,
    /// `icsk_ack.timeout` in jiffies, and when it runs.
    pub(super) delayed_ack_jiffy: u64,
    pub(super) delayed_ack_at: Time,
    /// When the next packet may go, where one waits for it (`pacing_timer`), or leaves `fq`, and from when on it may
    /// leave that with another timer.
    pub(super) pace_at: Time,
    pub(super) pace_from: Time,
    /// When an acknowledgement that was held back goes, on a timer of nanoseconds (`compressed_ack_timer`), and from when on it may go with
    /// another that a softirq runs.
    pub(super) compressed_from: Time,
    pub(super) compressed_until: Time,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            pending: None,
            is_owed: false,
            retransmit_at: Time::NEVER,
            delayed_ack_jiffy: 0,
            delayed_ack_at: Time::NEVER,
            pace_at: Time::NEVER,
            pace_from: Time::NEVER,
            compressed_from: Time::NEVER,
            compressed_until: Time::NEVER,
        }
    }
}

impl Timers {
    /// Sets the retransmission timer (`inet_csk_reset_xmit_timer`).
    #[inline]
    pub(super) fn set_retransmit(&mut self, clock: &Clock, what: Retransmit, jiffies: u64) {
        let jiffies = jiffies.min(clock.seconds(RTO_MAX_SECONDS, 1));
        self.pending = Some(what);
        self.retransmit_at = clock.time_of(clock.run_at(clock.jiffies + jiffies));
    }

    /// Sets the timer for a delayed acknowledgement to that jiffy.
    #[inline(always)]
    pub(super) fn set_delayed_ack(&mut self, clock: &Clock, jiffy: u64) {
        self.delayed_ack_jiffy = jiffy;
        self.delayed_ack_at = clock.time_of(clock.run_at(jiffy));
    }
}

impl Socket {
    /// When a timer expires; [`Time::NEVER`] while none runs.
    #[inline]
    pub fn next_timer(&self) -> Time {
        let timers = &self.timers;
        let retransmit = if timers.pending.is_some() { timers.retransmit_at } else { Time::NEVER };
        retransmit.min(timers.delayed_ack_at).min(timers.compressed_until).min(timers.pace_at)
    }

    /// From when on any interrupt of a nanosecond timer lets a packet of `fq` go: timers with slack run with whichever comes
    /// first (`__hrtimer_run_queues`, `kernel/time/hrtimer.c`).
    pub fn next_slack(&self) -> Time {
        self.timers.pace_from
    }

    /// When a timer expires that a softirq runs (`HRTIMER_MODE_SOFT`); [`Time::NEVER`] while none runs. That softirq is raised once the
    /// first of them is due at the latest (`hrtimer_interrupt`), and runs all of the processor's that may run then.
    pub fn next_soft(&self) -> Time {
        let paces = if self.host.fq { Time::NEVER } else { self.timers.pace_at };
        paces.min(self.timers.compressed_until)
    }

    /// That softirq runs (`hrtimer_run_softirq`), which lets a held-back acknowledgement go before its time. A pacing timer has no slack: it is
    /// [`Self::on_timer`]'s.
    pub fn on_soft_timers(&mut self, now: Time) {
        if self.timers.compressed_from <= now {
            // With the clock of the packet that it was held back for (`tcp_compressed_ack_kick`).
            self.send_compressed_ack();
        }
    }

    /// Timers that are due expire.
    pub fn on_timer(&mut self, now: Time) {
        self.rcv_tsecr = 0;
        if self.timers.compressed_from <= now && self.next_soft() <= now {
            self.on_soft_timers(now);
        }
        self.clock.refresh(now);
        if self.timers.pending.is_some() && self.timers.retransmit_at <= now {
            self.on_retransmit_timer();
        }
        if self.timers.delayed_ack_at <= now {
            self.timers.delayed_ack_at = Time::NEVER;
            self.on_delayed_ack_timer();
        }
        if self.timers.pace_from <= now {
            self.release();
        } else if self.timers.pace_at <= now {
            self.timers.pace_at = Time::NEVER;
            self.go_on_sending();
        }
        self.wake_writer();
    }

    /// `tcp_write_timer_handler`.
    fn on_retransmit_timer(&mut self) {
        match self.timers.pending {
            Some(Retransmit::Reordering) => self.on_reordering_timer(),
            Some(Retransmit::LossProbe) => self.send_loss_probe(),
            Some(Retransmit::Timeout) => {
                self.timers.pending = None;
                self.on_timeout();
            }
            Some(Retransmit::WindowProbe) => {
                self.timers.pending = None;
                self.probe_window();
            }
            None => {}
        }
    }

    /// The retransmission timeout (`tcp_retransmit_timer`).
    fn on_timeout(&mut self) {
        if self.state == State::SynReceived {
            return self.repeat_syn_ack();
        }
        if self.packets_out == 0 || self.rtx_queue.is_empty() {
            return;
        }
        let window_shut = self.snd_wnd == 0 && self.state == State::Established;
        if !window_shut {
            self.counters.timeouts += 1;
            self.suspect_black_hole();
        }
        let gives_up = if window_shut { self.is_too_late_for_window() } else { self.is_too_late() };
        if gives_up {
            return self.give_up();
        }
        self.enter_loss();
        if !window_shut {
            self.retransmits += 1;
            self.total_rto += 1;
        }
        let is_sent = self.retransmit_segment(0, 1);
        if !is_sent && self.is_refused && !window_shut {
            let interval = self.resource_probe_interval();
            return self.timers.set_retransmit(&self.clock, Retransmit::Timeout, interval);
        }
        let is_linear = self.state == State::SynSent
            && self.total_rto <= u64::from(self.host.tcp_syn_linear_timeouts);
        if !is_linear {
            self.backoff += 1;
            self.rto = (self.rto << 1).min(RTO_MAX_SECONDS * self.host.hz);
        }
        let rto = self.rto_within_user_timeout();
        self.timers.set_retransmit(&self.clock, Retransmit::Timeout, rto);
    }

    /// How soon a packet that the link did not take is tried again (`TCP_RESOURCE_PROBE_INTERVAL`), in jiffies.
    const fn resource_probe_interval(&self) -> u64 {
        self.host.hz / 2
    }

    /// Microseconds until the first packet's timeout (`tcp_rto_delta_us`).
    pub(super) fn micros_until_rto(&self) -> i64 {
        let rto = self.clock.micros_of_jiffies(self.rto);
        self.rtx_queue.front().map_or(rto.cast_signed(), |head| {
            (head.sent_micros() + rto).cast_signed() - self.clock.micros.cast_signed()
        })
    }

    /// Sets the retransmission timer, or stops it where nothing is out (`tcp_rearm_rto`).
    pub(super) fn rearm_rto(&mut self) {
        if self.packets_out == 0 {
            self.timers.pending = None;
            return;
        }
        let is_offset =
            matches!(self.timers.pending, Some(Retransmit::Reordering | Retransmit::LossProbe));
        let rto = if is_offset {
            self.clock.jiffies_of_micros(self.micros_until_rto().max(1).unsigned_abs())
        } else {
            self.rto
        };
        self.reset_timer(Retransmit::Timeout, rto);
    }

    /// `tcp_set_xmit_timer`.
    pub(super) fn set_retransmit_timer(&mut self) {
        self.timers.is_owed = false;
        if !self.schedule_loss_probe(true) {
            self.rearm_rto();
        }
    }

    /// Time between probes of a closed window (`tcp_probe0_when`).
    fn window_probe_interval(&self) -> u64 {
        let base = self.rto.max(self.standard_rto_min());
        // ilog2(TCP_RTO_MAX / TCP_RTO_MIN) + 1
        let backoff = self.backoff.min(10);
        (base << backoff).min(RTO_MAX_SECONDS * self.host.hz)
    }

    /// Data wait, none are out, and the window lets none go (`tcp_check_probe_timer`).
    pub(super) fn check_window_probe(&mut self) {
        if self.packets_out == 0 && self.timers.pending.is_none() {
            let base = self.rto.max(self.standard_rto_min());
            self.reset_timer(Retransmit::WindowProbe, base);
        }
    }

    /// An acknowledgement came while nothing was out (`tcp_ack_probe`).
    pub(super) fn note_window_after_probe(&mut self) {
        self.window_probes.out = 0;
        let Some(head) = self.write_queue.front() else { return };
        if head.end_seq <= self.window_end() {
            self.backoff = 0;
            self.window_probes.since = None;
            self.timers.pending = None;
        } else {
            let when = self.probe_within_user_timeout(self.window_probe_interval());
            self.reset_timer(Retransmit::WindowProbe, when);
        }
    }

    /// `tcp_probe_timer`, `tcp_send_probe0`, `tcp_write_wakeup`.
    #[cold]
    fn probe_window(&mut self) {
        if self.packets_out > 0 || self.write_queue.is_empty() {
            self.window_probes = WindowProbes::default();
            return;
        }
        if self.is_too_late_for_probes() {
            return self.give_up();
        }
        self.write_wakeup();
        if self.packets_out > 0 || self.write_queue.is_empty() {
            self.backoff = 0;
            self.window_probes = WindowProbes::default();
            return;
        }
        self.window_probes.out += 1;
        let when = if self.is_refused {
            self.resource_probe_interval()
        } else {
            self.backoff += 1;
            self.window_probe_interval()
        };
        let when = self.probe_within_user_timeout(when);
        self.reset_timer(Retransmit::WindowProbe, when);
    }

    /// Whether it recovers from a timeout, for those who look from outside.
    pub fn is_in_loss(&self) -> bool {
        self.ca_state == CaState::Loss && self.is_timed_out
    }
}
