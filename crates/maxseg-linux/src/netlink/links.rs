//! Interfaces, and which of them are below others.

use std::collections::BTreeSet;
use std::io;

use netlink_packet_core::NLM_F_DUMP;

use super::raw::{parse_attributes, u32_at};
use super::{Netlink, dumped};

const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
/// `struct ifinfomsg`.
const LINK_HEADER: usize = 16;

/// Kinds of attributes (`IFLA_*` in `linux/if_link.h`).
mod attribute {
    pub(super) const NAME: u16 = 3;
    pub(super) const MTU: u16 = 4;
    pub(super) const LINK: u16 = 5;
    pub(super) const MASTER: u16 = 10;
    pub(super) const INFO: u16 = 18;
    pub(super) const LINK_NAMESPACE: u16 = 37;
    /// Within `INFO`.
    pub(super) const KIND: u16 = 1;
}

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
        let answers = dumped(|| self.exchange(GET_LINK, NLM_F_DUMP, &[0; LINK_HEADER]))?;
        let links = answers.iter().filter(|(kind, _)| *kind == NEW_LINK);
        Ok(links.filter_map(|(_, body)| Link::parse(body)).collect())
    }
}

impl Link {
    /// Of the body of a message; `None` for one that is cut.
    fn parse(body: &[u8]) -> Option<Self> {
        let attributes = parse_attributes(body.get(LINK_HEADER..)?);
        let of = |wanted: u16| {
            let found = attributes.iter().find(|(kind, _)| *kind == wanted);
            found.map(|(_, value)| value.as_slice())
        };
        let number = |wanted| of(wanted).and_then(|value| u32_at(value, 0));
        let text = |value: &[u8]| String::from_utf8_lossy(value).trim_end_matches('\0').to_owned();
        let info = of(attribute::INFO).map(parse_attributes).unwrap_or_default();
        let kind = info.iter().find(|(kind, _)| *kind == attribute::KIND);
        let is_elsewhere = of(attribute::LINK_NAMESPACE).is_some();
        Some(Self {
            index: u32_at(body, 4)?,
            name: text(of(attribute::NAME)?),
            mtu: number(attribute::MTU)?,
            lower: number(attribute::LINK).filter(|_| !is_elsewhere),
            master: number(attribute::MASTER),
            kind: kind.map(|(_, value)| text(value)).unwrap_or_default(),
        })
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

/// The interfaces above one whose larger MTU the kernel lowers to this one with it, the uppermost first.
pub(crate) fn followers(links: &[Link], index: u32, mtu: u32) -> Vec<&Link> {
    let is_above = |link: &&Link| link.lower == Some(index);
    let follows = |link: &&Link| LOWERED.contains(&link.kind.as_str()) && link.mtu > mtu;
    let mut found = Vec::new();
    for link in links.iter().filter(is_above).filter(follows) {
        found.extend(followers(links, link.index, mtu));
        found.push(link);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32, kind: &str, lower: Option<u32>, master: Option<u32>) -> Link {
        Link { index, name: format!("i{index}"), mtu: 1500, lower, master, kind: kind.to_owned() }
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
}
