//! The route that the packets of one socket take, and those that lost against it.
#![expect(clippy::wildcard_enum_match_arm, reason = "of many attributes, few matter to TCP")]

use std::io;
use std::net::IpAddr;

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Netlink, of_family, of_one};

/// What the kernel chooses a route by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteQuestion {
    /// The destination.
    pub(crate) to: IpAddr,
    /// The source address.
    pub(crate) from: IpAddr,
    /// The interface that the socket is bound to.
    pub(crate) interface: Option<u32>,
    /// The socket's mark (`SO_MARK`).
    pub(crate) mark: Option<u32>,
    /// The socket's user.
    pub(crate) user: u32,
}

/// A route.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FoundRoute {
    /// The destinations; `None` for the default route.
    pub(crate) destination: Option<IpAddr>,
    /// Bits of the destination that count.
    pub(crate) prefix_length: u8,
    /// The next hop; `None` where the destination is on the link, or has several.
    pub(crate) gateway: Option<IpAddr>,
    /// Index of the interface; of several next hops the first.
    pub(crate) interface: Option<u32>,
    /// The table.
    pub(crate) table: u32,
    /// The less, the more the kernel prefers it (`metric`).
    pub(crate) preference: u32,
    /// What it sets.
    pub(crate) metrics: Vec<RouteMetric>,
    /// For how long what was learnt is remembered, seconds; `None` where nothing was.
    pub(crate) expires_s: Option<f64>,
    /// Whether packets are sent by it, and not refused.
    pub(crate) leads_somewhere: bool,
}

/// What the kernel remembers of the path to one destination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RouteException {
    /// The MTU that it has learnt, bytes.
    pub(crate) mtu: u32,
    /// For how many seconds it remembers it.
    pub(crate) expires_s: f64,
    /// Whether it changes it no more until then: IPv4 locks what a message states below `net.ipv4.route.min_pmtu`.
    pub(crate) is_locked: bool,
}

/// The bit of the MTU among the metrics that are locked (`RTAX_MTU` of `RTAX_LOCK`, `linux/rtnetlink.h`).
pub(super) const LOCKED_MTU: u32 = 1 << 2;

/// Whether the metrics of a route have a lock on its MTU.
pub(crate) fn locks_mtu(metrics: &[RouteMetric]) -> bool {
    let is_of_mtu =
        |metric: &RouteMetric| matches!(metric, RouteMetric::Lock(bits) if bits & LOCKED_MTU != 0);
    metrics.iter().any(is_of_mtu)
}

/// Ticks a second in which the kernel tells times (`USER_HZ`).
pub(super) const USER_HZ: f64 = 100.0;

impl Netlink {
    /// The route as it is used, with what was learnt of the path (`ip route get`).
    pub(crate) fn route_used(&mut self, question: &RouteQuestion) -> io::Result<FoundRoute> {
        self.one_route(question, RouteFlags::LookupTable)
    }

    /// The route as it was set (`ip route get fibmatch`).
    pub(crate) fn route_set(&mut self, question: &RouteQuestion) -> io::Result<FoundRoute> {
        self.one_route(question, RouteFlags::FibMatch | RouteFlags::LookupTable)
    }

    /// The table of the route that packets to an address take, from one of this host's or whichever the route has (`ip rule`). Without
    /// `RTM_F_LOOKUP_TABLE` the kernel says of every route of IPv4 that it is of the main table.
    pub(crate) fn table_to(&mut self, to: IpAddr, from: Option<IpAddr>) -> io::Result<u32> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) = of_one(to);
        message.header.flags = RouteFlags::FibMatch | RouteFlags::LookupTable;
        message.attributes = vec![RouteAttribute::Destination(of_family(to))];
        if let Some(from) = from {
            message.header.source_prefix_length = message.header.destination_prefix_length;
            message.attributes.push(RouteAttribute::Source(of_family(from)));
        }
        let answers = self.answers(RouteNetlinkMessage::GetRoute(message), 0)?;
        let table = answers.iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => Some(FoundRoute::of(route).table),
            _ => None,
        });
        table.ok_or_else(|| io::Error::other("the kernel answered without a route"))
    }

    /// Whether packets to an address are for this host (`ip route get`).
    pub(crate) fn is_local(&mut self, to: IpAddr) -> io::Result<bool> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) = of_one(to);
        message.attributes = vec![RouteAttribute::Destination(of_family(to))];
        let answers = self.answers(RouteNetlinkMessage::GetRoute(message), 0)?;
        Ok(answers.iter().any(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => route.header.kind == RouteType::Local,
            _ => false,
        }))
    }

    /// What the kernel has learnt of the path to an address (`ip route get`); `None` for nothing.
    pub(crate) fn exception_to(&mut self, to: IpAddr) -> io::Result<Option<RouteException>> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) = of_one(to);
        message.attributes = vec![RouteAttribute::Destination(of_family(to))];
        let answers = self.answers(RouteNetlinkMessage::GetRoute(message), 0)?;
        let exception = answers.iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => FoundRoute::of(route).exception(),
            _ => None,
        });
        Ok(exception)
    }

    /// Removes what IPv6 has learnt of the path to an address (`RTM_F_CLONED`: `ip6_del_cached_rt` in `net/ipv6/route.c`). The
    /// route itself stays.
    pub(crate) fn remove_exception(&mut self, to: IpAddr) -> io::Result<()> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) = of_one(to);
        message.header.flags = RouteFlags::Cloned;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.attributes = vec![RouteAttribute::Destination(of_family(to))];
        self.ask(RouteNetlinkMessage::DelRoute(message), 0)
    }

    fn one_route(&mut self, question: &RouteQuestion, flags: RouteFlags) -> io::Result<FoundRoute> {
        let mut message = RouteMessage::default();
        (message.header.address_family, message.header.destination_prefix_length) =
            of_one(question.to);
        message.header.flags = flags;
        message.attributes = vec![
            RouteAttribute::Destination(of_family(question.to)),
            RouteAttribute::Uid(question.user),
        ];
        message.attributes.extend(question.interface.map(RouteAttribute::Oif));
        message.attributes.extend(question.mark.map(RouteAttribute::Mark));
        let anywhere = message.clone();
        message.header.source_prefix_length = message.header.destination_prefix_length;
        message.attributes.push(RouteAttribute::Source(of_family(question.from)));
        let answers = match self.answers(RouteNetlinkMessage::GetRoute(message), 0) {
            // A source that is no address of this host, as of a transparent proxy.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                self.answers(RouteNetlinkMessage::GetRoute(anywhere), 0)?
            }
            answers => answers?,
        };
        let route = answers.iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => Some(FoundRoute::of(route)),
            _ => None,
        });
        route.ok_or_else(|| io::Error::other("the kernel answered without a route"))
    }

    /// Every route of all tables but `local` whose destinations include `to` (`ip route show table all to match`), the most
    /// specific first.
    pub(crate) fn routes_to(&mut self, to: IpAddr) -> io::Result<Vec<FoundRoute>> {
        let mut message = RouteMessage::default();
        message.header.address_family = of_one(to).0;
        let answers = self.answers(RouteNetlinkMessage::GetRoute(message), NLM_F_DUMP)?;
        let routes = answers.iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => Some(route),
            _ => None,
        });
        let mut routes: Vec<FoundRoute> = routes
            .filter(|route| !route.header.flags.contains(RouteFlags::Cloned))
            .map(FoundRoute::of)
            .filter(|route| route.includes(to) && route.table != LOCAL_TABLE)
            .collect();
        routes.sort_by_key(|route| (u8::MAX - route.prefix_length, route.preference));
        Ok(routes)
    }
}

