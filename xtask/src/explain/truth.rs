//! What truly limited a run: by its scenario, by what its hosts and its links counted, or by second runs.
//!
//! The true limit is the one whose removal makes the transfer faster. Where a scenario has no more than one that matters
//! by design (a paced sender, a policer), it is that. Else, far from borders, it is what the counters tell
//! ([`super::facts`]); and where they leave it open, the run is repeated without each suspected limit.

use maxseg_core::diagnose::LossCause;
use maxseg_core::outcome::LimitedBy;
use serde::Serialize;

use super::lift::{Lift, SecondRun};
// circle: a run's truth is worked out where it is made or read.
use super::run::Run;
use super::setup::{Aim, Pace};
use super::stratum::Stratum;
use crate::draws::Congestion;

/// What limited a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// The limits that are right to name, the likeliest first.
    pub limits: Vec<LimitedBy>,
    /// Whether the bandwidth is that of the acknowledgements' link: the other direction would be false.
    pub is_ack_path: bool,
    /// Whether removing the acknowledgements' link and removing the data's come within the border of each other: both
    /// directions are right.
    pub is_either_way: bool,
    /// The causes of losses that are right to name.
    pub causes: Vec<LossCause>,
    /// How it is known.
    pub basis: Basis,
}

/// How the truth is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Basis {
    /// The scenario has one limit.
    Scenario,
    /// Hosts and links counted.
    Counters,
    /// Second runs without each limit.
    SecondRuns,
}

/// At a border the goodputs without either of two limits are within this share of the larger.
const BORDER: f64 = 0.1;
/// A line that is busy for a smaller share of the time is no limit.
const BUSY: f64 = 0.6;
/// From this share on it may be one in spite of losses.
const HALF_FULL_LINE: f64 = 0.45;
/// From this share on it is full.
const FULL_LINE: f64 = 0.9;
/// What makes a transfer faster by less is chance.
const FASTER: f64 = 1.1;
/// Most of the time.
const MOSTLY: f64 = 0.7;
/// A paced sender sends at its pace from this share of it on.
const ON_PACE: f64 = 0.8;

impl Truth {
    /// The truth of a run; `None` where nothing tells.
    pub fn of(run: &Run) -> Option<Self> {
        let facts = &run.facts;
        let (limits, basis) = if let Some(limits) = by_scenario(run) {
            (limits, Basis::Scenario)
        } else if run.second.is_empty() {
            (facts.limits(), Basis::Counters)
        } else {
            (limits_by_second_runs(run), Basis::SecondRuns)
        };
        let waits = limits.contains(&LimitedBy::Congestion) && facts.waits_for_timer();
        let mut once: Vec<LimitedBy> = Vec::new();
        for limit in limits.into_iter().chain(waits.then_some(LimitedBy::Rto)) {
            if !once.contains(&limit) {
                once.push(limit);
            }
        }
        let winners = by_second_runs(run);
        let (acks, data) = (winners.contains(&Lift::AckPath), winners.contains(&Lift::Rate));
        (!once.is_empty()).then(|| Self {
            limits: once,
            is_ack_path: acks && !data,
            is_either_way: acks && data,
            causes: causes(run),
            basis,
        })
    }

    /// Whether two limits are within reach of each other: the run is at a border. Losses and the timer that they wait for
    /// are one.
    pub fn is_border(&self) -> bool {
        let others = self.limits.iter().filter(|limit| **limit != LimitedBy::Rto);
        self.basis == Basis::SecondRuns && (others.count() > 1 || self.is_either_way)
    }

    /// Whether counters do not tell, so that the run is to be repeated without each limit.
    pub fn wants_second_runs(run: &Run) -> bool {
        if run.setup.suspects(true).is_empty() {
            return false;
        }
        match run.setup.stratum {
            Stratum::Paced | Stratum::Policer => false,
            Stratum::NearEnds | Stratum::AckPath | Stratum::Reordering | Stratum::CrossTraffic => {
                true
            }
            Stratum::FarEnds | Stratum::Router | Stratum::MidStream | Stratum::OneWay => {
                let is_uncounted =
                    run.setup.aim == Aim::SmallBuffer && run.setup.congestion != Congestion::Bbr;
                let limits = run.facts.limits();
                // Losses that leave the line half full may keep it less than full, or fill it before they come.
                let is_between =
                    limits == [LimitedBy::Congestion] && run.facts.line_share >= HALF_FULL_LINE;
                is_uncounted || is_between || limits.len() != 1
            }
        }
    }
}

