//! How many large packets are lost, beside small ones that are sent between them.

use std::time::Duration;

use maxseg_core::path_mtu::{LossEstimate, Probe};
use maxseg_linux::probe::RoundEnd;

use super::{Probing, Which};
use crate::path::{LargeLoss, PathError};

/// Two of each in a round of four: whatever answers every other packet answers as many of the one size as of the other.
const ORDER: [bool; 4] = [true, false, false, true];
/// So many times in a round. Four large packets are less than the initial window of a connection (RFC 6928), which every queue holds.
const TURNS: usize = 2;
/// Rounds that are made of each path: twenty packets of each size.
const FIRST_ROUNDS: u32 = 5;
/// And where large packets are lost and small ones are not, for certainty: sixty of each.
const MOST_ROUNDS: u32 = 15;
/// So many more large packets than small ones are lost, by chance.
const BY_CHANCE: u32 = 1;
/// Between two rounds: a policer of 1 Mbit/s has passed the packets of the last by then.
const BETWEEN: Duration = Duration::from_millis(50);

/// Sends packets of these sizes, and says which were answered.
type Send<'a, P> = dyn FnMut(&mut P, &[u32]) -> Result<Vec<bool>, PathError> + 'a;

impl Probing<'_> {
    /// The losses of echoes of a size that arrives; `None` where the host answers none, or there is no time left.
    pub(in crate::path) fn losses_of_echoes(
        &mut self,
        size: u32,
    ) -> Result<Option<LargeLoss>, PathError> {
        if !self.is_echo_answered {
            return Ok(None);
        }
        let mut send = |probing: &mut Self, sizes: &[u32]| {
            let probes: Vec<Probe> = sizes.iter().map(|size| super::probe(*size)).collect();
            let round = probing.round(Which::Echo, &probes, RoundEnd::LastAnswered)?;
            Ok(round
                .shots
                .iter()
                .map(|shot| shot.is_unsent() || shot.arrival().is_some())
                .collect())
        };
        let sizes = (size, self.small());
        let found = self.losses_with(sizes, &mut send)?;
        Ok(found.map(|found| LargeLoss { is_both_ways: true, ..found }))
    }

    /// The same, where `send` sends the packets.
    pub(in crate::path) fn losses_with(
        &mut self,
        (size, small): (u32, u32),
        send: &mut Send<'_, Self>,
    ) -> Result<Option<LargeLoss>, PathError> {
        self.observer.on_step(&format!("losses of packets of {size} bytes, and of small ones"));
        let is_large = ORDER.repeat(TURNS);
        let sizes: Vec<u32> =
            is_large.iter().map(|large| if *large { size } else { small }).collect();
        let bytes: u64 = sizes.iter().copied().map(u64::from).sum();
        let mut found = LargeLoss {
            size_bytes: size,
            large: LossEstimate::default(),
            small: LossEstimate::default(),
            is_both_ways: false,
        };
        for round in 0..MOST_ROUNDS {
            let is_by_chance = found.large.lost <= found.small.lost + BY_CHANCE;
            let is_affordable = self.budget.bytes_left(self.sent_bytes()) > bytes;
            if (round >= FIRST_ROUNDS && is_by_chance) || !self.has_budget() || !is_affordable {
                break;
            }
            for (is_large, is_answered) in is_large.iter().zip(send(self, &sizes)?) {
                let counted = if *is_large { &mut found.large } else { &mut found.small };
                counted.count(is_answered);
            }
            self.wait(BETWEEN)?;
        }
        // Of a size of which nothing is answered it is not known what is lost: many hosts answer small echoes alone.
        Ok((found.large.lost < found.large.sent).then_some(found))
    }
}
