//! The kernel's clocks: nanoseconds since it started, jiffies, and the wheel that its timers turn on.

use crate::units::Time;

/// Jiffies five minutes before they wrap, where they begin (`INITIAL_JIFFIES`, `include/linux/jiffies.h`).
const INITIAL_WRAP: u64 = 1 << 32;
/// Seconds before the wrap.
const SECONDS_BEFORE_WRAP: u64 = 300;
/// Slots of each level of the wheel (`LVL_SIZE`, `kernel/time/timer.c`).
const SLOTS_PER_LEVEL: u64 = 64;
/// Each level is 8 times as coarse as the one below (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// Levels (`LVL_DEPTH` where HZ is above 100).
const LEVELS: u32 = 9;

/// What the kernel reads from its clocks at one instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// How long the host had been up when the run began.
    up_before: u64,
    hz: u64,
    tick_nanos: u64,
    tick_micros: u64,
    /// `TCP_ATO_MIN`, in jiffies: 40 ms.
    pub(super) ato_min: u64,
    /// `TCP_DELACK_MAX`: 200 ms.
    pub(super) delack_max: u64,
    first_jiffy: u64,
    /// `tcp_clock_cache`: nanoseconds since the host came up.
    pub(super) nanos: u64,
    /// `tcp_mstamp`: the same in microseconds.
    pub(super) micros: u64,
    /// `jiffies`.
    pub(super) jiffies: u64,
    /// When that one began, on the same clock as `nanos`.
    jiffy_began: u64,
}

impl Clock {
    pub(super) fn new(hz: u64, up_before: Time, now: Time) -> Self {
        let mut clock = Self {
            up_before: up_before.as_nanos(),
            hz,
            tick_nanos: 1_000_000_000 / hz,
            tick_micros: 1_000_000 / hz,
            ato_min: hz / 25,
            delack_max: hz / 5,
            first_jiffy: INITIAL_WRAP - SECONDS_BEFORE_WRAP * hz,
            nanos: u64::MAX,
            micros: 0,
            jiffies: INITIAL_WRAP - SECONDS_BEFORE_WRAP * hz,
            jiffy_began: 0,
        };
        clock.refresh(now);
        clock
    }

    /// The clocks are read (`tcp_mstamp_refresh`, `net/ipv4/tcp_output.c`).
    #[inline]
    pub(super) fn refresh(&mut self, now: Time) {
        let nanos = now.as_nanos() + self.up_before;
        if nanos == self.nanos {
            return;
        }
        self.nanos = nanos;
        self.micros = self.nanos / 1000;
        // Often still the same, or the next.
        let since = nanos.wrapping_sub(self.jiffy_began);
        if since < self.tick_nanos {
            return;
        }
        if since < 2 * self.tick_nanos {
            self.jiffies += 1;
            self.jiffy_began += self.tick_nanos;
        } else {
            let ticks = nanos / self.tick_nanos;
            self.jiffies = self.first_jiffy + ticks;
            self.jiffy_began = ticks * self.tick_nanos;
        }
    }

    /// The run's time at which a jiffy begins.
    pub(super) const fn time_of(&self, jiffy: u64) -> Time {
        let nanos = (jiffy - self.first_jiffy) * self.tick_nanos;
        Time::from_nanos(nanos.saturating_sub(self.up_before))
    }

    /// The run's time of a reading of the nanosecond clock.
    pub(super) const fn time_of_nanos(&self, nanos: u64) -> Time {
        Time::from_nanos(nanos.saturating_sub(self.up_before))
    }

    /// The value of the timestamps option (`tcp_time_stamp_ts`: milliseconds, `TCP_TS_HZ`).
    pub(super) const fn millis_of(nanos: u64) -> u64 {
        nanos / 1_000_000
    }

    /// Rounded up (`usecs_to_jiffies`).
    pub(super) const fn jiffies_of_micros(&self, micros: u64) -> u64 {
        micros.div_ceil(self.tick_micros)
    }

    /// Rounded down (`nsecs_to_jiffies`).
    pub(super) const fn whole_jiffies(&self, nanos: u64) -> u64 {
        nanos / self.tick_nanos
    }

    /// `jiffies_to_usecs`.
    pub(super) const fn micros_of_jiffies(&self, jiffies: u64) -> u64 {
        jiffies * self.tick_micros
    }

    /// A span in jiffies that the kernel writes as `HZ * numerator / denominator`.
    pub(super) const fn seconds(&self, numerator: u64, denominator: u64) -> u64 {
        self.hz * numerator / denominator
    }

    /// The jiffy at which a timer that is set now for `expires` is run: never early, and on the wheel's
    /// coarser levels the later the further away (`calc_wheel_index`, `kernel/time/timer.c`).
    pub(super) fn run_at(&self, expires: u64) -> u64 {
        let delta = expires.saturating_sub(self.jiffies);
        // Level n + 1 begins at 63 · 8ⁿ jiffies.
        let level = match delta / (SLOTS_PER_LEVEL - 1) {
            0 => 0,
            wide => (wide.ilog2() / LEVEL_SHIFT + 1).min(LEVELS - 1),
        };
        let shift = level * LEVEL_SHIFT;
        ((expires >> shift) + 1) << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_runs_a_tick_after_it_expires_and_later_on_coarser_levels() {
        let clock = Clock::new(250, Time::from_secs(2), Time::ZERO);
        let after = |jiffies| clock.run_at(clock.jiffies + jiffies) - clock.jiffies;
        assert_eq!(after(21), 22);
        assert_eq!(after(62), 63);
        // Level 1 has steps of 8 jiffies; 250 jiffies are 1 s, and a lost SYN is resent after 1.008 s.
        assert_eq!(after(250), 252);
    }
}
