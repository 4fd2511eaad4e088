//! Round trips while the path is loaded.

use maxseg_linux::far_end::Pings;
use maxseg_wire::responder::Towards;
use schemars::JsonSchema;
use serde::Serialize;

use super::bulk::Filled;
use super::far_end::{Baseline, direction_word, median_s, sorted_trips};
use super::rtt::percentile;

/// How the grade comes about.
pub const GRADE_RULE: &str = "grade: the median ping under load less the idle one: A+ below 5 ms, A below 30 ms, B below 60 ms, C below 200 ms, D below 400 ms, F above";

/// Round trips at one load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnderLoadRow {
    /// What loads the path: `idle`, `download`, `upload`.
    pub load: String,
    /// Payload a second meanwhile, bits; null when idle.
    pub rate_bps: Option<f64>,
    /// Pings: small messages over a TCP connection of their own.
    pub pings: usize,
    /// Least round trip.
    pub rtt_min_s: Option<f64>,
    /// Median round trip.
    pub rtt_median_s: Option<f64>,
    /// Mean round trip.
    pub rtt_mean_s: Option<f64>,
    /// 90th percentile; of fewer than ten the largest.
    pub rtt_p90_s: Option<f64>,
    /// 99th percentile; of fewer than a hundred the largest.
    pub rtt_p99_s: Option<f64>,
    /// Sixty seconds by the mean round trip.
    pub round_trips_per_minute: Option<f64>,
    /// The grade of the rise of the median; null when idle.
    pub grade: Option<&'static str>,
}

/// Bounds of the grades, seconds of rise.
const GRADES: [(f64, &str); 5] =
    [(0.005, "A+"), (0.030, "A"), (0.060, "B"), (0.200, "C"), (0.400, "D")];

/// The grade of a rise.
fn grade(rise_s: f64) -> &'static str {
    GRADES.iter().find(|(bound, _)| rise_s < *bound).map_or("F", |(_, grade)| grade)
}

/// Without load; `None` without pings.
pub(super) fn idle_row(baseline: Option<&Baseline>) -> Option<UnderLoadRow> {
    let baseline = baseline.filter(|base| !base.pings.trips.is_empty())?;
    Some(row("idle", None, &baseline.pings))
}

/// While a path was filled; `None` where connections waited for their timers instead.
pub(super) fn loaded_row(
    towards: Towards,
    filled: &Filled,
    baseline: Option<&Baseline>,
) -> Option<UnderLoadRow> {
    if filled.is_stalled() {
        return None;
    }
    let from = filled.run.equilibrium.from_s;
    let mut pings = filled.pings.clone();
    // While slow start lasts, the load is not there yet.
    pings.trips.retain(|(at, _)| at.as_secs_f64() >= from);
    let mut row = row(direction_word(towards), Some(filled.run.throughput_bps), &pings);
    let idle = baseline.and_then(|base| median_s(&base.pings));
    row.grade = idle.zip(row.rtt_median_s).map(|(idle, loaded)| grade(loaded - idle));
    Some(row)
}

fn row(load: &str, rate_bps: Option<f64>, pings: &Pings) -> UnderLoadRow {
    let trips = sorted_trips(pings);
    let count = trips.len();
    let mean = (count > 0).then(|| trips.iter().sum::<f64>() / count as f64);
    UnderLoadRow {
        load: load.to_owned(),
        rate_bps,
        pings: count,
        rtt_min_s: trips.first().copied(),
        rtt_median_s: median_s(pings),
        rtt_mean_s: mean,
        rtt_p90_s: percentile(&trips, 90),
        rtt_p99_s: percentile(&trips, 99),
        round_trips_per_minute: mean.map(|mean| 60.0 / mean),
        grade: None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_row_has_its_numbers_and_a_grade_its_bounds() {
        let trips = (1..=100).map(|n| (Duration::ZERO, Duration::from_millis(n))).collect();
        let row = row("idle", None, &Pings { trips, kernel_min: None });
        assert_eq!((row.rtt_min_s, row.rtt_p99_s), (Some(0.001), Some(0.099)));
        assert!((row.round_trips_per_minute.unwrap() - 60.0 / 0.0505).abs() < 1e-6);
        let grades = [0.0, 0.0049, 0.005, 0.059, 0.1, 0.3, 0.4].map(grade);
        assert_eq!(grades, ["A+", "A+", "A", "B", "C", "D", "F"]);
    }
}
