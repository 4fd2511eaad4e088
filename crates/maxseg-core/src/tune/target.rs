//! What can be set, by a name that is the same in arguments, documents, journal and JSON.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::prefix::{Prefix, PrefixError};
use super::reach::is_of_machine;
use crate::tunables::{Acts, Scope, Tunable, find};

/// One setting of this host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// `sysctl.net.ipv4.tcp_rmem`: a sysctl below `net`, by its dotted name.
    Sysctl(String),
    /// `route.10.0.0.0/8.mtu`: a metric of the route to these destinations (ip-route(8)).
    Route {
        /// The destinations.
        prefix: Prefix,
        /// Which metric.
        metric: RouteMetricName,
    },
    /// `interface.eth0.mtu`: the MTU of an interface, bytes.
    InterfaceMtu(String),
    /// `socket.A:port-B:port.congestion`: an option of a connection that runs.
    Socket {
        /// Which connection.
        ends: SocketEnds,
        /// Which option.
        option: SocketOption,
    },
    /// `clamp.eth0`: the largest MSS in SYNs that are forwarded through an interface.
    Clamp(String),
    /// `file./etc/sysctl.d/90-maxseg.conf`: a file that sets others when the machine starts (`tune persist`).
    File(String),
}

/// The ends of a connection, this host's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketEnds {
    /// This host's.
    pub local: SocketAddr,
    /// The other's.
    pub remote: SocketAddr,
}

/// A metric of a route that TCP goes by (`RTAX_*` in `linux/rtnetlink.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RouteMetricName {
    /// Path MTU, bytes.
    Mtu,
    /// The MSS that is advertised, bytes.
    Advmss,
    /// The largest window that is advertised, bytes.
    Window,
    /// The initial congestion window, segments.
    InitCwnd,
    /// The initial receive window, segments.
    InitRwnd,
    /// The least retransmission timeout, milliseconds.
    RtoMin,
    /// The congestion control, by name.
    CongestionControl,
    /// Whether every segment is acknowledged at once: 0 or 1.
    QuickAck,
}

/// An option of a socket that acts while it is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SocketOption {
    /// `TCP_CONGESTION`, a name.
    Congestion,
    /// `TCP_WINDOW_CLAMP`, bytes.
    WindowClamp,
    /// `SO_RCVBUF`, bytes.
    ReceiveBuffer,
    /// `SO_SNDBUF`, bytes.
    SendBuffer,
    /// `SO_MAX_PACING_RATE`, bytes a second.
    PacingRate,
    /// `TCP_NOTSENT_LOWAT`, bytes.
    NotsentLowat,
    /// `TCP_RTO_MIN_US`, microseconds.
    RtoMin,
    /// `TCP_RTO_MAX_MS`, milliseconds.
    RtoMax,
    /// `TCP_DELACK_MAX_US`, microseconds.
    DelayedAckMax,
}

/// Why a text names nothing that can be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It begins with none of the kinds.
    #[error("`{0}` is not a target that can be set")]
    Kind(String),
    /// A sysctl of something else than the network, or no name.
    #[error("`{0}` is not a network sysctl")]
    Sysctl(String),
    /// A metric that there is not.
    #[error("`{metric}` is not a route metric that TCP uses")]
    Metric {
        /// What was given.
        metric: String,
    },
    /// An option that there is not.
    #[error("a connection has no option `{option}` that can be set while it runs")]
    Option {
        /// What was given.
        option: String,
    },
    /// The destinations of a route are wrong.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// The ends of a connection are wrong.
    #[error("`{0}` does not name a connection by its two ends")]
    Ends(String),
    /// An interface has one setting, or its name cannot be one.
    #[error("`{0}` names no MTU of an interface")]
    Interface(String),
}

