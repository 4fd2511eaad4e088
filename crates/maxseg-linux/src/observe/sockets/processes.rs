//! Which process has a socket open, by the names of its descriptors (`proc_pid_fd(5)`).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use nix::fcntl::readlinkat;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name (`/proc/PID/comm`), up to 15 characters; any characters may be in it.
    pub name: String,
}

/// The processes that have sockets open.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    by_inode: HashMap<u32, Arc<Process>>,
    /// Processes whose descriptors this user may not see.
    hidden: usize,
}

impl Process {
    /// The process with this number.
    pub(crate) fn of(pid: u32) -> Self {
        let comm = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name = String::from_utf8_lossy(comm.strip_suffix(b"\n").unwrap_or(&comm)).into_owned();
        Self { pid, name }
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
        let mut process = None;
        for (inode, _) in sockets {
            let process = process.get_or_insert_with(|| Arc::new(Process::of(pid)));
            // A socket that a parent shares with its children is the parent's: it has the lowest number.
            let known = self.by_inode.entry(inode).or_insert_with(|| Arc::clone(process));
            if known.pid > pid {
                *known = Arc::clone(process);
            }
        }
    }

    /// The process that has the socket of this inode open; the one with the lowest number of several.
    pub fn with(&self, inode: u32) -> Option<&Arc<Process>> {
        self.by_inode.get(&inode)
    }

    /// Processes whose descriptors this user may not see: theirs are the sockets without a process.
    pub const fn hidden(&self) -> usize {
        self.hidden
    }
}

/// The descriptors of a process that are sockets, each with the socket's inode before it.
pub(super) fn sockets_of(pid: u32) -> io::Result<impl Iterator<Item = (u32, RawFd)>> {
    let path = format!("/proc/{pid}/fd");
    // By their names alone: the kernel would look up process and folder for each whole path.
    let folder = File::open(&path)?;
    let socket = move |file: fs::DirEntry| {
        let name = file.file_name();
        let inode = inode_of(readlinkat(&folder, name.as_os_str()).ok()?.as_bytes())?;
        Some((inode, name.to_str()?.parse().ok()?))
    };
    Ok(fs::read_dir(path)?.flatten().filter_map(socket))
}

/// The number in `socket:[NUMBER]`.
fn inode_of(target: &[u8]) -> Option<u32> {
    let number = target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::linux::fs::MetadataExt as _;

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
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&listener));
        let inode = u32::try_from(fs::metadata(path).unwrap().st_ino()).unwrap();
        let processes = Processes::scan();
        assert_eq!(processes.with(inode).unwrap().pid, std::process::id());
    }
}
