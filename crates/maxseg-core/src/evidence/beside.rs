//! Connections that share a path, or a part of it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::translated::note_translated;
use super::{Direction, Evidence};
use crate::units::Time;

/// What other connections of the same two hosts sent the same way while a connection sent its data. They share the host's queue, the
/// path's rate, and what is lost there. Those of one of the hosts with others share a part of the path, and maybe its bottleneck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// How many.
    pub connections: u32,
    /// Their payload in that time, in bytes: as if each had sent evenly.
    pub bytes: u64,
    /// The least round trip of the path that any of them had, in seconds: a queue that all of them keep filled hides it from each.
    pub path_rtt_min_s: Option<f64>,
}

/// Transfers below this payload, in bytes, neither fill a path nor are held back by others for long.
const LEAST: u64 = 100_000;
/// Others change little for a connection where they send less than this part of what it sends.
const PART: u64 = 10;

/// Of so many transfers of a host, the largest, it is looked which others share a part of the path with: a server may have thousands.
const MOST_OF_HOST: usize = 64;

/// The payload of one direction.
#[derive(Clone, Copy)]
struct Transfer {
    /// Which connection's it is: on one host both directions go the same way. Before and behind address translation it is one.
    connection: usize,
    direction: Direction,
    first: Time,
    last: Time,
    bytes: u64,
    path_rtt_min_s: Option<f64>,
}

/// Notes for each of some connections of one capture which of the others is the same behind address translation, and what the
/// rest sent beside it.
pub fn note_beside(connections: &mut [Evidence]) {
    let first_of = note_translated(connections);
    let mut transfers: BTreeMap<Hosts, Vec<Transfer>> = BTreeMap::new();
    for (connection, evidence) in first_of.iter().copied().zip(connections.iter()) {
        for direction in [Direction::Forward, Direction::Reverse] {
            if let Some(transfer) = Transfer::of(evidence, direction, connection) {
                transfers.entry(hosts(evidence, direction)).or_default().push(transfer);
            }
        }
    }
    for (connection, evidence) in first_of.iter().copied().zip(connections.iter_mut()) {
        let direction = evidence.data_direction();
        let own = Transfer::of(evidence, direction, connection);
        let same_way = transfers.get(&hosts(evidence, direction));
        evidence.beside = own.zip(same_way).and_then(|(own, all)| own.beside(all));
    }
    note_nearby(connections, &first_of, &transfers);
}

/// Notes for each of some connections what those of one of its hosts with others sent the same way.
fn note_nearby(
    connections: &mut [Evidence],
    first_of: &[usize],
    transfers: &BTreeMap<Hosts, Vec<Transfer>>,
) {
    let mut of_host: BTreeMap<(bool, IpAddr), Vec<(Hosts, Transfer)>> = BTreeMap::new();
    for (hosts, all) in transfers {
        for (is_sender, host) in [(true, hosts.0), (false, hosts.1)] {
            let largest = of_host.entry((is_sender, host)).or_default();
            largest.extend(all.iter().map(|transfer| (*hosts, *transfer)));
        }
    }
    for largest in of_host.values_mut() {
        largest.sort_by_key(|(_, transfer)| std::cmp::Reverse(transfer.bytes));
        largest.truncate(MOST_OF_HOST);
        // One connection's are counted once where they are together.
        largest.sort_by_key(|(_, transfer)| transfer.connection);
    }
    for (connection, evidence) in first_of.iter().copied().zip(connections.iter_mut()) {
        let direction = evidence.data_direction();
        let own_hosts = hosts(evidence, direction);
        let Some(own) = Transfer::of(evidence, direction, connection) else { continue };
        let mut others: Vec<Transfer> = [(true, own_hosts.0), (false, own_hosts.1)]
            .into_iter()
            .filter_map(|host| of_host.get(&host))
            .flatten()
            .filter(|(hosts, _)| *hosts != own_hosts)
            .map(|(_, transfer)| *transfer)
            .collect();
        // Before and behind address translation it is sent once.
        let of = |it: &Transfer| (it.connection, it.direction == Direction::Reverse);
        others.sort_by_key(of);
        others.dedup_by_key(|it| of(it));
        let nearby = own.beside(&others);
        match direction {
            Direction::Forward => evidence.forward.nearby = nearby,
            Direction::Reverse => evidence.reverse.nearby = nearby,
        }
    }
}

