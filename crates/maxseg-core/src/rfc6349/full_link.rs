//! Limits of a run that kept a link full: what its socket calls losses or a congestion window is the link.

use super::interpretation::{FULL, is_queue};
use crate::outcome::{LimitShare, LimitedBy};

/// How a run loaded a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkLoad {
    /// The rate of the run.
    pub rate_bps: f64,
    /// The most that any run reached.
    pub best_bps: f64,
    /// The mean round trip meanwhile; `None` where it is not known.
    pub rtt_mean_s: Option<f64>,
    /// The round trip without load.
    pub baseline_s: f64,
}

impl LinkLoad {
    /// Whether the rate was as high as any while packets queued. A socket at one moment may see the queue that its own losses have
    /// just emptied, a run does not.
    fn is_full(&self) -> bool {
        let rise = self.rtt_mean_s.map_or(0.0, |mean| mean - self.baseline_s);
        is_queue(rise, self.baseline_s) && self.rate_bps >= FULL * self.best_bps
    }
}

/// The limits of a run that loaded its link so. A queue that is full drops packets: with a rate as high as any and a queue, these
/// losses are the link's, and `congestion` is for losses that leave the link idle.
pub fn with_full_link(limits: &[LimitShare], load: &LinkLoad) -> Vec<LimitShare> {
    let is_full = load.is_full();
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

    #[test]
    fn losses_of_a_full_queue_are_the_links() {
        let limits = [
            LimitShare { kind: LimitedBy::Congestion, share: 0.7 },
            LimitShare { kind: LimitedBy::Bandwidth, share: 0.2 },
            LimitShare { kind: LimitedBy::Application, share: 0.1 },
        ];
        let first = |rate_bps, rtt| {
            let (best_bps, rtt_mean_s, baseline_s) = (10e6, Some(rtt), 0.020);
            let load = LinkLoad { rate_bps, best_bps, rtt_mean_s, baseline_s };
            let found = with_full_link(&limits, &load);
            (found[0].kind, (found[0].share * 10.0).round())
        };
        assert_eq!(first(9.8e6, 0.026), (LimitedBy::Bandwidth, 9.0));
        assert_eq!(first(9.8e6, 0.0201), (LimitedBy::Congestion, 7.0), "no queue: a policer");
        assert_eq!(first(5e6, 0.026), (LimitedBy::Congestion, 7.0), "another run was faster");
    }
}
