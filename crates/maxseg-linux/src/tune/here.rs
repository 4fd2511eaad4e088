//! Where and when this is, and who asks.

use std::io;
use std::os::linux::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use maxseg_core::tune::{Author, Deadline, Moment, Place};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Uid, User};

use super::TuneError;
use crate::sys::{ProcessStatus, namespace_cookie};

/// The boot, the network namespace of the calling thread, and the time.
///
/// # Errors
/// There is no /proc.
pub fn moment() -> Result<Moment, TuneError> {
    let place = || -> io::Result<Place> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let namespace = std::fs::metadata("/proc/thread-self/ns/net")?.st_ino();
        let cookie = namespace_cookie().ok();
        Ok(Place { boot: boot.trim().to_owned(), namespace, cookie })
    };
    Ok(Moment { place: place().map_err(TuneError::Here)?, boot_s: boot_s() })
}

/// Whether this is the network namespace of the machine's first process, or of a container's; `None` where this user may not know.
pub fn is_first_namespace() -> Option<bool> {
    let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
    Some(of("1")? == of("thread-self")?)
}

/// Seconds since boot, those in suspension included.
pub(super) fn boot_s() -> f64 {
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(0.0, |time| Duration::from(time).as_secs_f64())
}

/// Seconds since 1970.
pub(super) fn now_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// So long from now.
pub fn deadline(after: Duration, unless_confirmed: bool) -> Deadline {
    let after_s = after.as_secs_f64();
    Deadline { at_s: now_s() + after_s, boot_s: boot_s() + after_s, unless_confirmed }
}

/// The user of this process, with the one who ran `sudo`.
pub fn author() -> Author {
    let name = |uid: Uid| {
        let user = User::from_uid(uid).ok().flatten();
        user.map_or_else(|| uid.to_string(), |user| user.name)
    };
    let own = name(Uid::effective());
    let behind = std::env::var("SUDO_USER").ok().filter(|user| !user.is_empty() && *user != own);
    let user = behind.map_or_else(|| own.clone(), |behind| format!("{own} (sudo by {behind})"));
    Author { user, pid: std::process::id() }
}

/// When a process began, in clock ticks since the boot; `None` where there is none, or it has ended.
pub(super) fn process_start(pid: u32) -> Option<u64> {
    ProcessStatus::of(pid).filter(|status| !status.has_ended()).map(|status| status.began)
}
