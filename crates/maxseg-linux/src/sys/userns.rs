//! A user namespace of one's own: an ordinary user's way to network namespaces.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid};

/// Whether this process has root's rights over the network namespaces that it makes.
pub fn is_root() -> bool {
    Uid::effective().is_root()
}

/// Moves this process into a user namespace of its own, in which it is root, so that it may make network
/// namespaces. Outside nothing changes: files that it writes belong to the same user as before.
///
/// # Errors
/// The kernel or its administrator forbids it; or there is more than one thread already.
pub fn own_user_namespace() -> io::Result<()> {
    let (uid, gid) = (Uid::effective(), Gid::effective());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // A group map may be written only by those who gave up setting groups (user_namespaces(7)).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
}
