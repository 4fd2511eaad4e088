//! The sockets of this host, looked at again and again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use maxseg_linux::observe::sockets::{
    NamespaceError, Opened, OptionsError, Place, Selection, SocketEnds, SocketLister, SocketReader,
    largest_buffers,
};

use maxseg_wire::inet_diag::{Endpoint, Filter, Prefix, StateSet};
use maxseg_wire::tcp_info::State;

use super::beside;
use super::comparison::PreviousSnapshot;
use super::listing::too_many;
use super::owners::Owners;
use super::{Connection, Listener, Listing, Names, Snapshot, SocketOptions, sample_of};

/// What is watched.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// In which network namespaces.
    pub place: Place,
    /// Which sockets.
    pub selection: Selection,
    /// Whether to find the processes of sockets, which takes longer than the list itself.
    pub processes: bool,
    /// Names or numbers of processes that are asked for: of several that have a socket open, one of them is its process.
    pub wanted: Vec<String>,
    /// Whether connections are told that closed since the list before.
    pub closed: bool,
    /// Whether each socket's message is kept, for a recording.
    pub messages: bool,
}

impl Default for WatchOptions {
    /// All sockets of this network namespace, listening ones too, without their processes and what closed.
    fn default() -> Self {
        let selection = Selection { states: StateSet::ALL, filter: None };
        let (processes, closed, messages) = (false, false, false);
        Self { place: Place::Here, selection, processes, wanted: Vec::new(), closed, messages }
    }
}

/// Of more connections than these none is looked at between two looks.
const MOST_BETWEEN: usize = 4096;

/// Looks at the sockets of a place.
///
/// ```
/// use maxseg_workbench::connections::{NamespaceError, Watch, WatchOptions};
///
/// fn connections_now() -> Result<usize, NamespaceError> {
///     let mut watch = Watch::new(WatchOptions::default())?;
///     Ok(watch.look()?.connections.len())
/// }
/// ```
#[derive(Debug)]
pub struct Watch {
    options: WatchOptions,
    listers: Opened<SocketLister>,
    ends: Vec<SocketEnds>,
    names: Names,
    owners: Owners,
    before: PreviousSnapshot,
    looked: Option<Instant>,
}

impl Watch {
    /// Begins: nothing has been looked at yet.
    ///
    /// # Errors
    /// There is no such place, or this user may not see it.
    pub fn new(options: WatchOptions) -> Result<Self, NamespaceError> {
        let listers = SocketLister::of(&options.place)?;
        let (names, before) = (Names::default(), PreviousSnapshot::default());
        let owners = Owners::wanting(options.wanted.clone());
        let ends = Vec::new();
        let mut watch = Self { options, listers, ends, names, owners, before, looked: None };
        watch.follow_ends()?;
        Ok(watch)
    }

    /// Listens for what closes in each namespace that is listed.
    fn follow_ends(&mut self) -> Result<(), NamespaceError> {
        if !self.options.closed {
            return Ok(());
        }
        let mut before = std::mem::take(&mut self.ends);
        for lister in &self.listers.each {
            let id = lister.place().id();
            let known = before.iter().position(|ends| ends.place().id() == id);
            let ends = match known {
                Some(at) => before.swap_remove(at),
                None => SocketEnds::of(lister.place())?,
            };
            self.ends.push(ends);
        }
        Ok(())
    }

    /// Opens the namespaces that have come since the last look, and leaves those that have gone.
    fn renew(&mut self) -> Result<(), NamespaceError> {
        if self.options.place != Place::All || self.looked.is_none() {
            return Ok(());
        }
        let none = Opened { each: Vec::new(), denied: 0, hidden_of: 0 };
        self.listers = std::mem::replace(&mut self.listers, none).renewed(&self.options.place)?;
        self.follow_ends()
    }

    /// Bytes of events of closed connections that may wait, and how many it should be; `None` where there are enough, or
    /// closed connections are not watched.
    pub fn small_room(&self) -> Option<(usize, usize)> {
        let rooms = self.ends.iter().map(SocketEnds::room);
        rooms.filter(|(granted, wanted)| granted < wanted).min()
    }

