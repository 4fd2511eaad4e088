//! The processes of sockets, from one look to the next: going through /proc takes longer than the kernel's list.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use maxseg_linux::observe::sockets::Processes;

use super::{Owner, Snapshot};

/// After so long /proc is read again, though no socket is new: a process may have passed its sockets to another one, or ended.
const KEPT: Duration = Duration::from_secs(10);

/// What the last look through /proc has found.
#[derive(Debug, Default)]
pub(super) struct Owners {
    found: Processes,
    /// Sockets without a process that this user may see.
    without: HashSet<u32>,
    at: Option<Instant>,
}

impl Owners {
    /// Sets the processes of all sockets that have an inode.
    pub(super) fn set(&mut self, snapshot: &mut Snapshot, now: Instant) {
        let is_old = self.at.is_none_or(|at| now.duration_since(at) >= KEPT);
        if is_old || inodes(snapshot).any(|inode| !self.knows(inode)) {
            self.found = Processes::scan();
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
        let process = self.found.with(inode)?;
        Some(Owner { pid: process.pid, name: Arc::clone(&process.name) })
    }

    /// Looks through /proc.
    pub(super) fn scan() -> Self {
        Self { found: Processes::scan(), ..Self::default() }
    }

    fn knows(&self, inode: u32) -> bool {
        self.found.with(inode).is_some() || self.without.contains(&inode)
    }
}

/// The sockets' inodes; a connection that waits has none.
fn inodes(snapshot: &Snapshot) -> impl Iterator<Item = u32> {
    let connections = snapshot.connections.iter().map(|connection| connection.inode);
    let listeners = snapshot.listeners.iter().map(|listener| listener.inode);
    connections.chain(listeners).filter(|inode| *inode != 0)
}
