//! The TCP sockets of this host, as the kernel lists them, with their processes, in one network namespace or in all.
//!
//! ```text
//! Place → namespaces → SocketLister (one each) → Socket …, Processes (through /proc, or by the kernel)
//!                    → SocketEnds (destroyed since)
//! process and inode → SocketReader → SocketOptions
//! ```

mod namespaces;
mod options;
mod processes;
mod task_files;

use std::io;

use maxseg_wire::DecodeError;
use maxseg_wire::inet_diag::{Family, Filter, Request, Socket, StateSet};
use maxseg_wire::procnet::ListenCounters;

pub use namespaces::{
    NamespaceError, Place, PlaceName, enter, interface_index, is_own_address, largest_buffers,
};
pub(crate) use options::borrowed;
pub use options::{OptionsError, SocketOptions, SocketReader};
pub(crate) use processes::pids;
pub use processes::{Process, Processes};
pub(crate) use task_files::{NotIterated, probe as probe_task_files};

pub use crate::netlink::ListReading;
use crate::netlink::{DestroyEvents, SockDiag};
use crate::observe::host::counters;
pub use crate::sys::prefer_huge_pages;

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
    /// Processes whose namespace this user may not know; only where all were asked for.
    pub hidden_of: usize,
}

impl<T: Send> Opened<T> {
    fn of(
        place: &Place,
        mut open: impl FnMut(&PlaceName) -> Result<T, NamespaceError>,
    ) -> Result<Self, NamespaceError> {
        let namespaces = place.namespaces()?;
        let mut opened = Self { each: Vec::new(), denied: 0, hidden_of: namespaces.hidden_of };
        for name in namespaces.each {
            match open(&name) {
                Ok(one) => opened.each.push(one),
                Err(NamespaceError::Denied(_)) if *place == Place::All => opened.denied += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(opened)
    }
}

impl Opened<SocketLister> {
    /// Those of a place as it is now: what was opened before stays open, but for namespaces that nobody else has any more, which would
    /// live on by it.
    ///
    /// # Errors
    /// The kernel has no lists.
    pub fn renewed(self, place: &Place) -> Result<Self, NamespaceError> {
        let mut before = self.each;
        Self::of(place, |name| match before.iter().position(|one| one.place.id() == name.id()) {
            Some(at) => Ok(before.swap_remove(at)),
            None => SocketLister::open(name),
        })
    }
}

impl SocketLister {
    /// The listers of a place.
    ///
    /// # Errors
    /// There is no such namespace, this user may not enter it, or the kernel has no lists.
    pub fn of(place: &Place) -> Result<Opened<Self>, NamespaceError> {
        Opened::of(place, Self::open)
    }

    fn open(name: &PlaceName) -> Result<Self, NamespaceError> {
        Ok(Self { socket: name.run(SockDiag::open)?, place: name.clone() })
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

    /// What the kernel counts of the listening sockets of the namespace together; `None` where it does not tell.
    pub fn listen_counters(&self) -> Option<ListenCounters> {
        let read = self.place.run(|| Ok(counters("netstat")));
        read.ok().flatten().as_ref().and_then(ListenCounters::of)
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

/// Lists both families at once, which takes the kernel one way through its sockets; one after the other where it refuses that.
fn in_both_families(
    selection: &Selection,
    type_of_service: bool,
    mut list: impl FnMut(&Request) -> io::Result<ListReading>,
) -> io::Result<ListReading> {
    let mut of = |family| {
        let (states, filter) = (selection.states, selection.filter.clone());
        list(&Request { family, states, filter, type_of_service })
    };
    match of(None) {
        Err(error) if is_refusal(&error) => {}
        reading => return reading,
    }
    let ipv4 = of(Some(Family::Ipv4))?;
    let ipv6 = match of(Some(Family::Ipv6)) {
        // A kernel without IPv6 has no sockets of it.
        Err(error) if is_unknown(&error) => ListReading::default(),
        reading => reading?,
    };
    Ok(ListReading {
        interrupted: ipv4.interrupted || ipv6.interrupted,
        unreadable: ipv4.unreadable + ipv6.unreadable,
    })
}

/// Whether the kernel does not take such a request, which it says before the first socket.
fn is_refusal(error: &io::Error) -> bool {
    is_unknown(error) || matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL))
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
    /// From now on, in a namespace.
    ///
    /// # Errors
    /// The kernel has no such events.
    pub fn of(name: &PlaceName) -> Result<Self, NamespaceError> {
        Ok(Self { events: name.run(DestroyEvents::listen)?, place: name.clone() })
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use maxseg_wire::tcp_info::State;

    use super::*;

    #[test]
    fn one_request_lists_what_two_do() {
        let own = [TcpListener::bind("127.0.0.1:0"), TcpListener::bind("[::1]:0")];
        // Without IPv6 there is one.
        let own: Vec<_> = own.into_iter().flatten().map(|l| (l.local_addr().unwrap(), l)).collect();
        let mut kernel = SockDiag::open().unwrap();
        let selection = Selection { states: StateSet::NONE.with(State::Listen), filter: None };
        let mut found = |refuses_both: bool| {
            let mut ends = Vec::new();
            let listed = in_both_families(&selection, false, |request| {
                if refuses_both && request.family.is_none() {
                    return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
                }
                kernel.list(request, |socket| ends.push(socket.local))
            });
            assert_eq!(listed.unwrap().unreadable, 0);
            own.iter().filter(|(end, _)| ends.contains(end)).count()
        };
        assert_eq!((found(false), found(true)), (own.len(), own.len()));
    }

    #[test]
    fn a_filter_that_the_kernel_does_not_take_is_applied_here() {
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let [port, not] = [&own, &other].map(|listener| listener.local_addr().unwrap().port());
        let mut kernel = SockDiag::open().unwrap();
        // The longest program that fits its lengths, and longer ones.
        for count in [2047, 2048, 40_000] {
            let ports = (1..=u16::MAX).filter(|other| ![port, not].contains(other));
            let ports = ports.take(count - 1).chain([port]).map(Filter::port).collect();
            let states = StateSet::NONE.with(State::Listen);
            let selection = Selection { states, filter: Some(Filter::Any(ports)) };
            let mut found = Vec::new();
            let listed = in_both_families(&selection, false, |request| {
                kernel.list(request, |socket| found.push(socket.local.port()))
            });
            assert_eq!(listed.unwrap().unreadable, 0);
            assert_eq!((found.contains(&port), found.contains(&not)), (true, false), "{count}");
        }
    }

    #[test]
    fn what_fails_within_a_list_is_not_listed_again() {
        let selection = Selection { states: StateSet::ALL, filter: None };
        let mut requests = 0;
        let listed = in_both_families(&selection, false, |_| {
            requests += 1;
            Err(io::Error::from_raw_os_error(libc::ENOBUFS))
        });
        assert_eq!((listed.unwrap_err().raw_os_error(), requests), (Some(libc::ENOBUFS), 1));
    }
}
