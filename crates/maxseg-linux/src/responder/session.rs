//! The session under way.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use maxseg_wire::responder::{MOST_SIZES, NONCE, Refusal, SenderSample, TrainArrival, TrainHead};

use crate::sys::Arrived;
use crate::transfer::random;

/// Samples that are kept of a transfer, at most: 17 MB. What is sampled less often with more connections, and a transfer
/// that is limited in time, stay below it.
const MOST_SAMPLES: usize = 24_000;

/// Bytes of datagrams that a session may ask for.
const MOST_PROBE_BYTES: usize = 4 << 20;

/// Bytes of trains that a session may ask for, and arrivals that are kept of one: half a megabyte.
const MOST_TRAIN_BYTES: usize = 512 << 20;
const MOST_ARRIVALS: usize = 32_768;

/// So long a connection waits for one of an earlier transfer to end: the client has closed those before it connects again, and
/// what serves them notices within a turn.
const LONGEST_JOIN: Duration = Duration::from_secs(1);

/// The session under way, if any: one at a time.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    current: Mutex<Current>,
    /// Told where a connection has left its session, or the session has ended.
    left: Condvar,
}

#[derive(Debug, Default)]
struct Current {
    session: Option<Session>,
    /// Whether one has ended.
    has_ended: bool,
}

#[derive(Debug)]
struct Session {
    id: u64,
    key: [u8; NONCE],
    client: IpAddr,
    /// Connections that have joined it.
    joined: u16,
    /// Connections that wait to join it.
    waiting: u16,
    transfer: u32,
    samples: BTreeMap<u16, Vec<SenderSample>>,
    sample_count: usize,
    arrivals: BTreeMap<u16, u32>,
    datagrams_from: Option<SocketAddr>,
    probe_bytes: usize,
    train_bytes: usize,
    train: Train,
}

/// The client's last train, as it arrived.
#[derive(Debug, Default)]
struct Train {
    number: u32,
    arrivals: Vec<TrainArrival>,
    /// What the socket had dropped when it began, and since then.
    dropped_before: u32,
    dropped: u32,
}

impl Current {
    /// The session of this number, where it is still under way.
    fn session(&mut self, id: u64) -> Option<&mut Session> {
        self.session.as_mut().filter(|session| session.id == id)
    }
}

impl Sessions {
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the session, where it is still under way.
    fn with<T>(&self, session: u64, of: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.current().session(session).map(of)
    }

    /// Begins one.
    pub(super) fn begin(&self, client: IpAddr) -> Result<u64, Refusal> {
        let mut current = self.current();
        if current.session.is_some() {
            return Err(Refusal::Busy);
        }
        let made = || -> io::Result<_> { Ok((u64::from_be_bytes(random()?), random()?)) };
        let (id, key) = made().map_err(|_| Refusal::Busy)?;
        let id = id.max(1);
        current.session = Some(Session {
            id,
            key,
            client,
            joined: 0,
            waiting: 0,
            transfer: 0,
            samples: BTreeMap::new(),
            sample_count: 0,
            arrivals: BTreeMap::new(),
            datagrams_from: None,
            probe_bytes: 0,
            train_bytes: 0,
            train: Train::default(),
        });
        Ok(id)
    }

