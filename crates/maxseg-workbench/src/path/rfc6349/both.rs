//! Both directions at once, after each by itself (RFC 6349 §3.3).

use maxseg_linux::far_end::{BulkPlan, FarEndError};
use maxseg_wire::responder::Towards;

use super::report::{BothAtOnce, DirectionReport};
use crate::path::FarEndOptions;
use crate::path::bulk::{metrics, plan_of};
use crate::path::far_end::{Baseline, DIRECTIONS, FarEnd, direction_word};

/// `None` where the far end cannot, as it allows too few connections or is iperf3.
pub(super) fn both_at_once(
    end: &mut FarEnd<'_>,
    options: &FarEndOptions,
    baseline: &Baseline,
    alone: &[DirectionReport],
) -> Result<Option<BothAtOnce>, FarEndError> {
    let connections = options.connections.min(end.most_connections() / 2).max(1);
    let plan = |towards| BulkPlan { pings: None, ..plan_of(towards, connections, options.step) };
    let plans = DIRECTIONS.map(plan);
    let [upload, download] = &plans;
    let results = end.bulk_both_ways([upload, download], Some(baseline.calm_s()))?;
    let duration = options.step.as_secs_f64();
    Ok(results.map(|results| {
        let mut runs = results.iter().zip(DIRECTIONS).map(|(result, towards)| {
            let mut run = metrics(result, duration, Some(baseline.rtt_s))?;
            run.expect(ideal(alone, towards));
            Some(run)
        });
        let mut next = || runs.next().flatten();
        let (upload, download) = (next(), next());
        BothAtOnce { upload, download }
    }))
}

fn ideal(alone: &[DirectionReport], towards: Towards) -> Option<f64> {
    let word = direction_word(towards);
    alone.iter().find(|direction| direction.direction == word)?.ideal_bps
}