    /// Looks at all sockets. Evidence is of what happened since the last look; of the whole connection the first time, and of
    /// a connection that was not there then.
    ///
    /// # Errors
    /// The kernel gives no list.
    pub fn look(&mut self) -> Result<Snapshot, NamespaceError> {
        self.renew()?;
        let (mut snapshot, keys, now) = self.list()?;
        let interval = snapshot.interval;
        let seen = self.before.compare(&mut snapshot.connections, &keys, interval);
        self.note_unlisted(&mut snapshot.connections, &keys)?;
        let closed = self.closed(&mut snapshot, interval)?;
        snapshot.add_closed(closed);
        (self.before, self.looked) = (seen, Some(now));
        Ok(snapshot)
    }

    /// Looks at the sockets that the last look showed, between it and the next: how their rates and windows vary shows more than both ends
    /// of an interval do. Nothing is done where there are very many.
    ///
    /// # Errors
    /// The kernel gives no list.
    pub fn look_between(&mut self) -> Result<(), NamespaceError> {
        let Some(looked) = self.looked.filter(|_| self.before.len() <= MOST_BETWEEN) else {
            return Ok(());
        };
        let after = looked.elapsed();
        for lister in &mut self.listers.each {
            let (before, netns) = (&mut self.before, lister.place().id());
            lister.list(&self.options.selection, |socket| {
                if let Some(sample) = sample_of(socket) {
                    let ends = [socket.local, socket.remote];
                    before.note((netns, socket.cookie, ends), after, &sample);
                }
            })?;
        }
        Ok(())
    }

    /// Looks at all sockets for the last time: nothing is kept for another look.
    ///
    /// # Errors
    /// The kernel gives no list.
    pub fn look_last(mut self) -> Result<Snapshot, NamespaceError> {
        let (mut snapshot, keys, _) = self.list()?;
        if let Some(interval) = snapshot.interval {
            self.before.compare(&mut snapshot.connections, &keys, Some(interval));
            self.note_unlisted(&mut snapshot.connections, &keys)?;
        }
        Ok(snapshot)
    }

    /// Looks at all sockets once, comparing them with nothing, and decodes none yet.
    ///
    /// # Errors
    /// The kernel gives no list.
    pub fn list_once(mut self) -> Result<Listing<'static>, NamespaceError> {
        let mut listing = Listing::begun(Snapshot {
            time_s: seconds_now(),
            denied_namespaces: self.listers.denied,
            processes_in_hidden_namespaces: self.listers.hidden_of,
            ..Snapshot::default()
        });
        for lister in &mut self.listers.each {
            listing.enter(lister.place().name.clone());
            let selection = &self.options.selection;
            let reading = lister.list_payloads(selection, |payload| listing.add(payload))?;
            let rest = listing.rest_mut();
            rest.interrupted |= reading.interrupted;
            rest.missed += reading.unreadable;
        }
        if self.options.processes {
            let mut owners = self.owners;
            owners.find(listing.socket_count());
            listing.set_owners(owners);
        } else {
            listing.leave_unread(LEFT_OUT);
        }
        judge_drops(&self.listers.each, &mut listing.rest_mut().listeners);
        Ok(listing)
    }

    /// The sockets as they are now, the number of each connection's namespace, and when that was.
    fn list(&mut self) -> Result<(Snapshot, Vec<u64>, Instant), NamespaceError> {
        let now = Instant::now();
        let interval = self.looked.map(|looked| now.duration_since(looked));
        let mut snapshot = Snapshot { time_s: seconds_now(), interval, ..Snapshot::default() };
        snapshot.denied_namespaces = self.listers.denied;
        snapshot.processes_in_hidden_namespaces = self.listers.hidden_of;
        let mut keys = Vec::new();
        for lister in &mut self.listers.each {
            let (netns, id) = (lister.place().name.clone(), lister.place().id());
            let (names, keeps) = (&mut self.names, self.options.messages);
            let reading = lister.list(&self.options.selection, |socket| {
                let message = keeps.then(|| socket.payload.into());
                snapshot.add(socket, netns.as_ref(), names, None, message);
            })?;
            snapshot.interrupted |= reading.interrupted;
            snapshot.missed += reading.unreadable;
            keys.resize(snapshot.connections.len(), id);
        }
        if self.options.processes {
            self.owners.set(&mut snapshot, now);
        } else {
            leave_unread(&mut snapshot.connections, LEFT_OUT);
        }
        judge_drops(&self.listers.each, &mut snapshot.listeners);
        Ok((snapshot, keys, now))
    }

    /// Looks at connections to the same addresses that the filter leaves out, where they decide what limits one that it does not.
    fn note_unlisted(
        &mut self,
        connections: &mut [Connection],
        keys: &[u64],
    ) -> Result<(), NamespaceError> {
        if self.options.selection.filter.is_none() {
            return Ok(());
        }
        let listers = &mut self.listers.each;
        beside::note_unlisted(connections, keys, |netns, address| {
            let filter = Some(Filter::Address(Endpoint::Remote, Prefix::host(address)));
            let selection = Selection { states: StateSet::NONE.with(State::Established), filter };
            let mut found = Vec::new();
            for lister in listers.iter_mut().filter(|lister| lister.place().id() == netns) {
                lister.list(&selection, |socket| {
                    found.extend(sample_of(socket).map(|sample| (socket.cookie, sample)));
                })?;
            }
            Ok(found)
        })
    }

    /// What closed since the last look, with the process that an earlier list showed. What was missed of it is the snapshot's.
    fn closed(
        &mut self,
        snapshot: &mut Snapshot,
        interval: Option<Duration>,
    ) -> Result<Vec<Connection>, NamespaceError> {
        let mut all = Vec::new();
        let (names, before, keeps) = (&mut self.names, &mut self.before, self.options.messages);
        for ends in &mut self.ends {
            let (netns, id) = (ends.place().name.clone(), ends.place().id());
            let lost = ends.drain(|socket| {
                let matches = self
                    .options
                    .selection
                    .filter
                    .as_ref()
                    .is_none_or(|filter| filter.matches(socket.local, socket.remote));
                // A listening socket, or one that never had a peer, was no connection.
                if !matches || socket.remote.port() == 0 {
                    return;
                }
                let mut closed = Connection::of(socket, netns.as_ref(), names);
                before.close(id, &mut closed, interval);
                closed.message = keeps.then(|| socket.payload.into());
                all.push(closed);
            })?;
            snapshot.missed += lost;
        }
        Ok(all)
    }
}

