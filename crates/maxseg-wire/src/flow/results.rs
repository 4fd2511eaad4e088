//! What the followers of all connections come to: one list, in the order of first packets.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

use maxseg_core::evidence::{Evidence, PathMtuEvent};

use super::connection::Connection;
use super::follower::{Follower, MOST_EVENTS, Notice};
use super::options::FlowResults;
use super::part::Place;

/// Puts together what was followed; so many threads make the connections' evidence, this one among them.
pub(super) fn gather(
    followers: Vec<Follower>,
    threads: usize,
) -> FlowResults<impl Iterator<Item = Evidence>> {
    let path_mtu_events = path_mtu_events(&followers);
    let (mut untracked_connections, mut untracked_packets) = (0, 0);
    let mut rows = Vec::new();
    for follower in followers {
        untracked_connections += follower.untracked_connections;
        untracked_packets += follower.untracked_packets;
        rows.extend(follower.stores.map(|store| {
            let (begun, connections) = store.into_connections();
            Row {
                begun: begun.into_iter(),
                connections,
                ids: Vec::new(),
                made: Vec::new().into_iter(),
            }
        }));
    }
    let connections = InOrder { rows, next: 0, threads };
    FlowResults { connections, path_mtu_events, untracked_connections, untracked_packets }
}

/// What hops said, in order, with the numbers of the connections that they said it of.
fn path_mtu_events(followers: &[Follower]) -> Vec<PathMtuEvent> {
    let of = |follower| move |notice: &Notice| (*notice, number(followers, follower, notice.place));
    let mut all: Vec<(Notice, Option<u32>)> =
        followers.iter().flat_map(|follower| follower.notices.iter().map(of(follower))).collect();
    all.sort_by_key(|(notice, _)| notice.count);
    all.truncate(MOST_EVENTS);
    all.into_iter()
        .map(|(notice, connection)| PathMtuEvent { connection, ..notice.event })
        .collect()
}

/// The number of a follower's connection among all: how many began before it.
fn number(followers: &[Follower], follower: &Follower, place: Option<Place>) -> Option<u32> {
    let place = place?;
    let begin = *follower.stores.get(place.part())?.begun().get(place.number())?;
    let stores = followers.iter().flat_map(|follower| &follower.stores);
    let before = stores.map(|store| store.begun().partition_point(|other| *other < begin));
    u32::try_from(before.sum::<usize>()).ok()
}

/// Connections that are made at a time where several threads make them: enough to be worth starting these, and some megabytes.
const AT_A_TIME: usize = 1024;

/// The connections of some rows, each in order, in one order.
struct InOrder<C> {
    rows: Vec<Row<C>>,
    /// The number of the next connection.
    next: u32,
    threads: usize,
}

/// Connections, and the counts of their first packets.
struct Row<C> {
    begun: std::vec::IntoIter<u64>,
    connections: C,
    /// The numbers of those that are made next, and what comes of them.
    ids: Vec<u32>,
    made: std::vec::IntoIter<Evidence>,
}

impl<C: Iterator<Item = Option<Box<Connection>>> + Send> Iterator for InOrder<C> {
    type Item = Evidence;

    fn next(&mut self) -> Option<Evidence> {
        if self.threads <= 1 {
            return self.make_next();
        }
        loop {
            if let Some(evidence) = self.next_made() {
                return Some(evidence);
            }
            if self.number() == 0 {
                return None;
            }
            in_threads(&mut self.rows, self.threads, Row::make);
        }
    }
}

impl<C: Iterator<Item = Option<Box<Connection>>> + Send> InOrder<C> {
    /// The row of the connection that is next, and the number of that.
    fn next_row(&mut self) -> Option<(u32, &mut Row<C>)> {
        let begun = |row: &Row<C>| row.begun.as_slice().first().copied();
        let rows = self.rows.iter_mut().filter(|row| begun(row).is_some());
        let row = rows.min_by_key(|row| begun(row))?;
        row.begun.next();
        let id = self.next;
        self.next += 1;
        Some((id, row))
    }

    /// Makes the next one, in this thread.
    fn make_next(&mut self) -> Option<Evidence> {
        loop {
            let (id, row) = self.next_row()?;
            // One that could not be unpacked keeps its number.
            if let Some(connection) = row.connections.next()? {
                return Some(connection.into_evidence(id));
            }
        }
    }

    /// Numbers the connections that are next, and gives how many there are.
    fn number(&mut self) -> usize {
        for count in 0..AT_A_TIME {
            let Some((id, row)) = self.next_row() else { return count };
            row.ids.push(id);
        }
        AT_A_TIME
    }

    /// The next of those that were made.
    fn next_made(&mut self) -> Option<Evidence> {
        let id = |row: &Row<C>| row.made.as_slice().first().map(|evidence| evidence.id);
        let rows = self.rows.iter_mut().filter(|row| id(row).is_some());
        rows.min_by_key(|row| id(row))?.made.next()
    }
}

impl<C: Iterator<Item = Option<Box<Connection>>>> Row<C> {
    /// Makes those that have numbers.
    fn make(&mut self) {
        let Self { connections, ids, made, .. } = self;
        let unpacked = ids.drain(..).zip(connections);
        let evidence =
            |(id, connection): (u32, Option<Box<Connection>>)| Some(connection?.into_evidence(id));
        *made = unpacked.filter_map(evidence).collect::<Vec<_>>().into_iter();
    }
}

/// Does this work with each, in so many threads at most, this one among them. Where none can be started this one does it all.
fn in_threads<T: Send>(all: &mut [T], threads: usize, work: impl Fn(&mut T) + Sync) {
    let threads = threads.min(all.len());
    if threads <= 1 {
        return all.iter_mut().for_each(work);
    }
    let waiting = Mutex::new(all.iter_mut());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_on = || {
        while let Some(one) = next() {
            work(one);
        }
    };
    scope(|scope| {
        for _ in 1..threads {
            let _ = Builder::new().spawn_scoped(scope, work_on);
        }
        work_on();
    });
}
