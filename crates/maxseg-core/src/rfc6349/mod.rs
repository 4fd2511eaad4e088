//! The judgement of a test of TCP throughput (RFC 6349): from samples of senders to metrics, verdicts and what they mean. The
//! formulas are in [`model::rfc6349`](crate::model::rfc6349).
//!
//! ```text
//! SenderPoint… → Equilibrium → RunMetrics ─┬→ judge(Thresholds) → Verdict
//! Train… → TrainsFound ────────────────────┴→ interpret(Facts) → Interpretation
//! ```

mod full_link;
mod interpretation;
mod metrics;
mod thresholds;
mod trains;

pub use full_link::{LinkLoad, with_full_link};
pub use interpretation::{Cause, Facts, Interpretation, WindowStep, interpret};
pub use metrics::{
    Equilibrium, ROUND_TRIPS_OF_SLOW_START, RunMetrics, Second, SenderPoint, measure,
};
pub use thresholds::{Check, Metric, Thresholds, Verdict, judge};
pub use trains::{Arrival, Train, TrainLimit, TrainsFound, has_passed, judge_trains};
