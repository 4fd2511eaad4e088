//! What `maxseg path` can send as this user, and what `maxseg tune` can set and keep.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::{AccessFlags, Uid, access};
use socket2::{Domain, Protocol, Socket, Type};

use super::host::Host;
use super::live::tells_marks;
use super::namespaces::{this_program, words};
use super::programs::installed;
use super::{Check, State};
use crate::netlink::Netlink;
use crate::sys::probe::{ProbeStep, run_probe};
use crate::sys::{open_regular, state_folder};

/// A sysctl that every kernel has, of each network namespace; it is opened, and not written.
const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_sack";
/// The journal of `maxseg tune` in the folder of what is kept.
const JOURNAL: &str = "tune.jsonl";

pub(super) fn check(host: &Host) -> [Check; 5] {
    let settable = OpenOptions::new().write(true).open(SYSCTL).map(drop);
    [
        probes(run_probe(&[ProbeStep::PacketSocket]).is_ok(), has_ping_socket()),
        sysctls(&settable, host.is_root),
        routes(&lists_routes(), tells_marks().unwrap_or(false), host.is_root),
        state(state_folder().as_deref()),
        installed("ip", "the commands that `path`, `explain` and `advise` print", "iproute2"),
    ]
}

/// Whether an ordinary user may send echoes (`net.ipv4.ping_group_range`).
fn has_ping_socket() -> bool {
    Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::ICMPV4)).is_ok()
}

/// What is sent to find a path MTU.
fn probes(has_raw: bool, has_echo: bool) -> Check {
    let purpose = "`maxseg path`: raw segments find the path MTU whatever routers say, and teach the kernel nothing";
    let check = Check::new("path", purpose, "raw TCP segments, ICMP echoes, UDP datagrams")
        .value("raw_segments", has_raw)
        .value("echoes", has_raw || has_echo);
    if has_raw {
        return check;
    }
    let found = if has_echo {
        "ICMP echoes, UDP datagrams and TCP connections; no raw segments (CAP_NET_RAW)"
    } else {
        "UDP datagrams and TCP connections; no ICMP echoes (net.ipv4.ping_group_range), no raw segments (CAP_NET_RAW)"
    };
    Check { found: found.to_owned(), ..check }
        .state(State::Limited)
        .mend([format!("sudo setcap cap_net_raw=ep {}", this_program())])
}

/// Whether sysctls can be set.
fn sysctls(settable: &io::Result<()>, is_root: bool) -> Check {
    let purpose = "`maxseg tune apply`: sysctls";
    let check = Check::new("sysctls", purpose, "sysctls of the network can be set")
        .value("settable", settable.is_ok());
    let Err(error) = settable else { return check };
    let is_read_only = error.raw_os_error() == Some(libc::EROFS);
    let why = if is_read_only {
        "/proc/sys is mounted read-only, as in a container: set them on its host, or by its runtime (`--sysctl`)"
            .to_owned()
    } else {
        words(error)
    };
    let check = Check { found: format!("sysctls are read, and cannot be set ({why})"), ..check }
        .state(State::Limited);
    if is_root || is_read_only { check } else { check.mend(["sudo maxseg tune apply"]) }
}

fn lists_routes() -> io::Result<()> {
    Netlink::new()?.default_route().map(drop)
}

/// Whether routes and interfaces can be read, and set.
fn routes(readable: &io::Result<()>, is_admin: bool, is_root: bool) -> Check {
    let purpose = "`maxseg tune apply`: routes and interfaces, by rtnetlink (it runs no `ip`)";
    let check = Check::new("routes", purpose, "routes and interfaces can be set")
        .value("settable", readable.is_ok() && is_admin);
    match readable {
        Err(error) => {
            let found = format!("routes cannot be read ({})", words(error));
            Check { found, ..check }.state(State::Missing)
        }
        Ok(()) if is_admin => check,
        Ok(()) => {
            let found = "routes and interfaces are read, and cannot be set (CAP_NET_ADMIN)";
            let check = Check { found: found.to_owned(), ..check }.state(State::Limited);
            if is_root { check } else { check.mend(["sudo maxseg tune apply"]) }
        }
    }
}

