//! Settings as a file writes them: every key optional, a stack filling in the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use super::freebsd::FreeBsdSpec;
use super::linux::LinuxSpec;
use super::mss_option::MssOption;
use super::mtu_probing::MtuProbing;
use super::values::{
    CongestionName, DelayedAckSpec, InitialSsthresh, InitialWindow, RecoveryName, WindowScale,
    WindowSize,
};
use super::{Ns2Rules, RtoRule, RtoSettings, Settings};
use crate::units::{BitsPerSec, Bytes, Mss, Time};

/// Settings of a host.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsSpec {
    /// Stack that gives the keys that are left out: one of `maxseg stacks`, or a stack file (`./host.toml`).
    #[schemars(extend("x-example" = "\"linux\""))]
    pub stack: Option<String>,
    /// Value of the MSS option in bytes; TCP options are not subtracted from it.
    #[schemars(extend("x-example" = "1460"))]
    pub mss: Option<Mss>,
    /// The MSS option that reaches the peer, whatever the host says: a number, as where a gateway writes it (MSS clamping), or `false`
    /// for none, upon which the peer sends 536 bytes, or 1220 over IPv6.
    #[schemars(extend("x-example" = "false", "x-engines" = "model, sim"))]
    pub mss_option: Option<MssOption>,
    /// Whether packets carry DF, so that hops must not fragment them (IPv4); `true` unless given.
    #[schemars(extend("x-example" = "true"))]
    pub df: Option<bool>,
    /// The receive window: a size, a number of segments, or `auto` (stack `linux`).
    #[schemars(extend("x-example" = "\"64 KiB\""))]
    pub window: Option<WindowSize>,
    /// Window scale.
    #[schemars(extend("x-example" = "\"auto\""))]
    pub window_scale: Option<WindowScale>,
    /// The send buffer: bytes that may be sent and not yet acknowledged; of the stack `linux` what `SO_SNDBUF` sets, which the kernel
    /// doubles and counts by the memory of its packets.
    #[schemars(extend("x-example" = "\"256 KiB\""))]
    pub send_buffer: Option<Bytes>,
    /// Congestion control.
    #[schemars(extend("x-example" = "\"reno\""))]
    pub congestion: Option<CongestionName>,
    /// Loss recovery.
    #[schemars(extend("x-example" = "\"newreno\"", "x-engines" = "sim"))]
    pub recovery: Option<RecoveryName>,
    /// Most segments sent for one acknowledgement during recovery.
    #[schemars(extend("x-example" = "2", "x-engines" = "sim"))]
    pub recovery_burst: Option<u32>,
    /// Initial congestion window.
    #[schemars(extend("x-example" = "\"10 segments\""))]
    pub initial_window: Option<InitialWindow>,
    /// Initial slow start threshold.
    #[schemars(extend("x-example" = "\"unlimited\"", "x-engines" = "sim"))]
    pub initial_ssthresh: Option<InitialSsthresh>,
    /// Whether the first two duplicate acknowledgements let new data out (RFC 3042).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim"))]
    pub limited_transmit: Option<bool>,
    /// Whether the handshake ends with an acknowledgement without payload.
    #[schemars(extend("x-example" = "true", "x-engines" = "sim"))]
    pub handshake_ack: Option<bool>,
    /// `false` for an acknowledgement per packet, or when to send a delayed one.
    #[schemars(extend("x-example" = "{ timeout = \"200 ms\", every = 2 }", "x-engines" = "model, sim, lab (`false`)"))]
    pub delayed_ack: Option<DelayedAckSpec>,
    /// Whether SACK is used, where the peer permits it.
    #[schemars(extend("x-example" = "true"))]
    pub sack: Option<bool>,
    /// Whether segments carry timestamps, 12 bytes each, where the peer offers them.
    #[schemars(extend("x-example" = "true"))]
    pub timestamps: Option<bool>,
    /// Whether ECN is used, where the peer offers it.
    #[schemars(extend("x-example" = "true", "x-engines" = "sim, lab"))]
    pub ecn: Option<bool>,
    /// Whether the sender finds the path MTU by the sizes of its segments (RFC 4821): `true` once full ones are lost again and
    /// again, `"always"` from the start (stack `linux`).
    #[schemars(extend("x-example" = "true"))]
    pub mtu_probing: Option<MtuProbing>,
    /// Rate at which the application reads; at once unless given.
    #[schemars(extend("x-example" = "\"5 Mbit/s\""))]
    pub read_rate: Option<BitsPerSec>,
    /// Processor time of the host for each packet that it sends or receives; none unless given.
    #[schemars(extend("x-example" = "\"10 us\"", "x-engines" = "model, sim"))]
    pub packet_cost: Option<Time>,
    /// Differences of ns-2 from the RFCs; goes with `congestion = "ns2-reno"`.
    #[schemars(extend("x-example" = "{ exact_halves = true }", "x-engines" = "sim"))]
    pub ns2: Option<Ns2Spec>,
    /// The retransmission timer.
    #[schemars(extend("x-example" = "{ min = \"1 s\" }"))]
    pub rto: Option<RtoSpec>,
    /// Settings of Linux's own TCP, where both ends of a flow have it.
    #[schemars(extend("x-example" = "{ tcp_rmem = [4096, 131072, 6291456] }"))]
    pub linux: Option<LinuxSpec>,
    /// The largest segment towards a host on another subnet (behind a router), whatever that host offers.
    #[schemars(extend("x-example" = "536", "x-engines" = "model, sim"))]
    pub off_subnet_mss: Option<Mss>,
    /// Sizes of segments and buffers on FreeBSD.
    #[schemars(extend("x-example" = "{ recvpipe = \"16 KiB\" }", "x-engines" = "model, sim"))]
    pub freebsd: Option<FreeBsdSpec>,
}

