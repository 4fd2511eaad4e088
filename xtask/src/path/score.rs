//! Whether an answer is right.

use serde::{Deserialize, Serialize};

use super::{Answer, Case, Truth};

/// A case that was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Which.
    pub number: u64,
    /// The network.
    pub case: Case,
    /// What is right.
    pub truth: Truth,
    /// What was answered, by whom; this program, as root and as an ordinary user, first.
    pub answers: Vec<(String, Answer)>,
}

/// This program, as root and as an ordinary user.
pub(super) const OURS: [&str; 2] = ["maxseg", "maxseg, ordinary user"];

impl Run {
    /// How this program's answer as root was.
    pub(super) fn grade(&self) -> Grade {
        Grade::of(&self.answers[0].1, self.truth, true)
    }

    /// This program's answers, each with who asked and how it was.
    pub(super) fn own(&self) -> impl Iterator<Item = (&str, &Answer, Grade)> {
        let own = self.answers.iter().filter(|(who, _)| OURS.contains(&who.as_str()));
        own.map(|(who, answer)| (who.as_str(), answer, Grade::of(answer, self.truth, true)))
    }
}

/// How an answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// The path MTU is right, and so is the black hole, or its absence.
    Right,
    /// There is no path MTU in it, and nothing wrong.
    None,
    /// The path MTU is another, or a black hole is where none is, or is missing.
    Wrong,
}

impl Grade {
    /// Of an answer. Peers do not name black holes: of them the MTU counts alone.
    pub fn of(answer: &Answer, truth: Truth, names_holes: bool) -> Self {
        let is_false_hole = answer.has_hole && truth.hole.is_none();
        let is_misplaced = answer.hole.is_some() && answer.hole != truth.hole.map(|hop| hop as u64);
        let is_missing = truth.hole.is_some() && !answer.has_hole;
        match answer.mtu {
            Some(mtu) if mtu != truth.mtu => Self::Wrong,
            _ if is_false_hole || is_misplaced => Self::Wrong,
            None => Self::None,
            Some(_) if is_missing && names_holes => Self::Wrong,
            Some(_) => Self::Right,
        }
    }
}

/// Whether it kept to what a test may take: 10 s and 200 kB up to an MTU of 1500 and a round trip of 200 ms, else 20 s and 1 MB.
pub(super) fn is_within_budget(case: &Case, answer: &Answer) -> bool {
    let is_small = case.links[0].mtu <= 1500 && case.rtt_s() <= 0.200;
    let (seconds, bytes) = if is_small { (10.0, 200_000) } else { (20.0, 1_000_000) };
    answer.elapsed_s <= seconds && answer.sent_bytes.is_none_or(|sent| sent <= bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grade(mtu: Option<u64>, hole: Option<u64>, truth: (u64, Option<usize>)) -> Grade {
        let answer = Answer { mtu, hole, has_hole: hole.is_some(), ..Answer::default() };
        Grade::of(&answer, Truth { mtu: truth.0, hole: truth.1 }, true)
    }

    #[test]
    fn mtu_and_black_hole_are_both_judged() {
        assert_eq!(grade(Some(1400), None, (1400, None)), Grade::Right);
        assert_eq!(grade(Some(1400), Some(2), (1400, Some(2))), Grade::Right);
        assert_eq!(grade(Some(1400), Some(3), (1400, Some(2))), Grade::Wrong);
        assert_eq!(grade(Some(1400), Some(2), (1400, None)), Grade::Wrong);
        assert_eq!(grade(Some(1400), None, (1400, Some(2))), Grade::Wrong);
        assert_eq!(grade(None, None, (1400, Some(2))), Grade::None);
        assert_eq!(grade(Some(1399), None, (1400, None)), Grade::Wrong);
    }
}
