//! The search for the largest packet that arrives.

use std::time::Duration;

use maxseg_core::path_mtu::{LossEstimate, ProbeFate, Refusal, Search};
use maxseg_linux::probe::{Round, Shot};

use super::{Probing, Which, probe};
use crate::path::PathError;

/// Sizes of a round: answers to UDP are often rate limited, and each size that arrives costs one.
const SIZES_BY_UDP: usize = 3;
const SIZES_BY_ECHO: usize = 5;
/// So many rounds in turn whose last packet nobody answers show a rate limit.
const MOST_STARVED: u32 = 2;
/// Linux allows one a second (`icmp_ratelimit`).
const RATE_LIMIT: Duration = Duration::from_millis(1050);

/// A search with the prober that drives it.
pub(in crate::path) struct Sizes {
    pub(in crate::path) search: Search,
    pub(in crate::path) which: Which,
    /// Whether the destination answers too few packets to go on quickly.
    pub(in crate::path) is_rate_limited: bool,
}

impl Sizes {
    /// A search on a path whose destination answers; `None` where it does not.
    pub(in crate::path) fn new(probing: &Probing<'_>) -> Option<Self> {
        let which = match (probing.is_udp_answered, probing.is_echo_answered) {
            (true, _) => Which::Udp,
            (false, true) => Which::Echo,
            (false, false) => return None,
        };
        let sizes = if which == Which::Udp { SIZES_BY_UDP } else { SIZES_BY_ECHO };
        let most = probing.route.interface_mtu.min(u32::from(u16::MAX));
        let mut search = Search::new(probing.version(), probing.small(), most, sizes);
        search.on_loss(probing.loss);
        Some(Self { search, which, is_rate_limited: false })
    }

    /// Goes on until it is over, or time and bytes are.
    pub(in crate::path) fn run(&mut self, probing: &mut Probing<'_>) -> Result<(), PathError> {
        let mut starved = 0;
        loop {
            let mut sizes = self.search.next_round();
            if sizes.is_empty() || !probing.has_budget() {
                return Ok(());
            }
            if self.is_rate_limited && self.which == Which::Udp {
                probing.wait(RATE_LIMIT)?;
                // The least of what is asked, and what shows whether it was answered.
                let first = sizes.len().saturating_sub(2);
                sizes.drain(..first);
            }
            probing.observer.on_step(&step(&sizes, &self.search));
            let probes: Vec<_> = sizes.iter().map(|size| probe(*size)).collect();
            let round = probing.round(self.which, &probes, true)?;
            let is_answered = round.shots.last().is_some_and(|shot| shot.answer.is_some());
            starved = if is_answered { 0 } else { starved + 1 };
            self.note(&round, probing);
            if starved >= MOST_STARVED {
                starved = 0;
                self.is_rate_limited = true;
                if self.which == Which::Udp && probing.is_echo_answered {
                    self.which = Which::Echo;
                }
            }
        }
    }

    fn note(&mut self, round: &Round, probing: &Probing<'_>) {
        let numbers = probing.numbers();
        let mtu = probing.route.interface_mtu;
        let fate = |shot: &Shot| match shot.fate(mtu) {
            ProbeFate::TooBig(refusal) => {
                let hop = refusal.router.and_then(|router| numbers.get(&router).copied());
                ProbeFate::TooBig(Refusal { hop, ..refusal })
            }
            other => other,
        };
        for shot in &round.late {
            if shot.probe.hop.is_none() && fate(shot) == ProbeFate::Arrived {
                self.search.on_fate(shot.probe.size, ProbeFate::Arrived);
            }
        }
        let fates: Vec<_> = round.shots.iter().map(|shot| (shot.probe.size, fate(shot))).collect();
        self.search.on_round(&fates);
    }

    /// Losses among packets that fit, as far as they were seen.
    pub(in crate::path) fn loss(probing: &Probing<'_>) -> LossEstimate {
        probing.loss
    }
}

fn step(sizes: &[u32], search: &Search) -> String {
    let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("packets of {} bytes; {} arrives", words.join(", "), search.at_least())
}
