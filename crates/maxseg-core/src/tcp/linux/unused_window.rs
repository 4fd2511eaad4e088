//! A window that is not used grows no further, and decays (`tcp_cwnd_validate`, `tcp_cwnd_restart`;
//! `net/ipv4/tcp_output.c`).

use super::CaState;
use super::Socket;
use super::chrono::Limit;

impl Socket {
    /// Did the sender use its window (`tcp_cwnd_validate`)?
    pub(super) fn validate_cwnd(&mut self, is_cwnd_limited: bool) {
        if self.snd_una >= self.cwnd_usage_seq
            || is_cwnd_limited
            || (!self.is_cwnd_limited && self.packets_out > self.max_packets_out)
        {
            self.is_cwnd_limited = is_cwnd_limited;
            self.max_packets_out = self.packets_out;
            self.cwnd_usage_seq = self.snd_nxt;
        }
        if self.cwnd_limits() {
            self.snd_cwnd_used = 0;
            self.snd_cwnd_stamp = self.clock.jiffies;
        } else {
            self.snd_cwnd_used = self.snd_cwnd_used.max(self.packets_out);
            if self.write_queue.is_empty() && self.writer.no_space {
                self.begin_limit(Limit::Buffer);
            }
            if self.host.tcp_slow_start_after_idle
                && !self.congestion.is_rate_based()
                && self.clock.jiffies - self.snd_cwnd_stamp >= self.rto
            {
                self.shrink_unused_cwnd();
            }
        }
    }

    /// What the application did not use of the window decays (`tcp_cwnd_application_limited`).
    fn shrink_unused_cwnd(&mut self) {
        if self.ca_state == CaState::Open && !self.writer.no_space {
            let used = self.snd_cwnd_used.max(self.host.initcwnd);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = u64::midpoint(self.window.cwnd, used);
            }
            self.snd_cwnd_used = 0;
        }
        self.snd_cwnd_stamp = self.clock.jiffies;
    }

    /// After idle time the window begins anew (`tcp_slow_start_after_idle_check`, `tcp_cwnd_restart`).
    pub(super) fn check_slow_start_after_idle(&mut self) {
        if !self.host.tcp_slow_start_after_idle
            || self.packets_out > 0
            || self.congestion.is_rate_based()
        {
            return;
        }
        let idle = self.clock.jiffies - self.last_sent_jiffies;
        if idle <= self.rto {
            return;
        }
        self.window.ssthresh = self.current_ssthresh();
        let restart = self.host.initcwnd.min(self.window.cwnd);
        let mut left = idle;
        while left > self.rto && self.window.cwnd > restart {
            left -= self.rto;
            self.window.cwnd /= 2;
        }
        self.window.cwnd = self.window.cwnd.max(restart);
        self.snd_cwnd_stamp = self.clock.jiffies;
        self.snd_cwnd_used = 0;
    }
}
