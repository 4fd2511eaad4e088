//! Connections that are in one capture twice: before and behind a hop that translates addresses.
//!
//! Address translation leaves sequence numbers alone, and hosts begin each connection with a number of 32 bits that nobody
//! guesses (RFC 6528): where those of both ends are the same, and both begin together, it is one connection.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::{Direction, Evidence};
use crate::units::Time;

/// A connection where its packets have other addresses or ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Translated {
    /// Its number in the source.
    pub id: u32,
    /// Who opened it, by the address there.
    pub client: SocketAddr,
    /// Whom it was opened to, by the address there.
    pub server: SocketAddr,
    /// Whether the address there is the client's own, and the one here a translated one: its SYN passed there before.
    pub has_client: bool,
    /// Whether the address there is the server's own, and the one here a translated one: the SYN passed there later.
    pub has_server: bool,
}

impl Translated {
    /// The own address of the host that sends this direction, where the one of `evidence` is a translated one.
    pub(crate) fn own_address(&self, evidence: &Evidence, sends: Direction) -> Option<SocketAddr> {
        let (here, there, has_own) = match sends {
            Direction::Forward => (evidence.client, self.client, self.has_client),
            Direction::Reverse => (evidence.server, self.server, self.has_server),
        };
        (has_own && here.ip() != there.ip()).then_some(there)
    }
}

/// Numbers below this are those of a simulator, which begins all of its connections alike.
const SMALL: u32 = 1 << 16;
/// More connections of the same numbers are of a generator of packets: two hops that translate leave three.
const MOST: usize = 3;
/// The same packet passes both sides of a hop within this time.
const TOGETHER: Time = Time::from_secs(1);

/// Notes for each of some connections of one capture where else its packets are. Gives for each the place of the first that has its
/// packets: its own, where there is no other.
pub(super) fn note_translated(connections: &mut [Evidence]) -> Vec<usize> {
    let mut first_of: Vec<usize> = (0..connections.len()).collect();
    let mut alike: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (place, evidence) in connections.iter().enumerate() {
        let is_random = |(own, peer): &(u32, u32)| own != peer && *own.min(peer) >= SMALL;
        if let Some(numbers) = evidence.capture.numbers.filter(is_random) {
            alike.entry(numbers).or_default().push(place);
        }
    }
    for mut places in alike.into_values().filter(|places| (2..=MOST).contains(&places.len())) {
        places.sort_by_key(|place| connections[*place].begin);
        let (first, last) = (places[0], places[places.len() - 1]);
        if connections[last].begin.since(connections[first].begin) > TOGETHER {
            continue;
        }
        let has_syn = places.iter().all(|place| connections[*place].handshake.syn);
        let there = |other: usize, has_client, has_server| {
            let Evidence { id, client, server, .. } = connections[other];
            Some(Translated { id, client, server, has_client, has_server })
        };
        let of_first = there(last, false, has_syn);
        let of_others = there(first, has_syn, false);
        for place in places {
            connections[place].capture.translated =
                if place == first { of_first } else { of_others };
            first_of[place] = first;
        }
    }
    first_of
}