/// Differences of ns-2 from the RFCs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ns2Spec {
    /// Whether half a window keeps its fraction (`precisionReduce_`).
    #[schemars(extend("x-example" = "true", "x-engines" = "sim"))]
    pub exact_halves: Option<bool>,
    /// Fast retransmit and the initial window around a lost first packet (`bugfix_ss_`).
    #[schemars(extend("x-example" = "\"always\"", "x-engines" = "sim"))]
    pub first_loss: Option<FirstLoss>,
}

/// What happens when the first packets of a connection are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstLoss {
    /// Fast retransmit works while only the SYN is acknowledged, and a lost SYN reduces the initial
    /// window to one segment (`bugfix_ss_ = 1`).
    Always,
    /// Neither (`bugfix_ss_ = 0`).
    Never,
}

/// The retransmission timer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RtoSpec {
    /// Rule by which the timeout follows the round trip.
    #[schemars(extend("x-example" = "\"rfc6298\""))]
    pub rule: Option<RtoRuleName>,
    /// Timeout before there is an estimate.
    #[schemars(extend("x-example" = "\"1 s\"", "x-engines" = "model, sim"))]
    pub initial: Option<Time>,
    /// Least timeout, before back-off; of rule `linux` the least that is added to the round trip.
    #[schemars(extend("x-example" = "\"1 s\""))]
    pub min: Option<Time>,
    /// Largest timeout, back-off included.
    #[schemars(extend("x-example" = "\"60 s\""))]
    pub max: Option<Time>,
    /// Clock granularity G of rule `rfc6298`.
    #[schemars(extend("x-example" = "\"10 ms\"", "x-engines" = "model, sim"))]
    pub granularity: Option<Time>,
    /// The tick of rules `ticks` and `linux`.
    #[schemars(extend("x-example" = "\"10 ms\"", "x-engines" = "model, sim"))]
    pub tick: Option<Time>,
    /// Position of the clock of rule `ticks` within its tick at the start.
    #[schemars(extend("x-example" = "\"0 s\"", "x-engines" = "sim"))]
    pub phase: Option<Time>,
    /// The back-off factor beyond which the estimate is given up.
    #[schemars(extend("x-example" = "8", "x-engines" = "sim"))]
    pub forget_after: Option<u32>,
}

