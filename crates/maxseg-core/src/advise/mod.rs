//! From results to advice: a change, what it gains, whether that stands out of the noise, and why.

mod segment_size;
mod what_if;

pub use segment_size::{Alignment, SegmentSizeAdvice, Versus, headers, is_size_key, segment_size};
pub use what_if::{Change, Trial, covering, what_if};
