//! The runs of a path in both engines, side by side.

use anyhow::Result;
use maxseg_core::stats::{Summary, student_t};

use super::figures::Figures;
use super::path::Path;
use super::rules::{Rule, is_on_edge_of_hystart, named};
use super::run::LabRun;

/// A path's valid runs, and the simulator's of the same seeds.
#[derive(Debug)]
pub(super) struct Compared {
    /// What was run.
    pub(super) path: Path,
    /// Random losses, and full queues', of the lab's runs.
    pub(super) lost: f64,
    /// Each run of the lab,
    pub(super) lab: Vec<Figures>,
    /// and of the simulator.
    pub(super) sim: Vec<Figures>,
    /// The rule without which the simulator is within tolerance, where it is not with it.
    pub(super) rule: Option<&'static Rule>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Payload over time.
    Goodput,
    /// The round trip under load.
    RoundTrip,
    /// Segments sent again.
    Retransmissions,
    /// Of three flows.
    Shares,
}

/// Tolerances of one path.
const GOODPUT: f64 = 0.08;
const LOSSY_GOODPUT: f64 = 0.15;
const ROUND_TRIP: f64 = 0.20;
const RETRANSMISSIONS: f64 = 0.30;
const SHARES: f64 = 0.10;
/// Below so many segments sent again a share of them is a matter of single packets.
const MANY: f64 = 100.0;

impl Compared {
    /// Simulates what the lab ran. `None` where a run is invalid.
    ///
    /// # Errors
    /// The simulator fails.
    pub(super) fn of(runs: &[LabRun]) -> Result<Option<Self>> {
        let Some(first) = runs.first() else { return Ok(None) };
        if runs.iter().any(|run| !run.invalid_because.is_empty()) {
            return Ok(None);
        }
        let mut compared = Self {
            path: first.path.clone(),
            lost: runs.iter().map(|run| run.lost() as f64).sum::<f64>() / runs.len() as f64,
            lab: runs.iter().map(|run| Figures::of_lab(&run.outcome)).collect(),
            sim: simulated(&first.path, runs.len(), "")?,
            rule: None,
        };
        if !compared.beyond().is_empty() {
            compared.rule = named(|rule| {
                let sim = simulated(&first.path, runs.len(), rule.keys)?;
                let (lab, path) = (compared.lab.clone(), compared.path.clone());
                Ok(Self { path, lab, sim, ..compared }.beyond().is_empty())
            })?;
        }
        Ok(Some(compared))
    }

    /// Which rule of the kernel a difference hangs on, as far as that is known.
    pub(super) fn reason(&self) -> &'static str {
        match self.rule {
            Some(rule) => rule.name,
            None if is_on_edge_of_hystart(&self.path) => {
                "HyStart's train of acknowledgements, which come as far apart as it may have (`tcp_cubic.c`, \
                 `hystart_ack_delta_us`): microseconds decide in each run"
            }
            None => "not known",
        }
    }

    fn means(&self) -> (Figures, Figures) {
        (Figures::mean(&self.sim), Figures::mean(&self.lab))
    }

    /// Whether packets are lost by chance.
    pub(super) const fn is_lossy(&self) -> bool {
        self.path.loss.is_some()
    }

    /// The kernel's goodput as a share of the line.
    pub(super) fn line_share(&self) -> f64 {
        self.means().1.goodput_bps / self.path.rate_bps as f64
    }

    /// How far the simulator is from the kernel, relatively; shares by the one that is furthest, absolutely. `None`
    /// where it is not compared.
    pub(super) fn apart(&self, quantity: Quantity) -> Option<f64> {
        let (sim, lab) = self.means();
        match quantity {
            Quantity::Goodput => Some(sim.goodput_bps / lab.goodput_bps - 1.0),
            Quantity::RoundTrip => Some(sim.round_trip_s / lab.round_trip_s - 1.0),
            Quantity::Retransmissions => {
                (lab.retransmitted >= MANY).then(|| sim.retransmitted / lab.retransmitted - 1.0)
            }
            Quantity::Shares => {
                let pairs = sim.shares.iter().zip(&lab.shares).map(|(sim, lab)| sim - lab);
                pairs.max_by(|a, b| a.abs().total_cmp(&b.abs()))
            }
        }
    }

    /// Whether it is within the tolerance of one path; `None` where it is not compared.
    pub(super) fn is_within(&self, quantity: Quantity) -> Option<bool> {
        let apart = self.apart(quantity)?;
        let tolerance = match quantity {
            Quantity::Goodput if self.is_lossy() => LOSSY_GOODPUT,
            Quantity::Goodput => GOODPUT,
            Quantity::RoundTrip => ROUND_TRIP,
            Quantity::Retransmissions => RETRANSMISSIONS,
            Quantity::Shares => SHARES,
        };
        let by_chance =
            quantity == Quantity::Goodput && self.is_lossy() && self.is_within_interval();
        Some(apart.abs() <= tolerance || by_chance)
    }

    /// Whether the paired 95% interval of the goodputs' differences has zero in it.
    fn is_within_interval(&self) -> bool {
        let pairs = self.sim.iter().zip(&self.lab);
        let differences: Vec<f64> =
            pairs.map(|(sim, lab)| sim.goodput_bps - lab.goodput_bps).collect();
        let difference = Summary::of(&differences);
        difference
            .interval(|freedom| student_t(0.975, freedom))
            .is_some_and(|half| difference.mean.abs() <= half)
    }

    /// What is beyond its tolerance.
    pub(super) fn beyond(&self) -> Vec<Quantity> {
        Quantity::ALL.into_iter().filter(|of| self.is_within(*of) == Some(false)).collect()
    }
}

