//! `cargo xtask validate explain`: random runs of the lab, captured at both ends, and whether what the captures are
//! said to show is what the hosts and the link know.
//!
//! ```text
//! seed, number → Setup → lab ─┬→ counters → Facts → truth ─┬→ confusion table
//!                             └→ two captures → explain ───┘
//! ```

mod check;
mod draw;
mod page;
mod ranges;
mod run;
mod sample;
mod say;
mod score;
mod setup;
mod split;
mod truth;

pub use check::{ExplainArgs, run};
pub use page::{Counted, page};
pub use run::{Point, Run, folder};
pub use score::{Accuracy, Confusion, Half, Said, Scored, score};
pub use setup::{Aim, Application, Congestion, Setup};
pub use split::interface;
pub use truth::Facts;
