//! The samples of the last snapshot, with which those of the next are compared.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use maxseg_core::evidence::{RatePoint, RateSpread};
use maxseg_wire::inet_diag::Sample;

use super::{Connection, Owner};

/// A connection: its namespace among those watched, and the kernel's number.
pub(super) type Key = (usize, u64);

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

#[derive(Debug)]
struct Known {
    sample: Arc<Sample>,
    process: Option<Owner>,
    /// When a point was seen, since the first snapshot.
    points: VecDeque<(Duration, RatePoint)>,
}

impl Known {
    fn add(&mut self, at: Duration, sample: &Sample) {
        let Some(point) = sample.rate_point() else { return };
        if self.points.len() == MOST_POINTS {
            self.points.pop_front();
        }
        self.points.push_back((at, point));
    }

    /// How it varied since then.
    fn spread(&self, since: Duration) -> Option<RateSpread> {
        let recent = self.points.iter().filter(|(at, _)| *at >= since);
        let points: Vec<RatePoint> = recent.map(|(_, point)| *point).collect();
        RateSpread::of(&points)
    }
}

impl PreviousSnapshot {
    /// Sets the evidence of what happened since the last snapshot, `interval` ago. `netns` has the namespace of each connection.
    /// The samples, for the next; those of connections that are not among these stay.
    pub(super) fn compare(
        &mut self,
        connections: &mut [Connection],
        netns: &[usize],
        interval: Option<Duration>,
    ) -> Self {
        let at = self.at + interval.unwrap_or_default();
        let mut seen = HashMap::with_capacity(connections.len());
        for (connection, netns) in connections.iter_mut().zip(netns) {
            let Some(sample) = &connection.sample else { continue };
            let key = (*netns, connection.cookie);
            let known = self.connections.remove(&key);
            let mut now = Known {
                sample: Arc::clone(sample),
                process: connection.process.clone(),
                points: VecDeque::new(),
            };
            let before = known.zip(interval).map(|(known, interval)| {
                now.points = known.points;
                (known.sample, interval)
            });
            now.add(at, sample);
            if let Some((before, interval)) = before {
                let mut evidence = sample.evidence(Some((&before, interval)));
                evidence.spread = now.spread(at.saturating_sub(interval.max(RECENT)));
                connection.since_last = Some(Box::new(evidence));
            }
            seen.insert(key, now);
        }
        Self { connections: seen, at }
    }

    /// Notes a sample between two snapshots, so long after the first of them.
    pub(super) fn note(&mut self, key: Key, after: Duration, sample: &Sample) {
        let at = self.at + after;
        if let Some(known) = self.connections.get_mut(&key) {
            known.add(at, sample);
        }
    }

    /// How many connections the last snapshot had.
    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Makes a connection one that closed since the last snapshot, with the process that the snapshot showed.
    pub(super) fn close(
        &mut self,
        netns: usize,
        connection: &mut Connection,
        interval: Option<Duration>,
    ) {
        let known = self.connections.remove(&(netns, connection.cookie));
        let since = known.as_ref().map(|known| &*known.sample).zip(interval);
        connection.since_last = connection
            .sample
            .as_ref()
            .zip(since)
            .map(|(sample, since)| Box::new(sample.evidence(Some(since))));
        connection.process = known.and_then(|known| known.process);
        connection.is_closed = true;
    }
}
