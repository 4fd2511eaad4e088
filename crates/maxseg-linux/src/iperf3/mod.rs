//! The installed iperf3: its version, its arguments for a bulk flow, and its report.
//!
//! ```text
//! Bulk → client and server arguments → (the lab runs both) → what the client prints → Report
//! ```

mod bulk;
mod report;
mod version;

pub use bulk::{Amount, Bulk, Unaskable};
pub use report::{Interval, NoReport, Report, Sample, StreamEnd, Sum};
pub use version::{OLDEST, Version, VersionError, version_of};
