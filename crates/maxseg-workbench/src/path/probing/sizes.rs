//! The search for the largest packet that arrives.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use maxseg_core::path_mtu::{ALIKE_AT_LAST, ProbeFate, SILENT_ROUNDS, Search};
use maxseg_linux::probe::{Round, RoundEnd, Shot};

use super::{Probing, Which, probe};
use crate::path::PathError;

/// Sizes of a round. Where the destination limits its answers, the largest packet that arrives takes one: many sizes cost no more
/// answers than two.
const SIZES: usize = 10;
/// So many packets in turn at the end of a round that nobody answers show a limit, and no loss.
const TAIL: usize = 2;
/// Linux allows one a second (`icmp_ratelimit`).
pub(super) const RATE_LIMIT: Duration = Duration::from_millis(1050);

/// A search with the prober that drives it.
pub(in crate::path) struct Sizes {
    pub(in crate::path) search: Search,
    pub(in crate::path) which: Which,
    /// Whether the destination answers too few packets to go on quickly.
    pub(in crate::path) is_rate_limited: bool,
    /// The packets that a firewall of this host refused to send.
    pub(in crate::path) refused_here: BTreeSet<u32>,
    /// Whether echoes and datagrams of one size fare differently: routers with paths of equal cost may send them by different ones.
    pub(in crate::path) is_unequal: bool,
    /// Sizes of which datagrams were not answered, while smaller ones behind them were.
    silent: BTreeSet<u32>,
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
        let search = Self::search(probing, probing.small());
        Some(Self {
            search,
            which,
            is_rate_limited: false,
            refused_here: BTreeSet::new(),
            is_unequal: false,
            silent: BTreeSet::new(),
            is_checked: false,
        })
    }

    /// A search that knows of nothing but a size that arrives.
    fn search(probing: &Probing<'_>, arrives: u32) -> Search {
        let most = probing.route.interface_mtu.min(u32::from(u16::MAX));
        let mut search = Search::new(probing.version(), arrives, most, SIZES);
        search.on_loss(probing.loss);
        search
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
        let (by_echo, small) = (self.search.at_least(), probing.small());
        let sizes = [by_echo + 1, by_echo + 1, by_echo, small];
        let round = probing.round(Which::Udp, &sizes.map(probe), RoundEnd::LastAnswered)?;
        self.note(&round, probing);
        let arrived = self.search.at_least();
        if arrived > by_echo && !Self::is_echoed(arrived, probing)? {
            self.which = Which::Udp;
            self.is_unequal = true;
            // That larger echoes were silent shows nothing of datagrams: the reply was lost, or echoes take another path.
            self.search = Self::search(probing, arrived);
            probing.notes.push(format!(
                "echoes above {by_echo} bytes are not answered, and datagrams of {arrived} bytes arrive: the way back takes less, or paths of \
                 equal cost differ"
            ));
        }
        Ok(())
    }

    /// Whether an echo of a size is answered after all, as far as time is left to see that none is: losses made the size of those that are seem
    /// smaller.
    fn is_echoed(size: u32, probing: &mut Probing<'_>) -> Result<bool, PathError> {
        for _ in 0..SILENT_ROUNDS {
            if !probing.has_budget() {
                return Ok(true);
            }
            let echoes = vec![probe(size); ALIKE_AT_LAST as usize];
            let round = probing.round(Which::Echo, &echoes, RoundEnd::LastAnswered)?;
            if round.shots.iter().chain(&round.late).any(|shot| shot.arrival().is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
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
        self.compare(&fates, probing);
        let refused = round.shots.iter().filter(|shot| shot.is_refused_here);
        self.refused_here.extend(refused.map(|shot| shot.probe.size));
    }
}

impl Sizes {
    /// Where an echo arrives that is as large as datagrams that were silent, these say nothing of echoes: the search begins again there.
    fn compare(&mut self, fates: &[(u32, ProbeFate)], probing: &Probing<'_>) {
        let is_arrival = |(_, fate): &(u32, ProbeFate)| *fate == ProbeFate::Arrived;
        if self.which == Which::Udp {
            let last = fates.iter().rposition(is_arrival).unwrap_or(0);
            let silent = fates[..last].iter().filter(|(_, fate)| *fate == ProbeFate::NoAnswer);
            self.silent.extend(silent.map(|(size, _)| *size));
            return;
        }
        let arrived = fates.iter().filter(|fate| is_arrival(fate)).map(|(size, _)| *size).max();
        let Some(arrived) = arrived else { return };
        let larger = self.silent.split_off(&(arrived + 1));
        if !std::mem::replace(&mut self.silent, larger).is_empty() {
            self.silent.clear();
            self.is_unequal = true;
            self.search = Self::search(probing, self.search.at_least());
        }
    }
}

fn step(sizes: &[u32], search: &Search) -> String {
    let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("packets of {} bytes; {} arrives", words.join(", "), search.at_least())
}
