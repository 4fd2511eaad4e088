//! Time that the capture has nothing of, though packets passed: files of a ring are missing.
//!
//! What a connection sent in it shows behind it, as it does of a connection that is older than the capture: nothing of that is a loss, an
//! idle time or in flight. What was found before stands.

use serde::{Deserialize, Serialize};

/// From the last packet before it to the first behind it, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct HoleInTime {
    pub(super) from: u64,
    pub(super) to: u64,
}
