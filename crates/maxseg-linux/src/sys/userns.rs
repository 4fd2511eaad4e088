//! A user namespace of one's own: an ordinary user's way to network namespaces.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{Gid, Uid};

/// Who this process was before it moved into a user namespace of its own.
static WAS: OnceLock<u32> = OnceLock::new();

/// The user whose process this is, as seen from where it was started.
pub fn user_id() -> u32 {
    WAS.get().copied().unwrap_or_else(|| Uid::effective().as_raw())
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
    fs::write("/proc/self/gid_map", format!("0 {gid} 1"))?;
    WAS.get_or_init(|| uid.as_raw());
    Ok(())
}

/// The user namespace that this process made for itself, if it did.
///
/// # Errors
/// There is no /proc.
pub fn user_namespace() -> io::Result<Option<OwnedFd>> {
    WAS.get().map(|_| File::open("/proc/self/ns/user").map(OwnedFd::from)).transpose()
}

/// Moves this process into the user namespace of another process of the same user.
///
/// # Errors
/// It is not that user's, or there is more than one thread already.
pub fn enter_user_namespace(namespace: &OwnedFd) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWUSER)?)
}
