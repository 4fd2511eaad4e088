//! Persistent labs: hosts and links in a process of their own until `lab down`, for any programs.
//!
//! ```text
//! lab up ──→ PersistentLab (network, relay, the scenario as it is now) ←── one line of JSON ──┬─ status, set, down
//!                                                └── a host's namespaces, as files ─────→└─ exec, shell
//! ```
//! Nothing of it has a name in the file system: the socket is abstract, hosts and interfaces live in file
//! descriptors. However the process ends, nothing is left.

mod change;
mod client;
mod lab;
mod left;
mod protocol;
mod server;
mod status;

pub use change::Changed;
pub use client::{Client, HostEntry};
pub use lab::PersistentLab;
pub use left::LeftProcess;
pub use status::{LabStatus, StatusHost, StatusInterface};

use super::error::{LONGEST_NAME, LabError};
use crate::sys::user_id;

/// The default name of a lab.
pub const DEFAULT_NAME: &str = "lab";

/// The abstract socket address (unix(7)) of a lab of this user.
///
/// # Errors
/// The name cannot be a lab's.
fn address(name: &str) -> Result<String, LabError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_of_dots = name.chars().all(|c| c == '.'); // the empty name too
    if is_of_dots || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        return Err(LabError::Name(name.to_owned()));
    }
    Ok(format!("maxseg/{}/{name}", user_id()))
}
