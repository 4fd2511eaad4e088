//! The path of a connection in the document.

use std::collections::BTreeMap;

use maxseg_linux::observe::path::{Clamp, PathReading, RouteReading};
use schemars::JsonSchema;
use serde::Serialize;

/// The path of a connection, as this host knows it.
#[derive(Serialize, JsonSchema)]
pub(super) struct PathEntry<'a> {
    /// The route that was chosen; null where the kernel names none.
    route: Option<RouteEntry<'a>>,
    /// Routes that include the destination and lost against it.
    lost_routes: Vec<RouteEntry<'a>>,
    /// The interface.
    interface: Option<InterfaceEntry<'a>>,
    /// Rules of the firewall that change the MSS option; null where they are not known.
    clamps: Option<Vec<ClampEntry<'a>>>,
    /// Why they are not known, or not all of them.
    clamps_unknown_because: Option<String>,
    /// What the kernel remembers of earlier connections to this host (`ip tcp_metrics`); null where that is not known.
    remembered: Option<BTreeMap<&'a str, &'a str>>,
    /// Sysctls of the namespace.
    sysctls: BTreeMap<&'static str, &'a str>,
}

/// A route.
#[derive(Serialize, JsonSchema)]
struct RouteEntry<'a> {
    /// Its destinations, as `192.0.2.0/24` or `default`.
    destination: &'a str,
    /// The next hop.
    gateway: Option<String>,
    /// The interface.
    interface: Option<&'a str>,
    /// The table: 254 is `main`, 255 `local`.
    table: u32,
    /// The less, the more the kernel prefers it.
    preference: u32,
    /// What it sets, under the names of ip-route(8); times in milliseconds, sizes in bytes.
    metrics: BTreeMap<&'static str, &'a str>,
    /// Whether its MTU is locked.
    mtu_locked: bool,
    /// The path MTU that was learnt.
    learnt_mtu_bytes: Option<u32>,
    /// For how long it is remembered.
    learnt_expires_s: Option<f64>,
}

/// An interface.
#[derive(Serialize, JsonSchema)]
struct InterfaceEntry<'a> {
    /// Its name.
    name: &'a str,
    /// Its MTU.
    mtu_bytes: Option<u32>,
    /// What it is, as `veth` or `wireguard`; null of hardware.
    kind: Option<&'a str>,
}

/// A rule of the firewall.
#[derive(Serialize, JsonSchema)]
struct ClampEntry<'a> {
    /// `nft` or `iptables`.
    by: &'a str,
    /// `ip`, `ip6` or `inet`.
    family: &'a str,
    /// Table and chain.
    chain: &'a str,
    /// Where packets meet it; null of a chain that others jump to.
    hook: Option<&'a str>,
    /// The MSS that it sets at most; null where it goes by the path MTU.
    mss_bytes: Option<u32>,
}

impl<'a> PathEntry<'a> {
    pub(super) fn of(path: &'a PathReading) -> Self {
        let clamps = &path.clamps;
        let are_known = clamps.unknown.is_none() || !clamps.rules.is_empty();
        Self {
            route: path.route.as_ref().ok().map(RouteEntry::of),
            lost_routes: path.lost.iter().map(RouteEntry::of).collect(),
            interface: path.interface.as_ref().ok().map(|found| InterfaceEntry {
                name: &found.name,
                mtu_bytes: found.mtu,
                kind: found.kind.as_deref(),
            }),
            clamps: are_known.then(|| clamps.rules.iter().map(ClampEntry::of).collect()),
            clamps_unknown_because: clamps.unknown.as_ref().map(ToString::to_string),
            remembered: path
                .remembered
                .as_ref()
                .ok()
                .map(|all| all.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()),
            sysctls: path.sysctls.iter().map(|(key, value)| (*key, value.as_str())).collect(),
        }
    }
}

impl<'a> RouteEntry<'a> {
    fn of(route: &'a RouteReading) -> Self {
        Self {
            destination: &route.destination,
            gateway: route.gateway.map(|gateway| gateway.to_string()),
            interface: route.interface.as_deref(),
            table: route.table,
            preference: route.preference,
            metrics: route.metrics.iter().map(|(key, value)| (*key, value.as_str())).collect(),
            mtu_locked: route.is_mtu_locked,
            learnt_mtu_bytes: route.learnt.map(|(mtu, _)| mtu),
            learnt_expires_s: route.learnt.map(|(_, seconds)| seconds),
        }
    }
}

impl<'a> ClampEntry<'a> {
    fn of(clamp: &'a Clamp) -> Self {
        Self {
            by: clamp.by,
            family: &clamp.family,
            chain: &clamp.chain,
            hook: clamp.hook.as_deref(),
            mss_bytes: clamp.mss,
        }
    }
}
