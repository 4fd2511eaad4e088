//! Advice on a terminal.

mod guides;
mod text;
mod trials;

pub(crate) use text::advise_text;
pub(crate) use trials::{Shown, gain, trial_table};
