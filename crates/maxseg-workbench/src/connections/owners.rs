//! The processes of sockets, from one look to the next: finding them takes longer than the kernel's list.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use maxseg_linux::observe::sockets::{Process, Processes};

use super::{Owner, Snapshot};

/// After so long they are found anew, though no socket is new: a process may have passed its sockets to another one, or ended.
const KEPT: Duration = Duration::from_secs(10);

/// What the last search has found.
#[derive(Debug, Default)]
pub(super) struct Owners {
    found: Processes,
    /// Sockets without a process that this user may see.
    without: HashSet<u32>,
    at: Option<Instant>,
    /// Names or numbers of processes that were asked for: of several that have a socket open, one of them is its process.
    wanted: Vec<String>,
}

impl Owners {
    /// Sets the processes of all sockets that have an inode.
    pub(super) fn set(&mut self, snapshot: &mut Snapshot, now: Instant) {
        let is_old = self.at.is_none_or(|at| now.duration_since(at) >= KEPT);
        if is_old || inodes(snapshot).any(|inode| !self.knows(inode)) {
            self.find(inodes(snapshot).count());
            self.look_again_for(inodes(snapshot));
            self.without =
                inodes(snapshot).filter(|inode| self.found.with(*inode).is_none()).collect();
            self.at = Some(now);
        }
        self.assign(snapshot);
    }

    /// Gives each socket of a snapshot its process, as it is known.
    pub(super) fn assign(&self, snapshot: &mut Snapshot) {
        for connection in &mut snapshot.connections {
            connection.process = self.owner(connection.inode);
        }
        for listener in &mut snapshot.listeners {
            listener.process = self.owner(listener.inode);
        }
        snapshot.hidden_processes = self.found.hidden();
    }

    /// The process that has the socket of this inode open.
    pub(super) fn owner(&self, inode: u32) -> Option<Owner> {
        self.at(self.place(inode)?)
    }

    /// Where that process is among those that were found.
    pub(super) fn place(&self, inode: u32) -> Option<u32> {
        self.found.place(inode)
    }

    /// The process at a place.
    pub(super) fn at(&self, place: u32) -> Option<Owner> {
        self.found.at(place).map(owner_of)
    }

    /// None yet.
    pub(super) fn wanting(wanted: Vec<String>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Finds those of so many sockets.
    pub(super) fn find(&mut self, sockets: usize) {
        self.found = Processes::find(sockets);
        self.prefer_wanted();
    }

    fn prefer_wanted(&mut self) {
        if !self.wanted.is_empty() {
            let wanted = &self.wanted;
            self.found.prefer(|process| {
                let owner = owner_of(process);
                wanted.iter().any(|name| owner.is(name))
            });
        }
    }

    /// Looks more closely where one of these sockets has no process, though this user sees most processes.
    pub(super) fn look_again_for(&mut self, mut inodes: impl Iterator<Item = u32>) {
        let is_missing = inodes.any(|inode| inode != 0 && self.found.with(inode).is_none());
        if is_missing && !self.found.hides_most() {
            self.found.look_again();
            self.prefer_wanted();
        }
    }

    fn knows(&self, inode: u32) -> bool {
        self.found.with(inode).is_some() || self.without.contains(&inode)
    }
}

fn owner_of(process: &Process) -> Owner {
    Owner { pid: process.pid, name: Arc::clone(&process.name) }
}

/// The sockets' inodes; a connection that waits has none.
fn inodes(snapshot: &Snapshot) -> impl Iterator<Item = u32> {
    let connections = snapshot.connections.iter().map(|connection| connection.inode);
    let listeners = snapshot.listeners.iter().map(|listener| listener.inode);
    connections.chain(listeners).filter(|inode| *inode != 0)
}
