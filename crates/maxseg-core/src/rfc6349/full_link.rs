//! Limits of a run that kept a link full: what its socket calls losses or a congestion window is the link.

use super::RunMetrics;
use crate::outcome::{LimitShare, LimitedBy};

/// The link is full from this share of the highest rate of any run on.
const FULL: f64 = 0.9;
/// Packets queue where the mean round trip is longer by this share, and by this much in seconds: a socket at one moment may see the
/// queue that its own losses have just emptied, a run does not.
const QUEUE: f64 = 0.1;
const QUEUE_S: f64 = 0.001;

/// The limits of a run, where `best_bps` is the most that any run reached. A queue that is full drops packets: with a rate as high as
/// any and a queue, these losses are the link's, and `congestion` is for losses that leave the link idle.
pub fn with_full_link(
    limits: &[LimitShare],
    run: &RunMetrics,
    baseline_s: f64,
    best_bps: f64,
) -> Vec<LimitShare> {
    let rise = run.rtt_mean_s.map_or(0.0, |mean| mean - baseline_s);
    let is_queue = rise >= QUEUE_S && rise >= QUEUE * baseline_s;
    let is_full = is_queue && run.throughput_bps >= FULL * best_bps;
    let is_of_link = |kind| matches!(kind, LimitedBy::Congestion | LimitedBy::StartUp);
    let mut merged: Vec<LimitShare> = Vec::new();
    for limit in limits {
        let kind =
            if is_full && is_of_link(limit.kind) { LimitedBy::Bandwidth } else { limit.kind };
        match merged.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.share += limit.share,
            None => merged.push(LimitShare { kind, share: limit.share }),
        }
    }
    merged.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.kind.cmp(&b.kind)));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc6349::Equilibrium;

    #[test]
    fn losses_of_a_full_queue_are_the_links() {
        let run = |bps, rtt| RunMetrics {
            connections: 1,
            equilibrium: Equilibrium { from_s: 1.0, is_after_slow_start: true },
            counted_s: 29.0,
            payload_bytes: 0,
            throughput_bps: bps,
            connection_bps: vec![bps],
            transmitted_bytes: 0,
            retransmitted_bytes: 0,
            efficiency: Some(0.999),
            rtt_mean_s: Some(rtt),
            buffer_delay: None,
            transfer_time_ratio: None,
            peak_delivery_bps: None,
            window_bytes: None,
            seconds: Vec::new(),
        };
        let limits = [
            LimitShare { kind: LimitedBy::Congestion, share: 0.7 },
            LimitShare { kind: LimitedBy::Bandwidth, share: 0.2 },
            LimitShare { kind: LimitedBy::Application, share: 0.1 },
        ];
        let first = |bps, rtt| {
            let found = with_full_link(&limits, &run(bps, rtt), 0.020, 10e6);
            (found[0].kind, (found[0].share * 10.0).round())
        };
        assert_eq!(first(9.8e6, 0.026), (LimitedBy::Bandwidth, 9.0));
        assert_eq!(first(9.8e6, 0.0201), (LimitedBy::Congestion, 7.0), "no queue: a policer");
        assert_eq!(first(5e6, 0.026), (LimitedBy::Congestion, 7.0), "another run was faster");
    }
}
