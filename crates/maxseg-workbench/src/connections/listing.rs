//! The sockets of a host that are listed once: the kernel's messages as they came, each decoded when it is its connection's turn.
//! Decoded connections of a long list take twice the memory, and more time to fill it than to decode them.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

#[cfg(feature = "lab")]
use maxseg_linux::observe::sockets::prefer_huge_pages;
use maxseg_wire::DecodeError;
use maxseg_wire::inet_diag::{Framed, Messages, Outline, Socket};

#[cfg(feature = "lab")]
use super::owners::Owners;
use super::{Connection, Listener, Names, Owner, Snapshot, SocketOptions};

/// Connections that are shown one after the other.
pub trait Connections {
    /// Gives each to `show`, until that breaks.
    fn each(&self, show: &mut dyn FnMut(&Connection) -> ControlFlow<()>) -> ControlFlow<()>;
}

impl dyn Connections + '_ {
    /// Gives each to `show`, until that fails.
    ///
    /// # Errors
    /// That of `show`.
    pub fn try_each<E>(&self, mut show: impl FnMut(&Connection) -> Result<(), E>) -> Result<(), E> {
        let mut shown = Ok(());
        let _ = self.each(&mut |connection| {
            shown = show(connection);
            if shown.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        shown
    }
}

impl<T: AsRef<[Connection]>> Connections for T {
    fn each(&self, show: &mut dyn FnMut(&Connection) -> ControlFlow<()>) -> ControlFlow<()> {
        self.as_ref().iter().try_for_each(show)
    }
}

/// The sockets of a host at one time, as the kernel's messages.
#[derive(Debug, Default)]
pub struct Listing<'a> {
    /// All but the connections.
    rest: Snapshot,
    messages: Cow<'a, [u8]>,
    rows: Vec<Row>,
    namespaces: Vec<Option<Arc<str>>>,
    #[cfg(feature = "lab")]
    owners: Option<Owners>,
    /// Why the options of sockets are not read.
    unread_because: Option<Arc<str>>,
}

/// A connection of the list.
#[derive(Debug)]
struct Row {
    /// Where its message's payload is.
    payload: Range<usize>,
    namespace: usize,
    moved_bytes: u64,
    has_info: bool,
    #[cfg(feature = "lab")]
    inode: u32,
    /// The place of its process among the owners.
    #[cfg(feature = "lab")]
    process: Option<u32>,
}

impl<'a> Listing<'a> {
    /// The sockets in what `ss -tinmO -D FILE` wrote: the kernel's messages as they came. Those of a file that was cut are the whole ones.
    ///
    /// # Errors
    /// The bytes are no such messages, from the given offset on.
    pub fn from_dump(bytes: &'a [u8]) -> Result<Self, (usize, DecodeError)> {
        let mut listing = Self { namespaces: vec![None], ..Self::default() };
        let mut messages = Messages::new(bytes);
        let offset = |messages: &Messages<'_>| bytes.len() - messages.rest().len();
        // The kernel ends each list.
        let mut is_ended = false;
        loop {
            let at = offset(&messages);
            match messages.next_framed() {
                Some(Ok(Framed::Socket(payload))) => {
                    listing.note(payload, at + Messages::HEADER).map_err(|error| (at, error))?;
                    is_ended = false;
                }
                Some(Ok(Framed::Done { interrupted })) => {
                    listing.rest.interrupted |= interrupted;
                    is_ended = true;
                }
                Some(Ok(Framed::Error(_))) => is_ended = true,
                Some(Ok(Framed::Other)) => {}
                Some(Err(_)) if at > 0 && Messages::may_begin(&bytes[at..]) => {
                    is_ended = false;
                    break;
                }
                Some(Err(error)) => return Err((at, error)),
                None => break,
            }
        }
        // The counters of the host are not in the file.
        listing.rest.listeners.iter_mut().for_each(|one| one.judge_drops(None, || None));
        listing.rest.is_cut = !is_ended;
        listing.messages = Cow::Borrowed(bytes);
        Ok(listing)
    }

    /// Notes a socket whose payload is, or will be, at `start` of the messages. Whether it is a connection.
    fn note(&mut self, payload: &[u8], start: usize) -> Result<bool, DecodeError> {
        let outline = Outline::of(payload)?;
        let namespace = self.namespaces.len() - 1;
        if outline.is_listening {
            let socket = Socket::decode(payload)?;
            let listener = Listener::of(&socket, self.namespaces[namespace].as_ref());
            self.rest.listeners.push(listener);
            return Ok(false);
        }
        self.rows.push(Row {
            payload: start..start + payload.len(),
            namespace,
            moved_bytes: outline.moved_bytes,
            has_info: outline.has_info,
            #[cfg(feature = "lab")]
            inode: outline.inode,
            #[cfg(feature = "lab")]
            process: None,
        });
        Ok(true)
    }

    /// All but the connections.
    pub const fn rest(&self) -> &Snapshot {
        &self.rest
    }

    /// The same, to choose among the listening sockets.
    pub const fn rest_mut(&mut self) -> &mut Snapshot {
        &mut self.rest
    }

