//! What is known of this host where a step is judged.

use std::net::IpAddr;

use super::prefix::Prefix;

/// What was found out about this host for one step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Whether this host forwards packets of that IP version.
    pub forwards: bool,
    /// The path MTUs that the kernel has learnt for destinations that the step reaches.
    pub learnt: Vec<LearntPathMtu>,
    /// The connection over which this session runs.
    pub session: Session,
    /// The congestion controls that this kernel has or can load; `None` where that is unknown.
    pub congestion_controls: Option<Vec<String>>,
    /// Those that the default of this network namespace can be; `None` in the machine's first one, and where that is unknown.
    pub allowed_congestion_controls: Option<Vec<String>>,
    /// Whether the interface, or a bridge that follows it, has IPv6 addresses or routes.
    pub has_v6: bool,
    /// What IPv6 of them would lose.
    pub v6_loss: Option<V6Loss>,
    /// The table by which packets to one of these destinations go, where a rule leads there and not to the main table.
    pub other_table: Option<(IpAddr, u32)>,
    /// The interfaces that packets to the destinations of a route leave by, with their MTUs, bytes.
    pub out: Vec<(String, u32)>,
    /// Whether the interface is a bridge.
    pub is_bridge: bool,
    /// The bridge that it is a port of, where the kernel moves that one's MTU as well, and to how many bytes.
    pub bridge: Option<(String, u32)>,
    /// The MSS that a route announces by its own metric (`advmss`), bytes.
    pub advmss: Option<u32>,
    /// Routes of IPv6 whose MTU the kernel lowers with that of an interface, and that undoing would not restore.
    pub lowered_besides: Vec<String>,
    /// Routes of IPv4 by an interface, or by a bridge that follows it, whose MTU is above the one that it is to have, and that the kernel does not lower.
    pub larger_routes: Vec<LargerRoute>,
    /// The same of IPv6, whose MTU is locked, in words.
    pub locked_routes: Vec<String>,
    /// The floors of this kernel.
    pub floors: Floors,
}

/// What IPv6 of an interface loses with its MTU, so that undoing would not bring it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum V6Loss {
    /// Sysctls that differ from those with which a new interface begins: below 1280 bytes it has none.
    Sysctls,
    /// Its own MTU of the interface, or those of routes: they are held by a sysctl, and `/proc/sys` is read-only.
    Held,
}

/// A route with a larger MTU than an interface by which it leads is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargerRoute {
    /// The route in words: its destinations, and what else tells it from others.
    pub name: String,
    /// Its destinations, where a target names it.
    pub prefix: Option<Prefix>,
    /// Its MTU, bytes.
    pub mtu: u64,
}

/// The connection over which this session runs (`SSH_CONNECTION`), as seen from a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Session {
    /// There is none.
    #[default]
    None,
    /// The step does not reach it, as far as that can be told from routes and interfaces.
    Elsewhere,
    /// The step reaches it.
    Reached,
}

/// A path MTU that the kernel remembers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearntPathMtu {
    /// The destination.
    pub to: IpAddr,
    /// The MTU, bytes.
    pub mtu: u32,
    /// For how many seconds more.
    pub expires_s: f64,
}

/// The least sizes that this kernel goes by, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floors {
    /// `net.ipv4.tcp_min_snd_mss`.
    pub min_snd_mss: u32,
    /// `net.ipv4.route.min_adv_mss`.
    pub min_adv_mss: u32,
    /// `net.ipv4.route.min_pmtu`.
    pub min_pmtu: u32,
}

impl Default for Floors {
    /// Those of a kernel that nobody has changed (6.18).
    fn default() -> Self {
        Self { min_snd_mss: 48, min_adv_mss: 256, min_pmtu: 552 }
    }
}