/// The rules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRuleName {
    /// RFC 6298.
    Rfc6298,
    /// Integers on a coarse clock, as in 4.3BSD and ns-2.
    Ticks,
    /// Linux's, whose `min` bounds the variation.
    Linux,
}

impl SettingsSpec {
    /// What is given here, and the rest from `base`.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let (rto, base_rto) = (self.rto.unwrap_or_default(), base.rto.unwrap_or_default());
        let (ns2, base_ns2) = (self.ns2.unwrap_or_default(), base.ns2.unwrap_or_default());
        Self {
            stack: self.stack.clone().or_else(|| base.stack.clone()),
            mss: self.mss.or(base.mss),
            mss_option: self.mss_option.or(base.mss_option),
            off_subnet_mss: self.off_subnet_mss.or(base.off_subnet_mss),
            df: self.df.or(base.df),
            window: self.window.or(base.window),
            window_scale: self.window_scale.or(base.window_scale),
            send_buffer: self.send_buffer.or(base.send_buffer),
            congestion: self.congestion.or(base.congestion),
            recovery: self.recovery.or(base.recovery),
            recovery_burst: self.recovery_burst.or(base.recovery_burst),
            initial_window: self.initial_window.or(base.initial_window),
            initial_ssthresh: self.initial_ssthresh.or(base.initial_ssthresh),
            limited_transmit: self.limited_transmit.or(base.limited_transmit),
            handshake_ack: self.handshake_ack.or(base.handshake_ack),
            delayed_ack: self.delayed_ack.or(base.delayed_ack),
            sack: self.sack.or(base.sack),
            timestamps: self.timestamps.or(base.timestamps),
            ecn: self.ecn.or(base.ecn),
            mtu_probing: self.mtu_probing.or(base.mtu_probing),
            read_rate: self.read_rate.or(base.read_rate),
            packet_cost: self.packet_cost.or(base.packet_cost),
            ns2: Some(Ns2Spec {
                exact_halves: ns2.exact_halves.or(base_ns2.exact_halves),
                first_loss: ns2.first_loss.or(base_ns2.first_loss),
            }),
            rto: Some(RtoSpec {
                rule: rto.rule.or(base_rto.rule),
                initial: rto.initial.or(base_rto.initial),
                min: rto.min.or(base_rto.min),
                max: rto.max.or(base_rto.max),
                granularity: rto.granularity.or(base_rto.granularity),
                tick: rto.tick.or(base_rto.tick),
                phase: rto.phase.or(base_rto.phase),
                forget_after: rto.forget_after.or(base_rto.forget_after),
            }),
            linux: match (self.linux, base.linux) {
                (Some(own), Some(base)) => Some(own.over(base)),
                (own, base) => own.or(base),
            },
            freebsd: match (self.freebsd, base.freebsd) {
                (Some(own), Some(base)) => Some(own.over(base)),
                (own, base) => own.or(base),
            },
        }
    }

    /// The complete settings.
    ///
    /// # Errors
    /// The key that nothing gives a value, or whose value cannot stand beside another's.
    pub fn complete(&self) -> Result<Settings, SettingsError> {
        let rto = self.rto.unwrap_or_default().complete()?;
        let congestion = self.congestion.ok_or(SettingsError::Missing("congestion"))?;
        let linux = self.linux.map(LinuxSpec::complete).transpose()?;
        let of_others = [
            ("off_subnet_mss", self.off_subnet_mss.is_some()),
            ("freebsd", self.freebsd.is_some()),
        ];
        if let Some((key, _)) = of_others.iter().find(|(_, is_set)| *is_set && linux.is_some()) {
            return Err(SettingsError::NotOnLinux(key));
        }
        Ok(Settings {
            stack: self.stack.clone().unwrap_or_default(),
            mss: self.mss,
            mss_option: self.mss_option,
            off_subnet_mss: self.off_subnet_mss,
            df: self.df.unwrap_or(true),
            window: match (self.window.ok_or(SettingsError::Missing("window"))?, &linux) {
                (WindowSize::Auto { .. }, Some(rules)) => {
                    WindowSize::Auto { most: rules.widest_window() }
                }
                (WindowSize::Auto { .. }, None) => return Err(SettingsError::NoAutotuning),
                (window, _) => window,
            },
            window_scale: self.window_scale.ok_or(SettingsError::Missing("window_scale"))?,
            send_buffer: match self.send_buffer {
                Some(Bytes::ZERO) => return Err(SettingsError::Nothing("send_buffer")),
                other => other,
            },
            congestion,
            recovery: self.recovery.ok_or(SettingsError::Missing("recovery"))?,
            recovery_burst: match self.recovery_burst {
                Some(0) => return Err(SettingsError::Nothing("recovery_burst")),
                other => other,
            },
            initial_window: self.initial_window.ok_or(SettingsError::Missing("initial_window"))?,
            initial_ssthresh: self
                .initial_ssthresh
                .ok_or(SettingsError::Missing("initial_ssthresh"))?,
            limited_transmit: self
                .limited_transmit
                .ok_or(SettingsError::Missing("limited_transmit"))?,
            handshake_ack: self.handshake_ack.ok_or(SettingsError::Missing("handshake_ack"))?,
            delayed_ack: match self.delayed_ack.ok_or(SettingsError::Missing("delayed_ack"))? {
                DelayedAckSpec::Off => None,
                DelayedAckSpec::On(rule) => Some(rule),
            },
            sack: self.sack.ok_or(SettingsError::Missing("sack"))?,
            timestamps: self.timestamps.ok_or(SettingsError::Missing("timestamps"))?,
            ecn: self.ecn.ok_or(SettingsError::Missing("ecn"))?,
            mtu_probing: match self.mtu_probing.ok_or(SettingsError::Missing("mtu_probing"))? {
                MtuProbing::Always if linux.is_none() => return Err(SettingsError::NoMtuSearch),
                probing @ (MtuProbing::Never | MtuProbing::InBlackHole | MtuProbing::Always) => {
                    probing
                }
            },
            read_rate: self.read_rate,
            packet_cost: self.packet_cost.filter(|cost| *cost > Time::ZERO),
            ns2: match congestion {
                CongestionName::Reno | CongestionName::Cubic | CongestionName::Bbr => None,
                CongestionName::Ns2Reno => Some(self.ns2.unwrap_or_default().complete()?),
            },
            rto,
            linux,
            freebsd: self.freebsd.map(FreeBsdSpec::complete).transpose()?,
        })
    }
}

