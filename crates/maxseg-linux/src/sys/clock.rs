//! A run's clock, and how much CPU time was used.

use std::time::{Duration, Instant};

use maxseg_core::units::Time;
use nix::sys::prctl;
use nix::sys::resource::{Usage, UsageWho, getrusage};

/// A run's own clock: time since it began, by the kernel's monotonic one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    began: Instant,
}

impl Clock {
    /// A clock that begins now.
    pub(crate) fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// A clock that begins in a while: it shows zero until then.
    pub(crate) fn start_in(wait: Duration) -> Self {
        Self { began: Instant::now() + wait }
    }

    /// The time on it.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.began.elapsed().into()
    }

    /// How long until it shows `then`; nothing if it has.
    pub(crate) fn until(&self, then: Time) -> Duration {
        (self.began + Duration::from_nanos(then.as_nanos()))
            .saturating_duration_since(Instant::now())
    }

    /// Sleeps until it shows `then`.
    pub(crate) fn sleep_until(&self, then: Time) {
        std::thread::sleep(self.until(then));
    }
}

/// The kernel is to wake this thread when it is due: by default it allows itself 50 µs.
pub(crate) fn minimize_timer_slack() {
    // Failing makes timers coarser, which the lateness then shows.
    let _ = prctl::set_timerslack(1);
}

/// CPU time of this process and of the children that it has waited for, the kernel's work for them included.
pub(crate) fn cpu_of_process() -> Time {
    let of = |who| getrusage(who).map_or(Time::ZERO, |usage| cpu(&usage));
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}

/// CPU time of the calling thread, the kernel's work for it included.
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
