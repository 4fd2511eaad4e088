//! The protocol of a persistent lab: a line of JSON for the request, one for the answer.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Changed, LabStatus, LeftProcess};
use crate::lab::error::LabError;

/// A request to a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    /// Its status.
    Status,
    /// How to enter this host.
    Enter(String),
    /// Set keys: `KEY=VALUE`.
    Set(Vec<String>),
    /// Shut down.
    Down,
}

/// An answer of a lab.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// Its status.
    Status(Box<LabStatus>),
    /// How to enter a host. With it come descriptors of the host's network namespace and, where the lab lives in a
    /// user namespace, of that.
    Enter {
        /// Variables for a program in the host.
        environment: BTreeMap<String, String>,
        /// Every host's name, with its address nearest to this host.
        names: BTreeMap<String, IpAddr>,
    },
    /// The changed keys.
    Set(Vec<Changed>),
    /// The lab shuts down.
    Down,
    /// The same; these programs of its hosts run on.
    DownLeaving(Vec<LeftProcess>),
    /// The request is refused.
    Refused {
        /// The error.
        what: String,
        /// Its hint.
        hint: Option<String>,
    },
}

impl From<LabError> for Answer {
    fn from(error: LabError) -> Self {
        Self::Refused { hint: error.hint(), what: error.to_string() }
    }
}
