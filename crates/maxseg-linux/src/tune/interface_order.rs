//! The order of interfaces' MTUs: a VLAN's is at most that of the interface below it, before and after each step.

use std::cmp::{Ordering, Reverse};
use std::io;

use maxseg_core::tune::{RouteMetricName, Target, Value};

use super::TuneError;
use super::interface_v6::lowered;
use super::route::{self, interfaces_of};
use crate::netlink::{Link, Netlink, bridge_of, depth, followers};

/// A target and the value that it is to have.
type Wanted = (Target, Value);

/// What is wanted, with the interfaces that the kernel would lower besides and not raise again when it is undone. The interfaces
/// stand together: what is lowered comes first, the uppermost before what is below it; what is raised last, the lowest first. The MTU of a
/// route that is larger than its interface's stands before an interface that is lowered, and behind one that is raised: it fits between
/// two steps too, and where a part of the plan is undone.
pub(super) fn with_followers(wanted: &[Wanted]) -> Result<Vec<Wanted>, TuneError> {
    let Some(first) = wanted.iter().position(is_interface) else { return Ok(wanted.to_vec()) };
    let links = || Netlink::new()?.links();
    let links = links().map_err(|error| TuneError::read(&wanted[first].0, error))?;
    let (interfaces, others): (Vec<_>, Vec<_>) = wanted.iter().cloned().partition(is_interface);
    let interfaces = ordered(interfaces, &links);
    let routes = routes_lowered(&interfaces, wanted, &links);
    let routes = routes.map_err(|error| TuneError::read(&wanted[first].0, error))?;
    let (mut before, mut lowered, mut raised, mut behind) = (vec![], routes, vec![], vec![]);
    for (place, one) in others.into_iter().enumerate() {
        match place_of(&one, &interfaces, &links)? {
            Ordering::Less => lowered.push(one),
            Ordering::Greater => raised.push(one),
            Ordering::Equal if place < first => before.push(one),
            Ordering::Equal => behind.push(one),
        }
    }
    Ok([before, lowered, interfaces, raised, behind].concat())
}

/// Where the MTU of a route stands to the interfaces by which it leads: before one that is lowered below what the route has now, behind one
/// that is raised to what the route is to have; else anywhere.
fn place_of(
    (target, after): &Wanted,
    interfaces: &[Wanted],
    links: &[Link],
) -> Result<Ordering, TuneError> {
    let Target::Route { prefix, metric: RouteMetricName::Mtu } = *target else {
        return Ok(Ordering::Equal);
    };
    let now = route::read(prefix, RouteMetricName::Mtu, None)?;
    let below = now.image.as_deref().map(interfaces_of).unwrap_or_default();
    let is_above = |value: &Value, mtu: u32| value.size().is_some_and(|size| size > mtu.into());
    let of_route = moved(interfaces, links).into_iter();
    let places = of_route.filter(|(link, _)| below.contains(&link.index)).map(|(link, mtu)| {
        if is_above(&now.value, mtu) && mtu < link.mtu {
            Ordering::Less
        } else if is_above(after, link.mtu) && mtu > link.mtu {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    });
    // One that is lowered counts more than one that is raised: a route has a single place.
    Ok(places.filter(|place| place.is_ne()).min().unwrap_or(Ordering::Equal))
}

fn is_interface((target, _): &Wanted) -> bool {
    matches!(target, Target::InterfaceMtu(_))
}

/// The interfaces, and the bridges that the kernel moves with them, with the MTUs that they are to have.
fn moved<'a>(interfaces: &[Wanted], links: &'a [Link]) -> Vec<(&'a Link, u32)> {
    let mut moved: Vec<(&Link, u32)> =
        interfaces.iter().filter_map(|it| interface(it, links)).collect();
    let wanted: Vec<(u32, u32)> = moved.iter().map(|(link, mtu)| (link.index, *mtu)).collect();
    for bridge in wanted.iter().filter_map(|(index, _)| bridge_of(links, *index)) {
        let mtu = bridge.as_least_of(links, &wanted);
        if mtu != bridge.mtu && moved.iter().all(|(link, _)| link.index != bridge.index) {
            moved.push((bridge, mtu));
        }
    }
    moved
}