/// Sender and receiver.
type Hosts = (IpAddr, IpAddr);

fn hosts(evidence: &Evidence, direction: Direction) -> Hosts {
    (evidence.sender(direction).ip(), evidence.receiver(direction).ip())
}

impl Transfer {
    fn of(evidence: &Evidence, direction: Direction, connection: usize) -> Option<Self> {
        let stats = evidence.stats(direction);
        let bytes = stats.unique_bytes;
        let (first, last) = stats.first_data.zip(stats.last_ack)?;
        let path_rtt_min_s = stats.path_rtt_min_s;
        let transfer = Self { connection, direction, first, last, bytes, path_rtt_min_s };
        (bytes >= LEAST && last > first).then_some(transfer)
    }

    /// `all` transfers of these hosts, this connection's among them, connection by connection.
    fn beside(self, all: &[Self]) -> Option<Beside> {
        let others = all.iter().filter(|other| other.connection != self.connection);
        let mut found = Beside { connections: 0, bytes: 0, path_rtt_min_s: None };
        let mut last = None;
        for other in others {
            let bytes = other.bytes_within(self);
            if bytes > 0 {
                let is_another = last.replace(other.connection) != Some(other.connection);
                found.connections = found.connections.saturating_add(is_another.into());
                found.bytes = found.bytes.saturating_add(bytes);
                found.path_rtt_min_s = least(found.path_rtt_min_s, other.path_rtt_min_s);
            }
        }
        let is_much = found.bytes.saturating_mul(PART) >= self.bytes;
        (found.connections > 0 && is_much).then_some(found)
    }

    /// The part of it that was sent while another one was.
    fn bytes_within(self, other: Self) -> u64 {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        if last <= first {
            return 0;
        }
        let nanos = |from: Time, to: Time| u128::from(to.since(from).as_nanos());
        let bytes =
            u128::from(self.bytes) * nanos(first, last) / nanos(self.first, self.last).max(1);
        u64::try_from(bytes).unwrap_or(self.bytes)
    }
}

/// The lesser of two that may not be known.
pub(crate) fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(connection: usize, [first, last]: [u64; 2], bytes: u64) -> Transfer {
        let [first, last] = [first, last].map(Time::from_secs);
        let direction = Direction::Forward;
        Transfer { connection, direction, first, last, bytes, path_rtt_min_s: None }
    }

    #[test]
    fn what_others_sent_meanwhile_is_counted() {
        let before = transfer(0, [0, 10], 9_000_000);
        let own = transfer(1, [10, 20], 1_000_000);
        let half_meanwhile = transfer(2, [15, 25], 3_000_000);
        let sooner = |transfer, path_rtt_min_s| Transfer { path_rtt_min_s, ..transfer };
        let expected = Beside { connections: 1, bytes: 1_500_000, path_rtt_min_s: Some(0.02) };
        let all = [sooner(before, Some(0.01)), own, sooner(half_meanwhile, Some(0.02))];
        assert_eq!(own.beside(&all), Some(expected));
        assert_eq!(own.beside(&[before, own]), None, "nothing meanwhile");
        assert_eq!(own.beside(&[own, transfer(2, [0, 100], 900_000)]), None, "little");
    }

    #[test]
    fn on_one_host_the_other_direction_of_a_connection_is_no_other_connection() {
        let [own, mut back] = [transfer(0, [0, 10], 1_000_000), transfer(0, [0, 10], 2_000_000)];
        back.direction = Direction::Reverse;
        assert_eq!(own.beside(&[own, back]), None);
        let other = transfer(1, [0, 10], 500_000);
        let expected = Beside { connections: 1, bytes: 1_000_000, path_rtt_min_s: None };
        assert_eq!(
            own.beside(&[own, back, other, other]),
            Some(expected),
            "both of its directions"
        );
    }
}
