//! Where large packets vanish.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use maxseg_core::path_mtu::{Probe, Reach};
use maxseg_linux::probe::{RoundEnd, Shot};

use super::{Probing, Which};
use crate::path::{BlackHole, PathError, note_once};

/// Rounds until the place is as well known as it will be.
const MOST_ROUNDS: u32 = 6;
/// Large packets to a hop in a round.
pub(in crate::path) const LARGE: usize = 2;

/// What is said where no router is named.
const NO_PLACE: &str = "where they vanish is not known: routers with several paths of equal cost choose by the ports, and the hops that are known \
                        need not be those of the packets that vanish";

/// What packets have shown whose TTL ends at the hops.
pub(in crate::path) struct Asked {
    /// How far those of the size come.
    reach: Reach,
    /// Who answered at each hop: the routers of the flow that was asked.
    routers: BTreeMap<u8, BTreeSet<IpAddr>>,
}

impl Asked {
    /// A hop was sent a packet of the size, then a small one: who answered each.
    pub(in crate::path) fn on_answers(
        &mut self,
        hop: u8,
        large: Option<IpAddr>,
        small: Option<IpAddr>,
    ) {
        self.reach.on_answers(hop, large.is_some(), small.is_some());
        let routers = self.routers.entry(hop).or_default();
        routers.extend(large.into_iter().chain(small));
    }

    /// The only one that answered at a hop; `None` where several did, as of paths that are taken packet by packet.
    fn router(&self, hop: u8) -> Option<IpAddr> {
        let mut routers = self.routers.get(&hop)?.iter();
        routers.next().copied().filter(|_| routers.next().is_none())
    }
}

/// Whether it is known that packets of the size do not come to the end on the flow that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::path) enum EndOf {
    /// It is the flow whose packets vanish.
    SameFlow,
    /// Packets of another one vanish, which may take another path.
    OtherFlow,
}

/// Sends large packets and small ones to these hops.
pub(in crate::path) type Ask<'a, P> =
    dyn FnMut(&mut P, &[u8], &mut Asked) -> Result<(), PathError> + 'a;

impl Probing<'_> {
    /// Finds the hops between which packets of `vanishes` bytes vanish, on a path that takes `passes`.
    pub(in crate::path) fn locate(
        &mut self,
        (which, end): (Which, EndOf),
        passes: u32,
        vanishes: u32,
    ) -> Result<BlackHole, PathError> {
        let mut ask = |probing: &mut Self, hops: &[u8], asked: &mut Asked| {
            probing.ask(which, hops, vanishes, asked)
        };
        self.locate_with(end, (passes, vanishes), &mut ask)
    }

    /// The same, where `ask` sends the packets.
    pub(in crate::path) fn locate_with(
        &mut self,
        end: EndOf,
        (passes, vanishes): (u32, u32),
        ask: &mut Ask<'_, Self>,
    ) -> Result<BlackHole, PathError> {
        self.observer.on_step(&format!("the place where packets of {vanishes} bytes vanish"));
        let hops =
            self.distance.unwrap_or_else(|| u8::try_from(self.hops.len()).unwrap_or(u8::MAX));
        let mut asked = Asked { reach: Reach::new(hops, self.loss), routers: BTreeMap::new() };
        let silent_end = self.distance.filter(|_| end == EndOf::SameFlow);
        if let Some(end) = silent_end {
            // That the destination is not reached is known.
            for _ in 0..MOST_ROUNDS * 2 {
                asked.reach.on_answers(end, false, true);
            }
        }
        for _ in 0..MOST_ROUNDS {
            let next: Vec<u8> = asked
                .reach
                .next_hops()
                .into_iter()
                .filter(|hop| Some(*hop) != silent_end)
                .collect();
            if next.is_empty() {
                break;
            }
            ask(self, &next, &mut asked)?;
        }
        let is_elsewhere = self.is_elsewhere(&asked);
        // The number of the end is that of the known hops.
        let is_told = |(_, before): &(u8, u8)| !is_elsewhere || Some(*before) != silent_end;
        let place = asked.reach.place().filter(is_told);
        if place.is_none() && (is_elsewhere || end == EndOf::OtherFlow) {
            note_once(&mut self.notes, format!("packets of {vanishes} bytes vanish; {NO_PLACE}"));
        }
        let address = |number: Option<u8>| {
            let number = number?;
            if Some(number) == silent_end { Some(self.to) } else { asked.router(number) }
        };
        let (after_hop, before_hop) = (place.map(|place| place.0), place.map(|place| place.1));
        Ok(BlackHole {
            after_hop,
            after_address: address(after_hop),
            before_hop,
            before_address: address(before_hop),
            passes_bytes: passes,
            vanishes_bytes: vanishes,
            said: self.rejected.get(&vanishes).map(|rejected| rejected.clause()),
        })
    }

    /// Whether others answered than the hops that are known: the path is another one.
    fn is_elsewhere(&self, asked: &Asked) -> bool {
        let mut answers = asked.routers.iter();
        answers.any(|(hop, routers)| routers.iter().any(|from| self.is_other_router(*hop, *from)))
    }

    /// Whether another router is known at a hop than that which answered.
    pub(in crate::path) fn is_other_router(&self, hop: u8, from: IpAddr) -> bool {
        let known = self.hops.get(usize::from(hop) - 1).and_then(|hop| hop.address);
        known.is_some_and(|known| known != from)
    }

    /// Large packets to each hop, and a small one behind them: a router that answers it would have answered them.
    fn ask(
        &mut self,
        which: Which,
        hops: &[u8],
        vanishes: u32,
        asked: &mut Asked,
    ) -> Result<(), PathError> {
        let small = self.small();
        let of = |hop: &u8| {
            let hop = Some(*hop);
            let mut probes = vec![Probe { size: vanishes, hop }; LARGE];
            probes.push(Probe { size: small, hop });
            probes
        };
        let probes: Vec<Probe> = hops.iter().flat_map(of).collect();
        let round = self.round(which, &probes, RoundEnd::AnsweredUpTo(small))?;
        let from = |shot: &Shot| shot.arrival().map(|answer| answer.from);
        for shots in round.shots.chunks(LARGE + 1) {
            let Some((control, large)) = shots.split_last() else { continue };
            let Some(hop) = control.probe.hop else { continue };
            for shot in large.iter().filter(|shot| !shot.is_refused_here) {
                asked.on_answers(hop, from(shot), from(control));
            }
            if which == self.hops_by {
                self.note_hop(control);
            }
        }
        Ok(())
    }
}
