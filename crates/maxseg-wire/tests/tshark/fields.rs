//! What the installed tshark says of each TCP segment.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use maxseg_wire::tshark::{Flag, Marks};

/// The version whose rules are followed.
const VERSION: &str = "4.0.";

/// Columns beside those of the flags.
const COLUMNS: [&str; 8] = [
    "frame.number",
    "frame.protocols",
    "tcp.stream",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.rto",
    "tcp.analysis.bytes_in_flight",
    "tcp.analysis.initial_rtt",
    "tcp.window_size",
];

/// What is compared of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    stream: usize,
    flags: Vec<&'static str>,
    ack_rtt_nanos: Option<i64>,
    rto_nanos: Option<i64>,
    bytes_in_flight: Option<u32>,
    initial_rtt_nanos: Option<i64>,
    window_bytes: u32,
}

impl From<Marks> for Said {
    fn from(marks: Marks) -> Self {
        Self {
            stream: marks.stream,
            flags: marks.flags.iter().map(Flag::name).collect(),
            ack_rtt_nanos: marks.ack_rtt_nanos,
            rto_nanos: marks.rto_nanos,
            bytes_in_flight: marks.bytes_in_flight,
            initial_rtt_nanos: marks.initial_rtt_nanos,
            window_bytes: marks.window_bytes,
        }
    }
}

/// Why there is nothing to compare with; `None` if there is.
pub(crate) fn missing() -> Option<String> {
    let output = Command::new("tshark").arg("--version").output();
    let Ok(output) = output else { return Some("tshark is not installed".to_owned()) };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().nth(2).unwrap_or_default().to_owned();
    (!version.starts_with(VERSION)).then(|| format!("tshark is {version}, not {VERSION}x"))
}

/// What tshark says of every frame with TCP; frames of which it says TCP only within ICMP are left out.
pub(crate) fn of(capture: &Path) -> BTreeMap<u64, Said> {
    let flags = Flag::ALL.map(|flag| format!("tcp.analysis.{}", flag.name()));
    let mut command = Command::new("tshark");
    command.args(["-n", "-Y", "tcp", "-T", "fields", "-E", "occurrence=l", "-r"]).arg(capture);
    for column in COLUMNS.into_iter().chain(flags.iter().map(String::as_str)) {
        command.args(["-e", column]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<(u64, Said)> {
    let (values, flags): (Vec<&str>, Vec<&str>) = {
        let mut cells = line.split('\t');
        (cells.by_ref().take(COLUMNS.len()).collect(), cells.collect())
    };
    let [frame, protocols, stream, ack_rtt, rto, in_flight, initial_rtt, window] = values[..]
    else {
        panic!("{line}")
    };
    if protocols.contains("icmp") {
        return None;
    }
    let flags = Flag::ALL.into_iter().zip(flags).filter(|(_, cell)| !cell.is_empty());
    let said = Said {
        stream: stream.parse().ok()?,
        flags: flags.map(|(flag, _)| flag.name()).collect(),
        ack_rtt_nanos: nanos(ack_rtt),
        rto_nanos: nanos(rto),
        bytes_in_flight: in_flight.parse().ok(),
        initial_rtt_nanos: nanos(initial_rtt),
        window_bytes: window.parse().ok()?,
    };
    Some((frame.parse().unwrap(), said))
}

/// `-1.000000500` and such, in nanoseconds.
fn nanos(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.')?;
    let nanos: i64 = format!("{whole}{part:0<9}").parse().unwrap();
    Some(nanos)
}
