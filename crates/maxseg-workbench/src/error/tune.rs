//! Why settings of this host are not changed.

use std::net::IpAddr;

use maxseg_core::tune::{Refusal, Step, Target, TargetError};
use maxseg_linux::tune::TuneError;

use super::ErrorKind;

/// Why settings of this host are not changed.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// An argument is not TARGET=VALUE.
    #[error("`{0}` is not TARGET=VALUE")]
    NotAnAssignment(String),
    /// It names nothing that can be set.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The segment size of one connection cannot be set.
    #[error(
        "the segment size of a connection that runs cannot be set: the kernel accepts TCP_MAXSEG and does nothing"
    )]
    SegmentSize {
        /// The destinations whose route decides it.
        remote: IpAddr,
    },
    /// A target is to have two values.
    #[error("{0} is set twice")]
    Repeated(Target),
    /// A step must not be made.
    #[error("{} = {}{} is refused: {refusal}", step.target, step.after, unit_of(step))]
    Refused {
        /// Which.
        step: Box<Step>,
        /// Why.
        refusal: Refusal,
    },
    /// A step must not be made that the kernel makes with one that was asked for.
    #[error(
        "{} = {} is refused: the kernel lowers {} to {} with it, and {refusal}",
        with.target, with.after, step.target, step.after
    )]
    RefusedWith {
        /// What was asked for.
        with: Box<Step>,
        /// What goes with it.
        step: Box<Step>,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// Advice that is not there, or is not of this host any more.
    #[error("{what}")]
    Advice {
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// The system refuses.
    #[error(transparent)]
    System(Box<TuneError>),
}

/// The unit of a number that an option of a socket is to have: one counts in milliseconds, another in microseconds.
fn unit_of(step: &Step) -> &'static str {
    let is_number = matches!(step.target, Target::Socket { .. }) && step.after.number().is_some();
    let known = step.target.tunable().filter(|_| is_number);
    known.map_or("", |tunable| tunable.unit.after_number())
}

impl From<TuneError> for TuningError {
    fn from(error: TuneError) -> Self {
        Self::System(Box::new(error))
    }
}

impl TuningError {
    /// What it is about.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAnAssignment(_)
            | Self::Target(_)
            | Self::SegmentSize { .. }
            | Self::Repeated(_)
            | Self::Refused { .. }
            | Self::RefusedWith { .. }
            | Self::Advice { .. } => ErrorKind::Input,
            Self::System(_) => ErrorKind::Machine,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotAnAssignment(_) => {
                "write for example --set route.10.0.0.0/8.mtu=1280".to_owned()
            }
            Self::Target(error) => error.hint(),
            Self::SegmentSize { remote } => format!(
                "the route's MTU acts on it at once, and on all others to that host: --set route.{remote}.mtu=1280"
            ),
            Self::Repeated(target) => format!("name {target} once"),
            Self::Refused { step, refusal } => refusal.hint(step),
            Self::RefusedWith { step, refusal, .. } => refusal.hint(step),
            Self::Advice { hint, .. } => hint.clone(),
            Self::System(error) => error.hint(),
        }
    }
}
