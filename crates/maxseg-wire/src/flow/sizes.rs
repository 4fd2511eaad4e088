//! Which payload full segments have.

use serde::{Deserialize, Serialize};

/// Sizes of segments, those that carried most bytes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sizes {
    /// A few sizes and their bytes (Misra and Gries: what has more than a fifth of the bytes is among them).
    most: [(u32, u64); 4],
    pub(super) largest: u32,
}

impl Sizes {
    pub(super) fn add(&mut self, payload: i64, is_pushed: bool) {
        let size = u32::try_from(payload).unwrap_or(0);
        self.largest = self.largest.max(size);
        // A segment that was pushed out may be the rest of something: it counts, but less.
        let weight = if is_pushed { u64::from(size) / 2 } else { u64::from(size) };
        if let Some((_, bytes)) = self.most.iter_mut().find(|(known, _)| *known == size) {
            *bytes += weight;
            return;
        }
        let Some(least) = self.most.iter_mut().min_by_key(|(_, bytes)| *bytes) else { return };
        if least.1 <= weight {
            *least = (size, weight - least.1.min(weight) + 1);
        } else {
            for (_, bytes) in &mut self.most {
                *bytes = bytes.saturating_sub(weight);
            }
        }
    }

    /// The payload of full segments, where none can have more than `most`; with `most` for what the network card
    /// has still to cut up.
    pub(super) fn full(&self, most: Option<u32>) -> Option<u32> {
        let (size, bytes) = *self.most.iter().max_by_key(|(_, bytes)| *bytes)?;
        if bytes == 0 {
            return None;
        }
        Some(most.filter(|most| *most > 0).map_or(size, |most| size.min(most)))
    }
}
