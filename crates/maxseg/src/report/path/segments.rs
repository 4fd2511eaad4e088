//! The MSS that ends offer, as text.

use maxseg_workbench::path::{MssReport, PortMss, PortMssState};

/// What each port offers, and this host.
pub(super) fn line(mss: &MssReport) -> String {
    let mut parts: Vec<String> = mss.ports.iter().map(part).collect();
    parts.extend(mss.sent_bytes.map(|bytes| format!("this host offers {bytes}")));
    parts.extend(mss.received_bytes.map(|bytes| format!("{bytes} of it arrives there")));
    parts.extend(mss.clamped_by.clone());
    format!("MSS: {}", parts.join("; "))
}

fn part(port: &PortMss) -> String {
    let number = port.port;
    match (port.state, port.offered_bytes) {
        (PortMssState::Open, Some(bytes)) if port.is_at_least => {
            format!("port {number} offers at least {bytes}")
        }
        (PortMssState::Open, Some(bytes)) => format!("port {number} offers {bytes}"),
        (PortMssState::Open, None) => {
            format!("port {number} is open and offers none (536 holds, for IPv6 1220)")
        }
        (PortMssState::Closed, _) => format!("port {number} is closed"),
        (PortMssState::Rejected, _) => format!("port {number} is rejected by ICMP"),
        (PortMssState::NoAnswer, _) => format!("port {number} does not answer"),
    }
}
