//! Timer lateness of the relay on this host.

use std::thread;
use std::time::{Duration, Instant};

use super::{Check, State, text_of};
use crate::sys::minimize_timer_slack;

/// The delay of a hop of a short path.
const SLEEP: Duration = Duration::from_millis(1);
const SLEEPS: usize = 200;

/// Both directions of a ping add lateness; the lab promises a p99 of at most 0.6 ms for both, at a delay of
/// 2 × 1 ms.
const LATE_P99: Duration = Duration::from_micros(300);

/// Measures the lateness of sleeps that take a fifth of a second in total.
pub(super) fn wake_up() -> Check {
    let late = thread::Builder::new().spawn(lateness).ok().and_then(|thread| thread.join().ok());
    judged(late.as_deref().unwrap_or_default())
}

/// The lateness of each sleep, sorted. Measured in a separate thread, so that the timer slack set there ends with it.
fn lateness() -> Vec<Duration> {
    minimize_timer_slack();
    let mut late: Vec<Duration> = (0..SLEEPS)
        .map(|_| {
            let begun = Instant::now();
            thread::sleep(SLEEP);
            begun.elapsed().saturating_sub(SLEEP)
        })
        .collect();
    late.sort_unstable();
    late
}

fn judged(late: &[Duration]) -> Check {
    let check = Check::new(
        "wake-up",
        "timer lateness of the relay: it compensates the median, the rest delays packets",
        "",
    );
    let share = |percent: usize| late.get((late.len() * percent).div_ceil(100).saturating_sub(1));
    let (Some(p50), Some(p99)) = (share(50), share(99)) else {
        let found = "not measured: no thread could be started".to_owned();
        return Check { found, ..check }.state(State::Limited);
    };
    let found = format!("lateness p50 {} µs, p99 {} µs", p50.as_micros(), p99.as_micros());
    let check = Check { found, ..check }
        .value("late_p50_s", p50.as_secs_f64())
        .value("late_p99_s", p99.as_secs_f64());
    if *p99 <= LATE_P99 {
        return check;
    }
    let why = "other load, or a low clock rate; runs whose links are later than 5% of the path's round trip, or 1 ms, are invalid";
    let check = Check { found: format!("{}: {why}", check.found), ..check };
    check.state(State::Limited).mend(full_speed())
}

/// A processor at a low frequency wakes late; virtual machines have no governor.
fn full_speed() -> Option<String> {
    const CPUS: &str = "/sys/devices/system/cpu";
    let governor = text_of(&format!("{CPUS}/cpu0/cpufreq/scaling_governor"))?;
    (governor != "performance")
        .then(|| format!("echo performance |\n  sudo tee {CPUS}/cpu*/cpufreq/scaling_governor"))
}

const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";

/// Clock sources that are read without a system call.
const FAST: [&str; 6] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "riscv_clocksource",
];

pub(super) fn clock_source() -> Check {
    clock(
        text_of(&format!("{SOURCES}/current_clocksource")),
        text_of(&format!("{SOURCES}/available_clocksource")),
    )
}

fn clock(current: Option<String>, available: Option<String>) -> Check {
    let check = Check::new(
        "clock",
        "the relay reads the time for every packet: 20 ns with a fast clock, 1 µs with a slow one",
        current.clone().unwrap_or_else(|| "unknown".to_owned()),
    )
    .value("source", current.clone());
    if current.is_none_or(|current| FAST.contains(&current.as_str())) {
        return check;
    }
    let check = check.state(State::Limited);
    let available = available.unwrap_or_default();
    match available.split_whitespace().find(|source| FAST.contains(source)) {
        Some(faster) => {
            check.mend([format!("echo {faster} |\n  sudo tee {SOURCES}/current_clocksource")])
        }
        None => check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_by_its_hundredths() {
        let late: Vec<Duration> = (1..=200).map(Duration::from_micros).collect();
        let check = judged(&late);
        assert_eq!(check.found, "lateness p50 100 µs, p99 198 µs");
        assert_eq!((check.state, check.values["late_p99_s"].as_f64()), (State::Ok, Some(198e-6)));
        let late: Vec<Duration> = (1..=200).map(|n| Duration::from_micros(10 * n)).collect();
        assert_eq!(judged(&late).state, State::Limited);
        assert_eq!(judged(&[]).state, State::Limited);
    }

    #[test]
    fn slow_clocks_have_a_faster_one_or_not() {
        let some = |text: &str| Some(text.to_owned());
        let slow = clock(some("hpet"), some("hpet tsc acpi_pm"));
        assert_eq!(slow.state, State::Limited);
        assert!(slow.mend[0].starts_with("echo tsc |\n  sudo tee /sys/"), "{slow:?}");
        assert!(clock(some("acpi_pm"), some("acpi_pm")).mend.is_empty());
        assert_eq!(clock(some("kvm-clock"), None).state, State::Ok);
        assert_eq!(clock(None, None).state, State::Ok);
    }
}
