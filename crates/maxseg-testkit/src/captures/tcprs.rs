//! `tcprs-labels/STEM/tcpretransmissions.log` beside a capture: a row for each retransmission that Zeek's
//! TCPRS saw, and why it thinks it was sent (baselines of Zeek's own regression tests).

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// One retransmission.
#[derive(Debug, Clone, PartialEq)]
pub struct Retransmission {
    /// When it passed, in seconds since 1970.
    pub at_s: f64,
    /// Who sent it.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// Its first number.
    pub seq: u32,
    /// What made the sender send it.
    pub cause: Cause,
    /// How it was told from new data.
    pub evidence: Evidence,
}

/// `rtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Zeek does not know.
    Unknown,
    /// The timer ran out.
    Timeout,
    /// Three duplicate acknowledgements.
    Fast,
    /// Fewer than three.
    FastSpeculative,
    /// A further segment of a recovery.
    Recovery,
    /// SACK blocks.
    Sack,
    /// The timer ran out again.
    TimeoutAgain,
    /// The timer ran out, and there were no duplicate acknowledgements.
    TimeoutWithoutDuplicates,
    /// The highest SACK block.
    Fack,
}

/// `reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The same segment was seen before.
    SeenBefore,
    /// It spans what was seen before.
    SpansPrevious,
    /// All of it was acknowledged.
    Acknowledged,
    /// A part of it was.
    PartlyAcknowledged,
    /// Its timestamp is younger than those of the segments around it.
    Timestamp,
    /// What it acknowledges is.
    Acknowledgement,
    /// It fills a gap.
    FillsGap,
}

/// Every labelled retransmission of a capture, in order of time; `None` if it is not labelled.
///
/// # Panics
/// A row is not understood.
pub fn labels(capture: &Path) -> Option<Vec<Retransmission>> {
    let name = capture.file_name()?.to_str()?;
    let stem = name.split_once(".pcap")?.0;
    let log = capture.parent()?.join("tcprs-labels").join(stem).join("tcpretransmissions.log");
    let text = std::fs::read_to_string(log).ok()?;
    Some(parse(&text).unwrap_or_else(|line| panic!("{stem}: {line:?} is no row")))
}

/// Rows by the names of their columns.
///
/// # Errors
/// The line that is not understood.
pub fn parse(text: &str) -> Result<Vec<Retransmission>, &str> {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("#fields\t") {
            columns = names.split('\t').collect();
        }
        if !line.starts_with('#') {
            rows.push(row(&columns, line).ok_or(line)?);
        }
    }
    Ok(rows)
}

fn row(columns: &[&str], line: &str) -> Option<Retransmission> {
    let cells: Vec<&str> = line.split('\t').collect();
    let cell = |name| {
        let place = columns.iter().position(|column| *column == name)?;
        cells.get(place).copied()
    };
    let end = |address, port| {
        let address: IpAddr = cell(address)?.parse().ok()?;
        Some(SocketAddr::new(address, cell(port)?.parse().ok()?))
    };
    let originator = end("id.orig_h", "id.orig_p")?;
    let responder = end("id.resp_h", "id.resp_p")?;
    let (from, to) = match cell("orig")? {
        "T" => (originator, responder),
        "F" => (responder, originator),
        _ => return None,
    };
    let at_s = cell("ts")?.parse().ok()?;
    let seq = cell("seq")?.parse().ok()?;
    let (cause, evidence) = (cause(cell("rtype")?)?, evidence(cell("reason")?)?);
    Some(Retransmission { at_s, from, to, seq, cause, evidence })
}

fn cause(number: &str) -> Option<Cause> {
    Some(match number {
        "0" => Cause::Unknown,
        "1" => Cause::Timeout,
        "2" => Cause::Fast,
        "3" => Cause::FastSpeculative,
        "5" => Cause::Recovery,
        "13" => Cause::Sack,
        "14" => Cause::TimeoutAgain,
        "15" => Cause::TimeoutWithoutDuplicates,
        "16" => Cause::Fack,
        _ => return None,
    })
}

fn evidence(number: &str) -> Option<Evidence> {
    Some(match number {
        "1" => Evidence::SeenBefore,
        "2" => Evidence::SpansPrevious,
        "3" => Evidence::Acknowledged,
        "4" => Evidence::PartlyAcknowledged,
        "5" => Evidence::Timestamp,
        "6" => Evidence::Acknowledgement,
        "7" => Evidence::FillsGap,
        _ => return None,
    })
}
