//! What can be wrong with settings.

use crate::units::Time;

/// Settings that are not complete, or contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Neither the file nor its stack gives the key a value.
    #[error("`{0}` has no value, and the stack gives none")]
    Missing(&'static str),
    /// A time that must not be zero.
    #[error("`{0}` cannot be 0 s")]
    Zero(&'static str),
    /// A value that lets nothing through.
    #[error("`{0}` of nothing lets nothing through")]
    Nothing(&'static str),
    /// A tick rate that no kernel is built with.
    #[error("`linux.hz` of {0} is no kernel's: `CONFIG_HZ` is 100, 250, 300 or 1000")]
    NoTickRate(u32),
    /// A window that only Linux's own TCP has.
    #[error("`window = \"auto\"` goes with the stack `linux`")]
    NoAutotuning,
    /// A search for the path MTU that only Linux's own TCP has.
    #[error(
        "`mtu_probing = \"always\"` goes with the stack `linux`: others probe once segments are lost (`true`)"
    )]
    NoMtuSearch,
    /// A size of the search for the path MTU that the kernel does not take.
    #[error("`{0}` of {1}: the kernel takes {2} to {3}")]
    OutOfRange(&'static str, u64, u64, u64),
    /// A rule of another stack, with the sockets of Linux.
    #[error("`{0}` is a rule of other stacks than `linux`")]
    NotOnLinux(&'static str),
    /// The timer's bounds are the wrong way round.
    #[error("rto.min ({min}) is above rto.max ({max})")]
    MinAboveMax {
        /// The lower bound.
        min: Time,
        /// The upper bound.
        max: Time,
    },
}

impl SettingsError {
    /// The key at fault.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Missing(key)
            | Self::Zero(key)
            | Self::Nothing(key)
            | Self::OutOfRange(key, ..)
            | Self::NotOnLinux(key) => key,
            Self::NoMtuSearch => "mtu_probing",
            Self::NoTickRate(_) => "linux.hz",
            Self::NoAutotuning => "window",
            Self::MinAboveMax { .. } => "rto.min",
        }
    }

    /// A value or a command that helps; `stack` is what the settings began as.
    pub(crate) fn hint(&self, stack: &str) -> String {
        match self {
            Self::NoTickRate(_) => "write hz = 250".to_owned(),
            Self::Missing(_)
            | Self::Zero(_)
            | Self::Nothing(_)
            | Self::NoAutotuning
            | Self::NoMtuSearch
            | Self::OutOfRange(..)
            | Self::NotOnLinux(_)
            | Self::MinAboveMax { .. } => {
                format!("`maxseg stacks show {stack}` shows what the stack sets")
            }
        }
    }
}
