//! How many large packets are lost, beside small ones that are sent between them.

use std::time::Duration;

use maxseg_core::path_mtu::{LARGE_AMONG_SMALL, LossEstimate, Probe};
use maxseg_linux::probe::RoundEnd;

use super::{Probing, Which};
use crate::path::{LargeLoss, PathError};

/// Rounds that are made of each path: twenty large packets.
pub(in crate::path) const FIRST_ROUNDS: u32 = 5;
/// And where large packets are lost and small ones are not: sixty,
const MORE_ROUNDS: u32 = 15;
/// or as many as it takes for certainty, up to a hundred.
const MOST_ROUNDS: u32 = 25;
/// Between two rounds: a policer of 1 Mbit/s has passed the packets of the last by then.
pub(in crate::path) const BETWEEN: Duration = Duration::from_millis(50);
/// So few of the small packets are answered where the answers are limited: what is not answered is not lost then.
const LIMITED: f64 = 0.5;

/// Sends packets of these sizes, and says which were answered.
pub(super) type Send<'a, P> = dyn FnMut(&mut P, &[u32]) -> Result<Vec<bool>, PathError> + 'a;

impl LargeLoss {
    /// Nothing of packets of this size is counted yet.
    pub(in crate::path) fn begun(size_bytes: u32) -> Self {
        Self {
            size_bytes,
            large: LossEstimate::default(),
            small: LossEstimate::default(),
            is_both_ways: false,
            boundary: None,
        }
    }
}

impl Probing<'_> {
    /// The losses of echoes of a size that arrives, or of datagrams where no echo is answered; `None` where neither is, the answers are limited,
    /// or there is no time left.
    pub(in crate::path) fn losses_of_datagrams(
        &mut self,
        size: u32,
        is_udp_limited: bool,
    ) -> Result<Option<LargeLoss>, PathError> {
        let which = match (self.is_echo_answered, self.is_udp_answered && !is_udp_limited) {
            (true, _) => Which::Echo,
            (false, true) => Which::Udp,
            (false, false) => return Ok(None),
        };
        let mut send = |probing: &mut Self, sizes: &[u32]| {
            let probes: Vec<Probe> = sizes.iter().map(|size| super::probe(*size)).collect();
            let round = probing.round(which, &probes, RoundEnd::LastAnswered)?;
            Ok(round
                .shots
                .iter()
                .map(|shot| shot.is_unsent() || shot.arrival().is_some())
                .collect())
        };
        let sizes = (size, self.small());
        let found = self.losses_with(sizes, &mut send)?;
        // A limit of Linux answers six datagrams at once, and then one a second.
        let is_limited = |found: &LargeLoss| which == Which::Udp && found.small.share() > LIMITED;
        let found = found.filter(|found| !is_limited(found));
        Ok(found.map(|found| LargeLoss { is_both_ways: which == Which::Echo, ..found }))
    }

    /// The same, where `send` sends the packets.
    pub(in crate::path) fn losses_with(
        &mut self,
        (size, small): (u32, u32),
        send: &mut Send<'_, Self>,
    ) -> Result<Option<LargeLoss>, PathError> {
        self.observer.on_step(&format!("losses of packets of {size} bytes, and of small ones"));
        let sizes: Vec<u32> =
            LARGE_AMONG_SMALL.iter().map(|is_large| if *is_large { size } else { small }).collect();
        let mut found = LargeLoss::begun(size);
        for round in 0..MOST_ROUNDS {
            let is_enough = (round >= FIRST_ROUNDS && found.is_by_chance())
                || (round >= MORE_ROUNDS && found.is_certain());
            if is_enough || !self.affords(&sizes) {
                break;
            }
            for (is_large, is_answered) in LARGE_AMONG_SMALL.iter().zip(send(self, &sizes)?) {
                let counted = if *is_large { &mut found.large } else { &mut found.small };
                counted.count(is_answered);
            }
            self.wait(BETWEEN)?;
        }
        if found.is_certain() && found.small.lost == 0 {
            found.boundary = self.loss_boundary(&found, small, send)?;
        }
        // Of a size of which nothing is answered it is not known what is lost: many hosts answer small echoes alone.
        Ok((found.large.lost < found.large.sent).then_some(found))
    }

    /// Whether time and bytes are left for packets of these sizes.
    pub(in crate::path) fn affords(&self, sizes: &[u32]) -> bool {
        let bytes: u64 = sizes.iter().copied().map(u64::from).sum();
        self.has_budget() && self.budget.bytes_left(self.sent_bytes()) > bytes
    }
}
