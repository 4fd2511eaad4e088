//! Both directions at once, after each by itself (RFC 6349 §3.3).

use maxseg_core::rfc6349::RunMetrics;
use maxseg_linux::far_end::{BulkPlan, FarEndError};
use maxseg_wire::responder::Towards;
use schemars::JsonSchema;
use serde::Serialize;

use super::DirectionReport;
use crate::path::FarEndOptions;
use crate::path::bulk::{metrics, plan_of};
use crate::path::far_end::{Baseline, DIRECTIONS, FarEnd, direction_word};

/// Both directions at once, several connections each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BothAtOnce {
    /// Towards the far end; null where nothing was transferred.
    pub upload: Option<RunMetrics>,
    /// From it.
    pub download: Option<RunMetrics>,
}

impl BothAtOnce {
    /// `None` where the far end cannot, as it allows too few connections or is iperf3.
    pub(super) fn measure(
        end: &mut FarEnd<'_>,
        options: &FarEndOptions,
        baseline: &Baseline,
        alone: &[DirectionReport],
    ) -> Result<Option<Self>, FarEndError> {
        let connections = options.connections.min(end.most_connections() / 2).max(1);
        let plan =
            |towards| BulkPlan { pings: None, ..plan_of(towards, connections, options.step) };
        let plans = DIRECTIONS.map(plan);
        let [upload, download] = &plans;
        let results = end.bulk_both_ways([upload, download], Some(baseline.rtt_s))?;
        let duration = options.step.as_secs_f64();
        Ok(results.map(|results| {
            let mut runs = results.iter().zip(DIRECTIONS).map(|(result, towards)| {
                let mut run = metrics(result, duration, Some(baseline.rtt_s))?;
                run.expect(ideal(alone, towards));
                Some(run)
            });
            let mut next = || runs.next().flatten();
            let (upload, download) = (next(), next());
            Self { upload, download }
        }))
    }
}

fn ideal(alone: &[DirectionReport], towards: Towards) -> Option<f64> {
    let word = direction_word(towards);
    alone.iter().find(|direction| direction.direction == word)?.ideal_bps
}