impl Quantity {
    /// All of them.
    pub(super) const ALL: [Self; 4] =
        [Self::Goodput, Self::RoundTrip, Self::Retransmissions, Self::Shares];

    /// In a table.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::RoundTrip => "round trip",
            Self::Retransmissions => "retransmitted",
            Self::Shares => "shares",
        }
    }
}

fn simulated(path: &Path, runs: usize, rules: &str) -> Result<Vec<Figures>> {
    (0..runs as u64).map(|run| Figures::simulated(&path.to_toml(path.seed + run, rules))).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::path::Loss;
    use super::*;

    /// A path whose lab had so much goodput in each run, and the simulator so much.
    pub(in crate::lab) fn compared(lab: &[f64], sim: &[f64], is_lossy: bool) -> Compared {
        let mut path = Path::draw(1, 0);
        path.rate_bps = 10_000_000;
        path.loss = is_lossy.then_some(Loss { rate: 0.01, burst: None });
        let of = |goodputs: &[f64]| {
            let figures = |goodput: &f64| Figures {
                goodput_bps: *goodput,
                round_trip_s: 0.1,
                retransmitted: 10.0,
                ..Figures::default()
            };
            goodputs.iter().map(figures).collect()
        };
        Compared { path, lost: 0.0, lab: of(lab), sim: of(sim), rule: None }
    }

    #[test]
    fn loss_free_goodput_is_within_eight_percent_or_beyond() {
        assert_eq!(compared(&[5e6], &[5.3e6], false).beyond(), []);
        assert_eq!(compared(&[5e6], &[5.5e6], false).beyond(), [Quantity::Goodput]);
    }

    #[test]
    fn lossy_goodput_is_within_fifteen_percent_or_what_chance_explains() {
        assert_eq!(compared(&[5e6; 3], &[5.7e6; 3], true).beyond(), []);
        assert_eq!(compared(&[5e6; 3], &[6e6; 3], true).beyond(), [Quantity::Goodput]);
        // The same mean, and differences that vary more than they are large.
        assert_eq!(compared(&[5e6; 3], &[4e6, 6e6, 8e6], true).beyond(), []);
    }

    #[test]
    fn few_retransmissions_are_not_compared() {
        let mut one = compared(&[5e6], &[5e6], false);
        one.sim[0].retransmitted = 30.0;
        assert_eq!(one.apart(Quantity::Retransmissions), None);
        (one.lab[0].retransmitted, one.sim[0].retransmitted) = (200.0, 300.0);
        assert_eq!(one.beyond(), [Quantity::Retransmissions]);
    }

    #[test]
    fn shares_are_compared_in_points() {
        let mut one = compared(&[5e6], &[5e6], false);
        assert_eq!(one.apart(Quantity::Shares), None);
        one.lab[0].shares = vec![0.5, 0.3, 0.2];
        one.sim[0].shares = vec![0.58, 0.3, 0.12];
        assert_eq!(one.beyond(), []);
        one.sim[0].shares = vec![0.65, 0.25, 0.1];
        assert_eq!(one.beyond(), [Quantity::Shares]);
    }
}
