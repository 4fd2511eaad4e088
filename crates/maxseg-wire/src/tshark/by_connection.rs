//! Counts by tshark's definitions, found by the connection that they are of.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use maxseg_core::evidence::{Direction, Evidence};
use maxseg_core::units::Time;

use super::{Stream, Tshark};

/// How many packets of one direction have each of tshark's flags, by the flag's name.
pub type FlagCounts = BTreeMap<&'static str, u64>;

/// The flag counts of every stream that tshark tells apart, found by endpoints and time.
#[derive(Debug, Clone, Default)]
pub struct ConnectionCounts {
    /// Streams between the same endpoints, in the order of their first packets.
    by_endpoints: HashMap<(SocketAddr, SocketAddr), Vec<StreamCounts>>,
}

#[derive(Debug, Clone)]
struct StreamCounts {
    first: Time,
    by_sender: BTreeMap<SocketAddr, FlagCounts>,
}

impl ConnectionCounts {
    /// The counts of all streams of a capture.
    pub fn of(tshark: &Tshark) -> Self {
        let mut counts = Self::default();
        for stream in tshark.streams() {
            counts.add(stream);
        }
        counts
    }

    fn add(&mut self, stream: &Stream) {
        let Some(first) = stream.directions.first() else { return };
        let by_sender = stream.directions.iter().map(|counts| {
            let flags = counts.flags().map(|(flag, frames)| (flag.name(), frames.len() as u64));
            (counts.source, flags.collect())
        });
        let begin = Time::from_nanos(first.first_at_nanos);
        self.insert(first.source, first.destination, begin, by_sender.collect());
    }

    /// Adds a stream that began at `first`, behind those between the same endpoints.
    pub fn insert(
        &mut self,
        a: SocketAddr,
        b: SocketAddr,
        first: Time,
        by_sender: BTreeMap<SocketAddr, FlagCounts>,
    ) {
        let streams = self.by_endpoints.entry(endpoints(a, b)).or_default();
        streams.push(StreamCounts { first, by_sender });
    }

    /// The counts of one direction of a connection: of the last stream between its endpoints that had begun when it
    /// did. `None` where tshark counted nothing of it, or counts it as a part of a stream that began with an earlier
    /// connection: that one has the counts of the whole stream.
    pub fn find(&self, evidence: &Evidence, direction: Direction) -> Option<&FlagCounts> {
        let streams = self.by_endpoints.get(&endpoints(evidence.client, evidence.server))?;
        let begun = streams.iter().rev().find(|stream| stream.first <= evidence.begin);
        let stream = begun.or(streams.first())?;
        if evidence.marks.ports_reused && stream.first != evidence.begin {
            return None;
        }
        stream.by_sender.get(&evidence.sender(direction))
    }
}

/// Both endpoints, the smaller first.
fn endpoints(a: SocketAddr, b: SocketAddr) -> (SocketAddr, SocketAddr) {
    if a < b { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::made::connection;

    #[test]
    fn counts_are_found_by_endpoints_and_time() {
        let mut counts = ConnectionCounts::default();
        let (client, server) = (connection(0).client, connection(0).server);
        for (seconds, count) in [(0, 1), (60, 2)] {
            let by_sender =
                BTreeMap::from([(client, FlagCounts::from([("retransmission", count)]))]);
            counts.insert(server, client, Time::from_secs(seconds), by_sender);
        }
        let found = |seconds: u64| {
            let evidence = Evidence { begin: Time::from_secs(seconds), ..connection(0) };
            counts.find(&evidence, Direction::Forward).map(|flags| flags["retransmission"])
        };
        assert_eq!((found(0), found(60), found(90)), (Some(1), Some(2), Some(2)));
        let mut part = Evidence { begin: Time::from_secs(61), ..connection(1) };
        part.marks.ports_reused = true;
        assert!(counts.find(&part, Direction::Forward).is_none(), "the stream began with another");
        part.begin = Time::from_secs(60);
        assert!(counts.find(&part, Direction::Forward).is_some());
        let reverse = counts.find(&connection(0), Direction::Reverse);
        assert!(reverse.is_none(), "nothing was seen of that direction");
        let mut other = connection(0);
        other.client.set_port(1);
        assert!(counts.find(&other, Direction::Forward).is_none());
    }
}
