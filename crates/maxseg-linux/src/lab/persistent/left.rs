//! Programs that outlive a lab.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use nix::sys::stat::fstat;
use serde::{Deserialize, Serialize};

use crate::lab::network::Network;

/// A program in a host of a lab that is taken down: it runs on, without a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftProcess {
    /// Its process ID.
    pub process: u32,
    /// The kernel's name of it (`/proc/PID/comm`).
    pub program: String,
    /// The host in which it runs.
    pub host: String,
}

/// The programs in the hosts, as far as this user may see where they run; this process is none of them.
pub(super) fn processes(network: &Network) -> Vec<LeftProcess> {
    let namespaces: Vec<(u64, &str)> = network
        .hosts
        .iter()
        .filter_map(|host| Some((fstat(host.namespace.as_fd()).ok()?.st_ino, host.name.as_str())))
        .collect();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut left: Vec<LeftProcess> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|process| *process != std::process::id())
        .filter_map(|process: u32| {
            let own = fs::metadata(format!("/proc/{process}/ns/net")).ok()?.ino();
            let (_, host) = namespaces.iter().find(|(namespace, _)| *namespace == own)?;
            let program = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
            Some(LeftProcess {
                process,
                program: program.trim().to_owned(),
                host: (*host).to_owned(),
            })
        })
        .collect();
    left.sort_by_key(|left| left.process);
    left
}
