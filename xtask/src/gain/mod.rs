//! `cargo xtask validate gain`: drawn runs of the lab, their captures, the advice that `explain` gives carried out as printed,
//! and what it gained beside what was predicted.
//!
//! ```text
//! limit, seed, number → Draw → lab → capture → Advice (change, commands, gain with its interval)
//!                         └───────────────────────┴→ carried out → lab → measured → Scored → page
//! ```

mod advice;
mod carry_out;
mod check;
mod draw;
mod limit;
mod once;
mod page;
mod run;
mod scenario;
mod score;

pub use advice::Advice;
pub use check::{GainArgs, run};
pub use draw::Draw;
pub use limit::Limit;
pub use once::{OnceArgs, once};
pub use run::{Measured, Run};
