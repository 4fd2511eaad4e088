//! Where and with what results were made, so that they can be made again.

use std::time::{SystemTime, UNIX_EPOCH};

use maxseg_core::engine::EngineName;
use schemars::JsonSchema;
use serde::Serialize;

/// The program, the machine and the command of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Environment {
    /// The program's version.
    pub maxseg: String,
    /// The commit that it was built from.
    pub commit: String,
    /// The command line.
    pub command: Vec<String>,
    /// When it began: date and time in UTC (ISO 8601, RFC 3339).
    pub started: String,
    /// Operating system and architecture.
    pub system: String,
    /// The kernel's release; `None` where it cannot be told.
    pub kernel: Option<String>,
    /// The processor; `None` where it cannot be told.
    pub cpu: Option<String>,
    /// Processors that this process may use.
    pub cores: usize,
    /// What else decides what a lab run gives; null without one. Offloads are not here: the lab sets those
    /// of its interfaces itself.
    pub lab: Option<LabEnvironment>,
}

/// What of the kernel a lab run depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabEnvironment {
    /// The kernel's default congestion control; each flow's own is in its outcome.
    pub congestion: Option<String>,
    /// What the kernel reads the time from: how finely, and at what cost.
    pub clock_source: Option<String>,
}

impl LabEnvironment {
    fn here() -> Self {
        Self {
            congestion: first_line("/proc/sys/net/ipv4/tcp_congestion_control"),
            clock_source: first_line(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
        }
    }
}

impl Environment {
    /// This process and this machine, now, as far as these engines depend on them.
    pub fn of(engines: &[EngineName]) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            maxseg: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("MAXSEG_COMMIT").to_owned(),
            command: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            started: utc(since_1970.map_or(0, |since| since.as_secs())),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: first_line("/proc/sys/kernel/osrelease"),
            cpu: processor(),
            cores: cores(),
            lab: engines.contains(&EngineName::Lab).then(LabEnvironment::here),
        }
    }
}

/// Processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The processor's name; `None` where it cannot be told.
pub fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim().to_owned())
}

fn first_line(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()?.lines().next().map(str::to_owned)
}

/// Seconds since 1970 as date and time of day, `2026-11-21 11:17:06`, as logs have them.
pub fn date_and_time(unix_s: u64) -> String {
    utc(unix_s).trim_end_matches('Z').replace('T', " ")
}

/// Seconds since 1970 as `2026-11-21T11:17:06Z`.
pub fn utc(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date that is so many days after 1970-01-01 in the Gregorian calendar. Years are counted from
/// March, so that a leap day is the last of its year, in eras of 400 years, which all have as many days.
fn civil(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let since_0000_03_01 = days + 719_468;
    let (era, day) = (since_0000_03_01 / ERA, since_0000_03_01 % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    // March to January have 153 days in five months, from whichever of them one counts.
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + next, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), // 2100 has no leap day
        ];
        for (seconds, want) in cases {
            assert_eq!(utc(seconds), want);
        }
    }
}
