//! Our simulator against ns-2: tables of cells, each a configuration and what ns-2 gave for it.
//!
//! A cell is judged by difference and by noise together, a table by its bias: so that a simulator
//! that is off everywhere by a little fails, and one that is right passes. Where a table's few seeds
//! leave doubt, the installed ns-2 decides: with more seeds, or with its random numbers in our
//! simulator ([`Replay`]).

mod cell;
mod judge;
mod peer;
mod replay;
mod reruns;
mod run;

pub use cell::{Cell, Kind};
pub use judge::{BIAS_IN_SIGHT, CellVerdict, Sum, TableVerdict, Verdict, judge};
pub use peer::Ns2;
pub use replay::{Difference, Replay};
pub use reruns::Reruns;
pub use run::{Measured, measure};