impl TargetError {
    /// What would do.
    pub fn hint(&self) -> String {
        match self {
            Self::Kind(name) if name.starts_with("net.") => format!("write sysctl.{name}"),
            Self::Kind(_) => "write for example sysctl.net.ipv4.tcp_rmem, route.10.0.0.0/8.mtu, \
                              interface.eth0.mtu, clamp.eth0"
                .to_owned(),
            Self::Sysctl(_) => "names begin with net. and are those of `sysctl -a`, such as \
                                sysctl.net.ipv4.tcp_rmem"
                .to_owned(),
            Self::Metric { metric } => listed(metric, RouteMetricName::ALL.map(|(_, name)| name)),
            Self::Option { option } => listed(option, SocketOption::ALL.map(|(_, name)| name)),
            Self::Prefix(_) => {
                "write for example route.default.mtu, route.10.0.0.0/8.mtu, route.192.0.2.7.mtu"
                    .to_owned()
            }
            Self::Ends(_) => {
                "write for example socket.192.0.2.1:443-198.51.100.7:50123.congestion; \
                              `maxseg connections` lists them"
                    .to_owned()
            }
            Self::Interface(_) => {
                "write for example interface.eth0.mtu; `ip link` lists interfaces".to_owned()
            }
        }
    }
}

fn listed<const N: usize>(given: &str, names: [&'static str; N]) -> String {
    match crate::similar::closest(given, names) {
        Some(near) => format!("did you mean `{near}`? There are {}", names.join(", ")),
        None => format!("there are {}", names.join(", ")),
    }
}

impl RouteMetricName {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Mtu, "mtu"),
        (Self::Advmss, "advmss"),
        (Self::Window, "window"),
        (Self::InitCwnd, "initcwnd"),
        (Self::InitRwnd, "initrwnd"),
        (Self::RtoMin, "rto_min"),
        (Self::CongestionControl, "congctl"),
        (Self::QuickAck, "quickack"),
    ];

    /// As ip-route(8) has it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(metric, _)| *metric == self).map_or("", |(_, name)| name)
    }
}

impl SocketOption {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Congestion, "congestion"),
        (Self::WindowClamp, "window_clamp"),
        (Self::ReceiveBuffer, "rcvbuf"),
        (Self::SendBuffer, "sndbuf"),
        (Self::PacingRate, "pacing_rate"),
        (Self::NotsentLowat, "notsent_lowat"),
        (Self::RtoMin, "rto_min"),
        (Self::RtoMax, "rto_max"),
        (Self::DelayedAckMax, "delack_max"),
    ];

    /// The name that it has in a target.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(option, _)| *option == self).map_or("", |(_, name)| name)
    }
}

impl Target {
    /// What the catalogue says of it; `None` of a sysctl that is not in it.
    pub fn tunable(&self) -> Option<&'static Tunable> {
        find(&self.to_string())
    }

    /// What a change of it reaches.
    pub fn scope(&self) -> Scope {
        let default = match self {
            Self::Sysctl(name) if is_of_machine(name) => Scope::Machine,
            Self::Sysctl(_) | Self::File(_) => Scope::Namespace,
            Self::Route { .. } => Scope::Route,
            Self::InterfaceMtu(_) | Self::Clamp(_) => Scope::Interface,
            Self::Socket { .. } => Scope::Socket,
        };
        self.tunable().map_or(default, |tunable| tunable.scope)
    }

    /// Which connections it acts on; `None` where the catalogue does not have it.
    pub fn acts(&self) -> Option<Acts> {
        self.tunable().map(|tunable| tunable.acts)
    }

    /// Whether it stays as it is when the machine is started again, and is the same in every network namespace.
    pub const fn outlasts_boot(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whether the two are settings of one thing that may be made and removed as a whole: a route.
    pub fn shares_a_route_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Route { prefix: one, .. }, Self::Route { prefix: two, .. }) => one == two,
            _ => false,
        }
    }

    /// The destinations of a route.
    pub const fn destinations(&self) -> Option<Prefix> {
        match self {
            Self::Route { prefix, .. } => Some(*prefix),
            Self::Sysctl(_)
            | Self::InterfaceMtu(_)
            | Self::Socket { .. }
            | Self::Clamp(_)
            | Self::File(_) => None,
        }
    }

    /// Whether its value is the name of a congestion control.
    pub fn is_congestion_control(&self) -> bool {
        match self {
            Self::Sysctl(name) => name == "net.ipv4.tcp_congestion_control",
            Self::Route { metric, .. } => *metric == RouteMetricName::CongestionControl,
            Self::Socket { option, .. } => *option == SocketOption::Congestion,
            Self::InterfaceMtu(_) | Self::Clamp(_) | Self::File(_) => false,
        }
    }

    /// Whether the segment size of connections depends on it.
    pub const fn decides_segment_size(&self) -> bool {
        matches!(self, Self::Route { metric: RouteMetricName::Mtu, .. } | Self::InterfaceMtu(_))
    }
}

