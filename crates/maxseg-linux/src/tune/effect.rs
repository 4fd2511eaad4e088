//! What a change did to the connections that it reaches: those of now against what was kept of them when it was made.

use std::path::Path;

use maxseg_core::tune::{Compared, Effect, EntryState, History, incomparable, judge};

use super::Surveyed;
use super::before::before;
use super::touched::sample_of;

/// The effect of a change of the journal in this folder, which amounts to `history`; unknown, with the reason, where it cannot be told.
pub fn effect(surveyed: &Surveyed, history: &History, folder: &Path) -> Effect {
    let Surveyed { entry, state, .. } = surveyed;
    if let Some(why) = incomparable(&entry.step) {
        return Effect::unknown(why);
    }
    // Expired is still set.
    if !matches!(state, EntryState::Set | EntryState::Expired) {
        return Effect::unknown(format!("the value that was set does not hold: {}", state.word()));
    }
    let Some(before) = before(folder, entry) else {
        return Effect::unknown("what the connections did before was not kept, or cannot be read");
    };
    match sample_of(entry, history) {
        Ok(after) => judge(&Compared::of(&before, &after)),
        Err(error) => Effect::unknown(error.to_string()),
    }
}
