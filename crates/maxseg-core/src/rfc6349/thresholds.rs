//! Thresholds. The RFC has none: they are the tester's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunMetrics;

/// What a path has to reach; `None` for what is only measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thresholds {
    /// The most that the transfer time ratio may be.
    pub transfer_time_ratio_max: Option<f64>,
    /// The least that the efficiency may be, 0 to 1.
    pub efficiency_min: Option<f64>,
    /// The most that the buffer delay may be, as a share of the baseline.
    pub buffer_delay_max: Option<f64>,
    /// The least throughput.
    pub throughput_min_bps: Option<f64>,
}

/// What a threshold is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// §4.1.
    TransferTimeRatio,
    /// §4.2.
    Efficiency,
    /// §4.3.
    BufferDelay,
    /// Payload a second.
    Throughput,
}

/// Whether a threshold was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It was.
    Pass,
    /// It was not.
    Fail,
    /// The metric was not measured.
    Unknown,
}

/// A threshold, and what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Of what.
    pub metric: Metric,
    /// Measured; shares 0 to 1, bits a second.
    pub measured: Option<f64>,
    /// The most or the least that it may be.
    pub threshold: f64,
    /// Whether it was met.
    pub verdict: Verdict,
}

/// A metric with its threshold, and whether that is a least value.
type Row = (Metric, Option<f64>, Option<f64>, bool);

/// The thresholds that were given, each with its verdict.
pub fn judge(thresholds: &Thresholds, run: &RunMetrics) -> Vec<Check> {
    let rows: [Row; 4] = [
        (
            Metric::TransferTimeRatio,
            thresholds.transfer_time_ratio_max,
            run.transfer_time_ratio,
            false,
        ),
        (Metric::Efficiency, thresholds.efficiency_min, run.efficiency, true),
        (Metric::BufferDelay, thresholds.buffer_delay_max, run.buffer_delay, false),
        (Metric::Throughput, thresholds.throughput_min_bps, Some(run.throughput_bps), true),
    ];
    let check = |(metric, threshold, measured, is_least): Row| {
        let threshold: f64 = threshold?;
        let is_met = |value: f64| if is_least { value >= threshold } else { value <= threshold };
        let verdict = match measured.map(is_met) {
            Some(true) => Verdict::Pass,
            Some(false) => Verdict::Fail,
            None => Verdict::Unknown,
        };
        Some(Check { metric, measured, threshold, verdict })
    };
    rows.into_iter().filter_map(check).collect()
}
