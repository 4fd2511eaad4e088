//! The clock of a kernel in virtual time: it reads in steps, and a timer that is due between two steps is set
//! again for the least time that the clock's device takes.

use maxseg_core::units::Time;

/// A reading is a multiple of this (`TIMER_MULTIPLIER`, `arch/um/kernel/time.c`), in nanoseconds.
const STEP: u64 = 256;
/// The device takes no shorter time (`TIMER_MIN_DELTA`, `arch/um/include/linux/time-internal.h`).
const LEAST: u64 = 500;
/// What it adds to each (`itimer_next_event`, `arch/um/kernel/time.c`).
const ADDED: u64 = 1;

/// What the kernel reads at this instant.
pub(super) fn reading(now: Time) -> Time {
    let nanos = now.as_nanos();
    Time::from_nanos(nanos - nanos % STEP)
}

/// When a timer runs that is set now for `expires` (`hrtimer_interrupt`, `kernel/time/hrtimer.c`: not before the
/// reading has come that far).
pub(super) fn runs(now: Time, expires: Time) -> Time {
    let mut at = now;
    while reading(at) < expires {
        let left = expires.as_nanos() - reading(at).as_nanos();
        at = at.saturating_add(Time::from_nanos(left.max(LEAST) + ADDED));
    }
    at
}
