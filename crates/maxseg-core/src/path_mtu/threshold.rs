//! Chances that losses look like a limit.

/// The most that the chance of a wrong answer may be, where losses are independent.
pub const MOST_ERROR: f64 = 1e-4;

/// Packets of one size that have to be silent on one flow, between smaller ones that arrive, before it is said that none of that size
/// arrives there: of a link that loses seven of ten large packets, and no small one, so many in turn are lost with a chance of no more than
/// [`MOST_ERROR`].
pub const SURE_SILENCES: u32 = 26;

/// Packets of one size in a round where nothing but their silence is left to find out: less than the initial window of a connection
/// (RFC 6928), which every queue holds.
pub const ALIKE_AT_LAST: u32 = 9;

/// Such rounds without an answer that no share of losses explains.
pub const SILENT_ROUNDS: u32 = SURE_SILENCES.div_ceil(ALIKE_AT_LAST);

/// A round of large packets (`true`) among small ones: four large ones are less than the initial window of a connection (RFC 6928), which
/// every queue holds. It reads the same from both ends and has an odd number of packets: what answers, or drops, every second, third or
/// fourth packet meets both sizes alike.
pub const LARGE_AMONG_SMALL: [bool; 13] =
    [false, true, false, false, true, false, false, false, true, false, false, true, false];

/// Answers that were waited for, and those of them that did not come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LossEstimate {
    /// Packets that were sent and should have been answered.
    pub sent: u32,
    /// Those of them that were not.
    pub lost: u32,
}

/// Losses are never taken to be rarer than this: few packets show little, and large packets may be lost more often than small ones.
const LEAST_CHANCE: f64 = 0.05;
/// Nor more frequent than this: silence would mean nothing any more.
const MOST_CHANCE: f64 = 0.5;

impl LossEstimate {
    /// Counts a packet.
    pub fn count(&mut self, is_answered: bool) {
        self.sent += 1;
        self.lost += u32::from(!is_answered);
    }

    /// The share of them that was lost; 0 of none.
    pub fn share(self) -> f64 {
        f64::from(self.lost) / f64::from(self.sent.max(1))
    }

    /// The chance that at least as many of these packets are lost by chance, where those of `others` and these are lost alike and as many of
    /// both together were: Fisher's exact test, one-sided.
    pub fn excess_chance(self, others: Self) -> f64 {
        let all_lost = self.lost + others.lost;
        let ways = |of: u32, chosen: u32| {
            let factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
            factorial(of) - factorial(chosen) - factorial(of - chosen)
        };
        let all = ways(self.sent + others.sent, all_lost);
        let as_many = (self.lost..=self.sent.min(all_lost)).filter(|n| all_lost - n <= others.sent);
        let chance = |n: u32| libm::exp(ways(self.sent, n) + ways(others.sent, all_lost - n) - all);
        as_many.map(chance).sum::<f64>().min(1.0)
    }

    /// The chance that a packet, or its answer, is lost; rather too high than too low: the mean of the Beta distribution after
    /// one packet was lost and none arrived before.
    pub fn chance(self) -> f64 {
        let mean = (f64::from(self.lost) + 1.0) / (f64::from(self.sent) + 1.0);
        mean.clamp(LEAST_CHANCE, MOST_CHANCE)
    }
}

impl std::ops::Add for LossEstimate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { sent: self.sent + other.sent, lost: self.lost + other.lost }
    }
}

/// The chance that each of these flows loses all of its packets or none, some this and some that, where all lose alike; 1 where they do not.
pub fn pure_chance(flows: &[LossEstimate]) -> f64 {
    let is_pure = |flow: &&LossEstimate| flow.lost == 0 || flow.lost == flow.sent;
    let all = flows.iter().fold(LossEstimate::default(), |all, flow| all + *flow);
    if !flows.iter().all(|flow| is_pure(&flow)) || all.lost == 0 || all.lost == all.sent {
        return 1.0;
    }
    let share = all.share();
    let chance = |flow: &LossEstimate| {
        let sent = f64::from(flow.sent);
        libm::pow(share, sent) + libm::pow(1.0 - share, sent)
    };
    flows.iter().map(chance).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_silences_no_share_of_seven_in_ten_explains() {
        let chance = |silences: u32| 0.7_f64.powi(silences.cast_signed());
        assert!(chance(SURE_SILENCES) <= MOST_ERROR && chance(SURE_SILENCES - 1) > MOST_ERROR);
    }

    #[test]
    fn flows_that_lose_everything_beside_some_that_lose_nothing_are_not_alike() {
        let chance = |flows: &[(u32, u32)]| {
            pure_chance(&flows.iter().map(|(of, all)| lost(*of, *all)).collect::<Vec<_>>())
        };
        assert!(chance(&[(8, 8), (0, 4), (0, 4), (8, 8), (0, 4)]) <= MOST_ERROR);
        assert!(chance(&[(0, 4); 5]) > 0.9, "none is lost");
        assert!(chance(&[(8, 8), (0, 4), (1, 5)]) > 0.9, "one loses some");
        assert!(chance(&[(1, 1), (0, 4)]) > MOST_ERROR, "too few");
    }

    fn lost(lost: u32, sent: u32) -> LossEstimate {
        LossEstimate { sent, lost }
    }

    /// The chances are those of R's `fisher.test(alternative = "greater")`.
    #[test]
    fn an_excess_of_losses_has_fishers_chance() {
        for (these, others, chance) in [
            (lost(0, 20), lost(0, 20), 1.0),
            (lost(3, 4), lost(1, 4), 0.242_857),
            (lost(9, 20), lost(0, 20), 0.000_614_3),
            (lost(1, 20), lost(9, 20), 0.999_999),
        ] {
            let found = these.excess_chance(others);
            assert!((found - chance).abs() < 1e-3 * chance, "{these:?} {others:?}: {found}");
        }
        assert!(lost(30, 60).excess_chance(lost(0, 60)) < 1e-10);
    }
}
