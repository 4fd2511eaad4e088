//! The hosts of a scenario, with their names and addresses.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use maxseg_core::framing::IpVersion;
use maxseg_core::path::{IcmpPolicy, LinkSpec};
use maxseg_core::scenario::{End, Flow, Scenario};
use maxseg_core::settings::Settings;
use maxseg_core::units::{Bytes, Probability};

/// A hop's number is a byte of its addresses: no more hops than that has room for, with some to spare.
pub(crate) const MAX_HOPS: usize = 200;
/// Where each hop is two boxes that forward, a packet with a hop limit of 64 (`IPDEFTTL`) comes no further: `n` hops
/// take 3 n − 1 from it.
pub(crate) const MAX_HOPS_NETEM: usize = 21;

/// The port of flow 0 at its server or receiver, by TCP and UDP, and the identifier of its echo requests; flow `n` has
/// this plus `n`. iperf3's default.
pub(crate) const FIRST_PORT: u16 = 5201;

/// The names of the hosts of a path with so many hops: `sender`, `r1`, `r2` … and `receiver`.
pub(crate) fn host_names(hops: usize) -> Vec<String> {
    let routers = (1..hops).map(|n| format!("r{n}"));
    std::iter::once("sender".to_owned())
        .chain(routers)
        .chain(std::iter::once("receiver".to_owned()))
        .collect()
}

/// A side of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The sender's.
    Near,
    /// The receiver's.
    Far,
}

/// The address at this side of a hop.
pub(crate) fn address(ip: IpVersion, hop: usize, side: Side) -> IpAddr {
    let (net, host) =
        (u8::try_from(hop).unwrap_or(u8::MAX), if side == Side::Near { 1 } else { 2 });
    match ip {
        IpVersion::V4 => Ipv4Addr::new(10, 77, net, host).into(),
        IpVersion::V6 => {
            Ipv6Addr::new(0xfd00, 0x77, 0, u16::from(net), 0, 0, 0, u16::from(host)).into()
        }
    }
}

/// The host at this side of a hop.
pub(crate) fn host_of(hop: usize, side: Side) -> usize {
    if side == Side::Near { hop } else { hop + 1 }
}

/// Every address of every host, each with the host's number.
pub(crate) fn every_address(scenario: &Scenario) -> impl Iterator<Item = (usize, IpAddr)> {
    let sides = (0..scenario.path.hops.len()).flat_map(|hop| [(hop, Side::Near), (hop, Side::Far)]);
    sides.map(|(hop, side)| (host_of(hop, side), address(scenario.ip, hop, side)))
}

/// The names of the hosts' interfaces of a hop.
pub(crate) fn interface_of(scenario: &Scenario, hop: usize) -> String {
    let names = || scenario.path.hops.iter().map(|hop| hop.name.as_str());
    let wanted = interface_name(names().nth(hop).unwrap_or_default());
    // Two hops may differ in nothing that an interface's name can show. Every name of the form `hopN` is the
    // hop's whose number it is.
    let is_unique = |name: &String| {
        names().filter(|other| interface_name(other).as_ref() == Some(name)).count() == 1
    };
    wanted.filter(is_unique).unwrap_or_else(|| format!("hop{hop}"))
}

/// A hop's name as that of an interface, as far as the kernel allows it; nothing where it does not.
fn interface_name(name: &str) -> Option<String> {
    /// `IFNAMSIZ`, its final zero left out.
    const LONGEST: usize = 15;
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_taken = ["lo", "all", "default"].contains(&name)
        || is_number(name)
        || name.strip_prefix("hop").is_some_and(is_number);
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' })
        .take(LONGEST)
        .collect();
    (!plain.is_empty() && !is_taken && plain.len() == name.len()).then_some(plain)
}

/// Both directions of a hop, in the order of every list.
pub(crate) const DIRECTIONS: [End; 2] = [End::Receiver, End::Sender];

/// The name of a hop's link towards one end, which names its random streams too.
pub(crate) fn link_name(hop: &str, to: End) -> String {
    match to {
        End::Receiver => format!("hop.{hop}"),
        End::Sender => format!("hop.{hop}.reverse"),
    }
}

/// Addresses whose ICMP messages about packets too large are withheld on `hop` towards `to`: the router before the next
/// hop, if that hop is a black hole.
pub(crate) fn icmp_blocked(scenario: &Scenario, hop: usize, to: End) -> BTreeSet<IpAddr> {
    let hops = &scenario.path.hops;
    // The messages travel against the packets that cause them.
    let (router, drops) = match to {
        End::Sender => {
            (hop + 1, hops.get(hop + 1).is_some_and(|next| next.forward.icmp == IcmpPolicy::Drop))
        }
        End::Receiver => {
            let before = hop.checked_sub(1).and_then(|before| hops.get(before));
            (hop, before.is_some_and(|before| before.reverse.icmp == IcmpPolicy::Drop))
        }
    };
    if !drops {
        return BTreeSet::new();
    }
    [(router.checked_sub(1), Side::Far), (Some(router), Side::Near)]
        .into_iter()
        .filter_map(|(hop, side)| Some(address(scenario.ip, hop?, side)))
        .collect()
}