/// The causes of losses that are right to name; none as well where a capture need not hold them: it begins late, or the
/// queue of the sender's own host refused packets, which Linux sends when there is room (`tcp_transmit_skb`,
/// `net_xmit_eval`). Where nothing was sent again, what links dropped were acknowledgements.
fn causes(run: &Run) -> Vec<LossCause> {
    let setup = &run.setup;
    if run.outcome.retransmitted_packets == Some(0) {
        return vec![LossCause::None];
    }
    let mut causes = run.facts.causes(setup.cross.is_none());
    let is_shaped = matches!(setup.pace, Some(Pace::Shaper { .. }));
    if is_shaped || setup.stratum == Stratum::MidStream {
        causes.push(LossCause::None);
    }
    causes
}

/// What the scenario alone tells; empty where the run did not come to it.
fn by_scenario(run: &Run) -> Option<Vec<LimitedBy>> {
    let (setup, facts) = (&run.setup, &run.facts);
    let on_pace = |bps: u64| facts.goodput_bps() >= ON_PACE * bps as f64;
    let limits = match (setup.stratum, setup.pace) {
        (Stratum::Paced, Some(Pace::Writes(bps))) if on_pace(bps) => {
            vec![LimitedBy::Paced, LimitedBy::Application]
        }
        (Stratum::Paced, Some(Pace::Socket(bps))) if on_pace(bps) => vec![LimitedBy::Paced],
        (Stratum::Paced, Some(Pace::Shaper { rate_bps, .. })) if on_pace(rate_bps) => {
            vec![LimitedBy::Paced, LimitedBy::Bandwidth]
        }
        (Stratum::Policer, _) if facts.policed_packets > 0 => {
            vec![LimitedBy::Congestion, LimitedBy::Bandwidth]
        }
        (Stratum::Paced | Stratum::Policer, _) => Vec::new(),
        _ => return None,
    };
    Some(limits)
}

/// The limits without which the transfer is fastest, and those without which it is nearly as fast. Where nothing makes it
/// faster, several hold at once, and one alone tells nothing.
fn by_second_runs(run: &Run) -> Vec<Lift> {
    // A faster line shortens each packet's time on it: where the line had room, it was no limit.
    let second: Vec<&SecondRun> = run
        .second
        .iter()
        .filter(|second| second.lift != Lift::Rate || run.facts.line_share >= BUSY)
        .collect();
    let most = second.iter().map(|second| second.goodput_bps).fold(0.0, f64::max);
    if second.len() < 2 && most < FASTER * run.facts.goodput_bps() {
        return Vec::new();
    }
    let mut winners: Vec<(Lift, f64)> = second
        .iter()
        .filter(|second| second.goodput_bps >= (1.0 - BORDER) * most)
        .map(|second| (second.lift, second.goodput_bps))
        .collect();
    winners.sort_by(|a, b| b.1.total_cmp(&a.1));
    winners.into_iter().map(|(lift, _)| lift).collect()
}

/// The limits that these are. Where other traffic fills the line, that is full, and what it drops is congestion; and where
/// its queue makes the round trips longer, a window that the kernel counts as full is one too.
fn limits_by_second_runs(run: &Run) -> Vec<LimitedBy> {
    let facts = &run.facts;
    let mut limits: Vec<LimitedBy> = by_second_runs(run).into_iter().map(Lift::limit).collect();
    let most = run.second.iter().map(|second| second.goodput_bps).fold(0.0, f64::max);
    if !limits.is_empty() && most < FASTER * facts.goodput_bps() {
        // Several hold at once: what hosts and links counted is as right as what came out ahead by chance.
        limits.extend(facts.limits());
    }
    if run.setup.cross.is_some() && facts.line_share >= FULL_LINE {
        limits.push(LimitedBy::Bandwidth);
        if facts.dropped_packets() > 0 {
            limits.push(LimitedBy::Congestion);
        }
    }
    if run.setup.cross.is_some() && facts.window_limited_s >= MOSTLY * facts.lasted_s {
        limits.push(LimitedBy::ReceiveWindow);
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::super::score::tests::scored;
    use super::*;

    #[test]
    fn acknowledgements_that_a_link_refused_are_no_lost_data() {
        let mut run =
            scored(Stratum::AckPath, 1, &[LimitedBy::Bandwidth], LimitedBy::Bandwidth).run;
        run.setup.cross = None;
        run.setup.pace = None;
        run.facts.refused_packets = 100;
        run.outcome.retransmitted_packets = Some(20);
        assert_eq!(causes(&run), [LossCause::Queue]);
        run.outcome.retransmitted_packets = Some(0);
        assert_eq!(causes(&run), [LossCause::None]);
    }
}
