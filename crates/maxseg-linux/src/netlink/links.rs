//! Interfaces, and which of them are below others.
#![expect(clippy::wildcard_enum_match_arm, reason = "of many attributes, few matter here")]

use std::collections::BTreeSet;
use std::io;

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};

use super::Netlink;
use super::facts::kind_of;

/// Kinds of interfaces whose MTU the kernel lowers with that of the interface below, and does not raise with it again: the handlers
/// of `NETDEV_CHANGEMTU` in `net/8021q/vlan.c` and `drivers/net/macvlan.c`. Those of ipvlan follow both ways.
const LOWERED: [&str; 5] = ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"];

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Its index.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) name: String,
    /// Its MTU, bytes.
    pub(crate) mtu: u32,
    /// The interface that it sends through, of this namespace.
    lower: Option<u32>,
    /// The bridge or bond that it is a part of.
    master: Option<u32>,
    /// What it is, as `vlan`; empty of hardware.
    kind: String,
}

impl Netlink {
    /// Every interface of the namespace (`ip link show`).
    pub(crate) fn links(&mut self) -> io::Result<Vec<Link>> {
        let every = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let answers = self.answers(every, NLM_F_DUMP)?;
        Ok(answers.into_iter().filter_map(Link::of).collect())
    }
}

impl Link {
    /// Of a message; `None` for one that describes no interface.
    fn of(message: RouteNetlinkMessage) -> Option<Self> {
        let RouteNetlinkMessage::NewLink(message) = message else { return None };
        let (mut name, mut mtu, mut lower, mut master) = (None, None, None, None);
        let (mut kind, mut is_elsewhere) = (String::new(), false);
        for attribute in message.attributes {
            match attribute {
                LinkAttribute::IfName(is) => name = Some(is),
                LinkAttribute::Mtu(is) => mtu = Some(is),
                LinkAttribute::Link(is) => lower = Some(is),
                LinkAttribute::Controller(is) => master = Some(is),
                LinkAttribute::LinkNetNsId(_) => is_elsewhere = true,
                LinkAttribute::LinkInfo(infos) => kind = kind_of(&infos).unwrap_or_default(),
                _ => {}
            }
        }
        let lower = lower.filter(|_| !is_elsewhere);
        Some(Self { index: message.header.index, name: name?, mtu: mtu?, lower, master, kind })
    }

    /// Whether it is a bridge.
    pub(crate) fn is_bridge(&self) -> bool {
        self.kind == "bridge"
    }

    /// The bridge's MTU by its ports, some of which are to have these MTUs (`br_mtu_min`).
    pub(crate) fn as_least_of(&self, links: &[Link], wanted: &[(u32, u32)]) -> u32 {
        let ports = links.iter().filter(|link| link.master == Some(self.index));
        let mtu = |port: &Link| {
            let of = wanted.iter().find(|(index, _)| *index == port.index);
            of.map_or(port.mtu, |(_, mtu)| *mtu)
        };
        ports.map(mtu).min().unwrap_or(self.mtu)
    }

    /// One of tests, named by its index: `i1`.
    #[cfg(test)]
    pub(crate) fn example(
        index: u32,
        kind: &str,
        lower: Option<u32>,
        master: Option<u32>,
        mtu: u32,
    ) -> Self {
        Self { index, name: format!("i{index}"), mtu, lower, master, kind: kind.to_owned() }
    }
}

