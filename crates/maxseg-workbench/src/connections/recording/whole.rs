//! What each connection of a recording did from its first sample to its last.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use maxseg_core::diagnose::LimitsOverTime;

use super::{Recording, RecordingError};
use crate::connections::comparison::Known;
use crate::connections::{Connection, Snapshot};

/// A connection: its namespace, the kernel's number, which begins anew at each boot, and its ends.
type Key = (Option<Arc<str>>, u64, [SocketAddr; 2]);

/// A connection of which samples were seen.
struct Seen {
    /// Its first sample, and when; `None` of one without `tcp_info`.
    first: Option<(Known, Duration)>,
    /// As it was seen last, and when.
    last: (Connection, Duration),
    /// What limited it between each two of its samples.
    limits: LimitsOverTime,
}

impl Recording {
    /// The connections of the whole recording, each once, as it was seen last, with what happened since its first sample, or since its
    /// beginning where it has one alone; the listening sockets of the last sample. `select` leaves out what is not wanted of a
    /// sample.
    ///
    /// # Errors
    /// The file was changed meanwhile.
    pub fn whole(&self, select: &mut dyn FnMut(&mut Snapshot)) -> Result<Snapshot, RecordingError> {
        let begin = self.frames().first().map_or(0.0, |frame| frame.time_s);
        let mut seen: HashMap<Key, Seen> = HashMap::new();
        let mut whole = Snapshot::default();
        for (at, snapshot) in self.play(0..self.frames().len()).enumerate() {
            let mut snapshot = snapshot?;
            select(&mut snapshot);
            let now = snapshot.time_s.unwrap_or(begin) - begin;
            let now = Duration::try_from_secs_f64(now).unwrap_or_default();
            for connection in std::mem::take(&mut snapshot.connections) {
                note(&mut seen, connection, now);
            }
            whole = Snapshot { missed: whole.missed.saturating_add(snapshot.missed), ..snapshot };
            whole.interval = (at > 0).then_some(now);
        }
        whole.connections = seen.into_values().map(Seen::whole).collect();
        whole.connections.sort_by_cached_key(|one| (one.local, one.remote, one.cookie));
        Ok(whole)
    }
}

/// Takes a sample of a connection. What is left of one that closed (`time-wait`) does not replace it.
fn note(seen: &mut HashMap<Key, Seen>, connection: Connection, now: Duration) {
    let key = (connection.netns.clone(), connection.cookie, [connection.local, connection.remote]);
    if let Some(known) = seen.get_mut(&key) {
        if connection.is_remnant() && !known.last.0.is_remnant() {
            known.last.0.is_closed = true;
            return;
        }
        // How it has varied in between; the last sample is added with what it is compared with.
        let (before, at) = &known.last;
        if let (Some((first, began)), Some(sample)) = (&mut known.first, &before.sample)
            && at > began
        {
            first.add(*at, sample);
        }
        known.add_limits(&connection);
        known.last = (connection, now);
        return;
    }
    let sample = connection.sample.as_ref();
    let first = sample.map(|sample| (Known::of(now, &connection, sample), now));
    seen.insert(key, Seen { first, last: (connection, now), limits: LimitsOverTime::default() });
}

impl Seen {
    /// Adds what limited it since the sample before.
    fn add_limits(&mut self, connection: &Connection) {
        if connection.since_last.is_some()
            && let Some(evidence) = connection.evidence()
        {
            self.limits.add(&evidence);
        }
    }

    fn whole(self) -> Connection {
        let (mut connection, now) = self.last;
        let first = self.first.filter(|(_, at)| *at < now);
        connection.since_last = first.and_then(|(mut known, at)| {
            let sample = connection.sample.as_ref().filter(|sample| known.is_before(sample))?;
            Some(Box::new(known.evidence_until(now, sample, now.saturating_sub(at))))
        });
        connection.over_time = self.limits.diagnosis().map(Box::new);
        connection
    }
}
