//! A lab that stays: hosts and links that live in a process of their own until they are taken down, for
//! whatever anyone wants to run in them.
//!
//! ```text
//! lab up ──→ PersistentLab (network, relay, the scenario as it is now) ←── one line of JSON ──┬─ status, set, down
//!                                                └── a host's namespaces, as files ─────→└─ exec, shell
//! ```
//! Nothing of it has a name in the file system: the socket is abstract, hosts and interfaces live in file
//! descriptors. However the process ends, all of it is gone.

mod change;
mod client;
mod lab;
mod protocol;
mod server;
mod status;

pub use change::Changed;
pub use client::{Client, HostEntry};
pub use lab::PersistentLab;
pub use status::{LabStatus, StatusHost, StatusInterface};

use maxseg_core::engine::EngineError;

use crate::sys::user_id;

/// What a lab is called unless somebody calls it otherwise.
pub const DEFAULT_NAME: &str = "lab";

/// What a lab of this user listens to.
///
/// # Errors
/// It is no name of a lab.
fn address(name: &str) -> Result<String, EngineError> {
    const LONGEST: usize = 40;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
        return Err(EngineError::Unable {
            what: format!("`{name}` cannot be a lab's name"),
            hint: Some(format!(
                "letters, digits, and - _ . between them; at most {LONGEST} of them"
            )),
        });
    }
    Ok(format!("maxseg/{}/{name}", user_id()))
}
