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
    /// By the inode of a socket that several have open, the places of all of them.
    sharing: HashMap<u32, Vec<u32>, RandomState>,
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

    /// Looks through /proc once more, with every folder read as a whole: for sockets whose process was not found, though few are hidden.
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
            if of_first == pid {
                continue;
            }
            self.sharing.entry(inode).or_insert_with(|| vec![first]).push(place);
            if self.is_before(pid, of_first) {
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

    /// Has [`Self::with`] give, of the processes that share a socket, one that is wanted where there is such a one.
    pub fn prefer(&mut self, is_wanted: impl Fn(&Process) -> bool) {
        let is_wanted = |place: &u32| at(&self.found, *place).is_some_and(&is_wanted);
        for (inode, sharing) in &self.sharing {
            let Some(first) = self.by_inode.get_mut(inode) else { continue };
            if !is_wanted(first)
                && let Some(wanted) = sharing.iter().copied().find(is_wanted)
            {
                *first = wanted;
            }
        }
    }

    /// The process that has the socket of this inode open; of several the one that began first, or one that is preferred.
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

    /// Whether a socket without a process is likely one of those that are hidden.
    pub const fn hides_most(&self) -> bool {
        self.hidden > self.found.len()
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
    if links.is_denied() {
        return Err(io::ErrorKind::PermissionDenied.into());
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
    if links.is_denied() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
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
mod tests;
