//! Which process has a socket open, by the names of its descriptors (`proc_pid_fd(5)`).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::sys::LinkReader;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name (`/proc/PID/comm`), up to 15 characters; any characters may be in it.
    pub name: Arc<str>,
}

/// The processes that have sockets open.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    found: Vec<Process>,
    /// By the socket's inode, the place of its process among them.
    by_inode: HashMap<u32, usize, RandomState>,
    /// Processes whose descriptors this user may not see.
    hidden: usize,
}

impl Process {
    /// The process with this number.
    pub(crate) fn of(pid: u32) -> Self {
        let comm = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name = String::from_utf8_lossy(comm.strip_suffix(b"\n").unwrap_or(&comm));
        Self { pid, name: name.into() }
    }
}

/// The numbers of all processes.
pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

impl Processes {
    /// Looks through /proc once. A process that ends meanwhile is left out, one of another user is hidden but for root.
    pub fn scan() -> Self {
        let mut processes = Self::default();
        for pid in pids() {
            processes.add(pid);
        }
        processes
    }

    fn add(&mut self, pid: u32) {
        let sockets = match sockets_of(pid) {
            Ok(sockets) => sockets,
            Err(error) => {
                self.hidden += usize::from(error.kind() == io::ErrorKind::PermissionDenied);
                return;
            }
        };
        let place = self.found.len();
        for (inode, _) in sockets {
            if self.found.len() == place {
                self.found.push(Process::of(pid));
            }
            // A socket that a parent shares with its children is the parent's: it has the lowest number.
            let known = self.by_inode.entry(inode).or_insert(place);
            if self.found[*known].pid > pid {
                *known = place;
            }
        }
    }

    /// The process that has the socket of this inode open; the one with the lowest number of several.
    pub fn with(&self, inode: u32) -> Option<&Process> {
        self.by_inode.get(&inode).map(|place| &self.found[*place])
    }

    /// Processes whose descriptors this user may not see: theirs are the sockets without a process.
    pub const fn hidden(&self) -> usize {
        self.hidden
    }
}

/// The descriptors of a process that are sockets, each with the socket's inode before it.
pub(super) fn sockets_of(pid: u32) -> io::Result<impl Iterator<Item = (u32, RawFd)>> {
    let path = format!("/proc/{pid}/fd");
    let folder = File::open(&path)?;
    // How many descriptors there are (Linux 6.2; 0 before): most processes have the lowest numbers, and reading the folder to
    // learn them costs a third of reading what they are.
    let count = folder.metadata()?.len();
    let mut links = LinkReader::of(folder);
    let mut sockets = Vec::new();
    let mut next: RawFd = 0;
    let (mut found, mut missing) = (0, 0);
    while found < count && missing < MOST_MISSING {
        match links.read(next) {
            Some(target) => {
                found += 1;
                sockets.extend(inode_of(target).map(|inode| (inode, next)));
            }
            None => missing += 1,
        }
        next += 1;
    }
    // Descriptors with higher numbers, or some were opened or closed meanwhile.
    if found < count || count == 0 || links.folder().metadata()?.len() != count {
        let numbers = fs::read_dir(path)?.flatten();
        let numbers = numbers.filter_map(|file| file.file_name().to_str()?.parse().ok());
        for number in numbers.filter(|number: &RawFd| *number >= next) {
            let inode = links.read(number).and_then(inode_of);
            sockets.extend(inode.map(|inode| (inode, number)));
        }
    }
    Ok(sockets.into_iter())
}

/// Numbers without a descriptor that are tried before the folder is read.
const MOST_MISSING: usize = 16;

/// The number in `socket:[NUMBER]`.
fn inode_of(target: &[u8]) -> Option<u32> {
    let number = target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    let mut digits = number.iter().map(|byte| byte.wrapping_sub(b'0'));
    let add = |value: u32, digit: u8| {
        let digit = (digit < 10).then_some(digit)?;
        value.checked_mul(10)?.checked_add(digit.into())
    };
    (!number.is_empty()).then(|| digits.try_fold(0, add))?
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd as _;
    use std::os::linux::fs::MetadataExt as _;

    use nix::fcntl::{FcntlArg, fcntl};

    use super::*;

    #[test]
    fn only_sockets_have_an_inode_here() {
        assert_eq!(inode_of(b"socket:[4711]"), Some(4711));
        for other in ["pipe:[4711]", "socket:[]", "socket:[x]", "/dev/null", "socket:[99999999999]"]
        {
            assert_eq!(inode_of(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_socket_of_this_process_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let path = format!("/proc/self/fd/{}", listener.as_raw_fd());
        let inode = u32::try_from(fs::metadata(path).unwrap().st_ino()).unwrap();
        let processes = Processes::scan();
        assert_eq!(processes.with(inode).unwrap().pid, std::process::id());
    }

    #[test]
    fn a_socket_is_found_behind_a_gap_of_descriptors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let high = fcntl(&listener, FcntlArg::F_DUPFD_CLOEXEC(900)).unwrap();
        let found: Vec<RawFd> =
            sockets_of(std::process::id()).unwrap().map(|(_, file)| file).collect();
        assert!(found.contains(&listener.as_raw_fd()) && found.contains(&high), "{found:?}");
        nix::unistd::close(high).unwrap();
    }
}
