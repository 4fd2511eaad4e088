//! Errors of the lab, by kind, each with its hint.

use std::io;
use std::sync::Arc;

use maxseg_core::engine::EngineError;
use maxseg_core::scenario::ScenarioError;
use maxseg_core::similar::closest;
use maxseg_core::units::Mtu;
use thiserror::Error;

use super::netem::{TcCommand, TcError, Unavailable};
use crate::iperf3::VersionError;

/// An error of a lab: it cannot be built, cannot run, or refuses a request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LabError {
    /// Network namespaces cannot be created.
    #[error("the lab needs network namespaces, and this process may not create them: {0}")]
    Namespace(#[source] io::Error),
    /// TUN interfaces cannot be created.
    #[error("the lab needs TUN interfaces, and /dev/net/tun cannot be used: {0}")]
    Tun(#[source] io::Error),
    /// The kernel refused an interface, a route or a sysctl of a host.
    #[error("host {host} of the lab: {error}")]
    Host {
        /// The host's name.
        host: String,
        /// The kernel's error.
        #[source]
        error: io::Error,
    },
    /// The path has more hops than the lab's addresses or hop limits allow.
    #[error("the path has {hops} hops, and the lab takes at most {most}")]
    TooManyHops {
        /// Hops of the scenario.
        hops: usize,
        /// The most that this backend takes.
        most: usize,
    },
    /// A socket cannot use the congestion control.
    #[error("congestion control {name}: {error}")]
    Congestion {
        /// The kernel's name of it.
        name: String,
        /// The kernel's error.
        #[source]
        error: io::Error,
    },
    /// A network namespace cannot have the congestion control as its default.
    #[error(
        "{host}: {}: {wanted} is not an allowed congestion control ({error})",
        match used {
            Some(used) => format!("new connections use {used}, not {wanted}"),
            None => format!("its routes have {wanted} (congctl), whichever one a program asks for"),
        }
    )]
    DefaultCongestion {
        /// The host's name.
        host: String,
        /// The kernel's name of what the scenario asks for.
        wanted: String,
        /// The kernel's name of what new connections use; `None` where the host's routes have what is asked for.
        used: Option<String>,
        /// What `net.ipv4.tcp_allowed_congestion_control` lists.
        allowed: String,
        /// The kernel's error.
        #[source]
        error: io::Error,
    },
    /// A flow's socket or program failed.
    #[error("flow {flow}: {error}")]
    Flow {
        /// The flow's index, from 0.
        flow: usize,
        /// Its error.
        #[source]
        error: io::Error,
    },
    /// A link cannot be built, or its relay thread failed.
    #[error("link {link}: {error}")]
    Link {
        /// The link's name, `hop.NAME` or `hop.NAME.reverse`.
        link: String,
        /// The kernel's error.
        #[source]
        error: io::Error,
    },
    /// The capture cannot be written.
    #[error("the capture: {0}")]
    Capture(#[source] io::Error),
    /// A capture was asked for on links that the relay does not carry.
    #[error("netem links cannot be captured: their packets do not pass through this program")]
    CaptureOnNetem,
    /// iperf3 is asked for and cannot be used.
    #[error("{0}")]
    Iperf3(#[source] VersionError),
    /// A link's MTU is below IPv6's minimum (RFC 8200 section 5).
    #[error("MTU {mtu} is below IPv6's minimum of {least} bytes")]
    MtuBelowIpv6 {
        /// The link's.
        mtu: Mtu,
        /// IPv6's, bytes.
        least: u16,
    },
    /// The machine cannot carry the path's rate.
    #[error("{0}")]
    Capacity(Capacity),
    /// `tc` cannot be started.
    #[error("netem links need `tc`, which cannot be run: {0}")]
    NoTc(#[source] io::Error),
    /// `tc` refused a qdisc.
    #[error("`{command}`: {error}")]
    Tc {
        /// The command as a shell would take it.
        command: TcCommand,
        /// The qdisc's kind, empty for queries.
        kind: String,
        /// The error of `tc`.
        #[source]
        error: TcError,
    },
    /// The kernel's netem cannot be used.
    #[error(transparent)]
    Netem(Unavailable),
    /// The statistics of `tc` are not JSON of a known form.
    #[error("`tc -s -j qdisc show` printed unknown statistics: {0}")]
    Statistics(#[source] serde_json::Error),
    /// The watcher stopped the run.
    #[error("cancelled")]
    Cancelled,
    /// The scenario is wrong.
    #[error("{}{}", key_of(.0), .0.what)]
    Scenario(#[source] Box<ScenarioError>),
    /// A persistent lab cannot use netem links.
    #[error("a persistent lab has relay links, not netem's")]
    PersistentNetem,
    /// The name cannot be a lab's.
    #[error("`{0}` cannot be a lab's name")]
    Name(String),
    /// A lab of this name is up.
    #[error("a lab called `{0}` is already up")]
    AlreadyUp(String),
    /// No lab of this name is up.
    #[error("no lab called `{0}` is up")]
    NotUp(String),
    /// The socket of this name belongs to another user.
    #[error("the lab `{name}` belongs to user {owner}")]
    OtherUser {
        /// The lab's name.
        name: String,
        /// The user's number.
        owner: u32,
    },
    /// The process of a lab is stopped (SIGSTOP, Ctrl-Z), and answers nobody.
    #[error("the lab `{name}` does not answer: its process {process} is stopped")]
    Stopped {
        /// The lab's name.
        name: String,
        /// The process's number.
        process: i32,
    },
    /// The control socket of a lab failed.
    #[error("no connection to the lab `{name}`: {error}")]
    Connection {
        /// The lab's name.
        name: String,
        /// The socket's error.
        #[source]
        error: io::Error,
    },
    /// The lab has no host of this name.
    #[error("the lab `{lab}` has no host `{host}`")]
    NoHost {
        /// The lab's name.
        lab: String,
        /// The name asked for.
        host: String,
        /// The names of its hosts.
        hosts: Vec<String>,
    },
    /// A relay thread of a persistent lab has ended.
    #[error("a link of the lab `{lab}` has failed: {error}")]
    LinkFailed {
        /// The lab's name.
        lab: String,
        /// Why.
        #[source]
        error: Box<Self>,
    },
    /// A key that is fixed while the lab is up.
    #[error("`{key}` cannot change while the lab is up: {reason}")]
    Fixed {
        /// The key.
        key: String,
        /// Why it is fixed.
        reason: &'static str,
    },
    /// A setting that Linux does not offer to a host.
    #[error("`{0}` is not a setting of the Linux kernel")]
    NotAKernelSetting(String),
    /// An MSS that is larger than the interface's MTU lets any segment be.
    #[error(
        "`{key}` = {mss} would change nothing: packets of the interface's MTU hold {fits} bytes of payload"
    )]
    NoSuchSegments {
        /// The key.
        key: String,
        /// The MSS that was asked for.
        mss: u64,
        /// The payload that fits.
        fits: u64,
    },
    /// A value that the kernel bounds to the one that it has.
    #[error("`{key}` would change nothing: {bound}")]
    Bounded {
        /// The key.
        key: String,
        /// What the kernel takes the value for, and why.
        bound: String,
    },
    /// A change failed, and so did its undo.
    #[error("{error}; undoing the part that was applied failed: {undo}")]
    HalfApplied {
        /// Why the change failed.
        error: Box<Self>,
        /// Why the undo failed.
        #[source]
        undo: Box<Self>,
    },
    /// The lab's process refused a request.
    #[error("{what}")]
    Refused {
        /// Its error.
        what: String,
        /// Its hint.
        hint: Option<String>,
    },
}

/// What a machine carries over a path, against what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "this machine carries about {:.1} Gbit/s over {} at an MTU of {mtu}, and the path has {:.1} Gbit/s",
    .carried_bps / 1e9, hops_in_words(*.hops), .asked_bps / 1e9
)]
pub struct Capacity {
    /// Measured, in bits per second.
    pub carried_bps: f64,
    /// The rate of the slowest link, in bits per second.
    pub asked_bps: f64,
    /// Hops of the path.
    pub hops: usize,
    /// The path's smallest MTU, in bytes.
    pub mtu: u64,
}

