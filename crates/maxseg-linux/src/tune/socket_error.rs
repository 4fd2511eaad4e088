//! Why an option of a connection cannot be read or set.

use std::io;

use maxseg_core::tune::SocketEnds;
use thiserror::Error;

/// Why an option of a connection cannot be read or set.
#[derive(Debug, Error)]
pub enum SocketError {
    /// No such connection is open here.
    #[error("there is no connection {0} in this network namespace")]
    NoConnection(SocketEnds),
    /// The connection that was meant is closed, and another runs between the same ends.
    #[error("the connection {0} is another one than before: that one is closed")]
    Another(SocketEnds),
    /// It runs in no process that can be seen.
    #[error("no process that this user can see has the connection {0} open")]
    NoProcess(SocketEnds),
    /// This user may not trace the process.
    #[error("this user may not touch sockets of process {pid} ({name})")]
    Denied {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// The kernel does not have the option, or the call.
    #[error("this kernel has no {option} that can be set from outside")]
    NotSupported {
        /// The option.
        option: &'static str,
    },
    /// The kernel refuses the value.
    #[error("the kernel refuses {value} as {option}: {why}")]
    Refused {
        /// The option.
        option: &'static str,
        /// The value.
        value: String,
        /// What it says.
        why: io::Error,
    },
    /// The value is not of the kind that the option takes.
    #[error("{option} takes a number{or}, not {value}")]
    NotAValue {
        /// The option.
        option: &'static str,
        /// The words that it takes besides.
        or: &'static str,
        /// What was given.
        value: String,
    },
    /// The kernel does not list its sockets.
    #[error("the kernel lists no TCP sockets: {0}")]
    NoList(io::Error),
}

impl SocketError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoConnection(_) | Self::Another(_) => {
                "`maxseg connections` lists those that run".to_owned()
            }
            Self::NoProcess(_) | Self::Denied { .. } => {
                "root may, and the user whose process it is: sudo maxseg tune …".to_owned()
            }
            Self::NotSupported { option } => {
                format!("`maxseg tune show socket.{option}` tells since which Linux")
            }
            Self::Refused { option, .. } | Self::NotAValue { option, .. } => {
                format!("`maxseg tune show socket.{option}` lists the values it takes")
            }
            Self::NoList(_) => "`ss -t` asks the kernel for the same list".to_owned(),
        }
    }
}
