//! Where large packets vanish.

use maxseg_core::path_mtu::{Probe, Reach};
use maxseg_linux::probe::RoundEnd;

use super::Probing;
use crate::path::{BlackHole, PathError};

/// Rounds until the place is as well known as it will be.
const MOST_ROUNDS: u32 = 6;
/// Large packets to a hop in a round.
pub(in crate::path) const LARGE: usize = 2;

/// Sends large packets and small ones to these hops.
pub(in crate::path) type Ask<'a, P> =
    dyn FnMut(&mut P, &[u8], &mut Reach) -> Result<(), PathError> + 'a;

impl Probing<'_> {
    /// Finds the hops between which packets of `vanishes` bytes vanish, on a path that takes `passes`.
    pub(in crate::path) fn locate(
        &mut self,
        passes: u32,
        vanishes: u32,
    ) -> Result<BlackHole, PathError> {
        let mut ask =
            |probing: &mut Self, hops: &[u8], reach: &mut Reach| probing.ask(hops, vanishes, reach);
        self.locate_with(passes, vanishes, &mut ask)
    }

    /// The same, where `ask` sends the packets.
    pub(in crate::path) fn locate_with(
        &mut self,
        passes: u32,
        vanishes: u32,
        ask: &mut Ask<'_, Self>,
    ) -> Result<BlackHole, PathError> {
        self.observer.on_step(&format!("the place where packets of {vanishes} bytes vanish"));
        let hops =
            self.distance.unwrap_or_else(|| u8::try_from(self.hops.len()).unwrap_or(u8::MAX));
        let mut reach = Reach::new(hops, self.loss);
        if let Some(end) = self.distance {
            // That the destination is not reached is known.
            for _ in 0..MOST_ROUNDS * 2 {
                reach.on_answers(end, false, true);
            }
        }
        for _ in 0..MOST_ROUNDS {
            let asked: Vec<u8> =
                reach.next_hops().into_iter().filter(|hop| Some(*hop) != self.distance).collect();
            if asked.is_empty() {
                break;
            }
            ask(self, &asked, &mut reach)?;
        }
        let place = reach.place();
        let address = |number: Option<u8>| {
            let at = usize::from(number?).checked_sub(1)?;
            self.hops.get(at)?.address
        };
        let (after_hop, before_hop) = (place.map(|place| place.0), place.map(|place| place.1));
        Ok(BlackHole {
            after_hop,
            after_address: address(after_hop),
            before_hop,
            before_address: address(before_hop),
            passes_bytes: passes,
            vanishes_bytes: vanishes,
        })
    }

    /// Large packets to each hop, and a small one behind them: a router that answers it would have answered them.
    fn ask(&mut self, hops: &[u8], vanishes: u32, reach: &mut Reach) -> Result<(), PathError> {
        let small = self.small();
        let of = |hop: &u8| {
            let hop = Some(*hop);
            let mut probes = vec![Probe { size: vanishes, hop }; LARGE];
            probes.push(Probe { size: small, hop });
            probes
        };
        let probes: Vec<Probe> = hops.iter().flat_map(of).collect();
        let round = self.round(self.hops_by, &probes, RoundEnd::AnsweredUpTo(small))?;
        for shots in round.shots.chunks(LARGE + 1) {
            let Some((control, large)) = shots.split_last() else { continue };
            let Some(hop) = control.probe.hop else { continue };
            for shot in large {
                let is_small_answered = control.arrival().is_some();
                reach.on_answers(hop, shot.arrival().is_some(), is_small_answered);
            }
            self.note_hop(control);
        }
        Ok(())
    }
}
