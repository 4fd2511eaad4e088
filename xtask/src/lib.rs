//! Development commands of maxseg, and what its tests against peers share with them.

#[cfg(target_os = "linux")]
pub mod advise;
pub mod bench;
pub mod check_licences;
#[cfg(target_os = "linux")]
pub mod draws;
#[cfg(target_os = "linux")]
pub mod experiments;
#[cfg(target_os = "linux")]
pub mod explain;
pub mod fuzz;
#[cfg(target_os = "linux")]
pub mod gain;
pub mod generate;
#[cfg(target_os = "linux")]
pub mod lab;
pub mod layers;
pub mod linux;
pub mod mutants;
pub mod ns2;
pub mod ns3;
pub mod packetdrill;
pub mod parallel;
pub mod path;
#[cfg(target_os = "linux")]
pub mod qemu;
pub mod results;
pub mod rfc6349;
mod sysctls;
pub mod tables;
pub mod test;
pub mod validate;

use std::path::{Path, PathBuf};

/// Whether there is a program of this name on the path.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The repository's root.
///
/// # Panics
/// Never: this crate lies in a folder of the root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above").to_owned()
}
