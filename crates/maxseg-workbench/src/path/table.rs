//! Segment sizes and windows on the real path, and as engines predict them: rate, ping under load, seconds in flight.

mod predicted;

use maxseg_core::outcome::Outcome;
use maxseg_linux::far_end::{BulkPlan, BulkResult, FarEndError};
use maxseg_wire::responder::Towards;
use schemars::JsonSchema;
use serde::Serialize;

use super::bottleneck::{BottleneckRate, QueueCounts};
use super::bulk::{metrics, plan_of, segment_bytes, window_of};
use super::far_end::{Baseline, FarEnd, direction_word, median_s, sorted_trips};
use super::rtt::percentile;
use super::{PathObserver, PathReport, TableOptions};

/// Segment sizes of the rows; the fourth is what the path carries.
const SEGMENTS: [u32; 3] = [536, 1024, 1280];
/// Windows of the rows, by the product of bandwidth and delay.
const WINDOWS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
const TOWARDS: Towards = Towards::Client;

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SizeTable {
    /// `download`.
    pub direction: String,
    /// The rows: segment sizes, for each of them windows, and for each of these what was measured and what engines predict.
    pub rows: Vec<SizeRow>,
    /// The measured row that is recommended; null where none has a rate.
    pub recommended: Option<usize>,
    /// Why.
    pub because: Option<String>,
    /// What the queue before the narrowest link counts, by the rows of small and of large segments that fill it; null where they
    /// do not tell.
    pub queue_counts: Option<QueueCounts>,
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
    /// Median ping meanwhile; the mean where an engine predicts it.
    pub ping_s: Option<f64>,
    /// The window by the rate: for how long what is in flight lasts.
    pub in_flight_s: Option<f64>,
    /// All that is known of the run, as `maxseg run` has it.
    pub outcome: Outcome,
}

impl SizeRow {
    /// Whether it was measured.
    pub fn is_measured(&self) -> bool {
        self.engine == MEASURED
    }
}

const MEASURED: &str = "measured";

/// Measures the rows, downloading, and has engines run them, into the report.
pub(super) fn table(
    options: &TableOptions,
    end: &mut FarEnd<'_>,
    report: &mut PathReport,
    observer: &mut dyn PathObserver,
    baseline: Option<&Baseline>,
) -> Result<(), FarEndError> {
    let direction = direction_word(TOWARDS).to_owned();
    let mut made = SizeTable {
        direction,
        rows: Vec::new(),
        recommended: None,
        because: None,
        queue_counts: None,
    };
    let rate = report.bottleneck.and_then(|found| found.reverse_bps().or(found.forward_bps()));
    let used = report.bottleneck.and_then(|found| found.reverse.or(found.forward));
    if used.as_ref().is_some_and(BottleneckRate::is_lower_bound) {
        report.notes.push(
            "table: its windows are by the product of delay and a rate that is a lower bound: wider ones may carry more"
                .to_owned(),
        );
    }
    let known = baseline.zip(rate);
    let mut measured = Vec::new();
    let ended =
        known.map_or(Ok(()), |known| rows(options, end, report, observer, known, &mut measured));
    made.queue_counts = known.and_then(|(baseline, _)| queue_counts(&measured, baseline.rtt_s));
    report.table = Some(made.clone());
    for (row, segment) in measured {
        let window = row.window_bytes;
        made.rows.push(row);
        made.rows.extend(predicted::rows(options, report, segment, window));
    }
    made.recommended = recommended(&made.rows);
    made.because = made.recommended.and_then(|at| reason(&made.rows, at));
    report.table = Some(made);
    ended
}