    /// Puts the connections with the most traffic first.
    pub fn sort_by_traffic(&mut self) {
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.moved_bytes));
    }

    /// The connections for which `has` is true, `limit` of them at most.
    pub const fn chosen<'l>(
        &'l self,
        has: &'l dyn Fn(&Connection) -> bool,
        limit: usize,
    ) -> Chosen<'l> {
        Chosen { listing: self, has, limit }
    }

    /// All connections decoded.
    pub fn into_snapshot(mut self) -> Snapshot {
        let mut connections = Vec::with_capacity(self.rows.len());
        let mut names = Names::default();
        connections.extend(self.rows.iter().filter_map(|row| self.connection(row, &mut names)));
        self.rest.connections = connections;
        self.rest
    }

    fn connection(&self, row: &Row, names: &mut Names) -> Option<Connection> {
        // What has an outline can be decoded.
        let socket = Socket::decode(self.messages.get(row.payload.clone())?).ok()?;
        let netns = self.namespaces.get(row.namespace)?.as_ref();
        let mut connection = Connection::of(&socket, netns, names);
        connection.process = self.owner(row);
        if let Some(why) = &self.unread_because
            && row.has_info
        {
            connection.options = SocketOptions::unread(why);
        }
        Some(connection)
    }

    #[cfg(feature = "lab")]
    fn owner(&self, row: &Row) -> Option<Owner> {
        self.owners.as_ref()?.at(row.process?)
    }

    #[cfg(not(feature = "lab"))]
    #[expect(clippy::unused_self, reason = "files tell of no processes")]
    const fn owner(&self, _: &Row) -> Option<Owner> {
        None
    }
}

/// The options of more sockets than these are not read: each takes a few system calls, and the list of all of them few.
#[cfg(feature = "lab")]
const MOST_READ: usize = 1000;

/// Why the options of so many sockets are not read.
#[cfg(feature = "lab")]
pub(super) fn too_many(count: usize) -> Option<String> {
    (count > MOST_READ).then(|| {
        format!("of more than {MOST_READ} connections none are read: choose with --port or --dst")
    })
}

/// From so many bytes of messages on a list is long, some 2000 connections: a page fault for every eight of them is a tenth of its
/// time. Room is taken for 100,000, of which only what is filled becomes memory.
#[cfg(feature = "lab")]
const LONG: usize = 1 << 20;
#[cfg(feature = "lab")]
const LONG_ROOM: usize = 48 << 20;

/// What only a live list has.
#[cfg(feature = "lab")]
impl Listing<'_> {
    /// An empty one, of this time.
    pub(super) fn begun(rest: Snapshot) -> Self {
        Self { rest, ..Self::default() }
    }

    /// What is added from now on is in this network namespace.
    pub(super) fn enter(&mut self, netns: Option<Arc<str>>) {
        self.namespaces.push(netns);
    }

    /// Adds a socket by its message's payload.
    pub(super) fn add(&mut self, payload: &[u8]) -> Result<(), DecodeError> {
        let start = self.messages.len();
        if self.note(payload, start)? {
            let messages = self.messages.to_mut();
            if messages.len() >= LONG && messages.capacity() - messages.len() < payload.len() {
                messages.reserve(LONG_ROOM);
                // Without them it takes longer.
                let _ = prefer_huge_pages(messages);
            }
            messages.extend_from_slice(payload);
        }
        Ok(())
    }

    /// Leaves the options of all unread where there are more connections than those whose options are read. Whether it did.
    pub fn leave_too_many_unread(&mut self) -> bool {
        let why = too_many(self.rows.iter().filter(|row| row.has_info).count());
        if let Some(why) = &why {
            self.leave_unread(why);
        }
        why.is_some()
    }

    /// The options of no socket are read.
    pub(super) fn leave_unread(&mut self, why: &str) {
        self.unread_because = Some(Arc::from(why));
    }

    /// Sockets that were added.
    pub(super) const fn socket_count(&self) -> usize {
        self.rows.len() + self.rest.listeners.len()
    }

    /// Sets the processes.
    pub(super) fn set_owners(&mut self, mut owners: Owners) {
        owners.look_again_for(self.rows.iter().map(|row| row.inode));
        owners.assign(&mut self.rest);
        // One after the other, these look-ups wait for memory together; between the entries that are written, each alone.
        for row in &mut self.rows {
            row.process = owners.place(row.inode);
        }
        self.owners = Some(owners);
    }
}

/// Connections of a [`Listing`].
#[expect(missing_debug_implementations, reason = "it has a function")]
pub struct Chosen<'l> {
    listing: &'l Listing<'l>,
    has: &'l dyn Fn(&Connection) -> bool,
    limit: usize,
}

impl Connections for Chosen<'_> {
    fn each(&self, show: &mut dyn FnMut(&Connection) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut names = Names::default();
        let mut left = self.limit;
        for row in &self.listing.rows {
            if left == 0 {
                break;
            }
            // Not handed through iterators: each would copy the connection.
            let Some(connection) = self.listing.connection(row, &mut names) else { continue };
            if (self.has)(&connection) {
                left -= 1;
                show(&connection)?;
            }
        }
        ControlFlow::Continue(())
    }
}
