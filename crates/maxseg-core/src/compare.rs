//! Two sets of runs side by side: how far a number of theirs differs, and whether by more than chance.

use crate::outcome::Outcome;
use crate::results::Row;
use crate::stats::{Summary, welch_interval};

/// How a number of the runs `b` differs from that of the runs `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Mean of `a`; `None` where no run knows it.
    pub a: Option<f64>,
    /// Mean of `b`.
    pub b: Option<f64>,
    /// Half the 95% interval of `b − a` (Student t); `None` where the runs cannot tell.
    pub half: Option<f64>,
    /// How the runs were compared.
    pub pairing: Pairing,
    /// What that shows.
    pub verdict: Verdict,
}

/// How runs were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Seed by seed, so many: both runs of a pair saw the same draws, so that their difference has less noise than either.
    Seeds(usize),
    /// All of one with all of the other (Welch): they share no two seeds.
    Apart,
    /// All of one with the other, which has no seeds, as a closed form: of it there is nothing to tell chance by.
    OneSided,
    /// Nothing of it is chance.
    Exact,
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// `b` is higher, by more than chance.
    Higher,
    /// `b` is lower, by more than chance.
    Lower,
    /// They are equal.
    Same,
    /// No difference that so many seeds can show.
    NotShown,
    /// A side has one run: what of the difference is chance cannot be told.
    OnePair,
    /// One side has no seeds, and no number of the other's could tell what of the difference is chance.
    NoSeeds,
    /// A side does not know the number.
    Unknown,
}

impl Difference {
    /// Compares a number of the runs `a` and `b`. Runs without a seed ([`Row::seed`]) leave nothing to chance.
    pub fn of(a: &[&Row], b: &[&Row], number: impl Fn(&Outcome) -> Option<f64>) -> Self {
        let pairs = pairs(a, b, &number);
        let of_pairs =
            |side: fn(&(f64, f64)) -> f64| -> Vec<f64> { pairs.iter().map(side).collect() };
        let is_of_one_seed = pairs.len() == 1 && a.len() == 1 && b.len() == 1;
        let (summary_a, summary_b, pairing) = if pairs.len() >= 2 || is_of_one_seed {
            let pairing = Pairing::Seeds(pairs.len());
            (Summary::of(&of_pairs(|pair| pair.0)), Summary::of(&of_pairs(|pair| pair.1)), pairing)
        } else {
            let samples = |rows: &[&Row]| -> Vec<f64> {
                rows.iter().filter_map(|row| number(&row.outcome)).collect()
            };
            let has_seeds = |rows: &[&Row]| rows.iter().any(|row| row.seed.is_some());
            let pairing = match (has_seeds(a), has_seeds(b)) {
                (true, true) => Pairing::Apart,
                (true, false) | (false, true) => Pairing::OneSided,
                (false, false) => Pairing::Exact,
            };
            (Summary::of(&samples(a)), Summary::of(&samples(b)), pairing)
        };
        let (a, b) = (mean(&summary_a), mean(&summary_b));
        let half = match pairing {
            Pairing::Seeds(_) => Summary::of(&of_pairs(|(a, b)| b - a)).ci95(),
            Pairing::Apart if summary_a.n >= 2 && summary_b.n >= 2 => {
                Some(welch_interval(&summary_a, &summary_b, 0.95))
            }
            Pairing::Apart | Pairing::OneSided => None,
            Pairing::Exact => Some(0.0),
        };
        let verdict = verdict(a.zip(b).map(|(a, b)| b - a), half, pairing);
        Self { a, b, half, pairing, verdict }
    }

    /// `b − a`.
    pub fn difference(&self) -> Option<f64> {
        Some(self.b? - self.a?)
    }

    /// `b ÷ a − 1`; `None` where `a` is zero.
    pub fn relative(&self) -> Option<f64> {
        let a = self.a.filter(|a| a.abs() > 0.0)?;
        Some(self.difference()? / a.abs())
    }

    /// Half the interval of [`relative`](Self::relative).
    pub fn relative_half(&self) -> Option<f64> {
        let a = self.a.filter(|a| a.abs() > 0.0)?;
        Some(self.half? / a.abs())
    }
}

/// The numbers of runs with the same seed.
pub fn pairs(a: &[&Row], b: &[&Row], number: impl Fn(&Outcome) -> Option<f64>) -> Vec<(f64, f64)> {
    let pair = |row: &&Row| {
        let twin = b.iter().find(|twin| twin.seed.is_some() && twin.seed == row.seed)?;
        Some((number(&row.outcome)?, number(&twin.outcome)?))
    };
    a.iter().filter_map(pair).collect()
}

fn mean(summary: &Summary) -> Option<f64> {
    (summary.n > 0).then_some(summary.mean)
}