/// The routes of IPv6 whose MTU the kernel would lower with these interfaces, with the least of their MTUs.
fn routes_lowered(
    interfaces: &[Wanted],
    wanted: &[Wanted],
    links: &[Link],
) -> io::Result<Vec<Wanted>> {
    let mut routes: Vec<Wanted> = Vec::new();
    for (link, mtu) in moved(interfaces, links) {
        for prefix in lowered(link.index, mtu)?.0 {
            let target = Target::Route { prefix, metric: RouteMetricName::Mtu };
            let least = Value::Text(mtu.to_string());
            match routes.iter_mut().find(|(other, _)| *other == target) {
                Some((_, value)) if value.number() > least.number() => *value = least,
                None if wanted.iter().all(|(other, _)| *other != target) => {
                    routes.push((target, least));
                }
                _ => {}
            }
        }
    }
    Ok(routes)
}

fn ordered(wanted: Vec<Wanted>, links: &[Link]) -> Vec<Wanted> {
    let is_named = |target: &Target| wanted.iter().any(|(other, _)| other == target);
    let mut lowered: Vec<Wanted> = Vec::new();
    for (link, mtu) in wanted.iter().filter_map(|it| interface(it, links)) {
        for follower in followers(links, link.index, mtu) {
            let target = Target::InterfaceMtu(follower.name.clone());
            let least = Value::Text(mtu.to_string());
            match lowered.iter_mut().find(|(other, _)| *other == target) {
                Some((_, value)) if value.number() > least.number() => *value = least,
                None if !is_named(&target) => lowered.push((target, least)),
                _ => {}
            }
        }
    }
    let mut all = [wanted, lowered].concat();
    all.sort_by_key(|it| match interface(it, links) {
        Some((link, mtu)) if mtu < link.mtu => (0, Reverse(depth(links, link.index)), 0),
        Some((link, mtu)) if mtu > link.mtu => (2, Reverse(0), depth(links, link.index)),
        _ => (1, Reverse(0), 0),
    });
    all
}

/// The interface whose MTU is wanted, and the MTU, bytes.
fn interface<'a>((target, value): &Wanted, links: &'a [Link]) -> Option<(&'a Link, u32)> {
    let Target::InterfaceMtu(name) = target else { return None };
    let link = links.iter().find(|link| link.name == *name)?;
    Some((link, u32::try_from(value.number()?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hardware, a VLAN on it, and a VLAN on that.
    fn links(mtu: u32) -> [Link; 3] {
        [(1, "", None), (2, "vlan", Some(1)), (3, "vlan", Some(2))]
            .map(|(index, kind, lower)| Link::example(index, kind, lower, None, mtu))
    }

    fn in_order(wanted: &[(&str, u32)], links: &[Link]) -> Vec<String> {
        let wanted: Vec<Wanted> = wanted
            .iter()
            .map(|(name, mtu)| {
                (Target::InterfaceMtu((*name).to_owned()), Value::Text(mtu.to_string()))
            })
            .collect();
        let shown = |(target, value): Wanted| format!("{target} {}", value.text().unwrap());
        ordered(wanted, links).into_iter().map(shown).collect()
    }

    #[test]
    fn what_is_lowered_comes_before_what_is_below_it() {
        let lowered = ["interface.i3.mtu 1300", "interface.i2.mtu 1300", "interface.i1.mtu 1300"];
        let links = links(1500);
        assert_eq!(in_order(&[("i1", 1300)], &links), lowered);
        assert_eq!(in_order(&[("i1", 1300), ("i2", 1300)], &links), lowered, "none of them twice");
        let smaller = ["interface.i3.mtu 1280", "interface.i2.mtu 1280", "interface.i1.mtu 1300"];
        assert_eq!(in_order(&[("i1", 1300), ("i2", 1280)], &links), smaller);
    }

    #[test]
    fn what_is_raised_comes_after_what_is_below_it() {
        let raised = ["interface.i1.mtu 1500", "interface.i2.mtu 1500"];
        assert_eq!(in_order(&[("i2", 1500), ("i1", 1500)], &links(1300)), raised);
    }

    #[test]
    fn what_is_named_twice_stays_twice_to_be_refused() {
        assert_eq!(in_order(&[("i3", 1300), ("i3", 1290)], &links(1500)).len(), 2);
    }
}
