//! Two sets of runs side by side: how far a number of theirs differs, and whether by more than chance.

use std::collections::{BTreeMap, VecDeque};

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

/// The runs of a side.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The runs.
    pub rows: &'a [&'a Row],
    /// Whether in their scenario anything is drawn at random. Runs in real time differ whatever it is.
    pub is_random: bool,
}

/// How runs were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Seed by seed, so many: both runs of a pair saw the same draws, so that their difference has less noise than either.
    Seeds(usize),
    /// All of one with all of the other (Welch): they share no two seeds.
    Apart,
    /// The same of runs in real time on both sides, which have no seeds.
    Unseeded,
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
    /// A side has one run, or so few are all equal: what of the difference is chance cannot be told.
    OnePair,
    /// One side has no seeds, and no number of the other's could tell what of the difference is chance.
    NoSeeds,
    /// A side does not know the number.
    Unknown,
}

/// Fewer runs that do not vary at all show no spread, which is not to have none: of six differences of one sign a sign test is the
/// first to call that more than chance (2 ÷ 2⁶ < 5%).
const FEWEST_EQUAL: usize = 6;

impl Side<'_> {
    /// Whether another run of it might give another number.
    fn has_chance(&self) -> bool {
        self.rows.iter().any(|row| row.engine.has_chance(self.is_random))
    }

    fn has_seeds(&self) -> bool {
        self.rows.iter().any(|row| row.seed.is_some())
    }

    fn summary(&self, number: impl Fn(&Outcome) -> Option<f64>) -> Summary {
        let samples: Vec<f64> = self.rows.iter().filter_map(|row| number(&row.outcome)).collect();
        Summary::of(&samples)
    }
}

impl Pairing {
    fn of(sides: [Side<'_>; 2], pairs: usize) -> Self {
        let [a, b] = sides;
        let is_of_one_seed = pairs == 1 && a.rows.len() == 1 && b.rows.len() == 1;
        match sides.map(|side| (side.has_chance(), side.has_seeds())) {
            [(false, _), (false, _)] => Self::Exact,
            _ if pairs >= 2 || is_of_one_seed => Self::Seeds(pairs),
            [(_, true), (_, true)] => Self::Apart,
            [(true, false), (true, false)] => Self::Unseeded,
            [(_, false), _] | [_, (_, false)] => Self::OneSided,
        }
    }
}

impl Difference {
    /// Compares a number of the runs of side `a` and side `b`.
    pub fn of(sides: [Side<'_>; 2], number: impl Fn(&Outcome) -> Option<f64>) -> Self {
        let pairs = pairs(sides[0].rows, sides[1].rows, &number);
        let of_pairs = |of: fn(&(f64, f64)) -> f64| -> Summary {
            Summary::of(&pairs.iter().map(of).collect::<Vec<f64>>())
        };
        let pairing = Pairing::of(sides, pairs.len());
        let [summary_a, summary_b] = match pairing {
            Pairing::Seeds(_) => [of_pairs(|pair| pair.0), of_pairs(|pair| pair.1)],
            Pairing::Apart | Pairing::Unseeded | Pairing::OneSided | Pairing::Exact => {
                sides.map(|side| side.summary(&number))
            }
        };
        let (a, b) = (mean(&summary_a), mean(&summary_b));
        let half = match pairing {
            Pairing::Seeds(_) => of_pairs_interval(&of_pairs(|(a, b)| b - a)),
            Pairing::Apart | Pairing::Unseeded => of_sides_interval(&summary_a, &summary_b),
            Pairing::OneSided => None,
            Pairing::Exact => Some(0.0),
        };
        let half = half.filter(|_| a.is_some() && b.is_some());
        let verdict = verdict(a.zip(b).map(|(a, b)| b - a), half, pairing);
        Self { a, b, half, pairing, verdict }
    }

    /// Whether `b` is above `a` by more than chance; `None` where the runs cannot tell.
    pub const fn is_higher(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Higher => Some(true),
            Verdict::Lower | Verdict::Same | Verdict::NotShown => Some(false),
            Verdict::OnePair | Verdict::NoSeeds | Verdict::Unknown => None,
        }
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

/// Half the interval of a mean difference; `None` where so few cannot tell.
fn of_pairs_interval(differences: &Summary) -> Option<f64> {
    let is_known = differences.sd > 0.0 || differences.n >= FEWEST_EQUAL;
    differences.ci95().filter(|_| is_known)
}

/// Half the interval of the difference of two means; `None` where so few cannot tell.
fn of_sides_interval(a: &Summary, b: &Summary) -> Option<f64> {
    let fewest = a.n.min(b.n);
    let is_known = a.sd > 0.0 || b.sd > 0.0 || fewest >= FEWEST_EQUAL;
    (fewest >= 2 && is_known).then(|| welch_interval(a, b, 0.95))
}

/// The numbers of runs with the same seed, each of one pair.
pub fn pairs(a: &[&Row], b: &[&Row], number: impl Fn(&Outcome) -> Option<f64>) -> Vec<(f64, f64)> {
    let twins = twins(a, b);
    let numbers = |(a, b): (usize, usize), rows: [&[&Row]; 2]| {
        Some((number(&rows[0][a].outcome)?, number(&rows[1][b].outcome)?))
    };
    twins.into_iter().filter_map(|pair| numbers(pair, [a, b])).collect()
}

/// The places of runs with the same seed, each in one pair.
pub fn twins(a: &[&Row], b: &[&Row]) -> Vec<(usize, usize)> {
    let mut by_seed: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
    for (place, row) in b.iter().enumerate() {
        if let Some(seed) = row.seed {
            by_seed.entry(seed).or_default().push_back(place);
        }
    }
    let mut twin = |row: &Row| by_seed.get_mut(&row.seed?)?.pop_front();
    a.iter().enumerate().filter_map(|(place, row)| Some((place, twin(row)?))).collect()
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
            engine: if seed.is_some() { EngineName::Sim } else { EngineName::Model },
            point: Map::new(),
            hash: String::new(),
            seed: *seed,
            outcome: Outcome { goodput_bps: Some(*goodput), ..Outcome::default() },
            caveats: Vec::new(),
        };
        goodputs.iter().map(row).collect()
    }

