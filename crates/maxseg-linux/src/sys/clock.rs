//! A run's clock, and CPU time.

use std::time::{Duration, Instant};

use maxseg_core::units::Time;
use nix::sys::prctl;
use nix::sys::resource::{Usage, UsageWho, getrusage};

/// A run's clock: the time since its beginning (`CLOCK_MONOTONIC`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    began: Instant,
}

impl Clock {
    /// A clock that begins now.
    pub(crate) fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// A clock that begins after `wait`, and shows zero until then.
    pub(crate) fn start_in(wait: Duration) -> Self {
        Self { began: Instant::now() + wait }
    }

    /// The time since the beginning.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.began.elapsed().into()
    }

    /// The time until the clock shows `then`; zero if that has passed.
    pub(crate) fn until(&self, then: Time) -> Duration {
        (self.began + Duration::from_nanos(then.as_nanos()))
            .saturating_duration_since(Instant::now())
    }

    /// Sleeps until the clock shows `then`.
    pub(crate) fn sleep_until(&self, then: Time) {
        std::thread::sleep(self.until(then));
    }
}

/// Sleeps for so long; false where it is over before.
pub fn sleeps(time: Duration, is_over: impl Fn() -> bool) -> bool {
    /// How often that is looked at.
    const STEP: Duration = Duration::from_millis(50);
    let until = Instant::now() + time;
    while !is_over() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(STEP));
    }
    false
}

/// The tick of the kernel (`1 / CONFIG_HZ`): the resolution of its coarse clock (`clock_getres(2)`).
pub(crate) fn coarse_tick() -> Option<Time> {
    let tick = nix::time::clock_getres(nix::time::ClockId::CLOCK_MONOTONIC_COARSE).ok()?;
    Some(Duration::from(tick).into()).filter(|tick| *tick > Time::ZERO)
}

/// Reduces the timer slack of the calling thread from 50 µs to 1 ns (`PR_SET_TIMERSLACK`).
pub(crate) fn minimize_timer_slack() {
    // Without it timers are coarser, and the measured lateness shows that.
    let _ = prctl::set_timerslack(1);
}

/// User and system CPU time of this process and of the children that it has waited for.
pub(crate) fn cpu_of_process() -> Time {
    let of = |who| getrusage(who).map_or(Time::ZERO, |usage| cpu(&usage));
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}

/// User and system CPU time of the calling thread.
pub(crate) fn cpu_of_thread() -> Time {
    getrusage(UsageWho::RUSAGE_THREAD).map_or(Time::ZERO, |usage| cpu(&usage))
}

fn cpu(usage: &Usage) -> Time {
    let nanos = [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| {
            let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
            u64::try_from(micros).unwrap_or(0) * 1000
        })
        .sum();
    Time::from_nanos(nanos)
}