impl fmt::Display for SocketEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.local, self.remote)
    }
}

impl FromStr for SocketEnds {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = || TargetError::Ends(text.to_owned());
        let (local, remote) = text.split_once('-').ok_or_else(wrong)?;
        let (local, remote) =
            (local.parse().map_err(|_| wrong())?, remote.parse().map_err(|_| wrong())?);
        Ok(Self { local, remote })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sysctl(name) => write!(f, "sysctl.{name}"),
            Self::Route { prefix, metric } => write!(f, "route.{prefix}.{}", metric.name()),
            Self::InterfaceMtu(name) => write!(f, "interface.{name}.mtu"),
            Self::Socket { ends, option } => write!(f, "socket.{ends}.{}", option.name()),
            Self::Clamp(name) => write!(f, "clamp.{name}"),
            Self::File(path) => write!(f, "file.{path}"),
        }
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

impl TryFrom<String> for Target {
    type Error = TargetError;

    fn try_from(text: String) -> Result<Self, TargetError> {
        text.parse()
    }
}

impl FromStr for Target {
    type Err = TargetError;

    /// The last word is looked for from the right: prefixes, addresses and names of interfaces have dots.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let unknown = || TargetError::Kind(text.to_owned());
        let (kind, rest) = text.split_once('.').ok_or_else(unknown)?;
        match kind {
            "sysctl" => sysctl(rest),
            "route" => {
                let (prefix, metric) = rest.rsplit_once('.').ok_or_else(unknown)?;
                let named = RouteMetricName::ALL.iter().find(|(_, name)| *name == metric);
                let (metric, _) =
                    named.ok_or_else(|| TargetError::Metric { metric: metric.to_owned() })?;
                Ok(Self::Route { prefix: prefix.parse()?, metric: *metric })
            }
            "interface" => match rest.rsplit_once('.') {
                Some((name, "mtu")) if is_interface_name(name) => {
                    Ok(Self::InterfaceMtu(name.to_owned()))
                }
                Some(_) | None => Err(TargetError::Interface(text.to_owned())),
            },
            "socket" => {
                let (ends, option) = rest.rsplit_once('.').ok_or_else(unknown)?;
                let named = SocketOption::ALL.iter().find(|(_, name)| *name == option);
                let (option, _) =
                    named.ok_or_else(|| TargetError::Option { option: option.to_owned() })?;
                Ok(Self::Socket { ends: ends.parse()?, option: *option })
            }
            "file" if rest.starts_with('/') && !rest.contains(char::is_control) => {
                Ok(Self::File(rest.to_owned()))
            }
            "clamp" if is_interface_name(rest) => Ok(Self::Clamp(rest.to_owned())),
            _ => Err(unknown()),
        }
    }
}

/// As `dev_valid_name` in `net/core/dev.c`.
fn is_interface_name(name: &str) -> bool {
    let is_bad = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    !name.is_empty() && name.len() < 16 && name != "." && name != ".." && !name.contains(is_bad)
}

/// A dotted name; a slash stands for a dot within a word, as of `net.ipv4.conf.eth0/100.mtu_probing`. Where the first separator is a
/// slash it is the other way round (sysctl(8)).
fn sysctl(name: &str) -> Result<Target, TargetError> {
    let swapped = |c| match c {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    let is_path = name.starts_with("net/");
    let name: String = if is_path { name.chars().map(swapped).collect() } else { name.to_owned() };
    let is_word = |word: &str| {
        !word.is_empty()
            && !matches!(word, "/" | "//")
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-/@:+".contains(c))
    };
    if name.starts_with("net.") && name.split('.').all(is_word) {
        Ok(Target::Sysctl(name))
    } else {
        Err(TargetError::Sysctl(name))
    }
}