fn verdict(difference: Option<f64>, half: Option<f64>, pairing: Pairing) -> Verdict {
    match (difference, half) {
        (None, _) => Verdict::Unknown,
        (Some(difference), Some(half)) if difference > half => Verdict::Higher,
        (Some(difference), Some(half)) if difference < -half => Verdict::Lower,
        (Some(difference), half)
            if difference.abs() <= 0.0 && half.is_none_or(|half| half <= 0.0) =>
        {
            Verdict::Same
        }
        (Some(_), Some(_)) => Verdict::NotShown,
        (Some(_), None) if pairing == Pairing::OneSided => Verdict::NoSeeds,
        (Some(_), None) => Verdict::OnePair,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::engine::EngineName;

    fn rows(goodputs: &[(Option<u64>, f64)]) -> Vec<Row> {
        let row = |(seed, goodput): &(Option<u64>, f64)| Row {
            engine: EngineName::Sim,
            point: Map::new(),
            hash: String::new(),
            seed: *seed,
            outcome: Outcome { goodput_bps: Some(*goodput), ..Outcome::default() },
            caveats: Vec::new(),
        };
        goodputs.iter().map(row).collect()
    }

    fn compare(a: &[(Option<u64>, f64)], b: &[(Option<u64>, f64)]) -> Difference {
        let (a, b) = (rows(a), rows(b));
        let (a, b): (Vec<&Row>, Vec<&Row>) = (a.iter().collect(), b.iter().collect());
        Difference::of(&a, &b, |outcome| outcome.goodput_bps)
    }

    /// The seeds differ by far more than the sides, and each pair by about 10.
    #[test]
    fn pairs_show_what_means_hide() {
        let a = [(Some(1), 100.0), (Some(2), 300.0), (Some(3), 200.0)];
        let b = [(Some(3), 209.0), (Some(1), 110.0), (Some(2), 311.0)];
        let paired = compare(&a, &b);
        assert_eq!((paired.pairing, paired.verdict), (Pairing::Seeds(3), Verdict::Higher));
        // Differences 10, 11 and 9: t(0.975, 2) = 4.303 × 1 / √3.
        assert!((paired.half.unwrap() - 2.484).abs() < 1e-3, "{paired:?}");
        assert!((paired.relative().unwrap() - 0.05).abs() < 1e-12);
        let others = b.map(|(seed, goodput)| (seed.map(|seed| seed + 10), goodput));
        let apart = compare(&a, &others);
        assert_eq!((apart.pairing, apart.verdict), (Pairing::Apart, Verdict::NotShown));
    }

    #[test]
    fn runs_without_chance_speak_for_themselves() {
        for (b, want) in [(101.0, Verdict::Higher), (99.0, Verdict::Lower), (100.0, Verdict::Same)]
        {
            let exact = compare(&[(None, 100.0)], &[(None, b)]);
            assert_eq!((exact.pairing, exact.verdict), (Pairing::Exact, want));
        }
    }

    /// One shared seed of many is no reason to leave the others out.
    #[test]
    fn sides_that_share_one_seed_of_several_are_compared_whole() {
        let a = [(Some(1), 100.0), (Some(2), 102.0), (Some(3), 101.0)];
        let b = [(Some(3), 131.0), (Some(4), 130.0), (Some(5), 132.0)];
        let apart = compare(&a, &b);
        assert_eq!((apart.pairing, apart.verdict), (Pairing::Apart, Verdict::Higher));
        assert_eq!((apart.a, apart.b), (Some(101.0), Some(131.0)));
    }

    #[test]
    fn no_number_of_seeds_gives_an_interval_against_a_side_without() {
        let runs = [(Some(1), 100.0), (Some(2), 102.0), (Some(3), 101.0)];
        let formula = compare(&runs, &[(None, 130.0)]);
        assert_eq!((formula.pairing, formula.verdict), (Pairing::OneSided, Verdict::NoSeeds));
        assert_eq!((formula.difference(), formula.half), (Some(29.0), None));
    }

    #[test]
    fn one_pair_shows_a_difference_and_not_whether_it_is_chance() {
        let one = compare(&[(Some(1), 100.0)], &[(Some(1), 130.0)]);
        assert_eq!((one.pairing, one.verdict), (Pairing::Seeds(1), Verdict::OnePair));
        let of_two_seeds = compare(&[(Some(1), 100.0)], &[(Some(2), 130.0)]);
        assert_eq!(
            (of_two_seeds.pairing, of_two_seeds.verdict),
            (Pairing::Apart, Verdict::OnePair)
        );
        assert_eq!(compare(&[(Some(1), 100.0)], &[]).verdict, Verdict::Unknown);
        let equal = [(Some(1), 100.0), (Some(2), 90.0)];
        assert_eq!(compare(&equal, &equal).verdict, Verdict::Same);
    }
}
