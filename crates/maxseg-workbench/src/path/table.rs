//! Segment sizes and windows on the real path: rate, ping under load, seconds in flight.

use maxseg_linux::far_end::{BulkPlan, FarEndError};
use maxseg_wire::responder::Towards;
use schemars::JsonSchema;
use serde::Serialize;

use super::bulk::{metrics, plan_of, segment_bytes, window_of};
use super::far_end::{Baseline, FarEnd, direction_word, median_s};
use super::{PathObserver, PathReport, TableOptions};

/// Segment sizes of the rows; the fourth is what the path carries.
const SEGMENTS: [u32; 3] = [536, 1024, 1280];
/// Windows of the rows, by the product of bandwidth and delay.
const WINDOWS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SizeTable {
    /// `download`.
    pub direction: String,
    /// The rows: segment sizes, and for each of them windows.
    pub rows: Vec<SizeRow>,
    /// The row that is recommended; null where none has a rate.
    pub recommended: Option<usize>,
    /// Why.
    pub because: Option<String>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SizeRow {
    /// `measured`, `model` or `sim`.
    pub engine: String,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// The receiver's window.
    pub window_bytes: u32,
    /// Payload a second.
    pub rate_bps: Option<f64>,
    /// Median ping meanwhile.
    pub ping_s: Option<f64>,
    /// The window by the rate: for how long what is in flight lasts.
    pub in_flight_s: Option<f64>,
}

/// Measures the rows, downloading.
pub(super) fn table(
    options: &TableOptions,
    end: &mut FarEnd<'_>,
    report: &PathReport,
    observer: &mut dyn PathObserver,
    baseline: Option<&Baseline>,
) -> Result<SizeTable, FarEndError> {
    let towards = Towards::Client;
    let direction = direction_word(towards).to_owned();
    let none = SizeTable { direction, rows: Vec::new(), recommended: None, because: None };
    let rate = report.bottleneck.and_then(|found| found.reverse_bps.or(found.forward_bps));
    let (Some(baseline), Some(rate)) = (baseline, rate) else { return Ok(none) };
    let bdp = baseline.rtt_s * rate / 8.0;
    let mut rows = Vec::new();
    for segment in SEGMENTS.map(Some).into_iter().chain([None]) {
        for of_bdp in WINDOWS {
            let window = window_of(of_bdp * bdp, segment.unwrap_or(1448));
            observer.on_step(&format!("table: row {} of 16", rows.len() + 1));
            // The option counts 12 bytes that timestamps take from every segment.
            let mss = segment.map(|bytes| bytes + 12);
            let plan = BulkPlan { window: Some(window), mss, ..plan_of(towards, 1, options.row) };
            let result = end.bulk(&plan, Some(baseline.rtt_s))?;
            let run = metrics(&result, options.row.as_secs_f64(), Some(baseline.rtt_s), None);
            let rate_bps = run.map(|run| run.throughput_bps).filter(|rate| *rate > 0.0);
            rows.push(SizeRow {
                engine: "measured".to_owned(),
                mss_bytes: segment_bytes(&result).or(segment).unwrap_or_default(),
                window_bytes: window,
                rate_bps,
                ping_s: median_s(&result.pings),
                in_flight_s: rate_bps.map(|rate| 8.0 * f64::from(window) / rate),
            });
        }
    }
    let recommended = recommended(&rows);
    let because = recommended.and_then(|at| reason(&rows, at));
    Ok(SizeTable { rows, recommended, because, ..none })
}

/// Rates that differ by less are equal.
const EQUAL: f64 = 0.95;

/// Of the rows that reach the best rate, the one with the shortest ping.
fn recommended(rows: &[SizeRow]) -> Option<usize> {
    let best = best_rate(rows)?;
    let good = rows.iter().enumerate().filter(|(_, row)| row.rate_bps >= Some(EQUAL * best));
    let ping = |row: &SizeRow| row.ping_s.or(row.in_flight_s).unwrap_or(f64::INFINITY);
    good.min_by(|(_, a), (_, b)| ping(a).total_cmp(&ping(b))).map(|(at, _)| at)
}

fn best_rate(rows: &[SizeRow]) -> Option<f64> {
    rows.iter().filter_map(|row| row.rate_bps).max_by(f64::total_cmp)
}

fn reason(rows: &[SizeRow], at: usize) -> Option<String> {
    use maxseg_core::units::approx;
    let (row, best) = (rows.get(at)?, best_rate(rows)?);
    let share = approx::whole_percent(row.rate_bps? / best);
    let ping = row.ping_s.map_or_else(String::new, |ping| format!(" of {}", approx::time(ping)));
    Some(format!(
        "MSS {} with a window of {} bytes: {share} of the best rate, with the shortest ping{ping} of all rows within 5% of it",
        row.mss_bytes, row.window_bytes
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recommended_row_is_not_the_largest() {
        let row = |mss_bytes, window_bytes, rate: f64, ping: f64| SizeRow {
            engine: "measured".to_owned(),
            mss_bytes,
            window_bytes,
            rate_bps: Some(rate),
            ping_s: Some(ping),
            in_flight_s: None,
        };
        let rows =
            [row(536, 4000, 5e6, 0.02), row(1448, 8000, 9.7e6, 0.03), row(1448, 32_000, 10e6, 0.3)];
        assert_eq!(recommended(&rows), Some(1));
        assert!(reason(&rows, 1).unwrap().starts_with("MSS 1448 with a window of 8000 bytes: 97%"));
        assert_eq!(recommended(&[]), None);
    }
}
