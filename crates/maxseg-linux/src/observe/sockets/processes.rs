//! Which process has a socket open: by the names of its descriptors (`proc_pid_fd(5)`), or as the kernel goes through all files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::task_files::{OpenSocket, open_sockets};
use crate::sys::{LinkReader, ProcessStatus};

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
    by_inode: HashMap<u32, u32, RandomState>,
    /// Of processes that share sockets: whose child each is, and when it began.
    statuses: HashMap<u32, Option<ProcessStatus>, RandomState>,
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
    /// Finds the processes of so many sockets, or more. A process that ends meanwhile is left out, one of another user is hidden
    /// but for root.
    pub fn find(sockets: usize) -> Self {
        if sockets < MANY {
            return Self::scan();
        }
        open_sockets(sockets).map_or_else(Self::scan, |open| Self::having(&open))
    }

    /// Looks through /proc once more, with every folder read as a whole: for sockets whose process was not found, though none is hidden.
    pub fn look_again(&mut self) {
        *self = Self::scan_by(all_sockets_of);
    }

    /// Looks through /proc once.
    fn scan() -> Self {
        Self::scan_by(sockets_of)
    }

    fn scan_by<I: Iterator<Item = (u32, RawFd)>>(sockets_of: fn(u32) -> io::Result<I>) -> Self {
        let mut processes = Self::default();
        for pid in pids() {
            match sockets_of(pid) {
                Ok(sockets) => processes.add(pid, sockets.map(|(inode, _)| inode)),
                Err(error) => {
                    let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
                    processes.hidden += usize::from(is_denied);
                }
            }
        }
        processes
    }

    /// The processes that have these sockets open, those of a process one after the other: none is hidden from the kernel.
    fn having(open: &[OpenSocket]) -> Self {
        let mut processes = Self::default();
        processes.by_inode.reserve(open.len());
        for of_process in open.chunk_by(|one, next| one.pid == next.pid) {
            let inodes = of_process.iter().map(|socket| socket.inode);
            processes.add(of_process[0].pid, inodes);
        }
        processes
    }

    fn add(&mut self, pid: u32, inodes: impl Iterator<Item = u32>) {
        let mut inodes = inodes.peekable();
        if inodes.peek().is_none() {
            return;
        }
        // There are fewer processes than numbers for them.
        let place = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        self.found.push(Process::of(pid));
        for inode in inodes {
            let first = *self.by_inode.entry(inode).or_insert(place);
            let of_first = at(&self.found, first).map_or(pid, |process| process.pid);
            if of_first != pid && self.is_before(pid, of_first) {
                self.by_inode.insert(inode, place);
            }
        }
    }

    /// Whether a process had a socket before another that has it as well: a parent shares it with its children. Their numbers begin
    /// anew at the largest, so that a child may have the lower one.
    fn is_before(&mut self, pid: u32, other: u32) -> bool {
        let mut status = |pid| *self.statuses.entry(pid).or_insert_with(|| ProcessStatus::of(pid));
        match (status(pid), status(other)) {
            (_, Some(other)) if other.parent == pid => true,
            (Some(own), _) if own.parent == other => false,
            (Some(own), Some(of_other)) => (own.began, pid) < (of_other.began, other),
            // One that has ended had it no longer than the other.
            (own, of_other) => own.is_some() && of_other.is_none(),
        }
    }

    /// The process that has the socket of this inode open; the one that began first of several.
    pub fn with(&self, inode: u32) -> Option<&Process> {
        self.at(self.place(inode)?)
    }

    /// Where that process is among those that were found: for whoever looks up many sockets, and their processes later.
    pub fn place(&self, inode: u32) -> Option<u32> {
        self.by_inode.get(&inode).copied()
    }

    /// The process at a place.
    pub fn at(&self, place: u32) -> Option<&Process> {
        at(&self.found, place)
    }

    /// Processes whose descriptors this user may not see: theirs are the sockets without a process.
    pub const fn hidden(&self) -> usize {
        self.hidden
    }
}

fn at(found: &[Process], place: u32) -> Option<&Process> {
    found.get(usize::try_from(place).ok()?)
}

/// From so many sockets on the kernel is asked to go through the files. To read its types and check the program takes it as long as
/// the names of some 1200 descriptors in /proc; and a host that audits programs (auditd(8)) notes each one that is loaded.
const MANY: usize = 4096;

