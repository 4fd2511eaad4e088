//! Two runs, engines, stacks or captures, to be laid side by side.
//!
//! ```text
//! Source::read ─┬→ RunSet, RunSet ─→ matched: runs of one point of a sweep, A beside B ─→ core::compare
//!               └→ Explanation, Explanation: before and after a change
//! ```
//!
//! As text, JSON, CSV and a page: [`report::compare`](crate::report::compare).

mod matched;
mod source;
mod values;

pub use matched::{Between, Matched, MatchedPoint, matched};
pub use source::{RunSet, Source};
