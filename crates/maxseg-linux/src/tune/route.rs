//! Metrics of a route.
//!
//! A route that is there is replaced by itself with one metric changed: every attribute and next hop is copied as it came. Where
//! there is none to exactly these destinations, one is made from the route that they use now, with a protocol number that is ours
//! alone; it goes where that one goes, for as long as [`super::Watcher`] sees it stay.

mod metrics;
mod nowhere;
mod planned;
mod tables;

use std::io;
use std::net::IpAddr;

use maxseg_core::tune::{Prefix, RouteMetricName, Target, Value};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use serde::{Deserialize, Serialize};

use super::nowhere::Nowhere;
use super::{Reading, TuneError};
use crate::netlink::Netlink;
use crate::netlink::raw::{Hop, RawRoute, attribute, bytes_of, hops_taken_back};
use metrics::set_metric;
pub(super) use metrics::value_of;
use nowhere::nowhere_of;
pub(super) use planned::PlannedRoutes;
pub(super) use tables::{has_other_tables, other_table};

/// Who made a route (`rtm_protocol`): a number that `linux/rtnetlink.h` and iproute2's `rt_protos` give to nobody.
pub const PROTOCOL: u8 = 109;
/// `RT_TABLE_MAIN`.
pub(super) const MAIN: u32 = 254;
/// `RTN_UNICAST`.
pub(super) const UNICAST: u8 = 1;
/// `RTNH_F_PERVASIVE | RTNH_F_ONLINK`: what may be given back; the other flags are the kernel's to tell.
const GIVEN_FLAGS: u32 = 2 | 4;
/// `RTPROT_RA`.
const ROUTER_ADVERTISEMENT: u8 = 9;
/// `RTPROT_KERNEL`.
const KERNEL: u8 = 2;

/// The attributes that the kernel takes as it gives them (`rtm_ipv4_policy`, `rtm_ipv6_policy`).
const COPIED: [u16; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 18, 20, 21, 22];
/// Those that only tell: cache information, and the next hops of a next-hop object.
const TOLD: [u16; 1] = [attribute::CACHE_INFO];

/// Which route, for the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Image {
    /// Whether there was none: then `route` is the one that it is made from.
    pub(super) added: bool,
    /// As the kernel told it, in hexadecimal digits.
    pub(super) route: String,
}