impl Ns2Spec {
    fn complete(self) -> Result<Ns2Rules, SettingsError> {
        Ok(Ns2Rules {
            exact_halves: self.exact_halves.ok_or(SettingsError::Missing("ns2.exact_halves"))?,
            first_loss: self.first_loss.ok_or(SettingsError::Missing("ns2.first_loss"))?,
        })
    }
}

impl RtoSpec {
    fn complete(&self) -> Result<RtoSettings, SettingsError> {
        let positive = |key: &'static str, time: Option<Time>| match time {
            Some(Time::ZERO) => Err(SettingsError::Zero(key)),
            Some(time) => Ok(time),
            None => Err(SettingsError::Missing(key)),
        };
        let (min, max) = (positive("rto.min", self.min)?, positive("rto.max", self.max)?);
        if min > max {
            return Err(SettingsError::MinAboveMax { min, max });
        }
        Ok(RtoSettings {
            rule: match self.rule.ok_or(SettingsError::Missing("rto.rule"))? {
                RtoRuleName::Rfc6298 => RtoRule::Rfc6298 {
                    granularity: self
                        .granularity
                        .ok_or(SettingsError::Missing("rto.granularity"))?,
                },
                RtoRuleName::Ticks => RtoRule::Ticks {
                    tick: positive("rto.tick", self.tick)?,
                    phase: self.phase.unwrap_or_default(),
                },
                RtoRuleName::Linux => RtoRule::Linux { tick: positive("rto.tick", self.tick)? },
            },
            initial: positive("rto.initial", self.initial)?,
            min,
            max,
            forget_after: self.forget_after,
        })
    }
}
