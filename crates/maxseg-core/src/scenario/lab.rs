//! How the lab is to run a scenario: what means nothing to formulas and, but for pacing, to the simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::BitsPerSec;

/// Keys of the lab.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LabOptions {
    /// What emulates rate, delay and losses; `relay` unless given.
    #[schemars(extend("x-example" = "\"relay\"", "x-default" = "\"relay\"", "x-engines" = "lab"))]
    pub backend: LabBackend,
    /// Whether losses and queues act on super-packets of segmentation offload, as netem on a host does, instead of
    /// packets of the wire; `false` unless given.
    #[schemars(extend("x-example" = "true", "x-default" = "false", "x-engines" = "lab"))]
    pub as_netem: bool,
    /// Program that sends and receives; `builtin` unless given.
    #[schemars(extend("x-example" = "\"builtin\"", "x-default" = "\"builtin\"", "x-engines" = "lab"))]
    pub traffic: LabTraffic,
    /// Rate at which the application of each bulk flow writes, every 10 ms; as fast as the socket takes it unless
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-example" = "\"5 Mbit/s\"", "x-default" = "no bound", "x-engines" = "lab"))]
    pub write_rate: Option<BitsPerSec>,
    /// Rate at which Linux paces the payload of each bulk flow (`SO_MAX_PACING_RATE`, socket(7)); none unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-example" = "\"5 Mbit/s\"", "x-default" = "no bound", "x-engines" = "sim, lab"))]
    pub pacing_rate: Option<BitsPerSec>,
}

impl LabOptions {
    /// The pacing rate as the socket option has it, in bytes a second; `None` for no limit, as what 32 bits do not hold is
    /// (`sk_setsockopt`, `net/core/sock.c`).
    pub fn max_pacing_bytes(&self) -> Option<u64> {
        self.pacing_rate.map(|rate| rate.get() / 8).filter(|bytes| *bytes < u64::from(u32::MAX))
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Who makes rate, delay and losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabBackend {
    /// The links of this program, driven by real time.
    #[default]
    Relay,
    /// The kernel's netem and tbf.
    Netem,
}

/// Who sends and receives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabTraffic {
    /// This program.
    #[default]
    Builtin,
    /// The iperf3 that is installed, for bulk flows.
    Iperf3,
}
