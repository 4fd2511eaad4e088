//! The capabilities of this process, and giving them up, for good (capabilities(7)).

use std::io;

use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};

/// `_LINUX_CAPABILITY_VERSION_3` in `linux/capability.h`: two words a set.
const VERSION: u32 = 0x2008_0522;
/// Capability numbers that a kernel can have.
const CAPABILITIES: std::ops::Range<libc::c_ulong> = 0..64;
/// `CAP_NET_RAW` in `linux/capability.h`, as a bit of the first word.
const NET_RAW: u32 = 1 << 13;

/// `CAP_SYS_ADMIN` in the first word; `CAP_PERFMON` and `CAP_BPF` (since Linux 5.8) in the second.
const SYS_ADMIN: u32 = 1 << 21;
const PERFMON_AND_BPF: u32 = 1 << (38 - 32) | 1 << (39 - 32);

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

/// Gives up all capabilities of the calling thread and of what it starts, and forbids programs to regain them
/// (`no_new_privs`). To be called while there is one thread: capabilities belong to threads.
///
/// Root becomes `user` as well. Root of a user namespace may be that namespace's only user, and then remains: the error
/// is the value.
///
/// # Errors
/// A capability remains.
pub(crate) fn give_up_rights(user: (Uid, Gid)) -> io::Result<Option<io::Error>> {
    prctl::set_no_new_privs()?;
    clear_bounding_and_ambient();
    let still_root = if Uid::effective().is_root() { become_user(user).err() } else { None };
    set(&[Sets::default(); 2])?;
    if get()? == [Sets::default(); 2] {
        Ok(still_root)
    } else {
        Err(io::Error::other("this process could not give up its capabilities"))
    }
}

/// Gives up `CAP_NET_RAW` where the program's file gave it to an ordinary user (`setcap`); root keeps it.
///
/// # Errors
/// The capability remains.
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

/// Whether this process has the right to load BPF programs that read the kernel's memory (capabilities(7), `CAP_BPF`). In a user
/// namespace it is worth nothing.
pub(crate) fn may_trace_kernel() -> bool {
    get().is_ok_and(|[low, high]| {
        low.effective & SYS_ADMIN != 0 || high.effective & PERFMON_AND_BPF == PERFMON_AND_BPF
    })
}

/// Empties the bounding and ambient sets. Where the bounding set cannot be changed, `no_new_privs` has the same effect.
fn clear_bounding_and_ambient() {
    for capability in CAPABILITIES {
        let _ = control(libc::PR_CAPBSET_DROP, capability);
    }
    let _ = control(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong);
}

/// Tries each step, even if the one before failed: a user namespace may refuse `setgroups` alone. The first error is
/// returned.
fn become_user((uid, gid): (Uid, Gid)) -> io::Result<()> {
    let (groups, group, user) = (setgroups(&[]), setgid(gid), setuid(uid));
    Ok(groups.and(group).and(user)?)
}

#[expect(unsafe_code, reason = "nix has no bounding set")]
fn control(option: libc::c_int, argument: libc::c_ulong) -> libc::c_int {
    let none: libc::c_ulong = 0;
    // SAFETY: numbers only.
    unsafe { libc::prctl(option, argument, none, none, none) }
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
