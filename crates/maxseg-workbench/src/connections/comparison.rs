//! The samples of the last snapshot, with which those of the next are compared.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use maxseg_wire::inet_diag::Sample;

use super::{Connection, Owner};

/// A connection: its namespace among those watched, and the kernel's number.
pub(super) type Key = (usize, u64);

/// What is known of each connection from the last snapshot.
#[derive(Debug, Default)]
pub(super) struct PreviousSnapshot(HashMap<Key, Known>);

#[derive(Debug)]
struct Known {
    sample: Arc<Sample>,
    process: Option<Owner>,
}

impl PreviousSnapshot {
    /// Sets the evidence of what happened since the last snapshot, `interval` ago. `netns` has the namespace of each connection.
    /// The samples, for the next.
    pub(super) fn compare(
        &self,
        connections: &mut [Connection],
        netns: &[usize],
        interval: Option<Duration>,
    ) -> Self {
        let mut seen = HashMap::with_capacity(connections.len());
        for (connection, netns) in connections.iter_mut().zip(netns) {
            let Some(sample) = &connection.sample else { continue };
            let key = (*netns, connection.cookie);
            if let Some((known, interval)) = self.0.get(&key).zip(interval) {
                let evidence = sample.evidence(Some((&known.sample, interval)));
                connection.since_last = Some(Box::new(evidence));
            }
            let (sample, process) = (Arc::clone(sample), connection.process.clone());
            seen.insert(key, Known { sample, process });
        }
        Self(seen)
    }

    /// Makes a connection one that closed since the last snapshot, with the process that the snapshot showed.
    pub(super) fn close(
        &mut self,
        netns: usize,
        connection: &mut Connection,
        interval: Option<Duration>,
    ) {
        let known = self.0.remove(&(netns, connection.cookie));
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
