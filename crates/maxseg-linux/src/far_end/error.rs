//! Why a far end did not do its part.

use std::io;
use std::time::Duration;

use maxseg_core::units::approx;
use maxseg_wire::responder::Refusal;
use thiserror::Error;

use crate::iperf3::{NoReport, Unaskable, VersionError};
use crate::transfer::ReadError;

/// Why a far end did not do its part.
#[derive(Debug, Error)]
pub enum FarEndError {
    /// No connection to it.
    #[error("no connection to {address}: {error}")]
    Unreachable {
        /// Its address and port.
        address: std::net::SocketAddr,
        /// The kernel's error.
        error: io::Error,
    },
    /// It refused.
    #[error("the responder refused: {0}")]
    Refused(Refusal),
    /// A transfer is longer than its limit.
    #[error("the responder takes transfers of at most {most_seconds} s, and one of {} s is to be made", asked.as_secs_f64())]
    TooLong {
        /// The longest transfer that is to be made.
        asked: Duration,
        /// The limit.
        most_seconds: u32,
    },
    /// A throughput is asked for that is beyond its limit.
    #[error("the responder holds transfers at {}, and {} are asked for", approx::rate(*most_bps), approx::rate(*asked_bps))]
    TooFast {
        /// What is asked for.
        asked_bps: f64,
        /// The limit.
        most_bps: f64,
    },
    /// It answered something else.
    #[error("what answers at {0} is not a maxseg responder")]
    NoResponder(std::net::SocketAddr),
    /// It did not answer, or no longer.
    #[error("the responder does not answer: {0}")]
    Silent(String),
    /// The caller no longer waits.
    #[error("interrupted")]
    Stopped,
    /// iperf3 cannot be used.
    #[error(transparent)]
    Iperf3Version(#[from] VersionError),
    /// iperf3 takes no such value.
    #[error(transparent)]
    Unaskable(#[from] Unaskable),
    /// iperf3 gave no report.
    #[error(transparent)]
    NoReport(#[from] NoReport),
    /// iperf3 failed.
    #[error("iperf3: {0}")]
    Iperf3(String),
    /// iperf3 did not end.
    #[error("iperf3 did not end within {} s: its server does not answer, or no longer", longest.as_secs_f64())]
    Iperf3Late {
        /// How long it was waited for.
        longest: Duration,
    },
    /// A kernel does not grant iperf3's buffer.
    #[error("iperf3: a kernel does not grant a buffer of {bytes} bytes")]
    BufferRefused {
        /// What was asked for.
        bytes: u32,
    },
    /// A socket failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<ReadError> for FarEndError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Stopped => Self::Stopped,
            ReadError::Io(error) => Self::Io(error),
            error @ (ReadError::TooLate | ReadError::Closed | ReadError::NoMessage(_)) => {
                Self::Silent(error.to_string())
            }
        }
    }
}

impl FarEndError {
    /// What helps.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unreachable { .. } => {
                "start `maxseg responder --listen 0.0.0.0` on the far host, and open its port in the firewall there".into()
            }
            Self::Refused(Refusal::Token) => {
                "give the token that `maxseg responder` printed: --token TOKEN, or MAXSEG_TOKEN".into()
            }
            Self::Refused(Refusal::Busy) => {
                "it serves one test at a time: wait until the other one has ended".into()
            }
            Self::TooLong { .. } => {
                "raise --max-time of `maxseg responder`, or shorten the test with --duration".into()
            }
            Self::TooFast { .. } => {
                "raise --max-rate of `maxseg responder`, or leave it out: what the path carries beyond it cannot be measured".into()
            }
            Self::Refused(Refusal::Limit) => {
                "raise --max-time or --max-connections of `maxseg responder`, or shorten the test with --duration".into()
            }
            Self::Refused(Refusal::Version) => {
                "install the same version of maxseg at both ends".into()
            }
            Self::NoResponder(_) => {
                "name the port of `maxseg responder` (--far-end responder:PORT), or --far-end iperf3 for an iperf3 server".into()
            }
            Self::Iperf3Version(_) => "install iperf3, or use `maxseg responder` as the far end".into(),
            Self::BufferRefused { .. } => {
                "raise net.core.rmem_max and net.core.wmem_max at both ends".into()
            }
            Self::Iperf3(_) | Self::Iperf3Late { .. } => "start `iperf3 -s` on the far host; it serves one test at a time".into(),
            Self::Silent(_) => "look whether `maxseg responder` still runs on the far host, and what it printed".into(),
            Self::Refused(_)
            | Self::Stopped
            | Self::Unaskable(_)
            | Self::NoReport(_)
            | Self::Io(_) => return None,
        })
    }
}
