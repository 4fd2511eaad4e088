//! Having the kernel forget what tests of paths taught it.

use std::io;
use std::net::IpAddr;

use maxseg_linux::probe::learnt::{ForgetOutcome, Forgetting, TeachLog, forget, log_files};

use super::PathError;

/// What became of what the kernel had learnt about one destination.
#[derive(Debug)]
pub struct Forgotten {
    /// The destination.
    pub destination: IpAddr,
    /// The path MTU that the kernel remembered, bytes; `None` where it remembered none any more.
    pub mtu_bytes: Option<u32>,
    /// For how many seconds it would have remembered it.
    pub expires_s: Option<f64>,
    /// What became of it.
    pub outcome: ForgottenOutcome,
    error: Option<io::Error>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForgottenOutcome {
    /// The test taught the kernel nothing.
    NothingLearnt,
    /// The kernel remembered nothing any more.
    NothingThere,
    /// It is removed.
    Removed,
    /// It was there before the test, or another connection has learnt it since: it stays.
    NotOurs,
    /// It could not be removed.
    Failed,
}

impl Forgotten {
    /// Why it could not be removed.
    pub fn error(&self) -> Option<(IpAddr, &io::Error)> {
        self.error.as_ref().map(|error| (self.destination, error))
    }

    fn of(forgetting: Forgetting) -> Self {
        let (outcome, error) = match forgetting.outcome {
            ForgetOutcome::NothingLearnt => (ForgottenOutcome::NothingLearnt, None),
            ForgetOutcome::NothingThere => (ForgottenOutcome::NothingThere, None),
            ForgetOutcome::Removed => (ForgottenOutcome::Removed, None),
            ForgetOutcome::NotOurs => (ForgottenOutcome::NotOurs, None),
            ForgetOutcome::Failed(error) => (ForgottenOutcome::Failed, Some(error)),
        };
        Self {
            destination: forgetting.destination,
            mtu_bytes: forgetting.learnt.map(|learnt| learnt.mtu),
            expires_s: forgetting.learnt.map(|learnt| learnt.left_s()),
            outcome,
            error,
        }
    }
}

/// Removes what the probes of logged tests have taught the kernel about these destinations, or about all.
///
/// # Errors
/// A log cannot be read or written.
pub fn forget_learnt(destinations: Option<&[IpAddr]>) -> Result<Vec<Forgotten>, PathError> {
    let mut forgotten = Vec::new();
    for path in log_files() {
        let failed = |source| PathError::Log { path: path.clone(), source };
        let mut log = TeachLog::open_file(&path).map_err(failed)?;
        let forgettings = forget(&mut log, destinations).map_err(failed)?;
        forgotten.extend(forgettings.into_iter().map(Forgotten::of));
    }
    Ok(forgotten)
}
