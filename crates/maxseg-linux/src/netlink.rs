//! Interfaces, addresses, routes and TCP sockets of the calling thread's namespace.

mod facts;
mod links;
mod neighbours;
pub(crate) mod raw;
mod routes;
mod sock_diag;

pub(crate) use facts::{InterfaceFacts, RouteFacts};
pub(crate) use links::{Link, below, bridge_of, depth, followers};
pub(crate) use neighbours::{Neighbour, NeighbourEvents};
pub(crate) use routes::{FoundRoute, RouteException, RouteQuestion, locks_mtu};
pub use sock_diag::ListReading;
pub(crate) use sock_diag::{DestroyEvents, SockDiag};

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoData, InfoKind, InfoVeth, LinkAttribute,
    LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::sys::NetNs;

/// An rtnetlink socket of the namespace in which it was opened.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// The index of a network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InterfaceIndex(u32);

impl InterfaceIndex {
    /// Of a number, which may be that of no interface.
    pub(crate) const fn new(index: u32) -> Self {
        Self(index)
    }

    /// As a number.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl Netlink {
    pub(crate) fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Finds the interface `name` (`ip link show NAME`).
    pub(crate) fn interface(name: &str) -> io::Result<InterfaceIndex> {
        Ok(InterfaceIndex(nix::net::if_::if_nametoindex(name)?))
    }

    /// Brings the loopback interface up (`ip link set lo up`).
    pub(crate) fn loopback_up(&mut self) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = Self::interface("lo")?.0;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Sets MTU and queue length and brings the interface up, without a link-local address and without neighbour
    /// resolution (`ip link set NAME mtu N txqueuelen N addrgenmode none arp off up`).
    pub(crate) fn bring_up(&mut self, of: InterfaceIndex, mtu: u32, queue: u32) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = of.0;
        let mode = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
        link.attributes = vec![LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![mode])])];
        match self.ask(RouteNetlinkMessage::SetLink(link.clone()), 0) {
            // A kernel without IPv6 generates no addresses.
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => {}
            other => other?,
        }
        // After the mode: an interface with an MTU below 1280 (`Mtu::IPV6_MIN`) has no IPv6 settings.
        link.attributes = vec![LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(queue)];
        link.header.flags = LinkFlags::Up | LinkFlags::Noarp;
        link.header.change_mask = link.header.flags;
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Changes the MTU of an interface (`ip link set NAME mtu N`).
    pub(crate) fn set_mtu(&mut self, of: InterfaceIndex, mtu: u32) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = of.0;
        link.attributes = vec![LinkAttribute::Mtu(mtu)];
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// The MTU of the interface `name`.
    pub(crate) fn mtu_of(name: &str) -> io::Result<u32> {
        let facts = Self::new()?.interface_facts(Self::interface(name)?.0)?;
        facts.mtu.ok_or_else(|| io::Error::other(format!("{name} has no MTU")))
    }

    /// Creates a veth pair, its second interface in another namespace
    /// (`ip link add NAME address … type veth peer name NAME address … netns …`).
    ///
    /// Both have the same hardware address: without neighbour resolution an interface sends to its own address, which
    /// the peer must accept (`arp_constructor`, `ndisc_constructor`).
    pub(crate) fn add_pair(&mut self, name: &str, peer: &str, there: &NetNs) -> io::Result<()> {
        /// A locally administered unicast address (IEEE 802 §8.4.4).
        const ADDRESS: [u8; 6] = *b"\x02maxsg";
        let mut far = LinkMessage::default();
        far.attributes = vec![
            LinkAttribute::IfName(peer.to_owned()),
            LinkAttribute::Address(ADDRESS.to_vec()),
            LinkAttribute::NetNsFd(there.as_fd().as_raw_fd()),
        ];
        let mut near = LinkMessage::default();
        near.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Address(ADDRESS.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
            ]),
        ];
        self.ask(RouteNetlinkMessage::NewLink(near), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds a host address, without a subnet route (`ip addr add ADDRESS/32 dev NAME nodad`).
    pub(crate) fn add_address(&mut self, to: InterfaceIndex, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        (message.header.family, message.header.prefix_len) = of_one(address);
        message.header.index = to.0;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sets the route to a host, with metrics (`ip route replace ADDRESS dev NAME src … METRIC VALUE …`).
    pub(crate) fn set_route(
        &mut self,
        to: IpAddr,
        through: InterfaceIndex,
        source: Option<IpAddr>,
        metrics: &[RouteMetric],
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) = of_one(to);
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        message.attributes =
            vec![RouteAttribute::Destination(of_family(to)), RouteAttribute::Oif(through.0)];
        let source = source.map(|source| RouteAttribute::PrefSource(of_family(source)));
        message.attributes.extend(source);
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics.to_vec()));
        }
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&mut self, what: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut message = NetlinkMessage::from(what);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        loop {
            let (answer, _) = self.socket.recv_from_full()?;
            let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
                .map_err(|error| io::Error::other(error.to_string()))?;
            if answer.header.sequence_number != self.sequence {
                continue; // a reply to an earlier request
            }
            if let NetlinkPayload::Error(error) = answer.payload {
                return if error.code.is_none() { Ok(()) } else { Err(error.to_io()) };
            }
        }
    }
}

