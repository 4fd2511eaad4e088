//! What is said between a lab and those who use it: a line of JSON each way.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Changed, LabStatus};
use crate::lab::error::LabError;

/// What a lab can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    /// How it is.
    Status,
    /// The way into this host.
    Enter(String),
    /// Keys to be set: `KEY=VALUE`.
    Set(Vec<String>),
    /// To end.
    Down,
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// How it is.
    Status(Box<LabStatus>),
    /// How to enter a host. With it come descriptors of the host's network namespace and, where the lab lives in a
    /// user namespace, of that.
    Enter {
        /// Variables for a program in the host.
        environment: BTreeMap<String, String>,
        /// Every host's name, with its address nearest to this host.
        names: BTreeMap<String, IpAddr>,
    },
    /// What has changed.
    Set(Vec<Changed>),
    /// It ends.
    Down,
    /// No, because.
    Refused {
        /// What cannot be, and why.
        what: String,
        /// How to mend it.
        hint: Option<String>,
    },
}

impl From<LabError> for Answer {
    fn from(error: LabError) -> Self {
        Self::Refused { hint: error.hint(), what: error.to_string() }
    }
}
