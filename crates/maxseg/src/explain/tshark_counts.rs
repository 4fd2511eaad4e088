//! Counts by tshark's definitions, found by the connection that they are of.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use maxseg_core::evidence::{Direction, Evidence};
use maxseg_core::units::Time;
use maxseg_wire::flow::tshark::{Stream, Tshark};

/// How many packets of one way have each of tshark's flags, by the flag's name.
pub(crate) type FlagCounts = BTreeMap<&'static str, u64>;

/// The streams that tshark draws, by their ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct TsharkStreams {
    /// Of the same ends, the one after the other.
    by_ends: HashMap<(SocketAddr, SocketAddr), Vec<Counted>>,
}

#[derive(Debug, Clone)]
struct Counted {
    first: Time,
    ways: BTreeMap<SocketAddr, FlagCounts>,
}

impl TsharkStreams {
    /// What tshark's rules found.
    pub(super) fn of(tshark: &Tshark) -> Self {
        let mut streams = Self::default();
        for stream in tshark.streams() {
            streams.add(stream);
        }
        streams
    }

    fn add(&mut self, stream: &Stream) {
        let Some(first) = stream.directions.first() else { return };
        let ways = stream.directions.iter().map(|counts| {
            let flags = counts.flags().map(|(flag, frames)| (flag.name(), frames.len() as u64));
            (counts.source, flags.collect())
        });
        let begin = Time::from_nanos(first.first_at_nanos);
        self.push(first.source, first.destination, begin, ways.collect());
    }

    /// A stream with the flags of either sender.
    pub(crate) fn push(
        &mut self,
        a: SocketAddr,
        b: SocketAddr,
        first: Time,
        ways: BTreeMap<SocketAddr, FlagCounts>,
    ) {
        self.by_ends.entry(ends(a, b)).or_default().push(Counted { first, ways });
    }

    /// The counts of a connection: of the last stream between its ends that had begun when it did.
    pub(crate) fn find(&self, evidence: &Evidence, way: Direction) -> Option<&FlagCounts> {
        let streams = self.by_ends.get(&ends(evidence.client, evidence.server))?;
        let begun = streams.iter().rev().find(|stream| stream.first <= evidence.begin);
        begun.or(streams.first())?.ways.get(&evidence.sender(way))
    }
}

fn ends(a: SocketAddr, b: SocketAddr) -> (SocketAddr, SocketAddr) {
    if a < b { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::made::{at, windowed};

    #[test]
    fn counts_are_found_by_ends_and_time() {
        let mut streams = TsharkStreams::default();
        let (client, server) = (windowed(0).client, windowed(0).server);
        for (ms, count) in [(0, 1), (60_000, 2)] {
            let ways = BTreeMap::from([(client, FlagCounts::from([("retransmission", count)]))]);
            streams.push(server, client, at(ms), ways);
        }
        let found = |begin: u64| {
            let evidence = Evidence { begin: at(begin), ..windowed(0) };
            streams.find(&evidence, Direction::Forward).map(|flags| flags["retransmission"])
        };
        assert_eq!((found(0), found(60_000), found(90_000)), (Some(1), Some(2), Some(2)));
        assert!(
            streams.find(&windowed(0), Direction::Reverse).is_none(),
            "nothing was seen of that way"
        );
        let mut other = windowed(0);
        other.client.set_port(1);
        assert!(streams.find(&other, Direction::Forward).is_none());
    }
}
