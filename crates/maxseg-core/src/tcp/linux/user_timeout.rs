//! When a connection is given up because its program said how long data may stay unacknowledged (`TCP_USER_TIMEOUT`, RFC 5482;
//! `net/ipv4/tcp_timer.c`). Without that, sockets here are patient: `tcp_retries2` ends none.

use super::Socket;
use super::clock::Clock;
use crate::units::Time;

/// `TCP_TIMEOUT_MIN`, in jiffies.
const TIMEOUT_MIN: u64 = 2;

/// Probes of a closed window that nothing answered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WindowProbes {
    /// How many (`icsk_probes_out`).
    pub(super) out: u64,
    /// The jiffy when the first was due (`icsk_probes_tstamp`); an answer that leaves the window closed does not change it.
    pub(super) since: Option<u64>,
}

impl Socket {
    /// `TCP_USER_TIMEOUT`: how long data may stay unacknowledged, or the window closed, in whole milliseconds; zero for as long as it takes.
    pub const fn set_user_timeout(&mut self, after: Time) {
        self.user_timeout = after.as_nanos() / 1_000_000;
    }

    /// Whether it was given up because nothing acknowledged it in time (`ETIMEDOUT`).
    pub const fn has_timed_out(&self) -> bool {
        self.has_timed_out
    }

    /// Probes of a closed window, or of a link that takes nothing, that nothing has answered (`tcpi_probes`).
    pub const fn window_probes(&self) -> u64 {
        self.window_probes.out
    }

    /// Since the first packet of this episode was sent again, in milliseconds.
    fn millis_since_retransmission(&self) -> u64 {
        Clock::millis_of(self.clock.nanos).saturating_sub(self.retrans_stamp)
    }

    const fn jiffies_of_millis(&self, millis: u64) -> u64 {
        (millis * self.host.hz).div_ceil(1000)
    }

    /// The retransmission timer has expired for too long (`tcp_write_timeout`, `retransmits_timed_out`).
    pub(super) fn is_too_late(&self) -> bool {
        self.user_timeout > 0
            && self.retransmits > 0
            && self.millis_since_retransmission() >= self.user_timeout
    }

    /// The same where the peer has closed its window on what is out (`tcp_rtx_probe0_timed_out`).
    pub(super) fn is_too_late_for_window(&self) -> bool {
        let first = self.rtx_queue.front().map_or(0, |head| Clock::millis_of(head.sent_nanos));
        let since = if self.retrans_stamp > 0 { self.retrans_stamp } else { first };
        let waited = Clock::millis_of(self.clock.nanos).saturating_sub(since);
        self.user_timeout > 0 && waited > self.user_timeout
    }

    /// Probes of the window have gone on for too long (`tcp_probe_timer`).
    pub(super) fn is_too_late_for_probes(&mut self) -> bool {
        let now = self.clock.jiffies;
        let since = *self.window_probes.since.get_or_insert(now);
        let most = self.jiffies_of_millis(self.user_timeout);
        self.user_timeout > 0 && now > since && now - since >= most
    }

    /// The retransmission timer in jiffies, so that it expires when the connection is to be given up
    /// (`tcp_clamp_rto_to_user_timeout`).
    pub(super) fn rto_within_user_timeout(&self) -> u64 {
        if self.user_timeout == 0 {
            return self.rto;
        }
        match self.user_timeout.saturating_sub(self.millis_since_retransmission()) {
            0 => 1,
            remaining => self.rto.min(self.jiffies_of_millis(remaining)),
        }
    }

    /// The same of the timer for probes (`tcp_clamp_probe0_to_user_timeout`).
    pub(super) fn probe_within_user_timeout(&self, when: u64) -> u64 {
        let Some(since) = self.window_probes.since.filter(|_| self.user_timeout > 0) else {
            return when;
        };
        let most = self.jiffies_of_millis(self.user_timeout);
        let remaining = most.saturating_sub(self.clock.jiffies.saturating_sub(since));
        when.min(remaining.max(TIMEOUT_MIN))
    }

    /// Nothing is left of the connection but its error, and no packet tells the peer (`tcp_write_err`).
    pub(super) fn give_up(&mut self) {
        self.has_timed_out = true;
        self.end();
    }
}
