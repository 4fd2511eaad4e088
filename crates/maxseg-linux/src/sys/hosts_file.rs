//! A private `/etc/hosts` (hosts(5)), in a mount namespace of the calling process.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

const HOSTS: &str = "/etc/hosts";
/// Covered by a tmpfs until the file is bound over `/etc/hosts`; in the new mount namespace only.
const SCRATCH: &str = "/tmp";

/// Gives this process, and the programs it starts, an `/etc/hosts` of `entries` and the lines of the present one. The
/// file is on a tmpfs that ends with the last process of the mount namespace.
///
/// # Errors
/// There is more than one thread, or mounts are forbidden here, or there is no `/etc/hosts`.
pub(crate) fn add_to_private_hosts(entries: &str) -> io::Result<()> {
    let text = format!("{entries}{}", fs::read_to_string(HOSTS)?);
    unshare(CloneFlags::CLONE_NEWNS)?;
    // Mounts made outside still appear here; none made here appears outside.
    change("/", MsFlags::MS_REC | MsFlags::MS_SLAVE)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), SCRATCH, Some("tmpfs"), flags, Some("size=1m"))?;
    let bound = bind(&text);
    umount2(SCRATCH, MntFlags::MNT_DETACH)?;
    bound
}

fn bind(text: &str) -> io::Result<()> {
    let file = format!("{SCRATCH}/hosts");
    fs::write(&file, text)?;
    fs::set_permissions(&file, Permissions::from_mode(0o644))?;
    mount(Some(file.as_str()), HOSTS, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
    Ok(())
}

fn change(path: &str, flags: MsFlags) -> io::Result<()> {
    Ok(mount(None::<&str>, path, None::<&str>, flags, None::<&str>)?)
}
