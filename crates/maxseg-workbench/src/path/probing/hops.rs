//! The routers on the way, by the messages that packets provoke whose TTL ends there (traceroute).

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use maxseg_core::path_mtu::Probe;
use maxseg_linux::probe::{AnswerKind, Prober, RoundEnd, Shot};

use super::{Hop, Probing, Which, probe};
use crate::path::PathError;

/// More hops are not looked for.
const MOST_HOPS: u8 = 30;
/// Hops that are asked at once where the distance is not known.
const AT_ONCE: u8 = 8;
/// So many hops in turn that do not answer end the search.
const MOST_SILENT: usize = 5;
/// Hops behind the last one that answered, among which the destination is looked for.
const BEHIND: u8 = 4;
/// A hop that does not answer is asked so many times.
const TRIES: u32 = 3;
/// A host that limits its messages has one again after this time (`icmp_ratelimit` of Linux: 1 s).
const LIMIT: Duration = Duration::from_millis(1100);
/// So many hops are asked again at that pace.
const MOST_AGAIN: usize = 4;

impl Probing<'_> {
    /// Finds the hops and the distance of the destination.
    pub(in crate::path) fn find_hops(&mut self) -> Result<(), PathError> {
        self.observer.on_step("hops");
        let guess = self.guess_distance()?;
        let mut until = guess.unwrap_or(AT_ONCE).min(MOST_HOPS);
        let mut asked = 0;
        while asked < until {
            self.ask_hops(asked + 1..=until)?;
            asked = until;
            if let Some(at) = self.destination() {
                self.distance = u8::try_from(at + 1).ok();
                self.hops.truncate(at + 1);
                return self.find_nearer_end(guess);
            }
            let silent = self.hops.iter().rev().take_while(|hop| hop.address.is_none()).count();
            if silent < MOST_SILENT {
                until = (until + AT_ONCE).min(MOST_HOPS);
            }
        }
        while self.hops.last().is_some_and(|hop| hop.address.is_none()) {
            self.hops.pop();
        }
        self.find_end_by_echo()
    }

    /// Finds the number of a destination whose answers to UDP are limited, as Linux limits them by default: its answers to echoes are not.
    fn find_end_by_echo(&mut self) -> Result<(), PathError> {
        if !self.is_echo_answered || self.hops_by == Which::Echo {
            return Ok(());
        }
        let known = u8::try_from(self.hops.len()).unwrap_or(u8::MAX);
        let behind = known.saturating_add(1)..=known.saturating_add(BEHIND);
        if let Some((number, round_trip)) = self.nearest_by_echo(behind)? {
            self.note_end(number, round_trip);
        }
        Ok(())
    }

    /// The least of these numbers with which an echo comes to the destination.
    fn nearest_by_echo(
        &mut self,
        numbers: RangeInclusive<u8>,
    ) -> Result<Option<(u8, Duration)>, PathError> {
        let small = self.small();
        let asked: Vec<Probe> =
            numbers.map(|number| Probe { size: small, hop: Some(number) }).collect();
        let mut arrived = Vec::new();
        // Each time: a loss must not make a farther hop the nearest that it answers.
        for _ in 0..TRIES {
            let round = self.round(Which::Echo, &asked, RoundEnd::LastAnswered)?;
            arrived.extend(round.shots.iter().chain(&round.late).filter_map(|shot| {
                let answer = shot.answer.filter(|one| one.kind == AnswerKind::Destination)?;
                Some((shot.probe.hop?, answer.round_trip))
            }));
        }
        Ok(arrived.into_iter().min())
    }

    /// Looks for the destination at the hops right before it that do not answer: where it limits its answers to UDP, it may be one of
    /// them, and have answered a packet that would have gone on. `guess` is what the TTL of its answers says.
    fn find_nearer_end(&mut self, guess: Option<u8>) -> Result<(), PathError> {
        let Some(end) = self.distance.filter(|_| self.hops_by == Which::Udp) else { return Ok(()) };
        let before = self.hops.iter().rev().skip(1);
        let silent = before.take_while(|hop| hop.address.is_none()).count();
        let first = end - u8::try_from(silent).unwrap_or(end);
        if first == end {
            return Ok(());
        }
        if self.is_echo_answered {
            let nearest = self.nearest_by_echo(first..=end)?;
            if let Some((number, round_trip)) = nearest.filter(|(number, _)| *number < end) {
                self.note_end(number, round_trip);
            }
            return Ok(());
        }
        // The way back may be another one: what the TTL says is a reason to ask again, and no more.
        let Some(guess) = guess.map(|guess| guess.max(first)).filter(|guess| *guess < end) else {
            return Ok(());
        };
        for number in (guess..end).take(MOST_AGAIN) {
            self.wait(LIMIT)?;
            let asked = [Probe { size: self.small(), hop: Some(number) }];
            let round = self.round(Which::Udp, &asked, RoundEnd::AllAnswered)?;
            round.shots.iter().for_each(|shot| self.note_hop(shot));
            if let Some(at) = self.destination().filter(|at| at + 1 < usize::from(end)) {
                self.hops.truncate(at + 1);
                self.distance = u8::try_from(at + 1).ok();
                return Ok(());
            }
        }
        self.notes.push(format!(
            "the destination may be nearer than hop {end}: the TTL of its answers is that of hop {guess}, and it may limit its answers as Linux \
             does (icmp_ratelimit); hops before it that do not answer may be none"
        ));
        Ok(())
    }

    /// Notes the number of the destination, and what the way to it takes.
    pub(in crate::path) fn note_end(&mut self, number: u8, round_trip: Duration) {
        self.hops.resize(usize::from(number), Hop::default());
        if let Some(hop) = self.hops.last_mut() {
            *hop = Hop { address: Some(self.to), round_trip: Some(round_trip) };
        }
        self.distance = Some(number);
    }

    /// Sends small packets all the way: whether they are answered, and how far the answers came.
    fn guess_distance(&mut self) -> Result<Option<u8>, PathError> {
        let small = self.small();
        for _ in 0..TRIES {
            let round = self.round(Which::Udp, &[probe(small)], RoundEnd::AllAnswered)?;
            let answer = round.shots.iter().find_map(|shot| shot.answer);
            let arrived = answer.filter(|answer| answer.kind == AnswerKind::Destination);
            if let Some(answer) = arrived {
                self.is_udp_answered = true;
                return Ok(answer.ttl.map(hops_of));
            }
            if self.longest_trip.is_none() {
                break;
            }
        }
        if !self.is_echo_answered {
            return Ok(None);
        }
        // A firewall drops UDP, and passes echoes.
        self.hops_by = Which::Echo;
        let round = self.round(Which::Echo, &[probe(small); 2], RoundEnd::LastAnswered)?;
        let answer = round.shots.iter().find_map(|shot| shot.answer);
        Ok(answer.and_then(|answer| answer.ttl).map(hops_of))
    }

    fn ask_hops(&mut self, numbers: RangeInclusive<u8>) -> Result<(), PathError> {
        let (began, small) = (Instant::now(), self.small());
        self.hops.resize(usize::from(*numbers.end()), Hop::default());
        for _ in 0..TRIES {
            let is_open = |number: &u8| self.hop(*number).address.is_none();
            let nearest_end =
                self.destination().map_or(u8::MAX, |at| u8::try_from(at).unwrap_or(u8::MAX));
            let asked: Vec<Probe> = numbers
                .clone()
                .filter(is_open)
                .filter(|number| *number <= nearest_end)
                .map(|number| Probe { size: small, hop: Some(number) })
                .collect();
            if asked.is_empty() {
                break;
            }
            let round = self.round(self.hops_by, &asked, RoundEnd::AllAnswered)?;
            for shot in round.shots.iter().chain(&round.late) {
                self.note_hop(shot);
            }
        }
        // Hop by hop they take the time of as many round trips, which is none of the search.
        if self.prober(self.hops_by).is_some_and(Prober::sends_one_at_a_time) {
            self.budget.extend(began.elapsed());
        }
        Ok(())
    }

    fn hop(&self, number: u8) -> Hop {
        let at = usize::from(number).checked_sub(1);
        at.and_then(|at| self.hops.get(at)).copied().unwrap_or_default()
    }

    pub(super) fn note_hop(&mut self, shot: &Shot) {
        let (Some(number), Some(answer)) = (shot.probe.hop, shot.answer) else { return };
        // This host itself says so where no neighbour answers ARP or neighbour discovery: no hop was reached.
        let is_own = answer.from == self.route.source && self.to != self.route.source;
        // A router that passes nothing on answers for every hop behind it as well.
        let is_known = || self.hops.iter().any(|hop| hop.address == Some(answer.from));
        let is_again = matches!(answer.kind, AnswerKind::Unreachable(_)) && is_known();
        if is_own || is_again {
            return;
        }
        let Some(hop) = self.hops.get_mut(usize::from(number) - 1) else { return };
        let address = if answer.kind == AnswerKind::Destination { self.to } else { answer.from };
        hop.address.get_or_insert(address);
        hop.round_trip =
            Some(hop.round_trip.map_or(answer.round_trip, |least| least.min(answer.round_trip)));
        let is_arrival = answer.kind == AnswerKind::Destination;
        self.is_udp_answered |= is_arrival && self.hops_by == Which::Udp;
    }

    /// The place of the first hop that is the destination.
    fn destination(&self) -> Option<usize> {
        self.hops.iter().position(|hop| hop.address == Some(self.to))
    }
}

/// The hops that an answer passed, the destination included: systems begin at 64, 128 or 255.
fn hops_of(ttl: u8) -> u8 {
    let begun = [64, 128, 255].into_iter().find(|begun| *begun >= ttl).unwrap_or(u8::MAX);
    begun - ttl + 1
}
