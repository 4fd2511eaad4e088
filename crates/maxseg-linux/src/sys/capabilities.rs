//! Giving up rights, for good.

use std::io;

use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};

/// `_LINUX_CAPABILITY_VERSION_3` in `linux/capability.h`: two words a set.
const VERSION: u32 = 0x2008_0522;
/// Numbers of capabilities that this kernel could have.
const CAPABILITIES: std::ops::Range<libc::c_ulong> = 0..64;
/// `CAP_NET_RAW` in `linux/capability.h`, as a bit of the first word.
const NET_RAW: u32 = 1 << 13;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// The calling thread, and all that it starts, has no rights from now on but those of an ordinary user: no
/// capability in any set, and no program that it could run would give it one (`no_new_privs`). To be called
/// while there is one thread: rights are a thread's own.
///
/// What is root becomes `user` besides. Root of a user namespace may be its only user, and then stays it: it owns
/// nothing there that is not its own. Why it is another one still, if it is, is the value.
///
/// # Errors
/// A capability is still there.
pub(crate) fn give_up_rights(user: (Uid, Gid)) -> io::Result<Option<io::Error>> {
    prctl::set_no_new_privs()?;
    forget_bounds();
    let stayed = if Uid::effective().is_root() { become_user(user).err() } else { None };
    set(&[Sets::default(); 2])?;
    if get()? == [Sets::default(); 2] {
        Ok(stayed)
    } else {
        Err(io::Error::other("this process could not give up its capabilities"))
    }
}

/// Gives up `CAP_NET_RAW` where the program's file gave it to an ordinary user: root's rights are root's.
///
/// # Errors
/// It is still there.
pub(crate) fn give_up_file_right() -> io::Result<()> {
    if Uid::effective().is_root() {
        return Ok(());
    }
    let mut sets = get()?;
    let Sets { effective, permitted, inheritable } = &mut sets[0];
    if *permitted & NET_RAW == 0 {
        return Ok(());
    }
    for set in [effective, permitted, inheritable] {
        *set &= !NET_RAW;
    }
    set(&sets)
}

/// No program would find a capability in the bounding or ambient set. Who may not change the former has
/// `no_new_privs` against the same.
fn forget_bounds() {
    for capability in CAPABILITIES {
        let _ = control(libc::PR_CAPBSET_DROP, capability);
    }
    let _ = control(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong);
}

/// Each step is tried, whatever became of the one before: a user namespace may refuse `setgroups` alone. The first
/// error is told.
fn become_user((uid, gid): (Uid, Gid)) -> io::Result<()> {
    let (others, group, user) = (setgroups(&[]), setgid(gid), setuid(uid));
    Ok(others.and(group).and(user)?)
}

#[expect(unsafe_code, reason = "nix has no bounding set")]
fn control(what: libc::c_int, argument: libc::c_ulong) -> libc::c_int {
    let none: libc::c_ulong = 0;
    // SAFETY: numbers only.
    unsafe { libc::prctl(what, argument, none, none, none) }
}

#[expect(unsafe_code, reason = "nix has no capabilities")]
fn set(sets: &[Sets; 2]) -> io::Result<()> {
    let header = Header { version: VERSION, pid: 0 };
    // SAFETY: the kernel reads both, of the sizes that this version has.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[expect(unsafe_code, reason = "nix has no capabilities")]
fn get() -> io::Result<[Sets; 2]> {
    let mut header = Header { version: VERSION, pid: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: the kernel writes both, of the sizes that this version has.
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(sets) }
}
