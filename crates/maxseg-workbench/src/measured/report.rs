//! The keys of a report that are read; `report::path` writes them.

use maxseg_core::outcome::{LimitShare, Outcome};
use serde::Deserialize;
use serde_json::Value;

use super::{Direction, Measurement, Window};
use crate::error::MeasuredError;
use crate::json_words;

/// What `maxseg path --json` prints.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) address: String,
    path_mtu: PathMtu,
    under_load: Vec<UnderLoad>,
    table: Option<Table>,
    rfc6349: Option<Rfc6349>,
    pub(super) far_end_error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PathMtu {
    forward_bytes: Option<u64>,
    reverse_bytes: Option<u64>,
}

/// A row of round trips under load.
#[derive(Debug, Deserialize)]
struct UnderLoad {
    load: String,
    rate_bps: Option<f64>,
    rtt_mean_s: Option<f64>,
    rtt_p99_s: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Table {
    direction: Direction,
    rows: Vec<TableRow>,
}

#[derive(Debug, Deserialize)]
struct TableRow {
    engine: String,
    mss_bytes: u64,
    window_bytes: u64,
    outcome: Outcome,
}

#[derive(Debug, Deserialize)]
struct Rfc6349 {
    directions: Vec<OneWay>,
}

#[derive(Debug, Deserialize)]
struct OneWay {
    direction: Direction,
    mss_bytes: u64,
    runs: Vec<Run>,
    limits: Vec<LimitShare>,
}

/// One connection in equilibrium.
#[derive(Debug, Deserialize)]
struct Run {
    counted_s: f64,
    payload_bytes: u64,
    throughput_bps: f64,
    retransmitted_bytes: u64,
    rtt_mean_s: Option<f64>,
    window_bytes: Option<u64>,
}

/// Keys that every report has, and no other document of this program.
const KEYS: [&str; 3] = ["path_mtu", "under_load", "under_load_grade"];

pub(super) const TABLE: &str = "a row of its table";
const RFC6349: &str = "its test of RFC 6349";
const UNDER_LOAD: &str = "bulk data";

/// IP and TCP headers without options, and what timestamps add to them.
const HEADERS_V4: u64 = 40;
const HEADERS_V6: u64 = 60;
const TIMESTAMPS: u64 = 12;

impl Report {
    pub(super) fn parse(bytes: &[u8], file: &str) -> Result<Self, MeasuredError> {
        let unreadable = |what: String| MeasuredError::Unreadable { file: file.to_owned(), what };
        let document: Value = json_words::parse(bytes).map_err(unreadable)?;
        if let Some(missing) = KEYS.into_iter().find(|key| document.get(key).is_none()) {
            return Err(MeasuredError::NoReport { file: file.to_owned(), missing });
        }
        let version = &document["schema_version"];
        if version.as_u64() != Some(MeasuredError::VERSION) {
            let version = version.to_string();
            return Err(MeasuredError::Version { file: file.to_owned(), version });
        }
        json_words::parse(bytes).map_err(unreadable)
    }

    /// The rows of the table; without one, the runs of RFC 6349; without these, bulk data each way.
    pub(super) fn measurements(&self) -> Vec<Measurement> {
        let table = self.table.as_ref().map_or_else(Vec::new, Table::measurements);
        let tested = || self.rfc6349.iter().flat_map(|test| &test.directions);
        match table.is_empty() {
            false => table,
            true if tested().any(|way| !way.runs.is_empty()) => {
                tested().flat_map(OneWay::measurements).collect()
            }
            true => self.under_load.iter().filter_map(|load| self.bulk(load)).collect(),
        }
    }

    fn bulk(&self, load: &UnderLoad) -> Option<Measurement> {
        let (direction, mtu) = match load.load.as_str() {
            "upload" => (Direction::Upload, self.path_mtu.forward_bytes),
            "download" => (Direction::Download, self.path_mtu.reverse_bytes),
            _ => return None,
        };
        let headers = if self.address.contains(':') { HEADERS_V6 } else { HEADERS_V4 };
        let largest = mtu?.checked_sub(headers + TIMESTAMPS)?;
        let outcome = Outcome {
            goodput_bps: Some(load.rate_bps?),
            ping_mean_s: load.rtt_mean_s,
            ping_p99_s: load.rtt_p99_s,
            ..Outcome::default()
        };
        // Whether timestamps are in use is not in the report.
        let segments = vec![largest, largest + TIMESTAMPS];
        let window = Window::Automatic(None);
        Some(Measurement { part: UNDER_LOAD, direction, segments, window, outcome })
    }
}

impl Table {
    fn measurements(&self) -> Vec<Measurement> {
        let rows = self.rows.iter().filter(|row| row.engine == "measured");
        let measurement = |row: &TableRow| Measurement {
            part: TABLE,
            direction: self.direction,
            segments: vec![row.mss_bytes],
            window: Window::Set(row.window_bytes),
            outcome: row.outcome.clone(),
        };
        rows.filter(|row| row.outcome.goodput_bps.is_some()).map(measurement).collect()
    }
}

impl OneWay {
    fn measurements(&self) -> Vec<Measurement> {
        // The limits are those of one of the runs, and of which is only known where there is one.
        let limits = if self.runs.len() == 1 { self.limits.clone() } else { Vec::new() };
        let measurement = |run: &Run| Measurement {
            part: RFC6349,
            direction: self.direction,
            segments: vec![self.mss_bytes],
            window: Window::Automatic(run.window_bytes),
            outcome: Outcome {
                goodput_bps: Some(run.throughput_bps),
                elapsed_s: Some(run.counted_s),
                payload_bytes: Some(run.payload_bytes),
                retransmitted_bytes: Some(run.retransmitted_bytes),
                rtt_mean_s: run.rtt_mean_s,
                mss_used_bytes: Some(self.mss_bytes),
                limited_by: limits.first().map(|limit| limit.kind),
                limits: limits.clone(),
                ..Outcome::default()
            },
        };
        self.runs.iter().map(measurement).collect()
    }
}
