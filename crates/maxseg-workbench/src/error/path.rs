//! Why a path cannot be tested.

use std::io;

use maxseg_linux::far_end::FarEndError;

use super::ErrorKind;
use crate::file_error::reason;

/// Why a path cannot be tested.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The resolver knows no such host.
    #[error("the resolver knows no host {name}: {}", reason(source))]
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
    /// This host has no route to it.
    #[error("this host has no route to {address}: {}", reason(source))]
    NoRoute {
        /// The address.
        address: std::net::IpAddr,
        /// What the kernel says.
        source: io::Error,
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
            Self::UnknownHost { .. } | Self::NoSuchAddress { .. } => ErrorKind::Input,
            Self::NoRoute { .. } | Self::Socket { .. } | Self::FarEnd { .. } | Self::Log { .. } => {
                ErrorKind::Machine
            }
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
            Self::NoRoute { address, .. } => {
                Some(format!("`ip route get {address}` says the same"))
            }
            Self::Socket { .. } => Some(
                "`maxseg doctor` checks what this machine allows, and how to fix it".to_owned(),
            ),
            Self::FarEnd { source } => source.hint(),
            Self::Log { .. } => Some("run it as the user whose log it is, or as root".to_owned()),
            Self::Stopped => None,
        }
    }
}
