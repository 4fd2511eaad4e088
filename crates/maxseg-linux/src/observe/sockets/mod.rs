//! The TCP sockets of this host, as the kernel lists them, with their processes, in one network namespace or in all.
//!
//! ```text
//! Place → namespaces → SocketLister (one each) → Socket …, Processes (one scan of /proc)
//!                    → SocketEnds (destroyed since)
//! process and inode → SocketReader → SocketOptions
//! ```

mod namespaces;
mod options;
mod processes;

use std::io;

use maxseg_wire::DecodeError;
use maxseg_wire::inet_diag::{Family, Filter, Request, Socket, StateSet};

pub use namespaces::{NamespaceError, Place, PlaceName};
pub(crate) use options::borrowed;
pub use options::{OptionsError, SocketOptions, SocketReader};
pub(crate) use processes::pids;
pub use processes::{Process, Processes};

pub use crate::netlink::ListReading;
use crate::netlink::{DestroyEvents, SockDiag};

/// Which sockets are listed.
#[derive(Debug, Clone)]
pub struct Selection {
    /// In these states.
    pub states: StateSet,
    /// With these ends.
    pub filter: Option<Filter>,
}

/// Lists the sockets of a network namespace.
#[derive(Debug)]
pub struct SocketLister {
    place: PlaceName,
    socket: SockDiag,
}

/// What was opened in each namespace of a place.
#[derive(Debug)]
pub struct Opened<T> {
    /// One for each namespace, the caller's first.
    pub each: Vec<T>,
    /// Namespaces that this user may not enter; only where all of them were asked for.
    pub denied: usize,
}

impl<T: Send> Opened<T> {
    fn of(
        place: &Place,
        open: impl Fn(&PlaceName) -> Result<T, NamespaceError>,
    ) -> Result<Self, NamespaceError> {
        let mut opened = Self { each: Vec::new(), denied: 0 };
        for name in place.namespaces()? {
            match open(&name) {
                Ok(one) => opened.each.push(one),
                Err(NamespaceError::Denied(_)) if *place == Place::All => opened.denied += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(opened)
    }
}

impl SocketLister {
    /// The listers of a place.
    ///
    /// # Errors
    /// There is no such namespace, this user may not enter it, or the kernel has no lists.
    pub fn of(place: &Place) -> Result<Opened<Self>, NamespaceError> {
        Opened::of(place, |name| {
            Ok(Self { socket: name.run(SockDiag::open)?, place: name.clone() })
        })
    }

    /// Gives each socket of the calling thread's namespace to `on_socket`.
    ///
    /// # Errors
    /// The kernel has no lists.
    pub(crate) fn list_here(
        selection: &Selection,
        mut on_socket: impl FnMut(&Socket<'_>),
    ) -> io::Result<()> {
        let opened = Self::of(&Place::Here);
        for mut lister in opened.map_err(|error| io::Error::other(error.to_string()))?.each {
            lister.list(selection, &mut on_socket)?;
        }
        Ok(())
    }

    /// The namespace.
    pub const fn place(&self) -> &PlaceName {
        &self.place
    }

    /// Gives each socket to `on_socket`.
    ///
    /// # Errors
    /// The kernel has no list: the module `tcp_diag` is missing.
    pub fn list(
        &mut self,
        selection: &Selection,
        mut on_socket: impl FnMut(&Socket<'_>),
    ) -> io::Result<ListReading> {
        in_both_families(selection, true, |request| self.socket.list(request, &mut on_socket))
    }

    /// Gives the payload of each socket's message to `on_payload`, which says whether it can be decoded. The type of service is
    /// not among it.
    ///
    /// # Errors
    /// As of [`Self::list`].
    pub fn list_payloads(
        &mut self,
        selection: &Selection,
        mut on_payload: impl FnMut(&[u8]) -> Result<(), DecodeError>,
    ) -> io::Result<ListReading> {
        in_both_families(selection, false, |request| {
            self.socket.list_payloads(request, &mut on_payload)
        })
    }
}

fn in_both_families(
    selection: &Selection,
    type_of_service: bool,
    mut list: impl FnMut(&Request) -> io::Result<ListReading>,
) -> io::Result<ListReading> {
    let mut whole = ListReading::default();
    for family in [Family::Ipv4, Family::Ipv6] {
        let (states, filter) = (selection.states, selection.filter.clone());
        let request = Request { family, states, filter, type_of_service };
        let reading = match list(&request) {
            // A kernel without IPv6 has no sockets of it.
            Err(error) if family == Family::Ipv6 && is_unknown(&error) => continue,
            reading => reading?,
        };
        whole.interrupted |= reading.interrupted;
        whole.unreadable += reading.unreadable;
    }
    Ok(whole)
}

fn is_unknown(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOENT)
}

/// The sockets of a network namespace as they are destroyed.
#[derive(Debug)]
pub struct SocketEnds {
    place: PlaceName,
    events: DestroyEvents,
}

impl SocketEnds {
    /// From now on, in each namespace of a place.
    ///
    /// # Errors
    /// There is no such namespace, this user may not enter it, or the kernel has no such events.
    pub fn of(place: &Place) -> Result<Opened<Self>, NamespaceError> {
        Opened::of(place, |name| {
            Ok(Self { events: name.run(DestroyEvents::listen)?, place: name.clone() })
        })
    }

    /// The namespace.
    pub const fn place(&self) -> &PlaceName {
        &self.place
    }

    /// Bytes of events that may wait, and how many it should be: fewer where this user may not have more
    /// (`net.core.rmem_max`), and events of a burst are lost.
    pub const fn room(&self) -> (usize, usize) {
        self.events.room()
    }

    /// Gives each socket that was destroyed since the last call to `on_socket`. How often some were lost for lack of room.
    ///
    /// # Errors
    /// Netlink fails.
    pub fn drain(&mut self, on_socket: impl FnMut(&Socket<'_>)) -> io::Result<u64> {
        self.events.drain(on_socket)
    }
}
