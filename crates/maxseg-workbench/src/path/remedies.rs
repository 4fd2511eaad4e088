//! What to do about what was found, the look first.

use std::net::IpAddr;

use maxseg_core::units::Mtu;
use maxseg_linux::probe::RouteToHost;

use super::mss::segment_in;
use super::mtu::LEAST_ROUTE_MTU;
use super::{BlackHole, DroppedBy, DroppedHere, LargeLoss, Misleading, PathReport};

/// The message that a router sends about a packet that is too big.
pub(super) const fn message(address: IpAddr) -> &'static str {
    if address.is_ipv4() {
        "ICMP \"fragmentation needed\" (type 3, code 4)"
    } else {
        "ICMPv6 \"packet too big\" (type 2)"
    }
}

/// Gives the route to a host an MTU; nothing where `maxseg tune` sets none so small.
fn route_mtu(to: IpAddr, mtu: u32) -> Option<String> {
    let (ip, bits, least) = if to.is_ipv4() {
        ("ip", 32, LEAST_ROUTE_MTU)
    } else {
        ("ip -6", 128, Mtu::IPV6_MIN.into())
    };
    (mtu >= least).then(|| {
        format!(
            "look with `{ip} route get {to}`, then `maxseg tune apply --set route.{to}/{bits}.mtu={mtu}` (`maxseg tune undo` takes it back)"
        )
    })
}

/// Losses that go by the size of a packet.
pub(super) fn of_large_loss(loss: &LargeLoss, to: IpAddr) -> String {
    let look = "look at the interfaces on the way for errors (`ip -s -s link`; `ethtool -S`) and for links that are bundled packet by packet, \
                whose MTUs have to be equal; until then";
    let passes = loss.boundary.map(|found| found.none_lost_bytes);
    match passes.and_then(|mtu| Some((mtu, route_mtu(to, mtu)?))) {
        Some((mtu, set)) => format!("{look} an MTU of {mtu} of the route avoids it: {set}"),
        None => {
            format!("{look} a smaller MTU of the route avoids it where small packets are not lost")
        }
    }
}

/// An MTU at both ends.
fn at_both_ends(report: &PathReport, mtu: u32) -> String {
    let here = route_mtu(report.address, mtu);
    let here = here.map_or_else(String::new, |here| {
        format!(" (here: {here}; the far end needs the same towards this host)")
    });
    format!("use an MTU of {mtu} at both ends{here}")
}

/// What passes both ways, where packets vanish both ways: one MTU at both ends mends both.
fn passes_both_ways(report: &PathReport, passes: u32) -> u32 {
    let mtu = &report.path_mtu;
    let back = mtu.reverse.as_ref().filter(|reverse| reverse.vanishes_bytes.is_some());
    let back = back.and_then(|reverse| reverse.bytes);
    let forth = mtu.black_hole.as_ref().map(|hole| hole.passes_bytes);
    [back, forth].into_iter().flatten().fold(passes, u32::min)
}

/// What mends a black hole that only the far end's packets meet.
pub(super) fn of_the_way_back(report: &PathReport, passes: u32) -> String {
    let passes = passes_both_ways(report, passes);
    let (kind, mss) = (message(report.address), segment_in(passes, report.address));
    format!(
        "let {kind} reach {}, or {}, or clamp the MSS of SYNs to {mss}",
        report.address,
        at_both_ends(report, passes)
    )
}

/// What mends a black hole; what is done already is said to be.
pub(super) fn of_black_hole(hole: &BlackHole, report: &PathReport, route: &RouteToHost) -> String {
    let (passes, kind) = (hole.passes_bytes, message(report.address));
    let both = passes_both_ways(report, passes);
    let mss = segment_in(both, report.address);
    let pass = match &hole.said {
        Some(_) => {
            format!("have packets of {} bytes pass the rule that rejects them", hole.vanishes_bytes)
        }
        None => format!("let {kind} pass there"),
    };
    // Whoever rejects packets is no link.
    let is_of_link = hole.is_on_first_link() && hole.said.is_none();
    let mend = match (is_done(report, route, both), is_of_link) {
        (Some(done), true) => return done,
        (Some(done), false) => return format!("{done}; or {pass}"),
        (None, true) => {
            let name = &route.interface;
            format!(
                "give this host's interface the MTU that its link carries (look with `ip link show dev {name}`, then `maxseg tune apply \
                 --set interface.{name}.mtu={passes}`)"
            )
        }
        (None, false) => format!("{pass}, or {}", at_both_ends(report, both)),
    };
    format!("{mend}, or clamp the MSS to {mss}")
}

