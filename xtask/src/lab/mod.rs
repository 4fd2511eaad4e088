//! `cargo xtask validate lab`: the simulator's `stack = "linux"` against this machine's kernel in the lab, on drawn paths.
//!
//! ```text
//! seed, number → Path → scenario ─┬→ lab → valid? ─┬→ Compared → Bars, page
//!                                 └→ simulator ────┘      └→ beyond: the simulator without one rule
//! ```

mod bars;
mod check;
mod compare;
mod draw;
mod figures;
mod kind;
mod page;
mod path;
mod ranges;
mod rules;
mod run;
mod scenario;
mod valid;
mod words;

pub use check::{LabArgs, run};
