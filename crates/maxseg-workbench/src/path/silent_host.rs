//! A host that answers nothing, at the end of a way that answers.

use maxseg_core::path_mtu::Confidence;

use super::routing_loop::routing_loop;
use super::{PathFinding, PathFindingKind, PathReport, PortMssState};

/// The fact that no echo (of a user who may send some), no datagram and no SYN was answered, although a router on the way answers; of a port that was named it is the
/// one about the port.
pub(super) fn silent_host(report: &PathReport, has_echo: bool) -> Option<PathFinding> {
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
    let last = report.path_mtu.hops.iter().rev().find_map(|hop| Some((hop.address?, hop.hop)))?;
    let (to, (router, hop)) = (report.address, last);
    let ports: Vec<String> = ports.iter().map(|one| one.port.to_string()).collect();
    let echo = if has_echo { "no echo, " } else { "" };
    let open =
        if report.port.is_none() { "; or name a port of it that is open, as HOST:443" } else { "" };
    Some(PathFinding {
        kind: report.port.map_or(PathFindingKind::HostSilent, |_| PathFindingKind::PortSilent),
        confidence: Confidence::Confirmed,
        text: format!(
            "{to} answers nothing: {echo}no UDP datagram, no SYN to the ports {}; the last that answers on the way is {router} (hop {hop})",
            ports.join(", ")
        ),
        remedy: Some(format!(
            "look whether the host is up, and what comes to it (there: `tcpdump -ni any 'icmp or icmp6 or udp portrange 33434-33500'`), then for a \
             firewall behind hop {hop} that drops it{open}"
        )),
    })
}
