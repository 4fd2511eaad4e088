//! The samples of the last snapshot, with which those of the next are compared.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use maxseg_core::evidence::{RatePoint, SocketEvidence};
use maxseg_wire::inet_diag::Sample;

use super::{Connection, Owner, beside};

/// A connection: a number of its namespace, the kernel's number, which begins anew at each boot, and its ends.
pub(super) type Key = (u64, u64, [SocketAddr; 2]);

/// How a connection varies is told of so much time at least, where its samples are closer together.
const RECENT: Duration = Duration::from_secs(20);
/// So many points of a connection are kept at most.
const MOST_POINTS: usize = 24;

/// What is known of each connection from the last snapshot.
#[derive(Debug, Default)]
pub(super) struct PreviousSnapshot {
    connections: HashMap<Key, Known>,
    /// When that was, since the first.
    at: Duration,
}

/// What is known of a connection: a sample, and how its rates and windows have varied since.
#[derive(Debug)]
pub(super) struct Known {
    sample: Arc<Sample>,
    process: Option<Owner>,
    /// When a point was seen, since the first snapshot.
    points: VecDeque<(Duration, RatePoint)>,
}

impl Known {
    /// Of a sample of a connection.
    pub(super) fn of(at: Duration, connection: &Connection, sample: &Arc<Sample>) -> Self {
        let points = VecDeque::from([(at, sample.rate_point())]);
        Self { sample: Arc::clone(sample), process: connection.process.clone(), points }
    }

    /// Whether a sample is a later one of the same connection.
    pub(super) fn is_before(&self, sample: &Sample) -> bool {
        sample.follows(&self.sample)
    }

    pub(super) fn add(&mut self, at: Duration, sample: &Sample) {
        if self.points.len() == MOST_POINTS {
            self.points.pop_front();
        }
        self.points.push_back((at, sample.rate_point()));
    }

    /// What happened until a sample at `at`, which was made `interval` after the one that is known.
    pub(super) fn evidence_until(
        &mut self,
        at: Duration,
        sample: &Sample,
        interval: Duration,
    ) -> SocketEvidence {
        self.add(at, sample);
        let evidence = sample.evidence(Some((&self.sample, interval)));
        let since = at.saturating_sub(interval.max(RECENT));
        let recent = self.points.iter().filter(|(at, _)| *at >= since);
        let points: Vec<RatePoint> = recent.map(|(_, point)| *point).collect();
        evidence.with_looks(&points)
    }
}

fn key(netns: u64, connection: &Connection) -> Key {
    (netns, connection.cookie, [connection.local, connection.remote])
}

impl PreviousSnapshot {
    /// Sets the evidence of what happened since the last snapshot, `interval` ago. `netns` has the namespace of each connection.
    /// The samples, for the next; those of connections that are not among these stay.
    pub(super) fn compare(
        &mut self,
        connections: &mut [Connection],
        netns: &[u64],
        interval: Option<Duration>,
    ) -> Self {
        let at = self.at + interval.unwrap_or_default();
        let mut seen = HashMap::with_capacity(connections.len());
        for (connection, netns) in connections.iter_mut().zip(netns) {
            let Some(sample) = &connection.sample else { continue };
            let key = key(*netns, connection);
            let known = self.connections.remove(&key).filter(|known| sample.follows(&known.sample));
            let known = known.zip(interval);
            let points = if let Some((mut known, interval)) = known {
                let evidence = known.evidence_until(at, sample, interval);
                connection.since_last = Some(Box::new(evidence));
                known.points
            } else {
                VecDeque::from([(at, sample.rate_point())])
            };
            let now =
                Known { sample: Arc::clone(sample), process: connection.process.clone(), points };
            seen.insert(key, now);
        }
        beside::note(connections, netns);
        Self { connections: seen, at }
    }

    /// Notes a sample between two snapshots, so long after the first of them.
    #[cfg(feature = "lab")]
    pub(super) fn note(&mut self, key: Key, after: Duration, sample: &Sample) {
        let at = self.at + after;
        if let Some(known) = self.connections.get_mut(&key) {
            known.add(at, sample);
        }
    }

    /// How many connections the last snapshot had.
    #[cfg(feature = "lab")]
    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Makes a connection one that closed since the last snapshot, with the process that the snapshot showed.
    pub(super) fn close(
        &mut self,
        netns: u64,
        connection: &mut Connection,
        interval: Option<Duration>,
    ) {
        connection.is_closed = true;
        let Some(mut known) = self.connections.remove(&key(netns, connection)) else { return };
        let sample = connection.sample.as_ref().filter(|sample| sample.follows(&known.sample));
        if let Some((sample, interval)) = sample.zip(interval) {
            let evidence = known.evidence_until(self.at + interval, sample, interval);
            connection.since_last = Some(Box::new(evidence));
        }
        connection.process = known.process;
    }
}
