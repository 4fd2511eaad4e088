//! What a path is drawn for. Kinds follow from the number, so that both halves have the same of each.

use serde::{Deserialize, Serialize};

/// What keeps the transfer from filling the line, if anything does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Random losses under Reno or CUBIC.
    Lossy,
    /// An application that asks and waits.
    Requests,
    /// A transfer that ends before, or soon after, the path is full.
    Short,
    /// Nothing: BBR goes on in spite of random losses.
    LossyBbr,
    /// Nothing, or a queue that is too short for the halves of a window.
    LossFree,
}

/// Of three paths two are drawn to leave room on the line, the third is not.
const THIRDS: u64 = 3;
const PARTIAL: u64 = 2;

impl Kind {
    /// That of the path at this position of its half, and whether it has three flows.
    pub(super) const fn at(position: u64) -> (Self, usize) {
        let (third, of_three) = (position / THIRDS, position % THIRDS);
        if of_three < PARTIAL {
            let order = PARTIAL * third + of_three;
            return match order % 5 {
                0 | 1 => (Self::Lossy, 1),
                2 => (Self::Lossy, 3),
                3 => (Self::Requests, 1),
                _ => (Self::Short, 1),
            };
        }
        match third % 10 {
            0 | 3 | 6 => (Self::LossyBbr, 1),
            2 | 5 | 8 => (Self::LossFree, 3),
            _ => (Self::LossFree, 1),
        }
    }

    /// In a table.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Lossy => "losses",
            Self::Requests => "requests",
            Self::Short => "short",
            Self::LossyBbr => "losses, BBR",
            Self::LossFree => "loss-free",
        }
    }

    /// Whether it was drawn to leave room on the line.
    pub(super) const fn is_partial(self) -> bool {
        matches!(self, Self::Lossy | Self::Requests | Self::Short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_has_twenty_paths_with_room_and_three_flows_of_both_sorts() {
        let half: Vec<(Kind, usize)> = (0..30).map(Kind::at).collect();
        let count = |kind| half.iter().filter(|(of, _)| *of == kind).count();
        assert_eq!(half.iter().filter(|(kind, _)| kind.is_partial()).count(), 20);
        assert_eq!((count(Kind::Lossy), count(Kind::Requests), count(Kind::Short)), (12, 4, 4));
        assert_eq!((count(Kind::LossyBbr), count(Kind::LossFree)), (3, 7));
        let three = |kind| half.iter().filter(|one| **one == (kind, 3)).count();
        assert_eq!((three(Kind::Lossy), three(Kind::LossFree)), (4, 3));
    }
}
