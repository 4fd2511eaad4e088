//! A private user namespace, in which an ordinary user may create network namespaces.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, write};

/// The effective user of this process before it entered a private user namespace.
static OUTER_USER: OnceLock<u32> = OnceLock::new();

/// The effective user of this process, as seen from the namespace in which it was started.
pub(crate) fn user_id() -> u32 {
    OUTER_USER.get().copied().unwrap_or_else(|| Uid::effective().as_raw())
}

/// Moves this process into a new user namespace, in which it is root and may create network namespaces. Its rights
/// outside do not change: files that it writes belong to the same user as before.
///
/// # Errors
/// The kernel's settings forbid it, or there is more than one thread.
pub fn own_user_namespace() -> io::Result<()> {
    let uid = Uid::effective();
    RootMapping::prepare().enter()?;
    OUTER_USER.get_or_init(|| uid.as_raw());
    Ok(())
}

/// The ID maps that make this user root of a new user namespace.
#[derive(Debug)]
pub(super) struct RootMapping {
    uid_map: String,
    gid_map: String,
}

impl RootMapping {
    /// The maps for the user and group of this process.
    pub(super) fn prepare() -> Self {
        let (uid, gid) = (Uid::effective(), Gid::effective());
        Self { uid_map: format!("0 {uid} 1"), gid_map: format!("0 {gid} 1") }
    }

    /// Moves this process into a new user namespace. Makes only system calls and allocates nothing, so that it may be called
    /// between fork and exec.
    ///
    /// # Errors
    /// As [`own_user_namespace`].
    pub(super) fn enter(&self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        // A program whose file has capabilities is not dumpable, so that its files in /proc are root's (prctl(2),
        // PR_SET_DUMPABLE) and it may not write its own maps. What that protects has gone: of the capabilities of the file,
        // none is valid outside the new namespace.
        prctl::set_dumpable(true)?;
        // An unprivileged process must deny `setgroups` before it writes a group map (user_namespaces(7)).
        put("/proc/self/setgroups", "deny")?;
        put("/proc/self/uid_map", &self.uid_map)?;
        put("/proc/self/gid_map", &self.gid_map)
    }
}

fn put(file: &str, text: &str) -> io::Result<()> {
    write(open(file, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?, text.as_bytes())?;
    Ok(())
}

/// The private user namespace of this process, if it has one.
///
/// # Errors
/// /proc is not mounted.
pub(crate) fn user_namespace() -> io::Result<Option<OwnedFd>> {
    OUTER_USER.get().map(|_| File::open("/proc/self/ns/user").map(OwnedFd::from)).transpose()
}

/// Moves this process into the user namespace of another process of the same user.
///
/// # Errors
/// The namespace is another user's, or there is more than one thread.
pub(crate) fn enter_user_namespace(namespace: &OwnedFd) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWUSER)?)
}
