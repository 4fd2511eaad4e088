//! Congestion controls, and the windows that losses leave them by law.

use maxseg_core::model::cubic::Cubic;
use maxseg_core::model::mathis;
use serde::{Deserialize, Serialize};

/// The congestion controls that this kernel is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "names")]
pub enum Congestion {
    Reno,
    Cubic,
    Bbr,
}

impl Congestion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reno, Self::Cubic, Self::Bbr];
    /// Those that a loss slows.
    pub const LOSS_BASED: [Self; 2] = [Self::Reno, Self::Cubic];

    /// As a scenario and the kernel call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }

    /// The mean window in segments by the laws of Reno and CUBIC, at this chance of a loss and this round trip in
    /// seconds. BBR knows no law.
    pub fn law_window_segments(self, loss: f64, rtt_s: f64) -> f64 {
        /// Segments per acknowledgement: the lab's receivers delay theirs.
        const PER_ACK: f64 = 2.0;
        match self {
            _ if loss <= 0.0 => f64::INFINITY,
            Self::Bbr => f64::INFINITY,
            Self::Reno => mathis::rate(loss, rtt_s, PER_ACK) * rtt_s,
            Self::Cubic => Cubic::standard(loss, rtt_s).window(),
        }
    }
}