/// The link before that of a hop, if packets come to this one no closer than that one sends them, or with the one that ARQ repeated there
/// before them: all flows pass both, and no packet of that one overtakes another, comes twice, or leaves faster than the rate. `None`
/// with super-packets, which stay together.
pub(crate) fn upstream(scenario: &Scenario, hop: usize, to: End) -> Option<&LinkSpec> {
    let hops = &scenario.path.hops;
    let (before, link) = match to {
        End::Receiver => {
            let before = hop.checked_sub(1)?;
            (before, &hops[before].forward)
        }
        End::Sender => (hop + 1, &hops.get(hop + 1)?.reverse),
    };
    let passes = |flow: &Flow, hop: usize| (flow.hops.first..=flow.hops.last).contains(&hop);
    let all_pass_both =
        scenario.flows.iter().all(|flow| !passes(flow, hop) || passes(flow, before));
    let is_spaced = link.burst == Bytes::ZERO
        && !link.overtakes()
        && link.duplicate == Probability::NEVER
        && !scenario.lab.as_netem;
    Some(link).filter(|_| all_pass_both && is_spaced)
}

/// Where the two ends of a flow are: the host at the sender's side of its first hop, and the one behind
/// its last.
pub(crate) fn ends(flow: &Flow) -> (usize, usize) {
    (flow.hops.first, flow.hops.last + 1)
}

/// The host at this end of a flow, and its address.
pub(crate) fn host_at(scenario: &Scenario, flow: &Flow, end: End) -> (usize, IpAddr) {
    let (left, right) = ends(flow);
    match end {
        End::Sender => (left, address(scenario.ip, flow.hops.first, Side::Near)),
        End::Receiver => (right, address(scenario.ip, flow.hops.last, Side::Far)),
    }
}

/// The settings that hold at a host: the sender's where a flow's sender side is, the receiver's where
/// its other side is; none at a mere router.
pub(crate) fn settings_at(scenario: &Scenario, host: usize) -> Option<(End, &Settings)> {
    let last = scenario.path.hops.len();
    let is_left = host == 0 || scenario.flows.iter().any(|flow| ends(flow).0 == host);
    let is_right = host == last || scenario.flows.iter().any(|flow| ends(flow).1 == host);
    if is_left {
        Some((End::Sender, &scenario.sender))
    } else if is_right {
        Some((End::Receiver, &scenario.receiver))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_spaced_by_the_one_before_it_where_that_keeps_all_packets_apart() {
        let has = |more: &str| {
            let hop = "rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
            let text = format!("[[hop]]\nname = \"a\"\n{hop}{more}\n[[hop]]\nname = \"b\"\n{hop}");
            let scenario = Scenario::from_toml("test", &text).unwrap();
            let has = |hop, to| upstream(&scenario, hop, to).is_some();
            assert!(!has(0, End::Receiver) && !has(1, End::Sender), "first links");
            [has(1, End::Receiver), has(0, End::Sender)]
        };
        assert_eq!(has(""), [true, true]);
        assert_eq!(has("jitter = \"100 us\""), [false, true]);
        assert_eq!(has("burst = \"15 kB\""), [false, true]);
        assert_eq!(has("duplicate = 0.01"), [false, true]);
        let beside = "[[flow]]\nkind = \"bulk\"\nhops = [\"b\"]";
        assert_eq!(has(beside), [false, true], "a flow that begins at the router");
    }

    fn interfaces(names: &[&str]) -> Vec<String> {
        let hop = |name: &&str| {
            let name = serde_json::to_string(name).unwrap();
            format!("[[hop]]\nname = {name}\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n")
        };
        let text: String = names.iter().map(hop).collect();
        let scenario = Scenario::from_toml("test", &text).unwrap();
        (0..names.len()).map(|hop| interface_of(&scenario, hop)).collect()
    }

    #[test]
    fn interfaces_are_called_as_their_hops_where_the_kernel_lets_them() {
        let names = ["lan", "a b", "lo", "much longer than a name", "Weg-ü"];
        assert_eq!(interfaces(&names), ["lan", "a-b", "hop2", "hop3", "hop4"]);
    }

    #[test]
    fn no_two_interfaces_have_one_name() {
        assert_eq!(interfaces(&["a b", "a-b", "c"]), ["hop0", "hop1", "c"]);
        assert_eq!(interfaces(&["hop1", "a/b", "a-b"]), ["hop0", "hop1", "hop2"]);
    }
}
