//! Our simulator against ns-3 3.37: tables of cells, each a configuration and what ns-3 gave for it.
//!
//! They are cells without loss, where the window rules: in loss recovery ns-3 3.37 is no oracle
//! ([`Fault`]). Nothing in them is random, so they hold us to the digit: slow start, pairs of acknowledged
//! segments, the delayed acknowledgement's timer, echoes among data.

mod cell;
mod judge;
mod run;

pub use cell::{Cell, Control, Extent, Fault, Given, Link, TcpOptions, WARM_UP};
pub use judge::{CellVerdict, TableVerdict, Verdict, judge};
pub use run::{Measured, measure};
