//! What the followers of all connections come to: one list, in the order of first packets.

use maxseg_core::evidence::{Evidence, PathMtuEvent};

use super::connection::Connection;
use super::follower::{Follower, MOST_EVENTS, Notice};
use super::options::FlowResults;
use super::part::Place;

/// Puts together what was followed.
pub(super) fn gather(followers: Vec<Follower>) -> FlowResults<impl Iterator<Item = Evidence>> {
    let path_mtu_events = path_mtu_events(&followers);
    let (mut untracked_connections, mut untracked_packets) = (0, 0);
    let mut rows = Vec::new();
    for follower in followers {
        untracked_connections += follower.untracked_connections;
        untracked_packets += follower.untracked_packets;
        rows.extend(follower.stores.map(|store| {
            let (begun, connections) = store.into_connections();
            Row { begun: begun.into_iter(), connections }
        }));
    }
    let connections = InOrder { rows, next: 0 };
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

/// The connections of some rows, each in order, in one order.
struct InOrder<C> {
    rows: Vec<Row<C>>,
    next: u32,
}

/// Connections, and the counts of their first packets.
struct Row<C> {
    begun: std::vec::IntoIter<u64>,
    connections: C,
}

impl<C: Iterator<Item = Option<Connection>>> Iterator for InOrder<C> {
    type Item = Evidence;

    fn next(&mut self) -> Option<Evidence> {
        loop {
            let begun = |row: &Row<C>| row.begun.as_slice().first().copied();
            let row = self
                .rows
                .iter_mut()
                .filter(|row| begun(row).is_some())
                .min_by_key(|row| begun(row))?;
            row.begun.next();
            let connection = row.connections.next()?;
            let id = self.next;
            self.next += 1;
            // One that could not be unpacked keeps its number.
            if let Some(connection) = connection {
                return Some(connection.into_evidence(id));
            }
        }
    }
}