/// Appends the rows with the segments that were asked for, those before a fault too: what is measured stays in the report.
fn rows(
    options: &TableOptions,
    end: &mut FarEnd<'_>,
    report: &mut PathReport,
    observer: &mut dyn PathObserver,
    (baseline, rate): (&Baseline, f64),
    rows: &mut Vec<(SizeRow, Option<u32>)>,
) -> Result<(), FarEndError> {
    let bdp = baseline.rtt_s * rate / 8.0;
    let sizes = SEGMENTS.map(Some).into_iter().chain([None]);
    for (segment, of_bdp) in sizes.flat_map(|size| WINDOWS.map(|window| (size, window))) {
        let window = window_of(of_bdp * bdp, segment.unwrap_or(1448)).min(end.most_window());
        observer.on_step(&format!("table: row {} of 16", rows.len() + 1));
        let mss = segment.map(option_of);
        let plan = BulkPlan { window: Some(window), mss, ..plan_of(TOWARDS, 1, options.row) };
        let result = end.bulk_with_window(&plan, baseline.calm_s(), &mut report.notes)?;
        let Some(result) = result else { continue };
        rows.push((measured_row(&result, options, baseline, (segment, window)), segment));
    }
    Ok(())
}

/// The option that makes segments of this size: it counts the bytes that timestamps take.
const fn option_of(segment: u32) -> u32 {
    /// Bytes of timestamps in every segment.
    const TIMESTAMPS: u32 = 12;
    segment + TIMESTAMPS
}

fn measured_row(
    result: &BulkResult,
    options: &TableOptions,
    baseline: &Baseline,
    (segment, window): (Option<u32>, u32),
) -> SizeRow {
    let run = metrics(result, options.row.as_secs_f64(), Some(baseline.rtt_s));
    let rate_bps = run.as_ref().map(|run| run.throughput_bps).filter(|rate| *rate > 0.0);
    let mss_bytes = segment_bytes(result).or(segment).unwrap_or_default();
    let trips = sorted_trips(&result.pings);
    let count = trips.len() as f64;
    SizeRow {
        engine: MEASURED.to_owned(),
        mss_bytes,
        window_bytes: window,
        rate_bps,
        ping_s: median_s(&result.pings),
        in_flight_s: rate_bps.map(|rate| 8.0 * f64::from(window) / rate),
        outcome: Outcome {
            goodput_bps: rate_bps,
            elapsed_s: run.as_ref().map(|run| run.counted_s),
            payload_bytes: run.as_ref().map(|run| run.payload_bytes),
            retransmitted_bytes: run.as_ref().map(|run| run.retransmitted_bytes),
            rtt_mean_s: run.as_ref().and_then(|run| run.rtt_mean_s),
            ping_mean_s: (count > 0.0).then(|| trips.iter().sum::<f64>() / count),
            ping_p99_s: percentile(&trips, 99),
            mss_used_bytes: Some(mss_bytes.into()),
            ..Outcome::default()
        },
    }
}

/// What the queue counts, by the longest pings of the rows that fill the link. A queue of bytes holds as long whatever the segments are;
/// in a queue of packets small ones wait as much shorter as they are smaller.
fn queue_counts(rows: &[(SizeRow, Option<u32>)], baseline_s: f64) -> Option<QueueCounts> {
    /// Less is no queue that is told from what hosts take.
    const LEAST_S: f64 = 0.004;
    /// Of the highest rate of packets: losses that are not the queue's keep small segments farther below it.
    const FILLS: f64 = 0.85;
    /// Headers with timestamps, of IPv4.
    const HEADERS: f64 = 52.0;
    let packet_bps = |row: &SizeRow| {
        let payload = f64::from(row.mss_bytes.max(1));
        row.rate_bps.unwrap_or(0.0) * (payload + HEADERS) / payload
    };
    let best = rows.iter().map(|(row, _)| packet_bps(row)).fold(0.0, f64::max);
    let of = |wanted: Option<u32>| {
        rows.iter().filter(move |(_, segment)| *segment == wanted).map(|(row, _)| row)
    };
    let wait = |wanted: Option<u32>| {
        let full = of(wanted).filter(|row| packet_bps(row) >= FILLS * best);
        full.filter_map(|row| Some(row.ping_s? - baseline_s)).max_by(f64::total_cmp)
    };
    let (small, large) = (SEGMENTS.first().copied(), None);
    let is_lossy = of(small).any(|row| row.outcome.retransmitted_bytes.unwrap_or(0) > 0);
    let (wait_small, wait_large) = (wait(small)?, wait(large)?);
    let (small_mss, large_mss) = (of(small).next()?.mss_bytes, of(large).next()?.mss_bytes);
    if !is_lossy || wait_large < LEAST_S || 2 * small_mss > large_mss {
        return None;
    }
    let of_packets = f64::from(small_mss) / f64::from(large_mss);
    // In the middle of both, as ratios go.
    let is_packets = wait_small / wait_large < of_packets.sqrt();
    Some(if is_packets { QueueCounts::Packets } else { QueueCounts::Bytes })
}

