//! How this process may create network namespaces.

use std::io;

use super::own_user_namespace;
use super::probe::{ProbeError, ProbeStep, run_probe};

/// How a process may create network namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceAccess {
    /// With the rights that it has.
    Direct,
    /// In a user namespace of its own.
    UserNamespace,
}

impl NamespaceAccess {
    /// Tries both in child processes: the user ID does not decide, since root in a container may lack the right.
    ///
    /// # Errors
    /// Neither works; the error of the second.
    pub fn detect() -> Result<Self, ProbeError> {
        match run_probe(Self::Direct.steps()) {
            Ok(()) => Ok(Self::Direct),
            Err(_) => run_probe(Self::UserNamespace.steps()).map(|()| Self::UserNamespace),
        }
    }

    /// Gives this process the access, by a user namespace where that is needed.
    ///
    /// # Errors
    /// As of [`own_user_namespace`].
    pub fn enter(self) -> io::Result<()> {
        match self {
            Self::Direct => Ok(()),
            Self::UserNamespace => own_user_namespace(),
        }
    }

    /// The probe steps that create a network namespace.
    pub(crate) fn steps(self) -> &'static [ProbeStep] {
        match self {
            Self::Direct => &[ProbeStep::NetworkNamespace],
            Self::UserNamespace => &[ProbeStep::UserNamespace, ProbeStep::NetworkNamespace],
        }
    }

    /// The probe steps that create a network namespace, followed by `more`.
    pub(crate) fn and(self, more: &[ProbeStep]) -> Vec<ProbeStep> {
        [self.steps(), more].concat()
    }
}
