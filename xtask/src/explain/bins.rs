//! Whether verdicts are right as often as they claim.

use super::score::{Grade, Scored};

/// Verdicts that claim about the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    /// The confidences of the bin, from this
    pub(super) from: f64,
    /// to below this.
    pub(super) to: f64,
    /// Named limits in it.
    pub(super) all: usize,
    /// Of them, right.
    pub(super) right: usize,
    /// What they claim on average.
    pub(super) claimed: f64,
}

/// The edges of the three bins.
pub(super) const EDGES: [f64; 4] = [0.0, 0.92, 0.96, 1.0];

impl Bin {
    /// The three bins. An unknown limit claims nothing.
    pub(super) fn of(scored: &[Scored]) -> [Self; 3] {
        let verdicts = || scored.iter().flat_map(|one| &one.verdicts);
        let named: Vec<(f64, bool)> = verdicts()
            .filter(|verdict| verdict.grade != Grade::Unknown)
            .map(|verdict| (verdict.said.confidence, verdict.grade == Grade::Right))
            .collect();
        [0, 1, 2].map(|place| {
            let (from, to) = (EDGES[place], EDGES[place + 1]);
            let is_last = place == 2;
            let inside: Vec<&(f64, bool)> = named
                .iter()
                .filter(|(claimed, _)| *claimed >= from && (*claimed < to || is_last))
                .collect();
            let all = inside.len();
            let sum: f64 = inside.iter().map(|(claimed, _)| claimed).sum();
            Self {
                from,
                to,
                all,
                right: inside.iter().filter(|(_, right)| *right).count(),
                claimed: if all == 0 { 0.0 } else { sum / all as f64 },
            }
        })
    }

    /// How many would be right in 95 of 100 samples where the claim is true: the central interval of the binomial
    /// distribution.
    pub(super) fn expected(&self) -> (usize, usize) {
        const TAIL: f64 = 0.025;
        let (mut below, mut least, mut most) = (0.0, None, self.all);
        for right in 0..=self.all {
            below += probability(self.all, right, self.claimed);
            if least.is_none() && below > TAIL {
                least = Some(right);
            }
            if below >= 1.0 - TAIL {
                most = right;
                break;
            }
        }
        (least.unwrap_or(0), most)
    }

    /// Whether as many are right as are claimed. Nothing is claimed where there is none.
    pub(super) fn holds(&self) -> bool {
        let (least, most) = self.expected();
        self.all == 0 || (least..=most).contains(&self.right)
    }
}

/// That exactly `right` of `all` are, each with a chance of `p`.
fn probability(all: usize, right: usize, p: f64) -> f64 {
    let (p, of_wrong) = (p.clamp(1e-9, 1.0 - 1e-9), all - right);
    let choices: f64 =
        (0..right).map(|n| ((all - n) as f64).ln() - ((right - n) as f64).ln()).sum();
    (choices + right as f64 * p.ln() + of_wrong as f64 * (1.0 - p).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(all: usize, right: usize, claimed: f64) -> Bin {
        Bin { from: 0.0, to: 1.0, all, right, claimed }
    }

    #[test]
    fn the_interval_is_the_binomial_distributions() {
        // Tables of the binomial distribution: 40 to 60 of 100 at one half, 26 to 30 of 30 at 0.95.
        assert_eq!(bin(100, 0, 0.5).expected(), (40, 60));
        assert_eq!(bin(30, 0, 0.95).expected(), (26, 30));
        let all: f64 = (0..=30).map(|right| probability(30, right, 0.3)).sum();
        assert!((all - 1.0).abs() < 1e-9);
    }

    #[test]
    fn claims_hold_inside_it() {
        assert!(bin(100, 60, 0.5).holds() && bin(100, 40, 0.5).holds());
        assert!(!bin(100, 61, 0.5).holds() && !bin(100, 39, 0.5).holds());
        assert!(bin(0, 0, 0.0).holds());
    }
}
