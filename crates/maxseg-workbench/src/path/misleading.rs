//! A router's message that a packet is too big, which does not lead to what arrives.

use maxseg_linux::probe::RouteToHost;

use super::mtu::LEAST_ROUTE_MTU;
use super::remedies::{message, of_misleading};
use super::{Misleading, PathFinding, PathFindingKind, PathReport};

/// The fact that it does not, with what mends it.
pub(super) fn misleading(
    told: &Misleading,
    report: &PathReport,
    route: &RouteToHost,
) -> Option<PathFinding> {
    let passes = report.path_mtu.forward_bytes?;
    let who = match (told.router, told.hop) {
        (Some(router), Some(hop)) => format!("{router} (hop {hop})"),
        (Some(router), None) => router.to_string(),
        (None, _) => "a router".to_owned(),
    };
    let (kind, name, size) = (message(report.address), report.path_mtu.name(), told.size_bytes);
    let text = if told.stated_mtu_bytes > 0 {
        format!(
            "{who} refuses packets of {size} bytes, and states an MTU of {} for them: connections that follow {kind} send no smaller ones, \
             and stall; {passes} bytes pass{name}",
            told.stated_mtu_bytes
        )
    } else {
        format!(
            "{who} refuses packets of {size} bytes without the MTU that fits (RFC 1191): Linux sends packets of {LEAST_ROUTE_MTU} bytes without \
             DF there for ten minutes then (net.ipv4.route.min_pmtu), and {passes} bytes pass{name}"
        )
    };
    Some(PathFinding {
        kind: PathFindingKind::WrongMessage,
        confidence: report.path_mtu.confidence,
        text,
        remedy: Some(of_misleading((told, &who), report, route)),
    })
}
