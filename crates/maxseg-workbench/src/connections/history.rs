//! Connections over time: what several snapshots showed, for a screen.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use super::{Connection, Snapshot};

/// What a connection did between two snapshots, and its state at the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The time of the second snapshot, seconds since 1970.
    pub at_s: f64,
    /// Payload that was acknowledged, bits a second.
    pub sent_bps: f64,
    /// Payload that was sent again, bits a second.
    pub resent_bps: f64,
    /// Payload that arrived, bits a second.
    pub received_bps: f64,
    /// The smoothed round-trip time, seconds; 0 where there is no sample.
    pub rtt_s: f64,
    /// The retransmission timeout, seconds.
    pub rto_s: f64,
    /// The congestion window, segments.
    pub cwnd_segments: f64,
    /// The window that the peer last advertised, bytes.
    pub window_bytes: f64,
    /// Bytes sent and not acknowledged.
    pub in_flight_bytes: f64,
}

impl Point {
    fn of(connection: &Connection, at_s: f64) -> Option<Self> {
        let (sample, evidence) = (connection.sample.as_ref()?, connection.since_last.as_ref()?);
        let seconds = evidence.bin.duration.as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        let rate = |bytes: u64| bytes as f64 * 8.0 / seconds;
        let info = &sample.info;
        Some(Self {
            at_s,
            sent_bps: rate(evidence.bin.acked_bytes),
            resent_bps: rate(evidence.bin.resent_bytes),
            received_bps: rate(evidence.received_bytes),
            rtt_s: info.rtt.as_secs_f64(),
            rto_s: info.rto.as_secs_f64(),
            cwnd_segments: info.snd_cwnd.into(),
            window_bytes: info.snd_wnd.unwrap_or_default().into(),
            in_flight_bytes: evidence.bin.in_flight_max as f64,
        })
    }
}

/// A connection with its past.
#[derive(Debug, Clone)]
pub struct Track {
    /// As it was seen last.
    pub connection: Connection,
    /// What it did, the oldest first.
    pub points: VecDeque<Point>,
    /// When it was there no more, seconds since 1970.
    pub closed_s: Option<f64>,
}

/// A connection: its namespace, the kernel's number, which begins anew at each boot, and its ends.
pub type TrackKey = (Option<Arc<str>>, u64, [SocketAddr; 2]);

/// The connections of a host, those too that closed of late.
#[derive(Debug, Default)]
pub struct History {
    tracks: HashMap<TrackKey, Track>,
    latest: Snapshot,
}

/// A closed connection stays so long.
const CLOSED_S: f64 = 60.0;
/// Points that are kept of a connection, and of all of them: 72 bytes each.
const MOST_POINTS: usize = 600;
const POINTS_IN_ALL: usize = 1 << 19;

impl History {
    /// Takes what a snapshot showed. Connections that it does not show are closed.
    pub fn add(&mut self, mut snapshot: Snapshot) {
        let now_s = snapshot.time_s.unwrap_or_default();
        let connections = std::mem::take(&mut snapshot.connections);
        let most = (POINTS_IN_ALL / connections.len().max(1)).clamp(2, MOST_POINTS);
        let mut before = std::mem::take(&mut self.tracks);
        self.tracks.reserve(connections.len());
        for connection in connections {
            let ends = [connection.local, connection.remote];
            let key = (connection.netns.clone(), connection.cookie, ends);
            // What is left of a connection has its number where a list has shown it: the connection is closed, and stays as it was.
            if connection.is_remnant()
                && let Some(track) = before.get_mut(&key)
                && !track.connection.is_remnant()
            {
                track.closed_s.get_or_insert(now_s);
                continue;
            }
            // It closed after the list of this snapshot was read, which has it as well.
            if let Some(listed) = self.tracks.get_mut(&key) {
                listed.closed_s = connection.is_closed.then_some(now_s);
                listed.connection = connection;
                continue;
            }
            let points = before.remove(&key).map(|track| track.points).unwrap_or_default();
            let closed_s = connection.is_closed.then_some(now_s);
            let mut track = Track { connection, points, closed_s };
            track.points.extend(Point::of(&track.connection, now_s));
            while track.points.len() > most {
                track.points.pop_front();
            }
            self.tracks.insert(key, track);
        }
        for (key, mut track) in before {
            if snapshot.interrupted && track.closed_s.is_none() {
                // The list changed while it was read: what is missing from it may be there.
                self.tracks.insert(key, track);
                continue;
            }
            let closed_s = *track.closed_s.get_or_insert(now_s);
            let is_remnant = track.connection.is_remnant();
            track.connection.is_closed = true;
            // What waited for its time to end has no verdict to be kept.
            if !is_remnant && now_s - closed_s <= CLOSED_S {
                self.tracks.insert(key, track);
            }
        }
        self.leave_out_remnants();
        self.latest = snapshot;
    }

    /// Leaves out what the kernel keeps of connections that are here as closed ones: each is shown once.
    fn leave_out_remnants(&mut self) {
        let connections = || self.tracks.values().map(|track| &track.connection);
        let closed = connections().filter(|connection| connection.is_closed);
        let closed: HashSet<_> = closed.map(Connection::place).collect();
        if !closed.is_empty() {
            self.tracks.retain(|_, Track { connection, .. }| {
                !connection.is_remnant() || !closed.contains(&connection.place())
            });
        }
    }

    /// The connections, in no order.
    pub fn tracks(&self) -> impl Iterator<Item = (&TrackKey, &Track)> {
        self.tracks.iter()
    }

    /// One of them.
    pub fn track(&self, key: &TrackKey) -> Option<&Track> {
        self.tracks.get(key)
    }

    /// The last snapshot, without its connections.
    pub const fn latest(&self) -> &Snapshot {
        &self.latest
    }
}
