//! What a far end measures with this host.

/// The narrowest link each way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottleneck {
    /// Towards the far end, bits per second.
    pub forward_bps: Option<f64>,
    /// From the far end, bits per second.
    pub reverse_bps: Option<f64>,
    /// How it was measured.
    pub method: &'static str,
}
