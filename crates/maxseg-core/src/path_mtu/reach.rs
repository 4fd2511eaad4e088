//! How far packets of one size come: the place of a black hole.

use super::threshold::{LossEstimate, MOST_ERROR};

/// Packets of one size that are to end at one hop after the other. A router sends "time exceeded" for a packet only if it has
/// received it, so the first hop that is silent about large packets, and not about small ones, is behind the black hole.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Of each hop, the first router's first.
    hops: Vec<HopCount>,
    loss: LossEstimate,
}

/// What a hop did with packets of the size.
#[derive(Debug, Clone, Copy, Default)]
struct HopCount {
    answered: u32,
    silent: u32,
    /// Small packets that it did not answer either.
    mute: u32,
}

/// A hop that has left so many small packets unanswered is not asked again.
const MOST_MUTE: u32 = 3;

impl Reach {
    /// For a path of so many hops, the last of which is known not to be reached; `loss` is that of small packets.
    pub fn new(hops: u8, loss: LossEstimate) -> Self {
        Self { hops: vec![HopCount::default(); usize::from(hops)], loss }
    }

    /// Hops to ask next, nearest first; none when the place is known as far as hops answer.
    pub fn next_hops(&self) -> Vec<u8> {
        let (weights, total) = self.weights();
        // All that are left out together may have that chance.
        let doubtful = |weight: f64| weight / total > MOST_ERROR / weights.len() as f64;
        let reaches: Vec<usize> =
            (0..weights.len()).filter(|reach| doubtful(weights[*reach])).collect();
        let (Some(first), Some(last)) = (reaches.first(), reaches.last()) else {
            return Vec::new();
        };
        // What tells two of the possible places apart: the hops between them.
        let between = first + 1..=*last;
        let asked =
            between.filter(|hop| self.hops.get(hop - 1).is_some_and(|count| count.is_worth()));
        asked.filter_map(|hop| u8::try_from(hop).ok()).collect()
    }

    /// A hop was sent a packet of the size, then a small one.
    pub fn on_answers(&mut self, hop: u8, is_large_answered: bool, is_small_answered: bool) {
        let Some(count) = usize::from(hop).checked_sub(1).and_then(|at| self.hops.get_mut(at))
        else {
            return;
        };
        match (is_large_answered, is_small_answered) {
            (true, _) => count.answered += 1,
            (false, true) => count.silent += 1,
            (false, false) => count.mute += 1,
        }
    }

    /// The last hop that packets of the size reach, 0 for none, and the first that they do not reach; hops between them do not
    /// answer. `None` where losses explain what was seen.
    pub fn place(&self) -> Option<(u8, u8)> {
        let after = self.reached();
        let (weights, total) = self.weights();
        let is_silent = |hop: &usize| {
            // The chance that packets reach this hop or any behind it.
            let beyond: f64 = weights[*hop..].iter().sum();
            self.hops[hop - 1].silent > 0 && beyond / total <= MOST_ERROR
        };
        let before = (after + 1..=self.hops.len()).find(is_silent)?;
        Some((u8::try_from(after).ok()?, u8::try_from(before).ok()?))
    }

    /// The last hop that answered a packet of the size; 0 for none.
    fn reached(&self) -> usize {
        self.hops.iter().rposition(|count| count.answered > 0).map_or(0, |at| at + 1)
    }

    /// How likely it is that packets reach so many hops and no more.
    fn weights(&self) -> (Vec<f64>, f64) {
        let chance = self.loss.chance();
        let mut weights = vec![0.0; self.hops.len() + 1];
        let least = self.reached();
        let mut weight = 1.0;
        for (reach, place) in weights.iter_mut().enumerate().skip(least) {
            if reach > least {
                weight *= power(chance, self.hops[reach - 1].silent);
            }
            *place = weight;
        }
        let total = weights.iter().sum();
        (weights, total)
    }
}

impl HopCount {
    const fn is_worth(self) -> bool {
        self.answered > 0 || self.silent > 0 || self.mute < MOST_MUTE
    }
}

fn power(chance: f64, times: u32) -> f64 {
    libm::pow(chance, f64::from(times))
}
