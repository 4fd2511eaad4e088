//! `truth/NAME.tcptrace.csv` beside a capture: what `tcptrace -l -r -W --csv` says, a row for each
//! connection.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// One direction of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direction {
    /// Who sends.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// Which of tcptrace's connections, counted from 1.
    pub connection: u64,
    /// `total_packets`.
    pub packets: u64,
    /// `actual_data_pkts`.
    pub data_packets: u64,
    /// `actual_data_bytes`: those sent again included.
    pub payload_bytes: u64,
    /// `rexmt_data_pkts`.
    pub retransmitted_packets: u64,
    /// `rexmt_data_bytes`.
    pub retransmitted_bytes: u64,
    /// `outoforder_pkts`.
    pub out_of_order_packets: u64,
    /// `hardware_dups`: packets that the capture holds twice, with one IP identification.
    pub capture_duplicates: u64,
    /// `duplicate_acks`.
    pub duplicate_acks: u64,
    /// `triple_dupacks`.
    pub triple_duplicate_acks: u64,
    /// `dsack_pkts_sent`.
    pub dsack_packets: u64,
    /// `mss_requested`.
    pub mss: u64,
}

/// Every direction of a capture, two for each connection; `None` where tcptrace could not read it.
///
/// # Panics
/// A row is not understood.
pub fn directions(capture: &Path) -> Option<Vec<Direction>> {
    let name = capture.file_name()?.to_str()?;
    let table = capture.parent()?.join("truth").join(format!("{name}.tcptrace.csv"));
    let text = std::fs::read_to_string(table).ok()?;
    Some(parse(&text).unwrap_or_else(|line| panic!("{name}: {line:?} is no row")))
}

/// Rows by the names of their columns.
///
/// # Errors
/// The line that is not understood.
pub fn parse(text: &str) -> Result<Vec<Direction>, &str> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let mut directions = Vec::new();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let cell = |name: &str| {
            let place = columns.iter().position(|column| *column == name)?;
            cells.get(place).copied().filter(|_| cells.len() == columns.len())
        };
        directions.extend(connection(&cell).ok_or(line)?);
    }
    Ok(directions)
}

fn connection<'a>(cell: &impl Fn(&str) -> Option<&'a str>) -> Option<[Direction; 2]> {
    let end = |host, port| {
        let address: IpAddr = cell(host)?.parse().ok()?;
        Some(SocketAddr::new(address, cell(port)?.parse().ok()?))
    };
    let (a, b) = (end("host_a", "port_a")?, end("host_b", "port_b")?);
    Some([direction(cell, (a, b), "a2b")?, direction(cell, (b, a), "b2a")?])
}

fn direction<'a>(
    cell: &impl Fn(&str) -> Option<&'a str>,
    (from, to): (SocketAddr, SocketAddr),
    way: &str,
) -> Option<Direction> {
    let number = |name: &str| cell(&format!("{name}_{way}"))?.parse().ok();
    Some(Direction {
        from,
        to,
        connection: cell("conn_#")?.parse().ok()?,
        packets: number("total_packets")?,
        data_packets: number("actual_data_pkts")?,
        payload_bytes: number("actual_data_bytes")?,
        retransmitted_packets: number("rexmt_data_pkts")?,
        retransmitted_bytes: number("rexmt_data_bytes")?,
        out_of_order_packets: number("outoforder_pkts")?,
        capture_duplicates: number("hardware_dups")?,
        duplicate_acks: number("duplicate_acks")?,
        triple_duplicate_acks: number("triple_dupacks")?,
        dsack_packets: number("dsack_pkts_sent")?,
        mss: number("mss_requested")?,
    })
}
