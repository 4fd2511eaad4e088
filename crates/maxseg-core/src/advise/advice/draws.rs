//! The draws of the runs, by their numbers: those that choose and those that prove.

use std::ops::Range;

/// The draws that prove: they have chosen nothing. So many for the winner, and fewer to tell the parts of it apart.
pub(super) const PROOF: Range<u64> = 100..105;
pub(super) const PART: Range<u64> = 100..103;
/// Where these leave doubt, and runs are left.
pub(super) const FURTHER: Range<u64> = 105..125;
/// Enough to show what nobody is advised.
pub(super) const FEW: Range<u64> = 100..102;

/// The number of a run with the first draw that proves, and of half its length.
pub(super) const HALF: u64 = 200;

/// Whether a run has chosen nothing.
pub(super) const fn is_fresh(number: u64) -> bool {
    number >= PROOF.start && number != HALF
}

/// The draw of the run with this number.
pub(super) const fn draw_of(number: u64) -> u64 {
    if number == HALF { PROOF.start } else { number }
}
