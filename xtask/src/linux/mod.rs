//! The simulator's Linux against Linux: `reference/linux` is Linux 6.12's own TCP in virtual time, so that
//! packets can be compared one by one.
//!
//! [`Cell`] is a row of its table, [`run`] the same path and hosts here, [`Reference`] what was recorded,
//! and [`first_difference`] where the two part. [`judge`] does all of it.

mod cell;
mod compare;
mod hrtimer;
mod judge;
mod page;
mod path;
mod picture;
mod reference;
mod run;
mod settings;

pub use cell::{App, Cell};
pub use compare::{Difference, SamplesCompared, first_difference, show};
pub use judge::{GOODPUT, Judged, cells, judge};
pub use page::{folders, validate};
pub use reference::{Reference, Sample, Seen};
pub use run::{Outcome, run};
