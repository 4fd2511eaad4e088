//! Round trips while the path is loaded.

/// Round trips at one load.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderLoadRow {
    /// What loads the path: `idle`, `download`, `upload`.
    pub load: String,
    /// Median round trip, seconds.
    pub rtt_median_s: Option<f64>,
}
