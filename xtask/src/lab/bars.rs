//! What is asked of all paths together.

use super::compare::{Compared, Quantity};

/// One thing that is asked.
#[derive(Debug)]
pub(super) struct Bar {
    /// Of what.
    pub(super) what: &'static str,
    /// Paths that it is asked of.
    pub(super) paths: usize,
    /// The median difference, and what is asked; `None` where it is not.
    pub(super) median: Option<(f64, f64)>,
    /// Paths within their tolerance, and the share that is asked.
    pub(super) within: (usize, f64),
    /// The tolerance in words.
    pub(super) tolerance: &'static str,
}

impl Bar {
    /// All that is asked, of these paths.
    pub(super) fn of(compared: &[Compared]) -> Vec<Self> {
        let of = |what, quantity, lossy: Option<bool>, median, share, tolerance| {
            let asked = compared
                .iter()
                .filter(|one| lossy.is_none_or(|lossy| one.is_lossy() == lossy))
                .filter_map(|one| Some((one.apart(quantity)?.abs(), one.is_within(quantity)?)));
            let mut apart: Vec<(f64, bool)> = asked.collect();
            apart.sort_by(|a, b| a.0.total_cmp(&b.0));
            let within = apart.iter().filter(|(_, within)| *within).count();
            let middle = apart.get(apart.len() / 2).map(|(apart, _)| *apart);
            let median = middle.zip(median);
            Self { what, paths: apart.len(), median, within: (within, share), tolerance }
        };
        vec![
            of("goodput, loss-free", Quantity::Goodput, Some(false), Some(0.03), 0.9, "8%"),
            of(
                "goodput, lossy",
                Quantity::Goodput,
                Some(true),
                Some(0.08),
                0.9,
                "15% or the paired 95% interval",
            ),
            of("round trip under load", Quantity::RoundTrip, None, Some(0.10), 0.9, "20%"),
            of(
                "retransmitted segments, 100 or more",
                Quantity::Retransmissions,
                None,
                Some(0.15),
                0.9,
                "30%",
            ),
            of("shares of three flows", Quantity::Shares, None, None, 0.8, "10 points"),
        ]
    }

    /// Whether it is reached. Without paths nothing is.
    pub(super) fn holds(&self) -> bool {
        let (within, share) = self.within;
        self.paths > 0
            && self.median.is_none_or(|(median, most)| median <= most)
            && within as f64 >= share * self.paths as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::compared;
    use super::*;

    #[test]
    fn a_bar_asks_for_the_median_and_for_the_share_within() {
        let close = || compared(&[5e6], &[5.05e6], false);
        let far = || compared(&[5e6], &[6e6], false);
        let mut all: Vec<Compared> = (0..9).map(|_| close()).collect();
        all.push(far());
        assert!(Bar::of(&all)[0].holds(), "{:?}", Bar::of(&all)[0]);
        all.push(far());
        assert!(!Bar::of(&all)[0].holds(), "{:?}", Bar::of(&all)[0]);
        // No path is lossy.
        assert!(!Bar::of(&all)[1].holds());
        let off: Vec<Compared> = (0..10).map(|_| compared(&[5e6], &[5.3e6], false)).collect();
        assert!(!Bar::of(&off)[0].holds());
    }
}
