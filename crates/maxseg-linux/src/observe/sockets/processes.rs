//! Which process has a socket open, by the names of its descriptors (`proc_pid_fd(5)`).

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

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
    /// Every process whose descriptors this user may look at, the lowest number first.
    pub(crate) fn all() -> Vec<Self> {
        let mut pids: Vec<u32> = pids().collect();
        pids.sort_unstable();
        pids.into_iter().map(|pid| Self { pid, name: name_of(pid) }).collect()
    }
}

fn pids() -> impl Iterator<Item = u32> {
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
        let files = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(files) => files,
            Err(error) => {
                self.hidden += usize::from(error.kind() == std::io::ErrorKind::PermissionDenied);
                return;
            }
        };
        let mut process = None;
        for file in files.flatten() {
            let Ok(target) = fs::read_link(file.path()) else { continue };
            let Some(inode) = inode_of(target.as_os_str().as_bytes()) else { continue };
            let process =
                process.get_or_insert_with(|| Arc::new(Process { pid, name: name_of(pid) }));
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

/// The number in `socket:[NUMBER]`.
pub(super) fn inode_of(target: &[u8]) -> Option<u32> {
    let number = target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

fn name_of(pid: u32) -> String {
    let comm = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(comm.strip_suffix(b"\n").unwrap_or(&comm)).into_owned()
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
