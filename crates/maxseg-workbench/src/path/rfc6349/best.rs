//! What a direction carries, by all that was measured of it.

use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_core::rfc6349::{RunMetrics, TrainLimit, TrainsFound};

use crate::path::bottleneck::BottleneckRate;
use crate::path::bulk::{Filled, packet_share};

/// The payload per second that the path carries: at least what any run reached. What was to be expected is by that, and so is every share
/// of the BDP. Where losses without a queue hold it, it may be policed: what passes in a short step has a burst in it.
pub(super) fn best_bps(
    filled: &Filled,
    (found, trains): (&BottleneckRate, Option<&TrainsFound>),
    runs: &[(RunMetrics, Vec<LimitShare>)],
    swept: &[(u32, Option<RunMetrics>)],
) -> f64 {
    let is_policed = filled.limits.first().is_some_and(|one| one.kind == LimitedBy::Congestion)
        || trains.is_some_and(|found| found.limit == TrainLimit::Policer);
    let share = packet_share(&filled.result);
    let of_runs = runs.iter().map(|(run, _)| run.throughput_bps).fold(0.0, f64::max);
    if is_policed {
        let lasting = found.without_burst(trains).map_or(0.0, |bps| bps / share);
        let longest = without_burst(lasting, of_runs);
        return without_burst(longest, filled.run.throughput_bps);
    }
    let of_steps = swept.iter().filter_map(|(_, run)| Some(run.as_ref()?.throughput_bps));
    let of_steps = of_steps.fold(filled.run.throughput_bps.max(found.bps / share), f64::max);
    if filled.result.has_sockets {
        return of_steps.max(of_runs);
    }
    without_held(of_runs, of_steps, filled.held_share())
}

/// The rate of a path by iperf3's counts: the longer run's, unless the shorter ones have more than they may have held back.
fn without_held(longer_bps: f64, shorter_bps: f64, held: f64) -> f64 {
    if shorter_bps > (1.0 + held) * longer_bps { shorter_bps } else { longer_bps }
}

/// The rate of a policed path. The bucket of a policer fills while its losses hold TCP back, and what it holds counts once more in
/// each transfer, the more the shorter that is; of the trains it does not, which are judged when it is empty. So the longer
/// measurement counts, unless a shorter one has more than a burst besides: then more connections, or a longer time, carry more.
fn without_burst(longer_bps: f64, shorter_bps: f64) -> f64 {
    const BURST: f64 = 1.2;
    if shorter_bps > BURST * longer_bps { shorter_bps } else { longer_bps }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_no_rate_and_more_connections_are() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(without_burst(20.0, 21.04), 20.0), "256 KiB in 2 s at 20 Mbit/s");
        assert!(near(without_burst(8.0, 24.0), 24.0), "losses hold one connection more than four");
        assert!(near(without_burst(0.0, 5.0), 5.0), "nothing longer was measured");
        assert!(near(without_burst(20.0, 19.0), 20.0));
    }

    #[test]
    fn what_was_held_back_is_no_rate() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(without_held(19.3, 20.7, 0.12), 19.3), "160 ms in 1.3 s");
        assert!(near(without_held(15.0, 20.7, 0.12), 20.7), "one connection is slower");
        assert!(near(without_held(0.0, 20.7, 0.12), 20.7), "nothing longer was measured");
        assert!(near(without_held(19.3, 18.0, 0.12), 19.3));
    }
}
