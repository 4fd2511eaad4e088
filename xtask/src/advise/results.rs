//! All that is scored, and what misses a bar.

use super::proof::Proof;
use super::score::{Beside, Scored};

/// All that is scored.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) scored: Vec<Scored>,
    pub(super) beside: Vec<Beside>,
    pub(super) proofs: Vec<Proof>,
}

impl Results {
    /// Every miss, by name.
    pub(super) fn misses(&self) -> Vec<String> {
        let of_sweep = self.scored.iter().flat_map(|one| {
            one.misses().into_iter().map(move |miss| format!("path {}: {miss}", one.drawn.number))
        });
        let of_alone = self.beside.iter().filter(|one| one.is_worse());
        let of_alone = of_alone.map(|one| {
            format!(
                "path {} of 200: {:.1}% of leaving it alone",
                one.drawn.number,
                100.0 * one.ratio
            )
        });
        let of_lab = self.proofs.iter().flat_map(Proof::misses);
        of_sweep.chain(of_alone).chain(of_lab).collect()
    }
}
