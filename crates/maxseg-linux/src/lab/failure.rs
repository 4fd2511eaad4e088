//! Why there is no lab.

use std::io;

use maxseg_core::engine::EngineError;
use thiserror::Error;

/// Why a lab could not be made, or did not run.
#[derive(Debug, Error)]
pub(crate) enum LabError {
    #[error("a lab needs network namespaces, and this process may not make any: {0}")]
    Namespace(#[source] io::Error),
    #[error("a lab needs TUN interfaces, and /dev/net/tun cannot be used: {0}")]
    Tun(#[source] io::Error),
    #[error("host {host} of the lab: {error}")]
    Host {
        host: String,
        #[source]
        error: io::Error,
    },
    #[error("{hops} hops are more than the {most} of a lab")]
    TooManyHops { hops: usize, most: usize },
    #[error("congestion control {name}: {error}")]
    Congestion {
        name: String,
        #[source]
        error: io::Error,
    },
    #[error("flow {flow}: {error}")]
    Flow {
        flow: usize,
        #[source]
        error: io::Error,
    },
    #[error("the link {link}: {error}")]
    Link {
        link: String,
        #[source]
        error: io::Error,
    },
    #[error("the capture: {0}")]
    Capture(#[source] io::Error),
    #[error("{what}")]
    Beyond { what: String, hint: String },
    #[error("cancelled")]
    Cancelled,
}

impl LabError {
    fn hint(&self) -> Option<String> {
        let doctor = "`maxseg doctor` says what is missing, and the command that mends it";
        let hint = match self {
            Self::Namespace(_) | Self::Tun(_) => doctor.to_owned(),
            Self::TooManyHops { .. } => "put hops together, or use --engine sim".to_owned(),
            Self::Congestion { .. } => {
                "`maxseg doctor` lists what this kernel has and who may use it; --set sender.congestion=reno works \
                 everywhere"
                    .to_owned()
            }
            Self::Beyond { hint, .. } => hint.clone(),
            Self::Host { .. }
            | Self::Flow { .. }
            | Self::Link { .. }
            | Self::Capture(_)
            | Self::Cancelled => return None,
        };
        Some(hint)
    }
}

impl From<LabError> for EngineError {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Cancelled => Self::Cancelled,
            error => Self::Unable { hint: error.hint(), what: error.to_string() },
        }
    }
}
