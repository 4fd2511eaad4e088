//! Where and with what results were made, so that they can be made again.

use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program, the machine and the command of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The program's version.
    pub maxseg: String,
    /// The commit that it was built from.
    pub commit: String,
    /// The command line.
    pub command: Vec<String>,
    /// When it began, in seconds since 1970.
    pub started_unix_s: u64,
    /// Operating system and architecture.
    pub system: String,
    /// The kernel's release; `None` where it cannot be told.
    pub kernel: Option<String>,
    /// The processor; `None` where it cannot be told.
    pub cpu: Option<String>,
    /// Processors that this process may use.
    pub cores: usize,
}

impl Environment {
    /// This process and this machine, now.
    pub(crate) fn here() -> Self {
        Self {
            maxseg: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("MAXSEG_COMMIT").to_owned(),
            command: std::env::args().collect(),
            started_unix_s: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: first_line("/proc/sys/kernel/osrelease"),
            cpu: cpu_model(),
            cores: cores(),
        }
    }
}

/// Processors that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn first_line(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()?.lines().next().map(str::to_owned)
}

fn cpu_model() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim().to_owned())
}
