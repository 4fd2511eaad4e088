//! A user namespace of one's own: an ordinary user's way to network namespaces.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, write};

/// Who this process was before it moved into a user namespace of its own.
static WAS: OnceLock<u32> = OnceLock::new();

/// The user whose process this is, as seen from where it was started.
pub(crate) fn user_id() -> u32 {
    WAS.get().copied().unwrap_or_else(|| Uid::effective().as_raw())
}

/// Moves this process into a user namespace of its own, in which it is root, so that it may make network
/// namespaces. Outside nothing changes: files that it writes belong to the same user as before.
///
/// # Errors
/// The kernel or its administrator forbids it; or there is more than one thread already.
pub fn own_user_namespace() -> io::Result<()> {
    let uid = Uid::effective();
    RootMapping::prepare().enter()?;
    WAS.get_or_init(|| uid.as_raw());
    Ok(())
}

/// What makes this user root of a new user namespace.
#[derive(Debug)]
pub(super) struct RootMapping {
    uid_map: String,
    gid_map: String,
}

impl RootMapping {
    /// For the user and group of this process.
    pub(super) fn prepare() -> Self {
        let (uid, gid) = (Uid::effective(), Gid::effective());
        Self { uid_map: format!("0 {uid} 1"), gid_map: format!("0 {gid} 1") }
    }

    /// Moves this process there. Only system calls are made and nothing is allocated, as between fork and exec
    /// it must be.
    ///
    /// # Errors
    /// As [`own_user_namespace`].
    pub(super) fn enter(&self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        // A group map may be written only by those who gave up setting groups (user_namespaces(7)).
        put("/proc/self/setgroups", "deny")?;
        put("/proc/self/uid_map", &self.uid_map)?;
        put("/proc/self/gid_map", &self.gid_map)
    }
}

fn put(file: &str, text: &str) -> io::Result<()> {
    write(open(file, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?, text.as_bytes())?;
    Ok(())
}

/// The user namespace that this process made for itself, if it did.
///
/// # Errors
/// There is no /proc.
pub(crate) fn user_namespace() -> io::Result<Option<OwnedFd>> {
    WAS.get().map(|_| File::open("/proc/self/ns/user").map(OwnedFd::from)).transpose()
}

/// Moves this process into the user namespace of another process of the same user.
///
/// # Errors
/// It is not that user's, or there is more than one thread already.
pub(crate) fn enter_user_namespace(namespace: &OwnedFd) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWUSER)?)
}
