//! The search for the largest packet that arrives.

use std::time::{Duration, Instant};

use maxseg_core::path_mtu::{ProbeFate, Search};
use maxseg_linux::probe::{Round, RoundEnd, Shot};

use super::{Probing, Which, probe};
use crate::path::PathError;

/// Sizes of a round. Where the destination limits its answers, the largest packet that arrives takes one: many sizes cost no more
/// answers than two.
const SIZES: usize = 10;
/// So many packets in turn at the end of a round that nobody answers show a limit, and no loss.
const TAIL: usize = 2;
/// Linux allows one a second (`icmp_ratelimit`).
const RATE_LIMIT: Duration = Duration::from_millis(1050);

/// A search with the prober that drives it.
pub(in crate::path) struct Sizes {
    pub(in crate::path) search: Search,
    pub(in crate::path) which: Which,
    /// Whether the destination answers too few packets to go on quickly.
    pub(in crate::path) is_rate_limited: bool,
    /// Whether UDP has checked what echoes found.
    is_checked: bool,
}

impl Sizes {
    /// A search on a path whose destination answers; `None` where it does not.
    pub(in crate::path) fn new(probing: &Probing<'_>) -> Option<Self> {
        let which = match (probing.is_udp_answered, probing.is_echo_answered) {
            (true, _) => Which::Udp,
            (false, true) => Which::Echo,
            (false, false) => return None,
        };
        let most = probing.route.interface_mtu.min(u32::from(u16::MAX));
        let mut search = Search::new(probing.version(), probing.small(), most, SIZES);
        search.on_loss(probing.loss);
        Some(Self { search, which, is_rate_limited: false, is_checked: false })
    }

    /// Goes on until it is over, or time and bytes are.
    pub(in crate::path) fn run(&mut self, probing: &mut Probing<'_>) -> Result<(), PathError> {
        let mut last_round: Option<Instant> = None;
        loop {
            let sizes = self.search.next_round();
            // Other flows are not tried where answers are limited: their time is free.
            let has_budget = if self.is_rate_limited {
                probing.has_budget()
            } else {
                probing.has_budget_to_search()
            };
            if !has_budget {
                return Ok(());
            }
            if sizes.is_empty() {
                if self.is_checked || !self.needs_check(probing) {
                    return Ok(());
                }
                self.is_checked = true;
                self.check(probing)?;
                continue;
            }
            if self.is_rate_limited && self.which == Which::Udp {
                let since = last_round.map_or(RATE_LIMIT, |last| last.elapsed());
                probing.wait(RATE_LIMIT.saturating_sub(since))?;
            }
            last_round = Some(Instant::now());
            probing.observer.on_step(&step(&sizes, &self.search));
            let probes: Vec<_> = sizes.iter().map(|size| probe(*size)).collect();
            let round = probing.round(self.which, &probes, RoundEnd::LastAnswered)?;
            let tail = round.shots.iter().rev().take_while(|shot| shot.answer.is_none()).count();
            self.is_rate_limited |= tail >= TAIL && self.which == Which::Udp;
            self.note(&round, probing);
            if self.is_rate_limited && probing.is_echo_answered && !self.is_checked {
                // Echoes are not limited by default, and neither are routers' messages.
                self.which = Which::Echo;
            }
        }
    }

    /// Whether the way back may be what limits: a reply to an echo is as large as the echo.
    fn needs_check(&self, probing: &Probing<'_>) -> bool {
        let is_least = self.search.at_least() >= probing.route.interface_mtu;
        self.which == Which::Echo && probing.is_udp_answered && !is_least
    }

    /// Sends larger datagrams than the echoes that arrive: if they arrive, UDP goes on.
    fn check(&mut self, probing: &mut Probing<'_>) -> Result<(), PathError> {
        probing.wait(RATE_LIMIT)?;
        let (arrives, small) = (self.search.at_least(), probing.small());
        let sizes = [arrives + 1, arrives + 1, arrives, small];
        let round = probing.round(Which::Udp, &sizes.map(probe), RoundEnd::LastAnswered)?;
        self.note(&round, probing);
        if self.search.at_least() > arrives {
            self.which = Which::Udp;
        }
        Ok(())
    }

    fn note(&mut self, round: &Round, probing: &Probing<'_>) {
        let numbers = probing.numbers();
        let mtu = probing.route.interface_mtu;
        let fate = |shot: &Shot| shot.fate(mtu).numbered(&numbers);
        for shot in &round.late {
            match fate(shot) {
                ProbeFate::Arrived if shot.probe.hop.is_none() => {
                    self.search.on_fate(shot.probe.size, ProbeFate::Arrived);
                }
                // That nothing answered it in its round is counted.
                ProbeFate::TooBig(refusal) => self.search.on_refusal(shot.probe.size, refusal),
                ProbeFate::Arrived | ProbeFate::LocalTooBig { .. } | ProbeFate::NoAnswer => {}
            }
        }
        let fates: Vec<_> = round.shots.iter().map(|shot| (shot.probe.size, fate(shot))).collect();
        self.search.on_round(&fates);
    }
}

fn step(sizes: &[u32], search: &Search) -> String {
    let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("packets of {} bytes; {} arrives", words.join(", "), search.at_least())
}