/// What mends a message that does not lead to what arrives; what is done already is said to be.
pub(super) fn of_misleading(
    (told, who): (&Misleading, &str),
    report: &PathReport,
    route: &RouteToHost,
) -> String {
    let mend = if told.stated_mtu_bytes > 0 {
        format!(
            "give the interface or tunnel behind {who} the MTU that it carries, so that the message states it (look there: `ip link`)"
        )
    } else {
        format!("have {who} state the MTU of its next link in the message")
    };
    let Some(passes) = report.path_mtu.forward_bytes else { return mend };
    let both = passes_both_ways(report, passes);
    if let Some(done) = is_done(report, route, both) {
        return format!("{done}; or {mend}");
    }
    let mss = segment_in(both, report.address);
    // What the kernel has learnt of the message holds until then, and `tune` sets no MTU above it.
    let taught = report.path_mtu.taught_the_kernel.filter(|taught| taught.mtu_bytes < passes);
    let first = taught.map_or_else(String::new, |_| format!("{}; then ", flush(report.address)));
    format!("{first}{mend}, or {}, or clamp the MSS to {mss}", at_both_ends(report, both))
}

/// What keeps packets small enough already, if anything: the route's MTU of this host, or the MSS that the other end offers.
fn is_done(report: &PathReport, route: &RouteToHost, both: u32) -> Option<String> {
    let mss = segment_in(both, report.address);
    let by_mtu = route.route_mtu.filter(|mtu| *mtu <= both).map(|mtu| {
        format!("this host's route has an MTU of {mtu}, so that its own packets fit: the far end needs the same, if its way is the same one")
    });
    let by_mss = report.mss.exact_offer().filter(|offered| *offered <= mss).map(|offered| {
        format!("the MSS of {offered} that arrives here keeps TCP's packets small enough; whatever else sends large ones needs an MTU of {both}")
    });
    by_mtu.or(by_mss)
}

/// What lets routers' messages come to this host's connections.
pub(super) fn of_dropped(
    dropped: &DroppedHere,
    report: &PathReport,
    route: &RouteToHost,
) -> String {
    // The filter is that of the interface by which packets come; sysctl(8) writes a dot of its name as a slash.
    let name = dropped.interface.as_ref().unwrap_or(&route.interface).replace('.', "/");
    let router = dropped.router.map_or_else(|| "ROUTER".to_owned(), |at| at.to_string());
    let (save, rule, nft) = if report.address.is_ipv4() {
        (
            "iptables-save",
            "iptables -I INPUT -p icmp --icmp-type fragmentation-needed -j ACCEPT",
            "icmp type destination-unreachable icmp code frag-needed accept",
        )
    } else {
        (
            "ip6tables-save",
            "ip6tables -I INPUT -p icmpv6 --icmpv6-type packet-too-big -j ACCEPT",
            "icmpv6 type packet-too-big accept",
        )
    };
    let mend = match dropped.by {
        DroppedBy::Firewall => format!(
            "look with `nft list ruleset` and `{save}` for the rule that drops it, in a chain of input or prerouting, and accept it before \
             that rule: `{rule}`, or by nft `insert rule FAMILY TABLE CHAIN {nft}`"
        ),
        DroppedBy::ReversePathFilter => format!(
            "look with `ip route get {router}` which way leads to that router, and with `nstat -az TcpExtIPReversePathFilter`; then \
             `maxseg tune apply --set sysctl.net.ipv4.conf.{name}.rp_filter=2`"
        ),
    };
    let until = report.path_mtu.forward_bytes.or(Some(dropped.stated_mtu_bytes));
    let until = until.and_then(|mtu| route_mtu(report.address, mtu));
    until.map_or_else(|| mend.clone(), |until| format!("{mend}; until then {until}"))
}

/// How the kernel is made to forget a path MTU. It takes no single destination of IPv4.
pub fn flush(address: IpAddr) -> String {
    let version = if address.is_ipv4() { "-4" } else { "-6" };
    format!(
        "`ip {version} route flush cache` removes it, and what was learnt about every other destination (root)"
    )
}

#[cfg(test)]
mod tests {
    use maxseg_core::path_mtu::Confidence;

    use super::*;
    use crate::path::{MtuReport, ReverseMtu, RttMethod, RttReport};

    #[test]
    fn one_mtu_at_both_ends_mends_both_ways() {
        let hole = BlackHole {
            after_hop: Some(1),
            after_address: None,
            before_hop: Some(2),
            before_address: None,
            passes_bytes: 1404,
            vanishes_bytes: 1500,
            said: None,
        };
        let reverse = ReverseMtu {
            bytes: Some(1400),
            confidence: Confidence::Confirmed,
            vanishes_bytes: Some(1500),
            ..ReverseMtu::UNKNOWN
        };
        let path_mtu = MtuReport {
            black_hole: Some(hole.clone()),
            reverse: Some(reverse),
            ..MtuReport::default()
        };
        let rtt = RttReport::of(RttMethod::IcmpEcho, &[Some(0.01); 3]);
        let address = "192.0.2.7".parse().unwrap();
        let report = PathReport::begun("host".to_owned(), address, rtt, path_mtu);
        let route = RouteToHost {
            interface: "eth0".to_owned(),
            kind: None,
            interface_mtu: 1500,
            route_mtu: None,
            source: "192.0.2.1".parse().unwrap(),
            learnt: None,
        };
        for remedy in [of_black_hole(&hole, &report, &route), of_the_way_back(&report, 1400)] {
            assert!(remedy.contains("an MTU of 1400 at both ends"), "{remedy}");
            assert!(!remedy.contains("1404") && remedy.contains("MSS"), "{remedy}");
        }
    }
}