/// Rates that differ by less are equal.
const EQUAL: f64 = 0.95;

/// Of the rows that reach the best rate, the one with the shortest ping.
fn recommended(rows: &[SizeRow]) -> Option<usize> {
    let best = best_rate(rows)?;
    let measured = rows.iter().enumerate().filter(|(_, row)| row.is_measured());
    let good = measured.filter(|(_, row)| row.rate_bps >= Some(EQUAL * best));
    let ping = |row: &SizeRow| row.ping_s.or(row.in_flight_s).unwrap_or(f64::INFINITY);
    good.min_by(|(_, a), (_, b)| ping(a).total_cmp(&ping(b))).map(|(at, _)| at)
}

fn best_rate(rows: &[SizeRow]) -> Option<f64> {
    let measured = rows.iter().filter(|row| row.is_measured());
    measured.filter_map(|row| row.rate_bps).max_by(f64::total_cmp)
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
    fn a_queue_of_packets_is_shorter_for_small_segments() {
        let row = |mss_bytes, ping_s: f64, resent: u64| SizeRow {
            engine: "measured".to_owned(),
            mss_bytes,
            window_bytes: 200_000,
            rate_bps: Some(19e6),
            ping_s: Some(ping_s),
            in_flight_s: None,
            outcome: Outcome { retransmitted_bytes: Some(resent), ..Outcome::default() },
        };
        let of = |small: f64, resent, large: f64| {
            let rows = [(row(536, small, resent), Some(536)), (row(1448, large, 0), None)];
            queue_counts(&rows, 0.020)
        };
        // Measured and simulated with 60 packets, and with 90 kB, at 20 Mbit/s.
        assert_eq!(of(0.0261, 4824, 0.0495), Some(QueueCounts::Packets));
        assert_eq!(of(0.0292, 4824, 0.0492), Some(QueueCounts::Packets));
        assert_eq!(of(0.0493, 4824, 0.0492), Some(QueueCounts::Bytes));
        assert_eq!(of(0.0640, 0, 0.0598), None, "nothing is lost: the queue is deeper");
        assert_eq!(of(0.0205, 4824, 0.0206), None, "a policer has no queue");
        let lossy = SizeRow { rate_bps: Some(2e6), ..row(536, 0.0205, 4824) };
        let rows = [(lossy, Some(536)), (row(1448, 0.0492, 1448), None)];
        assert_eq!(queue_counts(&rows, 0.020), None, "random losses");
    }

    #[test]
    fn the_recommended_row_is_not_the_largest() {
        let row = |mss_bytes, window_bytes, rate: f64, ping: f64| SizeRow {
            engine: "measured".to_owned(),
            mss_bytes,
            window_bytes,
            rate_bps: Some(rate),
            ping_s: Some(ping),
            in_flight_s: None,
            outcome: Outcome::default(),
        };
        let rows =
            [row(536, 4000, 5e6, 0.02), row(1448, 8000, 9.7e6, 0.03), row(1448, 32_000, 10e6, 0.3)];
        assert_eq!(recommended(&rows), Some(1));
        let mut dreamt = row(1448, 9000, 11e6, 0.001);
        dreamt.engine = "sim".to_owned();
        let with_sim = [&[dreamt], &rows[..]].concat();
        assert_eq!(recommended(&with_sim), Some(2), "what was measured counts");
        assert!(reason(&rows, 1).unwrap().starts_with("MSS 1448 with a window of 8000 bytes: 97%"));
        assert_eq!(recommended(&[]), None);
    }
}