/// The descriptors of a process that are sockets, each with the socket's inode before it. Where other descriptors are opened and closed
/// meanwhile, the last ones may be missing.
fn sockets_of(pid: u32) -> io::Result<impl Iterator<Item = (u32, RawFd)>> {
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
        listed(&path, next, &mut links, &mut sockets)?;
    }
    Ok(sockets.into_iter())
}

/// The same, with none missing that stays open.
pub(super) fn all_sockets_of(pid: u32) -> io::Result<impl Iterator<Item = (u32, RawFd)>> {
    let path = format!("/proc/{pid}/fd");
    let mut sockets = Vec::new();
    listed(&path, 0, &mut LinkReader::of(File::open(&path)?), &mut sockets)?;
    Ok(sockets.into_iter())
}

/// Adds the sockets among the descriptors of a folder, from a number on.
fn listed(
    folder: &str,
    from: RawFd,
    links: &mut LinkReader,
    sockets: &mut Vec<(u32, RawFd)>,
) -> io::Result<()> {
    let numbers = fs::read_dir(folder)?.flatten();
    let numbers = numbers.filter_map(|file| file.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number: &RawFd| *number >= from) {
        let inode = links.read(number).and_then(inode_of);
        sockets.extend(inode.map(|inode| (inode, number)));
    }
    Ok(())
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
    use std::collections::BTreeMap;
    use std::net::TcpListener;
    use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
    use std::os::linux::fs::MetadataExt as _;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    use nix::fcntl::{FcntlArg, fcntl};
    use nix::sched::{CloneFlags, unshare};

    use super::super::task_files::probe;
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
        let inode = inode_at(&listener);
        for sockets in [1, MANY] {
            let processes = Processes::find(sockets);
            assert_eq!(processes.with(inode).unwrap().pid, std::process::id());
        }
    }

    /// The number of the process of each socket.
    fn owners(processes: &Processes) -> BTreeMap<u32, u32> {
        let pid = |place: u32| processes.at(place).unwrap().pid;
        processes.by_inode.iter().map(|(inode, place)| (*inode, pid(*place))).collect()
    }

    fn inode_at(file: impl AsFd) -> u32 {
        let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        u32::try_from(fs::metadata(path).unwrap().st_ino()).unwrap()
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "what is skipped is said")]
    fn the_kernel_finds_the_processes_that_proc_has() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let shared = inode_at(&listener);
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(OwnedFd::from(listener.try_clone().unwrap()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = owners(&Processes::scan());
        if let Err(why) = probe() {
            eprintln!("skipped: through /proc alone: {why}");
        } else {
            let open = open_sockets(before.len()).unwrap();
            let after = owners(&Processes::scan());
            let of_child = open.iter().filter(|socket| socket.pid == child.id());
            assert_eq!(of_child.map(|socket| socket.inode).collect::<Vec<_>>(), [shared]);
            let found = owners(&Processes::having(&open));
            assert_eq!(found[&shared], std::process::id(), "its child has it as well");
            let stayed = before.iter().filter(|(inode, pid)| after.get(*inode) == Some(*pid));
            for (inode, pid) in stayed {
                assert_eq!(found.get(inode), Some(pid), "socket {inode}");
            }
            // The program is loaded once; what it finds is of each reading.
            let later = TcpListener::bind("127.0.0.1:0").unwrap();
            let again = open_sockets(before.len()).unwrap();
            assert!(again.iter().any(|socket| socket.inode == inode_at(&later)));
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn what_a_thread_alone_has_open_is_found_neither_way() {
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            unshare(CloneFlags::CLONE_FILES).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let path = format!("/proc/thread-self/fd/{}", listener.as_raw_fd());
            tell.send(fs::metadata(path).unwrap().st_ino()).unwrap();
            // Until the test is done.
            let _ = ended.recv();
        });
        let inode = u32::try_from(told.recv().unwrap()).unwrap();
        for sockets in [1, MANY] {
            assert_eq!(Processes::find(sockets).with(inode), None, "of {sockets}");
        }
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn no_socket_is_missed_while_other_descriptors_come_and_go() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (inode, (end, ended)) = (inode_at(&listener), mpsc::channel::<()>());
        let busy = std::thread::spawn(move || {
            while ended.try_recv() == Err(mpsc::TryRecvError::Empty) {
                drop([(); 4].map(|()| File::open("/dev/null").unwrap()));
            }
        });
        for _ in 0..50 {
            let mut processes = Processes::find(1);
            if processes.with(inode).is_none() {
                processes.look_again();
            }
            assert_eq!(processes.with(inode).map(|it| it.pid), Some(std::process::id()));
        }
        drop(end);
        busy.join().unwrap();
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
