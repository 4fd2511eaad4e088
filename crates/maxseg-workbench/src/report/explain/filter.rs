//! Wireshark's display filters, to paste. Packets are named by address, port and number: the number that Wireshark gives a
//! stream depends on what else it decodes.

use std::net::{IpAddr, SocketAddr};

use maxseg_core::evidence::Evidence;

/// Wireshark's display filter for the packets of a connection.
pub fn connection_filter(evidence: &Evidence) -> String {
    let end = |end: SocketAddr| {
        let address = match end.ip().to_canonical() {
            IpAddr::V4(address) => format!("ip.addr == {address}"),
            IpAddr::V6(address) => format!("ipv6.addr == {address}"),
        };
        format!("{address} && tcp.port == {}", end.port())
    };
    format!("{} && {}", end(evidence.client), end(evidence.server))
}

/// The packets of a connection from one number to another.
pub(super) fn range_filter(evidence: &Evidence, first: u64, last: u64) -> String {
    let frames = if first == last {
        format!("frame.number == {first}")
    } else {
        format!("frame.number >= {first} && frame.number <= {last}")
    };
    format!("{frames} && {}", connection_filter(evidence))
}

/// Packets by their numbers.
pub(super) fn frames_filter(frames: &[u64]) -> String {
    let each: Vec<String> = frames.iter().map(|frame| format!("frame.number == {frame}")).collect();
    each.join(" || ")
}

/// What Wireshark itself takes for sent again; of several in a row it calls all but the first out of order.
pub(super) fn resent_filter(evidence: &Evidence) -> String {
    format!(
        "(tcp.analysis.retransmission || tcp.analysis.out_of_order) && {}",
        connection_filter(evidence)
    )
}

/// The same, from one number to another.
pub(super) fn resent_in_filter(evidence: &Evidence, first: u64, last: u64) -> String {
    let range = range_filter(evidence, first, last);
    format!("(tcp.analysis.retransmission || tcp.analysis.out_of_order) && {range}")
}
