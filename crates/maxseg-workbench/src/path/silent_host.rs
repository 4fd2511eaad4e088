//! A host that answers nothing, at the end of a way that answers.

use std::net::IpAddr;

use maxseg_core::path_mtu::Confidence;
use maxseg_linux::probe::{NextHop, RouteToHost, next_hop};

use super::routing_loop::routing_loop;
use super::{PathFinding, PathFindingKind, PathReport, PortMssState};

/// The fact that no echo (of a user who may send some), no datagram and no SYN was answered, although a router on the way answers, or the host's
/// or the router's link does; of a port that was named it is the one about the port.
pub(super) fn silent_host(
    report: &PathReport,
    route: &RouteToHost,
    has_echo: bool,
) -> Option<PathFinding> {
    let ports = &report.mss.ports;
    let is_silent =
        !ports.is_empty() && ports.iter().all(|one| one.state == PortMssState::NoAnswer);
    let is_heard = report.rtt.method.is_some()
        || report.path_mtu.hops.iter().any(|hop| hop.address == Some(report.address))
        || report.syn_as_received.is_some()
        || report.bottleneck.is_some();
    if !is_silent || is_heard || routing_loop(report).is_some() {
        return None;
    }
    let router = report.path_mtu.hops.iter().rev().find_map(|hop| Some((hop.address?, hop.hop)));
    let (shown, remedy) = match router {
        Some((router, hop)) => of_router(report, router, hop),
        None => of_next_hop(report, next_hop(report.address, route.source).ok().flatten()?),
    };
    let ports: Vec<String> = ports.iter().map(|one| one.port.to_string()).collect();
    let echo = if has_echo { "no echo, " } else { "" };
    let open =
        if report.port.is_none() { "; or name a port of it that is open, as HOST:443" } else { "" };
    Some(PathFinding {
        kind: report.port.map_or(PathFindingKind::HostSilent, |_| PathFindingKind::PortSilent),
        confidence: Confidence::Confirmed,
        text: format!(
            "{} answers nothing: {echo}no UDP datagram, no SYN to the ports {}; {shown}",
            report.address,
            ports.join(", ")
        ),
        remedy: Some(format!("{remedy}{open}")),
    })
}

/// What comes to the host, to look at there: the kinds of packets that the test sends, with the ports of its SYNs.
fn capture(report: &PathReport) -> String {
    let ports: Vec<String> = report.mss.ports.iter().map(|one| one.port.to_string()).collect();
    let syns = if ports.is_empty() {
        String::new()
    } else {
        format!(" or tcp port ({})", ports.join(" or "))
    };
    format!("`tcpdump -ni any 'icmp or icmp6 or udp portrange 33434-33500{syns}'`")
}

/// What is known, and what to do, where a router on the way answers.
fn of_router(report: &PathReport, router: IpAddr, hop: u8) -> (String, String) {
    (
        format!("the last that answers on the way is {router} (hop {hop})"),
        format!(
            "look whether the host is up, and what comes to it (there: {}), then for a firewall behind hop {hop} that drops it",
            capture(report)
        ),
    )
}

/// The same where nothing but address resolution is answered, by the host or by the router that leads to it.
fn of_next_hop(report: &PathReport, next: NextHop) -> (String, String) {
    let NextHop { address, interface, link_address } = next;
    let how = if address.is_ipv4() { "ARP" } else { "neighbour discovery" };
    if address == report.address {
        return (
            format!(
                "it answers {how} on {interface}, as {link_address}: it is up, and drops what comes"
            ),
            format!(
                "look there for a firewall (`nft list ruleset`; what comes: {})",
                capture(report)
            ),
        );
    }
    (
        format!(
            "nobody answers on the way, and the router {address} answers {how} on {interface}, as {link_address}"
        ),
        format!(
            "look at {address} whether it has a route to {} (there: `ip route get {}`), and for a firewall there that drops packets and says \
             nothing",
            report.address, report.address
        ),
    )
}