impl Image {
    pub(super) fn of(route: &RawRoute, added: bool) -> Self {
        let route = route.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { added, route }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn raw(&self) -> Option<RawRoute> {
        let digits = self.route.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        RawRoute::parse(&bytes?)
    }
}

/// The interfaces by which the route of an image leads.
pub(super) fn interfaces_of(image: &str) -> Vec<u32> {
    let route = Image::parse(image).and_then(|image| image.raw());
    route.map_or_else(Vec::new, |route| route.interfaces())
}

fn target(prefix: Prefix, metric: RouteMetricName) -> Target {
    Target::Route { prefix, metric }
}

/// The routes of the main table that were set and lead somewhere.
pub(super) fn main_routes(is_v6: bool) -> io::Result<Vec<RawRoute>> {
    let mut routes = all_routes(is_v6)?;
    routes.retain(leads_somewhere);
    Ok(routes)
}

/// Every route of an IP version: one list serves for all that is looked up at one moment.
pub(super) fn all_routes(is_v6: bool) -> io::Result<Vec<RawRoute>> {
    Netlink::new()?.raw_routes(is_v6)
}

/// Whether it was set, is of the main table, and sends packets on.
fn leads_somewhere(route: &RawRoute) -> bool {
    !route.is_learnt() && route.table() == MAIN && route.header.kind == UNICAST
}

/// The route to exactly these destinations; of several the one that the kernel prefers.
pub(super) fn exact(routes: &[RawRoute], prefix: Prefix) -> Option<&RawRoute> {
    let same = |route: &&RawRoute| route.destination() == prefix && is_for_all(route);
    routes.iter().filter(same).min_by_key(|route| route.priority())
}

/// The route that these destinations use where there is none to exactly them, of all that there are.
pub(super) fn parent(routes: &[RawRoute], prefix: Prefix) -> Option<&RawRoute> {
    let wider = |route: &&RawRoute| {
        let of = route.destination();
        of.covers(&prefix) && of != prefix && is_for_all(route) && leads_somewhere(route)
    };
    routes
        .iter()
        .filter(wider)
        .min_by_key(|route| (u8::MAX - route.header.prefix_length, route.priority()))
}

/// Whether it is for packets of any type of service and source.
const fn is_for_all(route: &RawRoute) -> bool {
    route.header.tos == 0 && route.header.source_length == 0
}

/// Whether the two are one route to the kernel, which keeps one for each of these.
pub(super) fn same_key(one: &RawRoute, other: &RawRoute) -> bool {
    let key =
        |route: &RawRoute| (route.destination(), route.table(), route.priority(), route.header.tos);
    key(one) == key(other)
}

/// The route that an image is of, as it is now, or would be.
fn key_of(image: &Image, prefix: Prefix) -> Option<RawRoute> {
    let raw = image.raw()?;
    Some(if image.added { made_from(&raw, prefix) } else { raw })
}

fn broken_image() -> io::Error {
    io::Error::other("the journal's image of the route is broken")
}

pub(super) fn read(
    prefix: Prefix,
    metric: RouteMetricName,
    image: Option<&str>,
) -> Result<Reading, TuneError> {
    let fail = |error| TuneError::read(&target(prefix, metric), error);
    let routes = main_routes(prefix.is_v6()).map_err(fail)?;
    if let Some(text) = image {
        let broken = || fail(broken_image());
        let image = Image::parse(text).ok_or_else(broken)?;
        let key = key_of(&image, prefix).ok_or_else(broken)?;
        let found = routes.iter().find(|route| same_key(route, &key));
        let value = found.map_or(Value::Absent, |route| {
            // Another program's route has taken the place of the one that was made here.
            let is_foreign = image.added && route.header.protocol != PROTOCOL;
            let value = value_of(route, metric);
            if is_foreign { of_another(&value, route.header.protocol) } else { value }
        });
        return Ok(Reading { value, image: Some(text.to_owned()) });
    }
    Ok(reading_of(&routes, prefix, metric))
}

/// The metric by these routes, with the image of the one to exactly these destinations, or that it would be made from.
fn reading_of(routes: &[RawRoute], prefix: Prefix, metric: RouteMetricName) -> Reading {
    if let Some(route) = exact(routes, prefix) {
        let image = Image::of(route, false).text();
        return Reading { value: value_of(route, metric), image: Some(image) };
    }
    let image = parent(routes, prefix).map(|parent| Image::of(parent, true).text());
    Reading { value: Value::Absent, image }
}

/// The value of a route that another program has made; equal to none that is set here.
fn of_another(value: &Value, protocol: u8) -> Value {
    Value::Text(format!("{value} proto {protocol}"))
}

pub(super) fn write(
    prefix: Prefix,
    metric: RouteMetricName,
    value: &Value,
    image: Option<&str>,
) -> Result<(), TuneError> {
    let target = target(prefix, metric);
    let Some(image) = image.and_then(Image::parse) else {
        return Err(TuneError::NoRoute { prefix });
    };
    let fail = |error| TuneError::write(&target, value, error);
    let key = key_of(&image, prefix).ok_or_else(|| fail(broken_image()))?;
    let mut netlink = Netlink::new().map_err(fail)?;
    let routes = main_routes(prefix.is_v6()).map_err(fail)?;
    let found: Vec<&RawRoute> = routes.iter().filter(|route| same_key(route, &key)).collect();
    match (&found[..], value) {
        ([], Value::Absent) => Ok(()),
        ([], _) if image.added => {
            let mut route = key;
            set_metric(&mut route, metric, value);
            netlink.make_route(&route, NLM_F_CREATE | NLM_F_EXCL).map_err(fail)
        }
        ([], _) => Err(TuneError::RouteGone { prefix }),
        ([route], Value::Absent) => {
            netlink.remove_route(&taken_back(route).map_err(fail)?).map_err(fail)
        }
        ([route], _) => {
            let mut changed = taken_back(route).map_err(fail)?;
            set_metric(&mut changed, metric, value);
            netlink.make_route(&changed, NLM_F_REPLACE).map_err(fail)
        }
        (several, _) => Err(TuneError::SeveralRoutes { prefix, count: several.len() }),
    }
}

/// Why nothing is sent to these destinations by a route of the main table; nothing where it is.
pub(super) fn nowhere(prefix: Prefix) -> io::Result<Option<Nowhere>> {
    Ok(nowhere_of(&all_routes(prefix.is_v6())?, prefix))
}

/// The same of the routes that these destinations would use but for the one to exactly them.
pub(super) fn nowhere_without(routes: &[RawRoute], prefix: Prefix) -> Option<Nowhere> {
    nowhere_of(routes.iter().filter(|route| route.destination() != prefix), prefix)
}

/// Why a route to these destinations cannot be changed or made; nothing where it can.
pub(super) fn refuses(prefix: Prefix) -> io::Result<Option<String>> {
    let routes = main_routes(prefix.is_v6())?;
    let refused = match (exact(&routes, prefix), parent(&routes, prefix)) {
        (Some(route), _) if keeps_its_metrics(route) => Some(io::Error::other(
            "its next hop is an object (nhid), and the kernel would not take the metric away again",
        )),
        (Some(route), _) => taken_back(route).err(),
        (None, Some(parent)) => unknown_attribute(parent),
        (None, None) => None,
    };
    Ok(refused.map(|error| error.to_string()))
}

/// How many routes are the one that is changed, or copied, as far as the kernel tells them apart when it replaces one.
pub(super) fn alike(prefix: Prefix) -> io::Result<usize> {
    let routes = main_routes(prefix.is_v6())?;
    let one = exact(&routes, prefix).or_else(|| parent(&routes, prefix));
    Ok(one.map_or(0, |one| routes.iter().filter(|route| same_key(route, one)).count()))
}

/// A route as the kernel takes it back.
fn taken_back(route: &RawRoute) -> io::Result<RawRoute> {
    // The routes of addresses that routers advertise are the kernel's.
    let is_advertised = route.header.protocol == ROUTER_ADVERTISEMENT
        || route.header.protocol == KERNEL && route.expires_s().is_some();
    if is_advertised {
        return Err(io::Error::other(
            "it is of a router advertisement, with which the kernel renews it",
        ));
    }
    if let Some(left_s) = route.expires_s() {
        let why = format!(
            "it ends by itself, in {left_s:.0} s (`expires`), and would be replaced for good"
        );
        return Err(io::Error::other(why));
    }
    match unknown_attribute(route) {
        Some(error) => Err(error),
        None => Ok(without_what_is_told(route)),
    }
}

/// A route with what may be given alone.
fn without_what_is_told(route: &RawRoute) -> RawRoute {
    let mut route = route.clone();
    route.attributes.retain(|(kind, _)| !TOLD.contains(kind));
    leave_hops_to_the_object(&mut route);
    route.header.flags &= GIVEN_FLAGS;
    if let Some(hops) = route.attribute(attribute::MULTIPATH) {
        let hops = hops_taken_back(hops);
        route.set_attribute(attribute::MULTIPATH, Some(hops));
    }
    route
}

/// What a next-hop object says is told as well, and must not be given.
fn leave_hops_to_the_object(route: &mut RawRoute) {
    use attribute::{GATEWAY, MULTIPATH, NEXT_HOP_ID, OUT_INTERFACE, VIA};
    if route.attribute(NEXT_HOP_ID).is_some() {
        let of_object = [GATEWAY, MULTIPATH, OUT_INTERFACE, VIA];
        route.attributes.retain(|(kind, _)| !of_object.contains(kind));
    }
}

/// Whether undoing would leave a route by a next-hop object without metrics: the kernel gives such a route the `fib_info` of the one
/// that has them (`fib_find_info_nh` in `net/ipv4/fib_semantics.c`), and they stay.
fn keeps_its_metrics(route: &RawRoute) -> bool {
    let has_object = route.attribute(attribute::NEXT_HOP_ID).is_some();
    has_object && !route.is_v6() && route.metrics().is_empty()
}

/// What cannot be copied for certain.
fn unknown_attribute(route: &RawRoute) -> Option<io::Error> {
    let is_known = |kind: u16| {
        COPIED.contains(&kind) || TOLD.contains(&kind) || kind == attribute::NEXT_HOP_ID
    };
    let (kind, _) = route.attributes.iter().find(|(kind, _)| !is_known(*kind))?;
    let what = format!("it has an attribute (RTA {kind}) that cannot be copied for certain");
    Some(io::Error::other(what))
}

/// A route of ours to these destinations that goes where another one goes, with its metrics.
pub(super) fn made_from(parent: &RawRoute, prefix: Prefix) -> RawRoute {
    let mut route = without_what_is_told(parent);
    route.header.protocol = PROTOCOL;
    route.header.prefix_length = prefix.length();
    route.set_attribute(attribute::DESTINATION, Some(bytes_of(prefix.address())));
    route
}

/// Where a route leads, in the words of ip-route(8).
pub(super) fn way(route: &RawRoute) -> String {
    let name = |index: u32| nix::net::if_::if_indextoname(index).ok()?.into_string().ok();
    let one = |gateway: Option<IpAddr>, index: u32| {
        let via = gateway.map(|gateway| format!("via {gateway} ")).unwrap_or_default();
        let name = name(index).unwrap_or_else(|| format!("interface {index}"));
        format!("{via}dev {name}")
    };
    if let Some(index) = route.interface() {
        return one(route.gateway(), index);
    }
    let hops = route.hops();
    let is_weighted = hops.iter().any(|hop| hop.weight > 1);
    let weight = |hop: &Hop| {
        if is_weighted { format!(" weight {}", hop.weight) } else { String::new() }
    };
    let ways = hops.iter().map(|hop| one(hop.gateway, hop.interface) + &weight(hop));
    ways.collect::<Vec<_>>().join(" or ")
}

/// Where a route to exactly these destinations leads that this program has made, or would make of the one that they use; `None` where there
/// is another program's, or none can be made.
pub fn made_way(prefix: Prefix) -> Option<String> {
    let routes = main_routes(prefix.is_v6()).ok()?;
    match exact(&routes, prefix) {
        Some(route) => (route.header.protocol == PROTOCOL).then(|| way(route)),
        None => parent(&routes, prefix).map(way),
    }
}

/// Why a route is not there any more: the kernel removes it with its interface, and of IPv4 where that is brought down.
pub(super) fn gone_with(interface: Option<u32>) -> String {
    let Some(index) = interface else { return "the route is gone".to_owned() };
    let is_up = Netlink::new()
        .and_then(|mut netlink| netlink.interface_facts(index))
        .map(|interface| interface.is_up);
    match is_up {
        Ok(true) => "the route is gone".to_owned(),
        Ok(false) => "the kernel removed the route when its interface was brought down".to_owned(),
        Err(_) => "the kernel removed the route with its interface".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route() -> RawRoute {
        let body = [2, 8, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0];
        let mut route = RawRoute::parse(&body).unwrap();
        route.set_attribute(attribute::DESTINATION, Some(vec![10, 0, 0, 0]));
        route.set_attribute(attribute::OUT_INTERFACE, Some(3_u32.to_ne_bytes().to_vec()));
        route
    }

    #[test]
    fn a_route_of_ours_goes_where_its_parent_goes() {
        let parent = route();
        let prefix = "10.1.2.3".parse().unwrap();
        let made = made_from(&parent, prefix);
        assert_eq!((made.destination(), made.header.protocol), (prefix, PROTOCOL));
        assert_eq!(made.next_hops(), parent.next_hops());
        let image = Image::of(&parent, true);
        assert_eq!(Image::parse(&image.text()).unwrap().raw().unwrap(), parent);
    }
}