/// Whether what was changed can be noted before it is changed, to be undone.
fn state(folder: Option<&Path>) -> Check {
    let purpose = "journal of `maxseg tune`, without which it changes nothing; log of `maxseg path`; last advice";
    let Some(folder) = folder else {
        return Check::new(
            "state",
            purpose,
            "this user has no home, and XDG_STATE_HOME is not set",
        )
        .state(State::Missing)
        .mend(["export XDG_STATE_HOME=/path"]);
    };
    let check = Check::new("state", purpose, format!("{} can be written", folder.display()))
        .value("folder", folder.display().to_string());
    match fault_of(folder) {
        None => check,
        Some(found) => {
            Check { found, ..check }.state(State::Missing).mend(["export XDG_STATE_HOME=/path"])
        }
    }
}

/// Why nothing can be kept in a folder, which is made where it is missing.
fn fault_of(folder: &Path) -> Option<String> {
    let there = folder.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    let shown = there.display();
    let because = |why: String| {
        let is_there = there == folder;
        if is_there { why } else { format!("{} cannot be made: {why}", folder.display()) }
    };
    let about = match there.metadata() {
        Ok(about) if about.is_dir() => about,
        Ok(_) => return Some(because(format!("{shown} is not a folder"))),
        Err(error) => return Some(because(format!("{shown}: {}", words(&error)))),
    };
    let is_ours = about.uid() == Uid::effective().as_raw() && about.mode() & 0o022 == 0;
    if there == folder && !is_ours {
        return Some(format!("{shown} is somebody else's, or others may write to it"));
    }
    if let Err(error) = access(there, AccessFlags::W_OK | AccessFlags::X_OK) {
        return Some(because(format!("{shown} cannot be written ({})", error.desc())));
    }
    match open_regular(&folder.join(JOURNAL)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Some(format!("{}: {}", folder.join(JOURNAL).display(), words(&error)))
        }
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn what_an_ordinary_user_lacks_is_told_with_its_capability() {
        assert_eq!(probes(true, false).state, State::Ok);
        for (has_echo, lacking) in [(true, "CAP_NET_RAW"), (false, "ping_group_range")] {
            let check = probes(false, has_echo);
            assert_eq!((check.state, check.required), (State::Limited, false));
            assert!(check.found.contains(lacking) && check.mend[0].contains("cap_net_raw"));
        }
        let denied = || Err(io::Error::from_raw_os_error(libc::EACCES));
        assert_eq!(sysctls(&Ok(()), false).state, State::Ok);
        assert_eq!(sysctls(&denied(), false).mend, ["sudo maxseg tune apply"]);
        let read_only = Err(io::Error::from_raw_os_error(libc::EROFS));
        let check = sysctls(&read_only, true);
        assert!(check.mend.is_empty() && check.found.contains("container"), "{check:?}");
        assert_eq!(routes(&Ok(()), true, true).state, State::Ok);
        let check = routes(&Ok(()), false, false);
        assert!(check.found.contains("CAP_NET_ADMIN") && check.mend.len() == 1, "{check:?}");
        assert_eq!(routes(&denied(), true, true).state, State::Missing);
    }

    #[test]
    fn a_folder_in_which_nothing_can_be_kept_is_told() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("maxseg");
        assert_eq!(state(Some(&folder)).state, State::Ok, "it is made");
        assert!(!folder.exists(), "by whoever needs it");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(state(Some(&folder)).state, State::Ok);
        symlink("/dev/null", folder.join(JOURNAL)).unwrap();
        let check = state(Some(&folder));
        assert!(check.found.ends_with("it is a device, not a regular file"), "{check:?}");
        fs::remove_file(folder.join(JOURNAL)).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(state(Some(&folder)).found.contains("others may write to it"));
        let file = above.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(state(Some(&file.join("maxseg"))).found.ends_with("is not a folder"));
        assert_eq!(state(None).mend, ["export XDG_STATE_HOME=/path"]);
    }
}
