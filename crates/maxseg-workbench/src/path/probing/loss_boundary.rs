//! The size above which packets are lost: a few packets of each size between small ones, none of which is lost, and large ones.

use std::time::Instant;

use super::Probing;
use super::large_loss::{BETWEEN, Send};
use crate::path::{LargeLoss, LossBoundary, PathError};

/// Fewer losses would take too many packets of each size to be seen.
const LEAST_SHARE: f64 = 0.2;
/// Packets of a size that arrive although their losses are as frequent as those of the large ones, by a chance of no more than this.
const MOST_CHANCE: f64 = 0.01;
/// Packets of a size in a burst, at most.
const AT_ONCE: u32 = 6;
/// And in all: at the least share it takes 21.
const MOST_TIMES: u32 = 21;
/// So many losses are no accident.
const LOST: u32 = 2;
/// The bytes that it takes: twenty packets of each of five sizes, of half the path MTU of an Ethernet and more.
const BYTES: u64 = 90_000;
const ETHERNET: u64 = 1500;
/// The sizes are known closely enough, bytes.
const CLOSE: u32 = 32;

/// Packets of a size of which one is lost nearly for sure, where such a share of them is.
fn times(share: f64) -> u32 {
    let is_enough = |times: &u32| (1.0 - share).powi(times.cast_signed()) <= MOST_CHANCE;
    (AT_ONCE..MOST_TIMES).find(is_enough).unwrap_or(MOST_TIMES)
}

/// What a few packets of a size have shown.
enum Shown {
    NoneLost(u32),
    SomeLost {
        of: u32,
        lost: u32,
    },
    /// One was lost, or time or bytes were over.
    Nothing,
}

impl Probing<'_> {
    /// The sizes between which losses begin; `None` where losses are too rare for few packets to show it.
    pub(super) fn loss_boundary(
        &mut self,
        found: &LargeLoss,
        small: u32,
        send: &mut Send<'_, Self>,
    ) -> Result<Option<LossBoundary>, PathError> {
        if found.share() < LEAST_SHARE {
            return Ok(None);
        }
        let began = Instant::now();
        self.budget.extend_bytes(BYTES.max(u64::from(found.size_bytes) * (BYTES / ETHERNET)));
        let times = times(found.share());
        let mut boundary = LossBoundary {
            none_lost_bytes: small,
            none_lost_sent: found.small.sent,
            some_lost_bytes: found.size_bytes,
            some_lost_sent: found.large.sent,
            some_lost: found.large.lost,
        };
        while boundary.some_lost_bytes - boundary.none_lost_bytes > CLOSE {
            let size = u32::midpoint(boundary.none_lost_bytes, boundary.some_lost_bytes);
            self.observer.on_step(&format!("losses of packets of {size} bytes"));
            match self.losses_of_size((size, times), small, send)? {
                Shown::NoneLost(of) => {
                    (boundary.none_lost_bytes, boundary.none_lost_sent) = (size, of);
                }
                Shown::SomeLost { of, lost } => {
                    boundary.some_lost_bytes = size;
                    (boundary.some_lost_sent, boundary.some_lost) = (of, lost);
                }
                Shown::Nothing => break,
            }
        }
        // The rest of the test has its time besides.
        self.budget.extend(began.elapsed());
        // Nothing but what is known already.
        Ok((boundary.none_lost_bytes > small).then_some(boundary))
    }

    /// Sends a size so many times, with a small packet behind each burst.
    fn losses_of_size(
        &mut self,
        (size, times): (u32, u32),
        small: u32,
        send: &mut Send<'_, Self>,
    ) -> Result<Shown, PathError> {
        let (mut count, mut lost) = (0, 0);
        while count < times && lost < LOST {
            let burst = AT_ONCE.min(times - count);
            let mut sizes = vec![size; burst as usize];
            sizes.push(small);
            if !self.affords(&sizes) {
                return Ok(Shown::Nothing);
            }
            let answered = send(self, &sizes)?;
            let arrived = answered.iter().take(burst as usize).filter(|one| **one).count();
            count += burst;
            lost += burst - u32::try_from(arrived).unwrap_or(burst);
            self.wait(BETWEEN)?;
        }
        Ok(match lost {
            0 => Shown::NoneLost(count),
            LOST.. => Shown::SomeLost { of: count, lost },
            _ => Shown::Nothing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewer_are_lost_the_more_packets_show_it() {
        assert_eq!([LEAST_SHARE, 0.3, 0.5, 0.9].map(times), [21, 13, 7, 6]);
    }
}