    /// Counts a further connection of it; where there are as many as are allowed, once one of them has left.
    ///
    /// # Errors
    /// None leaves in [`LONGEST_JOIN`], as many wait already, or the session is over.
    pub(super) fn join(&self, session: u64, most: u16) -> Result<(), Refusal> {
        let mut current = self.current();
        let asked = current.session(session).ok_or(Refusal::NoSession)?;
        if asked.waiting >= most {
            return Err(Refusal::Limit);
        }
        asked.waiting += 1;
        let is_full = |current: &mut Current| {
            current.session(session).is_some_and(|session| session.joined >= most)
        };
        let waited = self.left.wait_timeout_while(current, LONGEST_JOIN, is_full);
        (current, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let asked = current.session(session).ok_or(Refusal::NoSession)?;
        asked.waiting -= 1;
        if asked.joined >= most {
            return Err(Refusal::Limit);
        }
        asked.joined += 1;
        Ok(())
    }

    pub(super) fn leave(&self, session: u64) {
        self.with(session, |session| session.joined = session.joined.saturating_sub(1));
        self.left.notify_all();
    }

    /// Whether connections besides the control connection are under way.
    pub(super) fn has_joined(&self, session: u64) -> bool {
        self.with(session, |session| session.joined > 0).unwrap_or(false)
    }

    pub(super) fn is_current(&self, session: u64) -> bool {
        self.with(session, |_| ()).is_some()
    }

    pub(super) fn key(&self, session: u64) -> Option<[u8; NONCE]> {
        self.with(session, |session| session.key)
    }

    pub(super) fn end(&self, session: u64) {
        let mut current = self.current();
        if current.session.as_ref().is_some_and(|current| current.id == session) {
            (current.session, current.has_ended) = (None, true);
            self.left.notify_all();
        }
    }

    pub(super) fn end_all(&self) {
        self.current().session = None;
        self.left.notify_all();
    }

    pub(super) fn have_ended(&self) -> bool {
        let current = self.current();
        current.has_ended && current.session.is_none()
    }

    /// Keeps a sample of a transfer; those of an earlier one are forgotten.
    pub(super) fn keep(&self, session: u64, transfer: u32, connection: u16, sample: &SenderSample) {
        self.with(session, |session| {
            if session.transfer != transfer {
                session.samples.clear();
                (session.transfer, session.sample_count) = (transfer, 0);
            }
            if session.sample_count < MOST_SAMPLES {
                session.samples.entry(connection).or_default().push(*sample);
                session.sample_count += 1;
            }
        });
    }

    /// The samples of a transfer.
    pub(super) fn samples(&self, session: u64, transfer: u32) -> Vec<(u16, Vec<SenderSample>)> {
        self.with(session, |session| {
            let is_it = session.transfer == transfer;
            if is_it {
                std::mem::take(&mut session.samples).into_iter().collect()
            } else {
                Vec::new()
            }
        })
        .unwrap_or_default()
    }

    /// Counts a datagram with the session's key from its client.
    pub(super) fn on_datagram(&self, datagram: &[u8], arrived: &Arrived, packet_bytes: u16) {
        let mut current = self.current();
        let Some(session) = current.session.as_mut() else { return };
        let from = arrived.from;
        if !datagram.starts_with(&session.key) || from.ip().to_canonical() != session.client {
            return;
        }
        session.datagrams_from = Some(from);
        if let Some(head) = TrainHead::read(datagram) {
            session.train.on_datagram(head, arrived);
            return;
        }
        if session.arrivals.len() < MOST_SIZES || session.arrivals.contains_key(&packet_bytes) {
            let count = session.arrivals.entry(packet_bytes).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Sizes of the packets that have arrived, and how many of each.
    pub(super) fn arrivals(&self, session: u64) -> Vec<(u16, u32)> {
        self.with(session, |session| session.arrivals.iter().map(|(k, v)| (*k, *v)).collect())
            .unwrap_or_default()
    }

    /// The datagrams of a train that have arrived, in the order in which they did, and how many the socket has dropped meanwhile.
    pub(super) fn train(&self, session: u64, number: u32) -> (Vec<TrainArrival>, u32) {
        self.with(session, |session| {
            let train = &mut session.train;
            if train.number != number {
                return (Vec::new(), 0);
            }
            // Two threads read.
            train.arrivals.sort_by_key(|arrival| (arrival.at, arrival.number));
            (train.arrivals.clone(), train.dropped)
        })
        .unwrap_or_default()
    }

    /// Where a train of so many bytes may be sent, and what its datagrams begin with; `None` before the client has sent one, and once
    /// enough was sent.
    pub(super) fn may_send_train(
        &self,
        session: u64,
        bytes: usize,
    ) -> Option<(SocketAddr, [u8; NONCE])> {
        self.with(session, |session| {
            session.train_bytes = session.train_bytes.saturating_add(bytes);
            let address = session.datagrams_from?;
            (session.train_bytes <= MOST_TRAIN_BYTES).then_some((address, session.key))
        })
        .flatten()
    }

    /// Where a datagram of so many bytes may be sent, and what it begins with; `None` before the client has sent one, and
    /// once enough was sent.
    pub(super) fn may_probe(
        &self,
        session: u64,
        bytes: usize,
    ) -> Option<(SocketAddr, [u8; NONCE])> {
        self.with(session, |session| {
            session.probe_bytes += bytes;
            let address = session.datagrams_from?;
            (session.probe_bytes <= MOST_PROBE_BYTES).then_some((address, session.key))
        })
        .flatten()
    }
}

impl Train {
    fn on_datagram(&mut self, head: TrainHead, arrived: &Arrived) {
        if head.train != self.number {
            // One that is late belongs to nothing.
            if head.train < self.number {
                return;
            }
            let dropped_before = self.dropped_before + self.dropped;
            *self = Self { number: head.train, dropped_before, ..Self::default() };
        }
        self.dropped = arrived.dropped.saturating_sub(self.dropped_before).max(self.dropped);
        if self.arrivals.len() < MOST_ARRIVALS {
            self.arrivals.push(TrainArrival { number: head.number, at: arrived.at });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Whichever of the two comes first: what has left makes room.
    #[test]
    fn a_connection_joins_once_another_has_left() {
        let sessions = Sessions::default();
        let session = sessions.begin(Ipv4Addr::LOCALHOST.into()).unwrap();
        for _ in 0..2 {
            assert_eq!(sessions.join(session, 2), Ok(()));
        }
        for _ in 0..1000 {
            std::thread::scope(|scope| {
                let joining = scope.spawn(|| sessions.join(session, 2));
                sessions.leave(session);
                assert_eq!(joining.join().unwrap(), Ok(()));
            });
        }
        assert_eq!(sessions.join(session, 2), Err(Refusal::Limit));
    }

    #[test]
    fn an_end_of_the_session_ends_waiting() {
        let sessions = Sessions::default();
        let session = sessions.begin(Ipv4Addr::LOCALHOST.into()).unwrap();
        assert_eq!(sessions.join(session, 1), Ok(()));
        std::thread::scope(|scope| {
            let joining = scope.spawn(|| sessions.join(session, 1));
            sessions.end(session);
            assert_eq!(joining.join().unwrap(), Err(Refusal::NoSession));
        });
    }
}