/// The interface and those below it: what a VLAN, tunnel or macvlan sends through, the parts of a bridge or bond.
pub(crate) fn below(links: &[Link], index: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([index]);
    let is_below = |link: &Link, found: &BTreeSet<u32>| {
        let is_part = link.master.is_some_and(|master| found.contains(&master));
        let carries = |of: &Link| found.contains(&of.index) && of.lower == Some(link.index);
        is_part || links.iter().any(carries)
    };
    loop {
        let more: Vec<u32> = links
            .iter()
            .filter(|link| !found.contains(&link.index) && is_below(link, &found))
            .map(|link| link.index)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The interfaces above one whose larger MTU the kernel lowers to this one with it, the uppermost first. A bridge between them is none:
/// it is raised again with its ports.
pub(crate) fn followers(links: &[Link], index: u32, mtu: u32) -> Vec<&Link> {
    let is_above = |link: &&Link| link.lower == Some(index);
    let follows = |link: &&Link| LOWERED.contains(&link.kind.as_str()) && link.mtu > mtu;
    let mut found = Vec::new();
    for link in links.iter().filter(is_above).filter(follows) {
        found.extend(followers(links, link.index, mtu));
        found.push(link);
    }
    if let Some(bridge) = bridge_of(links, index).filter(|bridge| bridge.mtu > mtu) {
        found.extend(followers(links, bridge.index, mtu));
    }
    found
}

/// The bridge that an interface is a port of, where its MTU is the least of its ports: the kernel keeps it so unless it was set by
/// hand (`br_mtu_auto_adjust` in `net/bridge/br_if.c`), which it does not tell.
pub(crate) fn bridge_of(links: &[Link], port: u32) -> Option<&Link> {
    let port = links.iter().find(|link| link.index == port)?;
    let bridge = links.iter().find(|link| Some(link.index) == port.master)?;
    (bridge.is_bridge() && bridge.as_least_of(links, &[]) == bridge.mtu).then_some(bridge)
}

/// How many interfaces it stands on whose MTU bounds its own.
pub(crate) fn depth(links: &[Link], index: u32) -> usize {
    let Some(link) = links.iter().find(|link| link.index == index) else { return 0 };
    let ports = || links.iter().filter(|port| port.master == Some(index));
    let below = match link.kind.as_str() {
        "bridge" => ports().map(|port| depth(links, port.index)).max(),
        kind if LOWERED.contains(&kind) => link.lower.map(|lower| depth(links, lower)),
        _ => None,
    };
    below.map_or(0, |below| 1 + below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32, kind: &str, lower: Option<u32>, master: Option<u32>) -> Link {
        Link::example(index, kind, lower, master, 1500)
    }

    #[test]
    fn what_is_below_an_interface_is_found() {
        // A VLAN on a bridge of two parts, one of which is a bond of one; and a veth pair, which are each other's.
        let links = [
            link(1, "", None, None),
            link(2, "bridge", None, None),
            link(3, "vlan", Some(2), None),
            link(4, "bond", None, Some(2)),
            link(5, "", None, Some(4)),
            link(6, "veth", Some(7), Some(2)),
            link(7, "veth", Some(6), None),
        ];
        assert_eq!(below(&links, 3), BTreeSet::from([2, 3, 4, 5, 6, 7]));
        assert_eq!(below(&links, 1), BTreeSet::from([1]));
    }

    #[test]
    fn what_is_lowered_with_an_interface_is_found() {
        let mut links = [
            link(1, "", None, None),
            link(2, "vlan", Some(1), None),
            link(3, "macvlan", Some(2), None),
            link(4, "vxlan", Some(1), None),
            link(5, "vlan", Some(1), None),
        ];
        links[4].mtu = 1200;
        let names = |mtu| -> Vec<&str> {
            followers(&links, 1, mtu).into_iter().map(|link| link.name.as_str()).collect()
        };
        assert_eq!(names(1300), ["i3", "i2"]);
        assert_eq!(names(1500), [""; 0]);
        assert_eq!(names(1100), ["i3", "i2", "i5"]);
    }

    #[test]
    fn a_bridge_has_the_least_mtu_of_its_ports() {
        let links = [
            link(1, "", None, Some(3)),
            link(2, "", None, Some(3)),
            link(3, "bridge", None, None),
            link(4, "", None, None),
        ];
        let bridge = bridge_of(&links, 1).unwrap();
        assert_eq!((bridge.index, bridge_of(&links, 4)), (3, None));
        for (wanted, least) in [
            (&[][..], 1500),
            (&[(1, 1400)], 1400),
            (&[(1, 9000)], 1500),
            (&[(1, 9000), (2, 8000)], 8000),
            (&[(4, 1300)], 1500),
        ] {
            assert_eq!(bridge.as_least_of(&links, wanted), least, "{wanted:?}");
        }
    }

    #[test]
    fn what_stands_on_a_bridge_is_lowered_with_a_port_of_it() {
        // A VLAN on a bridge of two ports, one of which is itself a VLAN.
        let mut links = [
            link(1, "", None, None),
            link(2, "vlan", Some(1), Some(4)),
            link(3, "", None, Some(4)),
            link(4, "bridge", None, None),
            link(5, "vlan", Some(4), None),
        ];
        let names = |links: &[Link], index, mtu| -> Vec<String> {
            followers(links, index, mtu).into_iter().map(|link| link.name.clone()).collect()
        };
        assert_eq!(names(&links, 3, 1300), ["i5"]);
        assert_eq!(names(&links, 1, 1300), ["i5", "i2"]);
        assert_eq!(names(&links, 3, 1500), [""; 0]);
        assert_eq!([1, 2, 4, 5].map(|index| depth(&links, index)), [0, 1, 2, 3]);
        // Of a bridge with an MTU of its own, neither it nor what stands on it moves.
        (links[3].mtu, links[4].mtu) = (1400, 1400);
        assert_eq!(names(&links, 3, 1300), [""; 0]);
        // The other port keeps it as it is.
        (links[1].mtu, links[3].mtu) = (1280, 1280);
        assert_eq!(names(&links, 3, 1300), [""; 0]);
    }
}
