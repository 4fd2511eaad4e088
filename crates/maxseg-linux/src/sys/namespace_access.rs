//! How this process comes to network namespaces.

use std::io;

use super::own_user_namespace;
use super::probe::{ProbeError, ProbeStep, run_probe};

/// How a network namespace can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceAccess {
    /// As this process stands.
    Direct,
    /// In a user namespace of its own.
    UserNamespace,
}

impl NamespaceAccess {
    /// Tries both ways, in child processes: who is root says little, in a container its rights may be gone.
    ///
    /// # Errors
    /// Neither works; why the second does not.
    pub fn detect() -> Result<Self, ProbeError> {
        match run_probe(Self::Direct.steps()) {
            Ok(()) => Ok(Self::Direct),
            Err(_) => run_probe(Self::UserNamespace.steps()).map(|()| Self::UserNamespace),
        }
    }

    /// Brings this process there, so that it may make network namespaces.
    ///
    /// # Errors
    /// As of [`own_user_namespace`].
    pub fn enter(self) -> io::Result<()> {
        match self {
            Self::Direct => Ok(()),
            Self::UserNamespace => own_user_namespace(),
        }
    }

    /// The steps into a network namespace.
    pub(crate) fn steps(self) -> &'static [ProbeStep] {
        match self {
            Self::Direct => &[ProbeStep::NetworkNamespace],
            Self::UserNamespace => &[ProbeStep::UserNamespace, ProbeStep::NetworkNamespace],
        }
    }

    /// The steps into a network namespace, and more.
    pub(crate) fn and(self, more: &[ProbeStep]) -> Vec<ProbeStep> {
        [self.steps(), more].concat()
    }
}
