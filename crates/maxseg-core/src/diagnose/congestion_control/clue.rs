//! What one observation shows, or that it shows nothing.

use super::CongestionAlgorithm;
use super::weights::Weights;

/// An observation's weights, the algorithms that it speaks for, and its words.
#[derive(Debug, Clone, Default)]
pub(super) struct Clue {
    pub(super) weights: Weights,
    found: Option<(&'static [CongestionAlgorithm], String)>,
}

impl Clue {
    /// One with these likelihoods, which speaks against an algorithm by `most` at most.
    pub(super) fn new(
        likelihoods: [f64; 3],
        most: f64,
        names: &'static [CongestionAlgorithm],
        text: String,
    ) -> Self {
        let mut weights = Weights::default();
        weights.add(likelihoods, most);
        Self { weights, found: Some((names, text)) }
    }

    /// Whether it shows anything.
    pub(super) const fn count(&self) -> usize {
        self.found.is_some() as usize
    }

    /// What it shows for an algorithm, as a clause.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        let found = self.found.as_ref().filter(|(names, _)| names.contains(&name));
        found.map(|(_, text)| text.clone())
    }
}