/// How often a list that changed while the kernel gave it is asked for again.
const ATTEMPTS: u32 = 10;

/// A list of the kernel, asked for again where the kernel says that it changed meanwhile (`NLM_F_DUMP_INTR` in `linux/netlink.h`). It says so
/// of interfaces (`rtnl_dump_ifinfo`), addresses and next-hop objects, not of routes: there it goes on behind the last one
/// (`fib_table_dump`), or begins again and leaves out as many (`fib6_dump_table`), so that one that was set or removed meanwhile may be missing
/// or there still.
fn dumped<T>(mut ask: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..ATTEMPTS {
        match ask() {
            Err(error) if is_interrupted(&error) => {}
            answered => return answered,
        }
    }
    ask()
}

/// What the number in the message that ends a list says (`NLMSG_DONE`): a negative one is an error as in `NLMSG_ERROR`.
fn end_of_list(code: i32) -> io::Result<()> {
    if code < 0 { Err(io::Error::from_raw_os_error(code.saturating_neg())) } else { Ok(()) }
}

/// The kernel's list changed while it was given.
#[derive(Debug, thiserror::Error)]
#[error("the kernel's list changed each time while it was read")]
struct Interrupted;

fn interrupted() -> io::Error {
    io::Error::other(Interrupted)
}

fn is_interrupted(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Interrupted>)
}

fn of_one(address: IpAddr) -> (AddressFamily, u8) {
    match address {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    }
}

fn of_family(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_ends_with_an_error_is_none() {
        assert_eq!(end_of_list(-libc::ENOENT).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        assert!([0, 20].into_iter().all(|code| end_of_list(code).is_ok()), "bytes, if any");
    }

    #[test]
    fn a_list_that_changed_is_asked_for_again_and_not_for_ever() {
        let mut asked = 0;
        let answered = dumped(|| {
            asked += 1;
            if asked < 3 { Err(interrupted()) } else { Ok(asked) }
        });
        assert_eq!(answered.unwrap(), 3);
        let mut asked = 0;
        let never: io::Result<()> = dumped(|| {
            asked += 1;
            Err(interrupted())
        });
        assert!(never.unwrap_err().to_string().contains("changed each time"));
        assert_eq!(asked, ATTEMPTS);
        let mut asked = 0;
        let another: io::Result<()> = dumped(|| {
            asked += 1;
            Err(io::ErrorKind::PermissionDenied.into())
        });
        assert_eq!((another.unwrap_err().kind(), asked), (io::ErrorKind::PermissionDenied, 1));
    }
}
