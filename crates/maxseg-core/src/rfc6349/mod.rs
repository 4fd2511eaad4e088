//! The judgement of a test of TCP throughput (RFC 6349): from samples of senders to metrics, verdicts and what they mean. The
//! formulas are in [`model::rfc6349`](crate::model::rfc6349).
//!
//! ```text
//! SenderPoint… → Equilibrium → RunMetrics ─┬→ judge(Thresholds) → Verdict
//!                                          └→ interpret(Facts) → Interpretation
//! ```

mod full_link;
mod interpretation;
mod metrics;
mod thresholds;

pub use full_link::{LinkLoad, with_full_link};
pub use interpretation::{Cause, Facts, Interpretation, WindowStep, interpret};
pub use metrics::{Equilibrium, RunMetrics, Second, SenderPoint, measure};
pub use thresholds::{Check, Metric, Thresholds, Verdict, judge};