    fn of_rows(a: &[Row], b: &[Row], is_random: bool) -> Difference {
        let (a, b): (Vec<&Row>, Vec<&Row>) = (a.iter().collect(), b.iter().collect());
        let sides = [&a, &b].map(|rows| Side { rows, is_random });
        Difference::of(sides, |outcome| outcome.goodput_bps)
    }

    fn compare(a: &[(Option<u64>, f64)], b: &[(Option<u64>, f64)]) -> Difference {
        of_rows(&rows(a), &rows(b), true)
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

    /// A measurement has no seed, and chance all the same.
    #[test]
    fn measurements_are_no_closed_form() {
        let measured = |goodputs: &[f64]| {
            let goodputs: Vec<_> = goodputs.iter().map(|goodput| (None, *goodput)).collect();
            let mut rows = rows(&goodputs);
            for row in &mut rows {
                row.engine = EngineName::Measured;
            }
            rows
        };
        let one = of_rows(&measured(&[100.0]), &measured(&[110.0]), false);
        assert_eq!((one.pairing, one.verdict), (Pairing::Unseeded, Verdict::OnePair));
        let several =
            of_rows(&measured(&[100.0, 104.0, 96.0]), &measured(&[140.0, 144.0, 136.0]), false);
        assert_eq!((several.half.is_some(), several.verdict), (true, Verdict::Higher));
        let formula = of_rows(&rows(&[(None, 100.0)]), &measured(&[110.0, 112.0]), false);
        assert_eq!((formula.pairing, formula.verdict), (Pairing::OneSided, Verdict::NoSeeds));
    }

    /// No timeout in two runs with losses is no proof that there is never one.
    #[test]
    fn a_few_equal_numbers_are_no_certainty_where_anything_is_random() {
        let side = |seeds: u64, first: u64, goodput: f64| -> Vec<(Option<u64>, f64)> {
            (first..first + seeds).map(|seed| (Some(seed), goodput)).collect()
        };
        let cases = [
            // seeds, first seed of B, is random, verdict
            (5, 1, true, Verdict::OnePair),
            (6, 1, true, Verdict::Higher),
            (5, 100, true, Verdict::OnePair),
            (6, 100, true, Verdict::Higher),
            (1, 1, false, Verdict::Higher),
            (3, 1, false, Verdict::Higher),
            (1, 100, false, Verdict::Higher),
        ];
        for (seeds, first, is_random, want) in cases {
            let (a, b) = (rows(&side(seeds, 1, 1.0)), rows(&side(seeds, first, 2.0)));
            let difference = of_rows(&a, &b, is_random);
            assert_eq!(difference.verdict, want, "{seeds} seeds, random: {is_random}");
            assert_eq!(difference.half.is_some(), want == Verdict::Higher);
        }
        let formula = of_rows(&rows(&[(Some(1), 1.0)]), &rows(&[(None, 2.0)]), false);
        assert_eq!((formula.pairing, formula.verdict), (Pairing::Exact, Verdict::Higher));
        // Of one side it is not known.
        let [a, b] = [rows(&[(Some(1), 1.0)]), rows(&[(None, 2.0)])];
        let (a, b): (Vec<&Row>, Vec<&Row>) = (a.iter().collect(), b.iter().collect());
        let sides = [&a, &b].map(|rows| Side { rows, is_random: false });
        let unknown = Difference::of(sides, |outcome| outcome.goodput_bps.filter(|bps| *bps < 1.5));
        assert_eq!((unknown.half, unknown.verdict), (None, Verdict::Unknown), "no exact zero");
    }

    #[test]
    fn a_run_is_in_one_pair() {
        let (a, b) = (rows(&[(Some(1), 1.0), (Some(1), 2.0)]), rows(&[(Some(1), 3.0)]));
        let (a, b): (Vec<&Row>, Vec<&Row>) = (a.iter().collect(), b.iter().collect());
        assert_eq!(pairs(&a, &b, |outcome| outcome.goodput_bps), [(1.0, 3.0)]);
    }
}
