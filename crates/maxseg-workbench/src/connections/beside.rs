//! What a connection shares its queue with: others of this host to the same address.

use std::collections::BTreeMap;
#[cfg(feature = "lab")]
use std::collections::BTreeSet;
use std::net::IpAddr;

#[cfg(feature = "lab")]
use maxseg_core::diagnose::window_waits_in_queue;
use maxseg_core::evidence::SocketEvidence;
#[cfg(feature = "lab")]
use maxseg_wire::inet_diag::Sample;

use super::Connection;

/// In one queue the round trips to an address are as long, but for so much: the smoothed ones of two connections are of different packets.
const SAME_QUEUE: f64 = 0.1;
/// What the kernel counts of a window or a buffer for less than this share of the time is not what holds a connection: it takes what the
/// link gives.
const HELD: f64 = 0.5;

/// Of so many addresses at most the kernel is asked for those that are not in the list.
#[cfg(feature = "lab")]
const MOST_ASKED: usize = 16;

/// A connection that takes what the link gives: its round trip in seconds and its rate.
type Taker = (f64, f64);

/// Sets for each connection what others to its address deliver in the same queue. `netns` has the namespace of each.
pub(super) fn note(connections: &mut [Connection], netns: &[u64]) {
    let mut takers: BTreeMap<(u64, IpAddr), Vec<Taker>> = BTreeMap::new();
    for (connection, netns) in connections.iter().zip(netns) {
        if let Some(taker) = connection.since_last.as_deref().and_then(taker) {
            takers.entry((*netns, address(connection))).or_default().push(taker);
        }
    }
    // Sums of rates by round trip: a proxy has thousands of connections to one address.
    let sums: BTreeMap<_, Sums> = takers.into_iter().map(|(to, all)| (to, Sums::of(all))).collect();
    for (connection, netns) in connections.iter_mut().zip(netns) {
        let to = (*netns, address(connection));
        let Some(evidence) = connection.since_last.as_deref_mut() else { continue };
        let own = taker(evidence).map_or(0.0, |(_, rate)| rate);
        let rtt = evidence.state.rtt.as_secs_f64();
        let all = sums.get(&to).map_or(0.0, |sums| sums.around(rtt));
        evidence.beside_bps = (all - own).max(0.0);
    }
}

/// Adds what connections deliver that are not in the list: a filter left them out. `ask` looks at those of a namespace to an address, as they
/// are now.
///
/// # Errors
/// `ask` fails.
#[cfg(feature = "lab")]
pub(super) fn note_unlisted<E>(
    connections: &mut [Connection],
    netns: &[u64],
    mut ask: impl FnMut(u64, IpAddr) -> Result<Vec<(u64, Sample)>, E>,
) -> Result<(), E> {
    let waits = |connection: &Connection| {
        connection.since_last.as_deref().is_some_and(window_waits_in_queue)
    };
    let all = connections.iter().zip(netns).filter(|(connection, _)| waits(connection));
    let to: BTreeSet<_> = all.map(|(connection, netns)| (*netns, address(connection))).collect();
    let listed: BTreeSet<u64> = connections.iter().map(|connection| connection.cookie).collect();
    for (place, asked) in to.into_iter().take(MOST_ASKED) {
        let unlisted =
            ask(place, asked)?.into_iter().filter(|(cookie, _)| !listed.contains(cookie));
        let sums = Sums::of(unlisted.filter_map(|(_, sample)| taker_now(&sample)).collect());
        for (connection, netns) in connections.iter_mut().zip(netns) {
            if (*netns, address(connection)) == (place, asked)
                && let Some(evidence) = connection.since_last.as_deref_mut()
            {
                evidence.beside_bps += sums.around(evidence.state.rtt.as_secs_f64());
            }
        }
    }
    Ok(())
}

/// A connection of which there is one look: the sample of its delivery rate stands for the rate.
#[cfg(feature = "lab")]
fn taker_now(sample: &Sample) -> Option<Taker> {
    let evidence = sample.evidence(None);
    let delivers = evidence.state.delivery_bps.filter(|_| evidence.state.in_flight_segments > 0)?;
    taker(&evidence).map(|(rtt, _)| (rtt, delivers))
}

fn address(connection: &Connection) -> IpAddr {
    connection.remote.ip().to_canonical()
}

fn taker(evidence: &SocketEvidence) -> Option<Taker> {
    let bin = &evidence.bin;
    let (all, idle) = (bin.duration.as_secs_f64(), bin.idle.as_secs_f64());
    let busy = all - idle;
    let held = bin.rwnd_limited.as_secs_f64() + bin.sndbuf_limited.as_secs_f64();
    let takes = all > 0.0
        && busy >= HELD * all
        && held < HELD * busy
        && evidence.state.is_app_limited != Some(true)
        && evidence.state.pacing_limit_bps.is_none();
    takes.then(|| (evidence.state.rtt.as_secs_f64(), bin.acked_bytes as f64 * 8.0 / all))
}

/// Round trips in order, each with the rates of those up to it.
struct Sums(Vec<Taker>);

impl Sums {
    fn of(mut takers: Vec<Taker>) -> Self {
        takers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        for (_, rate) in &mut takers {
            sum += *rate;
            *rate = sum;
        }
        Self(takers)
    }

    /// The rates of those whose round trip is as long.
    fn around(&self, rtt: f64) -> f64 {
        let below = |end: f64| match self.0.partition_point(|(rtt, _)| *rtt < end) {
            0 => 0.0,
            count => self.0[count - 1].1,
        };
        (below(rtt * (1.0 + SAME_QUEUE)) - below(rtt * (1.0 - SAME_QUEUE))).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::{Bin, SocketState};
    use maxseg_core::units::Time;

    use super::super::tests::connection;
    use super::*;

    fn busy(port: u16, rtt_ms: u64, acked_bytes: u64, rwnd_ms: u64) -> Connection {
        let bin = Bin {
            duration: Time::from_secs(1),
            acked_bytes,
            rwnd_limited: Time::from_millis(rwnd_ms),
            ..Bin::default()
        };
        let state = SocketState { rtt: Time::from_millis(rtt_ms), ..SocketState::default() };
        let evidence = SocketEvidence { bin, state, ..SocketEvidence::default() };
        Connection { since_last: Some(Box::new(evidence)), ..connection(port.into(), 1, [port, 9]) }
    }

    #[test]
    fn others_in_the_queue_are_those_with_as_long_a_round_trip() {
        let mut all = [
            busy(1, 60, 400_000, 998), // held by its window
            busy(2, 61, 1_750_000, 0),
            busy(3, 59, 1_250_000, 0),
            busy(4, 20, 5_000_000, 0),   // another queue
            busy(5, 60, 2_000_000, 900), // its window lets no more of it in
        ];
        note(&mut all, &[1; 5]);
        let beside = |n: usize| all[n].since_last.as_ref().unwrap().beside_bps;
        for (n, expected) in [(0, 24e6), (1, 10e6), (3, 0.0)] {
            assert!((beside(n) - expected).abs() < 1.0, "{n}: {} bit/s", beside(n));
        }
        note(&mut all, &[1, 2, 2, 2, 2]);
        let first = all[0].since_last.as_ref().unwrap().beside_bps;
        assert!(first.abs() < 1.0, "of another network namespace: {first}");
    }
}
