//! `cargo xtask validate advise`: advice on drawn paths beside an exhaustive sweep of segment size, window and congestion control.
//!
//! ```text
//! kind, seed, number → Drawn (a scenario) ─┬→ advise, for each goal ─┬→ fresh draws → Scored → page
//!                                          └→ sweep → its winner ────┘
//! ```

mod check;
mod draw;
mod fresh;
mod kept;
mod page;
mod proof;
mod results;
mod score;
mod sweep;
mod winner;

pub use check::{AdviseArgs, run};
