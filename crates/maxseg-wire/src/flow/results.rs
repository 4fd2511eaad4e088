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
            Row { begun: begun.into_iter(), connections, ids: Vec::new(), made: Vec::new() }
        }));
    }
    let connections = InOrder { rows, next: 0, threads, made: Vec::new().into_iter() };
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
    made: std::vec::IntoIter<Evidence>,
}

/// Connections, and the counts of their first packets.
struct Row<C> {
    begun: std::vec::IntoIter<u64>,
    connections: C,
    /// The numbers of those that are made next, and what comes of them.
    ids: Vec<u32>,
    made: Vec<Evidence>,
}

impl<C: Iterator<Item = Option<Connection>> + Send> Iterator for InOrder<C> {
    type Item = Evidence;

    fn next(&mut self) -> Option<Evidence> {
        loop {
            if let Some(evidence) = self.made.next() {
                return Some(evidence);
            }
            let most = if self.threads > 1 { AT_A_TIME } else { 1 };
            if self.number(most) == 0 {
                return None;
            }
            self.make();
        }
    }
}

impl<C: Iterator<Item = Option<Connection>> + Send> InOrder<C> {
    /// Numbers the connections that are next, and gives how many there are: this many at most.
    fn number(&mut self, most: usize) -> usize {
        for count in 0..most {
            let begun = |row: &Row<C>| row.begun.as_slice().first().copied();
            let rows = self.rows.iter_mut().filter(|row| begun(row).is_some());
            let Some(row) = rows.min_by_key(|row| begun(row)) else { return count };
            row.begun.next();
            row.ids.push(self.next);
            self.next += 1;
        }
        most
    }

    /// Makes those that have numbers.
    fn make(&mut self) {
        in_threads(&mut self.rows, self.threads, Row::make);
        let mut made: Vec<Evidence> =
            self.rows.iter_mut().flat_map(|row| std::mem::take(&mut row.made)).collect();
        made.sort_unstable_by_key(|evidence| evidence.id);
        self.made = made.into_iter();
    }
}

impl<C: Iterator<Item = Option<Connection>>> Row<C> {
    fn make(&mut self) {
        let Self { connections, ids, made, .. } = self;
        // One that could not be unpacked keeps its number.
        let unpacked = ids.drain(..).zip(connections);
        made.extend(unpacked.filter_map(|(id, connection)| Some(connection?.into_evidence(id))));
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