fn hops_in_words(hops: usize) -> String {
    if hops == 1 { "one hop".to_owned() } else { format!("{hops} hops") }
}

fn key_of(error: &ScenarioError) -> String {
    if error.key.is_empty() { String::new() } else { format!("{}: ", error.key) }
}

const DOCTOR: &str = "`maxseg doctor` names what is missing and the command that fixes it";
const CONGESTION: &str = "`maxseg doctor` lists the congestion controls that this user may use; --set \
                          sender.congestion=reno works everywhere";
const RELAY: &str = "use relay links: --set lab.backend=relay";
const RESTART: &str = "`maxseg lab down`, then `maxseg lab up` again";

impl LabError {
    /// The command, key or value that would work, where one is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Namespace(_) | Self::Tun(_) => DOCTOR.to_owned(),
            Self::TooManyHops { .. } => "merge hops, or use --engine sim".to_owned(),
            Self::Congestion { .. } => CONGESTION.to_owned(),
            Self::DefaultCongestion { wanted, allowed, .. } => {
                let allowed = format!("{allowed} {wanted}");
                let sysctl = "net.ipv4.tcp_allowed_congestion_control";
                format!(
                    "sudo sysctl -w {sysctl}='{}'; then programs may choose another",
                    allowed.trim()
                )
            }
            Self::CaptureOnNetem => format!("leave out --pcap, or {RELAY}"),
            Self::Iperf3(_) => "sudo apt install iperf3, or leave out --traffic iperf3".to_owned(),
            Self::MtuBelowIpv6 { least, .. } => {
                format!("--set hop.*.mtu={least} or larger, or --set ip=4")
            }
            Self::Capacity(_) => {
                "lower hop.*.rate, raise hop.*.mtu, or use --engine sim".to_owned()
            }
            Self::NoTc(_) => format!("sudo apt install iproute2, or {RELAY}"),
            Self::Tc { kind, error: TcError::UnknownKind, .. } => {
                format!("sudo modprobe sch_{kind}, or {RELAY}")
            }
            Self::Tc { error, .. } => error.hint().unwrap_or(RELAY).to_owned(),
            Self::Netem(error) => error.hint().unwrap_or(RELAY).to_owned(),
            Self::Statistics(_) => format!("install a newer iproute2, or {RELAY}"),
            Self::Scenario(error) => return Some(error.hint.clone()),
            Self::PersistentNetem => "--set lab.backend=relay".to_owned(),
            Self::Name(_) => format!("use 1 to {LONGEST_NAME} letters, digits, `-`, `_` and `.`"),
            Self::AlreadyUp(name) => {
                format!(
                    "`maxseg lab down --name {name}` ends it; --name gives this one another name"
                )
            }
            Self::NotUp(_) => {
                "`maxseg lab up FILE` starts one; each user and each network namespace has \
                               its own labs"
                    .to_owned()
            }
            Self::Stopped { process, .. } => format!("`kill -CONT {process}` lets it run on"),
            Self::OtherUser { .. } => "choose another name with --name".to_owned(),
            Self::NoHost { host, hosts, .. } => {
                let all = hosts.join(", ");
                match closest(host, hosts.iter().map(String::as_str)) {
                    Some(similar) => format!("did you mean `{similar}`? The hosts are: {all}"),
                    None => format!("the hosts are: {all}"),
                }
            }
            Self::LinkFailed { .. } | Self::HalfApplied { .. } => RESTART.to_owned(),
            Self::Fixed { .. } => "`maxseg lab down`, then `maxseg lab up` with --set".to_owned(),
            Self::NoSuchSegments { .. } => {
                "set a larger MTU with it, as hop.NAME.mtu=1500".to_owned()
            }
            Self::NotAKernelSetting(_) => "use --engine sim, which has it".to_owned(),
            Self::Bounded { .. } => "set a value that the kernel takes".to_owned(),
            Self::Refused { hint, .. } => return hint.clone(),
            Self::Host { .. }
            | Self::Flow { .. }
            | Self::Link { .. }
            | Self::Capture(_)
            | Self::Connection { .. }
            | Self::Cancelled => return None,
        };
        Some(hint)
    }
}

/// The longest name of a lab, in bytes: with its prefix it fits into `sun_path` (108 bytes, unix(7)).
pub(crate) const LONGEST_NAME: usize = 40;

impl From<ScenarioError> for LabError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

impl From<LabError> for EngineError {
    fn from(error: LabError) -> Self {
        if matches!(error, LabError::Cancelled) {
            return Self::Cancelled;
        }
        Self::Unable { hint: error.hint(), source: Arc::new(error) }
    }
}
