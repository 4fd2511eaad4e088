//! How this process comes to network namespaces.

use std::io;

use super::own_user_namespace;
use super::probe::{Refusal, Step, attempt};

/// How a network namespace can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As this process stands.
    Direct,
    /// In a user namespace of its own.
    UserNamespace,
}

impl Way {
    /// Tries both ways, in child processes: who is root says little, in a container its rights may be gone.
    ///
    /// # Errors
    /// Neither works; why the second does not.
    pub fn find() -> Result<Self, Refusal> {
        match attempt(Self::Direct.steps()) {
            Ok(()) => Ok(Self::Direct),
            Err(_) => attempt(Self::UserNamespace.steps()).map(|()| Self::UserNamespace),
        }
    }

    /// Brings this process there, so that it may make network namespaces.
    ///
    /// # Errors
    /// As of [`own_user_namespace`].
    pub fn take(self) -> io::Result<()> {
        match self {
            Self::Direct => Ok(()),
            Self::UserNamespace => own_user_namespace(),
        }
    }

    /// The steps into a network namespace.
    pub(crate) fn steps(self) -> &'static [Step] {
        match self {
            Self::Direct => &[Step::NetworkNamespace],
            Self::UserNamespace => &[Step::UserNamespace, Step::NetworkNamespace],
        }
    }

    /// The steps into a network namespace, and more.
    pub(crate) fn and(self, more: &[Step]) -> Vec<Step> {
        [self.steps(), more].concat()
    }
}
