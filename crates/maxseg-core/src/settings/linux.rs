//! What Linux's own TCP goes by, under the names of its sysctls and of its routes' metrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use crate::mss::black_hole::MtuSearch;
use crate::units::{Bytes, Mss, Mtu};
use crate::window::{LARGEST, MEMORY_PER_PAYLOAD};

/// Linux's sysctls and route metrics; the stack has the values of keys that are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinuxSpec {
    /// `net.ipv4.tcp_rmem`: least, first and largest receive buffer in bytes.
    #[schemars(extend("x-example" = "[4096, 131072, 6291456]"))]
    pub tcp_rmem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_wmem`: the same of the send buffer.
    #[schemars(extend("x-example" = "[4096, 16384, 4194304]"))]
    pub tcp_wmem: Option<[u64; 3]>,
    /// Whether losses are detected by time (RACK; `net.ipv4.tcp_recovery`, bit 0).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim, lab"))]
    pub tcp_recovery: Option<bool>,
    /// Whether tail loss probes are sent (`net.ipv4.tcp_early_retrans` of 3 or 4).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim, lab"))]
    pub tcp_early_retrans: Option<bool>,
    /// Whether spurious timeouts are detected (F-RTO; `net.ipv4.tcp_frto`).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim, lab"))]
    pub tcp_frto: Option<bool>,
    /// Whether the congestion window begins small again after a pause (`net.ipv4.tcp_slow_start_after_idle`).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim, lab"))]
    pub tcp_slow_start_after_idle: Option<bool>,
    /// `net.ipv4.tcp_base_mss`: the payload with which the search for the path MTU begins (`mtu_probing`), in bytes.
    #[schemars(extend("x-example" = "1024"))]
    pub tcp_base_mss: Option<u32>,
    /// `net.ipv4.tcp_mtu_probe_floor`: the payload below which lost segments are not halved (`mtu_probing`), in bytes.
    #[schemars(extend("x-example" = "48"))]
    pub tcp_mtu_probe_floor: Option<u32>,
    /// The route's `mtu` (`ip route … mtu N`): packets and the MSS option go by it where it is smaller than the interface's.
    #[schemars(extend("x-example" = "1400"))]
    pub route_mtu: Option<Mtu>,
    /// The route's `advmss` (`ip route … advmss N`): the MSS option of the SYN.
    #[schemars(extend("x-example" = "1360"))]
    pub route_advmss: Option<Mss>,
    /// Whether CUBIC may leave slow start before a loss (`HyStart`).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim"))]
    pub hystart: Option<bool>,
    /// Ticks a second (`CONFIG_HZ`): 100, 250, 300 or 1000.
    #[schemars(extend("x-example" = "250", "x-engines" = "sim"))]
    pub hz: Option<u32>,
}

/// The same, complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "sysctls are switches")]
pub struct LinuxRules {
    /// `net.ipv4.tcp_rmem`.
    pub tcp_rmem: [u64; 3],
    /// `net.ipv4.tcp_wmem`.
    pub tcp_wmem: [u64; 3],
    /// RACK.
    pub tcp_recovery: bool,
    /// Tail loss probes.
    pub tcp_early_retrans: bool,
    /// F-RTO.
    pub tcp_frto: bool,
    /// Whether an idle connection begins anew.
    pub tcp_slow_start_after_idle: bool,
    /// `net.ipv4.tcp_base_mss` in bytes, where it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_base_mss: Option<u16>,
    /// `net.ipv4.tcp_mtu_probe_floor` in bytes, where it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_mtu_probe_floor: Option<u16>,
    /// The route's `mtu`, where it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_mtu: Option<Mtu>,
    /// The route's `advmss`, where it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_advmss: Option<Mss>,
    /// `HyStart`.
    pub hystart: bool,
    /// Ticks a second.
    pub hz: u32,
}

impl LinuxRules {
    /// Ticks a second that a kernel is built with (`kernel/Kconfig.hz`).
    pub const TICK_RATES: [u32; 4] = [100, 250, 300, 1000];

    /// The sizes that the search for the path MTU goes by.
    pub fn mtu_search(&self) -> MtuSearch {
        let base = MtuSearch::default();
        MtuSearch {
            tcp_base_mss: self.tcp_base_mss.unwrap_or(base.tcp_base_mss),
            tcp_mtu_probe_floor: self.tcp_mtu_probe_floor.unwrap_or(base.tcp_mtu_probe_floor),
            ..base
        }
    }

    /// The window that the largest receive buffer leaves: its share before packets show how much memory they take.
    pub(crate) fn widest_window(&self) -> Bytes {
        Bytes::new(self.tcp_rmem[2] / MEMORY_PER_PAYLOAD).min(Bytes::new(LARGEST))
    }
}

impl LinuxSpec {
    /// What is given here, and the rest from `base`.
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            tcp_rmem: self.tcp_rmem.or(base.tcp_rmem),
            tcp_wmem: self.tcp_wmem.or(base.tcp_wmem),
            tcp_recovery: self.tcp_recovery.or(base.tcp_recovery),
            tcp_early_retrans: self.tcp_early_retrans.or(base.tcp_early_retrans),
            tcp_frto: self.tcp_frto.or(base.tcp_frto),
            tcp_slow_start_after_idle: self
                .tcp_slow_start_after_idle
                .or(base.tcp_slow_start_after_idle),
            tcp_base_mss: self.tcp_base_mss.or(base.tcp_base_mss),
            tcp_mtu_probe_floor: self.tcp_mtu_probe_floor.or(base.tcp_mtu_probe_floor),
            route_mtu: self.route_mtu.or(base.route_mtu),
            route_advmss: self.route_advmss.or(base.route_advmss),
            hystart: self.hystart.or(base.hystart),
            hz: self.hz.or(base.hz),
        }
    }

    pub(super) fn complete(self) -> Result<LinuxRules, SettingsError> {
        let missing = SettingsError::Missing;
        let buffer = |key, sizes: Option<[u64; 3]>| {
            let sizes = sizes.ok_or(missing(key))?;
            if sizes.contains(&0) { Err(SettingsError::Nothing(key)) } else { Ok(sizes) }
        };
        let segment = |key, size: Option<u32>| {
            let (least, most) = (MtuSearch::LEAST, MtuSearch::MOST);
            let of = |size: u32| {
                let fits = u16::try_from(size).ok().filter(|size| u64::from(*size) >= least);
                fits.ok_or(SettingsError::OutOfRange(key, size.into(), least, most))
            };
            size.map(of).transpose()
        };
        Ok(LinuxRules {
            tcp_rmem: buffer("linux.tcp_rmem", self.tcp_rmem)?,
            tcp_wmem: buffer("linux.tcp_wmem", self.tcp_wmem)?,
            tcp_recovery: self.tcp_recovery.ok_or(missing("linux.tcp_recovery"))?,
            tcp_early_retrans: self.tcp_early_retrans.ok_or(missing("linux.tcp_early_retrans"))?,
            tcp_frto: self.tcp_frto.ok_or(missing("linux.tcp_frto"))?,
            tcp_slow_start_after_idle: self
                .tcp_slow_start_after_idle
                .ok_or(missing("linux.tcp_slow_start_after_idle"))?,
            tcp_base_mss: segment("linux.tcp_base_mss", self.tcp_base_mss)?,
            tcp_mtu_probe_floor: segment("linux.tcp_mtu_probe_floor", self.tcp_mtu_probe_floor)?,
            route_mtu: self.route_mtu,
            route_advmss: self.route_advmss,
            hystart: self.hystart.ok_or(missing("linux.hystart"))?,
            hz: match self.hz.ok_or(missing("linux.hz"))? {
                hz if LinuxRules::TICK_RATES.contains(&hz) => hz,
                hz => return Err(SettingsError::NoTickRate(hz)),
            },
        })
    }
}