/// Tells which of the drops of listening sockets were connections, by the counters of their namespaces.
fn judge_drops(listers: &[SocketLister], listeners: &mut [Listener]) {
    let mut reader = SocketReader::default();
    for lister in listers {
        let netns = &lister.place().name;
        let has_dropped = |one: &&mut Listener| one.netns == *netns && one.overflows > Some(0);
        let mut with_drops = listeners.iter_mut().filter(has_dropped).peekable();
        if with_drops.peek().is_none() {
            continue;
        }
        let counters = lister.listen_counters();
        for listener in with_drops {
            let (pid, inode) = (listener.process.as_ref().map(|owner| owner.pid), listener.inode);
            listener.judge_drops(counters, || reader.defers_accept(pid?, inode).ok());
        }
    }
}

/// Without their processes, sockets cannot be read.
const LEFT_OUT: &str = "processes were left out";

/// Reads what only the sockets themselves tell, of connections whose processes are known: several calls for each.
pub fn read_options(connections: &mut [Connection]) {
    let has_options =
        |connection: &Connection| connection.sample.is_some() && !connection.is_closed;
    let count = connections.iter().filter(|connection| has_options(connection)).count();
    if let Some(why) = too_many(count) {
        leave_unread(connections, &why);
        return;
    }
    let mut reader = SocketReader::default();
    let mut largest: HashMap<Option<Arc<str>>, Option<[u32; 2]>> = HashMap::new();
    for connection in connections.iter_mut().filter(|connection| has_options(connection)) {
        let read = match &connection.process {
            Some(owner) => reader.options(owner.pid, connection.inode),
            None => Err(OptionsError::NoProcess),
        };
        if read == Err(OptionsError::Subflow) {
            connection.upper_layer.get_or_insert_with(|| Arc::from("mptcp"));
        }
        let netns = connection.netns.clone();
        let most =
            *largest.entry(netns).or_insert_with(|| largest_buffers(connection.netns.as_deref()));
        connection.options = match read {
            Ok(read) => SocketOptions {
                window_clamp: Some(read.window_clamp),
                buffers_set: read.buffers_set,
                buffers_most: most,
                unread_because: None,
            },
            Err(why) => SocketOptions::unread(&Arc::from(why.to_string())),
        };
    }
}

fn leave_unread(connections: &mut [Connection], why: &str) {
    let why: Arc<str> = Arc::from(why);
    let is_there =
        |connection: &&mut Connection| connection.sample.is_some() && !connection.is_closed;
    for connection in connections.iter_mut().filter(is_there) {
        connection.options = SocketOptions::unread(&why);
    }
}

fn seconds_now() -> Option<f64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.ok().map(|since| since.as_secs_f64())
}
