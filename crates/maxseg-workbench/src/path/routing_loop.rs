//! Routers that send packets round in a circle, by the hops that they answer for.

use std::net::IpAddr;

use super::{HopReport, PathReport};

/// A circle of routers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoutingLoop {
    /// The first hop that is in it.
    pub(super) first_hop: u8,
    /// Those of its routers that answer, in the order of the way.
    pub(super) routers: Vec<IpAddr>,
}

/// Routers of a circle that is looked for: of the 30 hops that are asked, each would answer three times.
const MOST_ROUTERS: usize = 10;
/// Hops that answer as the one that is a turn before: one or two may be those of a route that changed while it was traced, or of
/// routers that spread packets over paths of different length.
const LEAST_AGAIN: usize = 3;

/// The circle in which the packets of a test go that reached nothing; `None` where there is none.
pub(super) fn routing_loop(report: &PathReport) -> Option<RoutingLoop> {
    let hops = &report.path_mtu.hops;
    let is_reached = hops.iter().any(|hop| hop.address == Some(report.address));
    if is_reached {
        return None;
    }
    // A turn of one hop is no circle: a firewall that answers for all that is behind it.
    (2..=MOST_ROUTERS).find_map(|turn| {
        (0..hops.len().saturating_sub(turn)).find_map(|first| circle(&hops[first..], turn))
    })
}

/// The circle of so many hops that begins with the first one, and goes on to the last.
fn circle(hops: &[HopReport], turn: usize) -> Option<RoutingLoop> {
    let first = hops.first().filter(|first| first.address.is_some())?;
    let mut routers: Vec<Option<IpAddr>> = vec![None; turn];
    let mut again = 0;
    for (hop, at) in hops.iter().zip((0..turn).cycle()) {
        let Some(address) = hop.address else { continue };
        match routers[at] {
            Some(router) if router == address => again += 1,
            Some(_) => return None,
            None if routers.contains(&Some(address)) => return None,
            None => routers[at] = Some(address),
        }
    }
    let routers: Vec<IpAddr> = routers.into_iter().flatten().collect();
    let is_one = again >= LEAST_AGAIN && routers.len() > 1;
    is_one.then_some(RoutingLoop { first_hop: first.hop, routers })
}

impl RoutingLoop {
    /// Its routers, as a sentence has them.
    pub(super) fn between(&self) -> String {
        let names: Vec<String> = self.routers.iter().map(ToString::to_string).collect();
        match names.split_last() {
            Some((last, [one])) => format!("between {one} and {last}"),
            Some((last, others)) => format!("through {} and {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{MtuReport, RttReport};

    /// A test whose hops answered with these last bytes; 0 of one that is silent.
    fn found(hops: &[u8]) -> Option<RoutingLoop> {
        let address = |last: u8| (last > 0).then(|| IpAddr::from([10, 9, 0, last]));
        let hops = hops.iter().zip(1_u8..).map(|(last, hop)| HopReport {
            hop,
            address: address(*last),
            rtt_s: None,
            mtu_bytes: None,
            stated_mtu_bytes: None,
            note: None,
        });
        let mtu = MtuReport { hops: hops.collect(), ..MtuReport::default() };
        let to = IpAddr::from([10, 9, 0, 99]);
        routing_loop(&PathReport::begun(to.to_string(), to, RttReport::default(), mtu))
    }

    #[test]
    fn hops_that_come_again_and_again_are_a_circle() {
        let two = found(&[7, 1, 2, 1, 2, 1, 2, 1]).unwrap();
        assert_eq!((two.first_hop, two.between().as_str()), (2, "between 10.9.0.1 and 10.9.0.2"));
        // Routers that limit their messages are silent in between.
        assert_eq!(found(&[1, 2, 1, 0, 1, 2, 0, 2]).unwrap().routers.len(), 2);
        let three = found(&[1, 2, 3, 1, 2, 3, 1]);
        assert!(three.is_some_and(|three| three.between().starts_with("through 10.9.0.1, 10.9")));
    }

    #[test]
    fn a_way_that_ends_or_changes_is_none() {
        assert_eq!(found(&[1, 2, 3, 4]), None);
        assert_eq!(found(&[1, 2, 1, 2]), None, "the route changed while it was traced");
        assert_eq!(found(&[1, 2, 2, 2, 2, 2]), None, "a firewall answers for what is behind it");
        assert_eq!(found(&[1, 2, 1, 2, 1, 3]), None, "two paths of equal cost");
        assert_eq!(found(&[1, 2, 1, 2, 1, 99]), None, "the destination is reached");
        assert_eq!(found(&[]), None);
    }
}
