//! Why a path cannot be tested.

use std::io;

use maxseg_linux::far_end::FarEndError;

use super::ErrorKind;
use crate::file_error::reason;

/// Who says that a host is unreachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sayer {
    /// A router on the way.
    Router(std::net::IpAddr),
    /// This host itself.
    ThisHost,
}

impl std::fmt::Display for Sayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Router(address) => address.fmt(f),
            Self::ThisHost => f.write_str("this host"),
        }
    }
}

/// Why a path cannot be tested.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The resolver has no address of it.
    #[error("the resolver gives no address of {name}: {}", reason(source))]
    UnknownHost {
        /// The name.
        name: String,
        /// What the resolver says.
        source: io::Error,
    },
    /// It has no address of the IP version that was asked for.
    #[error("{name} has no IPv{version} address")]
    NoSuchAddress {
        /// The name.
        name: String,
        /// 4 or 6.
        version: u8,
    },
    /// It is no address of one host.
    #[error("{address} is {kind}")]
    NoHost {
        /// The address.
        address: std::net::IpAddr,
        /// Which kind of address it is, with its article.
        kind: &'static str,
    },
    /// The kernel sends nothing there by its route.
    #[error("this host may send nothing to {address}: {}", reason(source))]
    Refused {
        /// The address.
        address: std::net::IpAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// This host has no route to it.
    #[error("this host has no route to {address}: {}", reason(source))]
    NoRoute {
        /// The address.
        address: std::net::IpAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// Somebody on the way says that packets do not get there, and nothing of the host itself came.
    #[error("{from} says that {address} is unreachable: {why}")]
    Unreachable {
        /// The address.
        address: std::net::IpAddr,
        /// Who says so: a router, or this host.
        from: Sayer,
        /// What the message says; a clause.
        why: String,
    },
    /// A socket cannot be used.
    #[error("cannot {doing}: {}", reason(source))]
    Socket {
        /// What was to be done.
        doing: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
    /// The far end does not do its part.
    #[error("the far end: {source}")]
    FarEnd {
        /// Why.
        source: FarEndError,
    },
    /// The log of what probes teach the kernel cannot be used.
    #[error("cannot use {}: {}", path.display(), reason(source))]
    Log {
        /// The log.
        path: std::path::PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
    /// The caller stopped it.
    #[error("the test was stopped")]
    Stopped,
}

impl PathError {
    /// A socket cannot be used; or the caller stopped it, which ends a call as interrupted.
    pub(crate) fn socket(doing: &'static str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::Interrupted {
            Self::Stopped
        } else {
            Self::Socket { doing, source }
        }
    }

    /// What it is about.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownHost { .. } | Self::NoSuchAddress { .. } | Self::NoHost { .. } => {
                ErrorKind::Input
            }
            Self::NoRoute { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Socket { .. }
            | Self::FarEnd { .. }
            | Self::Log { .. } => ErrorKind::Machine,
            Self::Stopped => ErrorKind::Stopped,
        }
    }

    /// The command or argument that works.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownHost { name, .. } => {
                Some(format!("`getent hosts {name}` asks the same resolver; an address needs none"))
            }
            Self::NoSuchAddress { version, .. } => {
                Some(format!("leave out -{version}, or name an IPv{version} address"))
            }
            Self::NoHost { .. } => {
                Some("name one host's own address, as `ip address` shows it there".to_owned())
            }
            Self::Refused { address, .. } => Some(format!(
                "`ip route get {address}` shows which route that is: to the broadcast address of a link, or one that prohibits it"
            )),
            Self::NoRoute { address, .. } => {
                Some(format!("`ip route get {address}` says the same"))
            }
            Self::Unreachable { from: Sayer::Router(router), .. } => {
                Some(format!("look at {router}: its routes, its neighbours and its firewall"))
            }
            Self::Unreachable { address, .. } => Some(format!(
                "`ip neigh show {address}`: whether the host is on this link, and answers address resolution"
            )),
            Self::Socket { .. } => Some(
                "`maxseg doctor` checks what this machine allows, and how to fix it".to_owned(),
            ),
            Self::FarEnd { source } => source.hint(),
            Self::Log { .. } => Some("run it as the user whose log it is, or as root".to_owned()),
            Self::Stopped => None,
        }
    }
}
