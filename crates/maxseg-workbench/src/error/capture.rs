//! Runs that cannot be captured.

use std::path::PathBuf;

use maxseg_core::units::Bytes;

/// Why a run has no capture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A flow's packets are shorter than their headers.
    #[error(
        "flow {flow} sends packets of {packet}, too short for their headers of {headers}: they cannot be captured"
    )]
    TooShort {
        /// The flow, from 0.
        flow: usize,
        /// The packets' length with all headers.
        packet: Bytes,
        /// The headers that such a packet has.
        headers: Bytes,
    },
    /// The lab did not run the scenario.
    #[error("no packets to write to {}: {why}", file.display())]
    NoPackets {
        /// The capture.
        file: PathBuf,
        /// Why it did not.
        why: String,
    },
}

impl CaptureError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::TooShort { flow, headers, .. } => {
                format!("--set flow.{flow}.header={}", headers.get())
            }
            Self::NoPackets { .. } => "--engine sim".to_owned(),
        }
    }
}