/// `RT_TABLE_LOCAL`.
const LOCAL_TABLE: u32 = 255;

impl FoundRoute {
    fn of(message: &RouteMessage) -> Self {
        let mut route = Self {
            prefix_length: message.header.destination_prefix_length,
            table: message.header.table.into(),
            leads_somewhere: matches!(message.header.kind, RouteType::Unicast | RouteType::Local),
            ..Self::default()
        };
        for attribute in &message.attributes {
            match attribute {
                RouteAttribute::Destination(address) => route.destination = ip(address),
                RouteAttribute::Gateway(address) => route.gateway = ip(address),
                RouteAttribute::Oif(index) => route.interface = Some(*index),
                RouteAttribute::Table(table) => route.table = *table,
                RouteAttribute::Priority(preference) => route.preference = *preference,
                RouteAttribute::Metrics(metrics) => route.metrics.clone_from(metrics),
                RouteAttribute::MultiPath(hops) => {
                    route.interface =
                        route.interface.or_else(|| hops.first().map(|hop| hop.interface_index));
                }
                RouteAttribute::CacheInfo(info) => {
                    let ticks = info.expires.cast_signed();
                    route.expires_s = (ticks > 0).then(|| f64::from(ticks) / USER_HZ);
                }
                _ => {}
            }
        }
        if message.header.address_family == AddressFamily::Inet6 && route.prefix_length == 0 {
            route.destination = None;
        }
        route
    }

    /// The MTU that it sets, or that was learnt, bytes.
    pub(crate) fn mtu(&self) -> Option<u32> {
        self.metrics.iter().find_map(|metric| match metric {
            RouteMetric::Mtu(mtu) => Some(*mtu),
            _ => None,
        })
    }

    /// The exception that it is; `None` of a route that was set.
    fn exception(&self) -> Option<RouteException> {
        let is_locked = locks_mtu(&self.metrics);
        Some(RouteException { mtu: self.mtu()?, expires_s: self.expires_s?, is_locked })
    }

    /// What was learnt, of a route as it is used, where `set` is the same as it was set: a route of a router advertisement expires
    /// too, with the MTU that it sets itself.
    pub(crate) fn learnt_over(&self, set: &Self) -> Option<RouteException> {
        self.exception().filter(|learnt| set.mtu() != Some(learnt.mtu))
    }

    /// Whether it is a route to this address.
    fn includes(&self, to: IpAddr) -> bool {
        let bits = u32::from(self.prefix_length);
        match (self.destination, to) {
            (None, _) => bits == 0,
            (Some(IpAddr::V4(prefix)), IpAddr::V4(to)) => {
                (prefix.to_bits() ^ to.to_bits()).checked_shr(32 - bits.min(32)).unwrap_or(0) == 0
            }
            (Some(IpAddr::V6(prefix)), IpAddr::V6(to)) => {
                (prefix.to_bits() ^ to.to_bits()).checked_shr(128 - bits.min(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_includes_what_its_prefix_says() {
        let route = |destination: Option<&str>, prefix_length| FoundRoute {
            destination: destination.map(|address| address.parse().unwrap()),
            prefix_length,
            ..FoundRoute::default()
        };
        let to: IpAddr = "192.0.2.7".parse().unwrap();
        for (destination, length, is_included) in [
            (None, 0, true),
            (Some("192.0.2.0"), 24, true),
            (Some("192.0.2.7"), 32, true),
            (Some("192.0.2.6"), 32, false),
            (Some("198.51.100.0"), 24, false),
            (Some("2001:db8::"), 32, false),
        ] {
            assert_eq!(route(destination, length).includes(to), is_included, "{destination:?}");
        }
        assert!(route(Some("2001:db8::"), 32).includes("2001:db8::1".parse().unwrap()));
    }
}
