//! Wireshark's display filters, to paste. Packets are named by address, port and number: the number that Wireshark gives a
//! stream depends on what else it decodes.

use std::net::{IpAddr, SocketAddr};

use maxseg_core::advise::Case;
use maxseg_core::evidence::{DirectionStats, Evidence, FileInterface};

use crate::file_error::for_shell;

/// Wireshark's display filter for the packets of a connection: where others have its ports, between its first and its last packet.
pub fn connection_filter(evidence: &Evidence) -> String {
    let ends = ends_filter(evidence);
    match evidence.capture.frames {
        Some((first, last)) => format!("{} && {ends}", frames_from(first, last)),
        None => ends,
    }
}

/// The packets with a connection's addresses and ports, at its interface where the file has several.
pub(super) fn ends_filter(evidence: &Evidence) -> String {
    let end = |end: SocketAddr| {
        let address = match end.ip().to_canonical() {
            IpAddr::V4(address) => format!("ip.addr == {address}"),
            IpAddr::V6(address) => format!("ipv6.addr == {address}"),
        };
        format!("{address} && tcp.port == {}", end.port())
    };
    let ends = format!("{} && {}", end(evidence.client), end(evidence.server));
    match evidence.capture.interface {
        Some(interface) => format!("{ends} && {}", interface_filter(interface)),
        None => ends,
    }
}

/// The packets of an interface: Wireshark counts interfaces anew in each section of a file.
fn interface_filter(interface: FileInterface) -> String {
    let of_section =
        interface.section.map(|section| format!("frame.section_number == {section} && "));
    format!("{}frame.interface_id == {}", of_section.unwrap_or_default(), interface.number)
}

/// The packets of a connection from one number to another.
pub(super) fn range_filter(evidence: &Evidence, first: u64, last: u64) -> String {
    format!("{} && {}", frames_from(first, last), ends_filter(evidence))
}

fn frames_from(first: u64, last: u64) -> String {
    if first == last {
        format!("frame.number == {first}")
    } else {
        format!("frame.number >= {first} && frame.number <= {last}")
    }
}

/// Packets by their numbers.
pub(super) fn frames_filter(frames: &[u64]) -> String {
    let each: Vec<String> = frames.iter().map(|frame| format!("frame.number == {frame}")).collect();
    each.join(" || ")
}

/// What Wireshark itself takes for sent again; of several in a row it calls all but the first out of order.
const RESENT: &str = "tcp.analysis.retransmission || tcp.analysis.out_of_order";

/// The sender of the data, where the other end sent some as well: what that sent again is no part of what the page tells.
fn sender_filter(case: &Case<'_>) -> Option<String> {
    let sender = case.evidence.sender(case.diagnosis.direction);
    let source = match sender.ip().to_canonical() {
        IpAddr::V4(address) => format!("ip.src == {address}"),
        IpAddr::V6(address) => format!("ipv6.src == {address}"),
    };
    (case.acks().data_packets > 0).then(|| format!("{source} && tcp.srcport == {}", sender.port()))
}

/// What Wireshark takes for sent again among these packets, of the direction that carried the data.
fn resent_of(case: &Case<'_>, packets: &str) -> String {
    let sender = sender_filter(case).map_or_else(String::new, |sender| format!("{sender} && "));
    format!("({RESENT}) && {sender}{packets}")
}

/// What Wireshark takes for sent again of a connection's data.
pub(super) fn resent_filter(case: &Case<'_>) -> String {
    resent_of(case, &connection_filter(case.evidence))
}

/// The same, from one number to another.
pub(super) fn resent_in_filter(case: &Case<'_>, first: u64, last: u64) -> String {
    resent_of(case, &range_filter(case.evidence, first, last))
}

/// Packets of a connection that are named one by one in a filter, at most.
const MOST_NAMED: usize = 32;

/// Segments that were sent again from one number to another, one by one; `None` where they are too many for that.
///
/// It takes the place of Wireshark's own analysis in a file of several interfaces: that takes copies at the next interface for sent again.
pub(super) fn named_resent(
    data: &DirectionStats,
    (first, last): (u64, u64),
) -> Option<(u64, String)> {
    let segments = &data.trace.as_ref()?.segments;
    let resent = segments.iter().filter(|segment| segment.is_resent);
    let frames: Vec<u64> = resent
        .map(|segment| segment.frame)
        .filter(|frame| (first..=last).contains(frame))
        .collect();
    let is_listed = (1..=MOST_NAMED).contains(&frames.len());
    is_listed.then(|| (frames.len() as u64, frames_filter(&frames)))
}

/// A command that writes the packets of a connection to a file of their own, and the filter there for what was sent again.
pub(super) fn resent_alone(case: &Case<'_>, file: &str) -> [String; 2] {
    let (file, filter) = (for_shell(file), connection_filter(case.evidence));
    let again = sender_filter(case)
        .map_or_else(|| RESENT.to_owned(), |sender| format!("({RESENT}) && {sender}"));
    [format!("tshark -r {file} -Y '{filter}' -w connection.pcapng"), again]
}

#[cfg(test)]
mod tests {
    use maxseg_testkit::windowed;

    use super::*;

    #[test]
    fn a_filter_names_interface_section_and_packets_where_ends_are_not_enough() {
        let mut evidence = windowed(0);
        let ends = connection_filter(&evidence);
        evidence.capture.interface = Some(FileInterface { section: None, number: 2 });
        assert_eq!(connection_filter(&evidence), format!("{ends} && frame.interface_id == 2"));
        evidence.capture.interface = Some(FileInterface { section: Some(3), number: 0 });
        evidence.capture.frames = Some((5, 70));
        let of_section = format!("{ends} && frame.section_number == 3 && frame.interface_id == 0");
        assert_eq!(
            connection_filter(&evidence),
            format!("frame.number >= 5 && frame.number <= 70 && {of_section}")
        );
        // A range of packets is enough.
        assert_eq!(range_filter(&evidence, 9, 9), format!("frame.number == 9 && {of_section}"));
    }
}
