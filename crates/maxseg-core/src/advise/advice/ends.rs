//! The hosts that advice is for.

use std::fmt;
use std::net::IpAddr;

use crate::advise::System;
use crate::advise::data_flow::{data_from, data_hosts};
use crate::scenario::{End, Scenario};
use crate::settings::Settings;

/// A host at an end of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEnd {
    /// `sender` or `receiver`.
    pub role: &'static str,
    /// Its address, where one is known.
    pub address: Option<IpAddr>,
    /// The system that it runs; [`System::Unknown`] where nothing shows it.
    pub system: System,
    /// Whether it is the host that this program runs on; `None` where that is unknown.
    pub is_here: Option<bool>,
}

impl HostEnd {
    /// A host of which only its place on the path is known.
    pub const fn of_role(role: &'static str) -> Self {
        Self { role, address: None, system: System::Unknown, is_here: None }
    }

    /// What commands call it: its address, or a word that stands for one.
    pub(super) fn for_commands(&self) -> String {
        self.address.map_or_else(|| self.role.to_uppercase(), |address| address.to_string())
    }
}

impl fmt::Display for HostEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => write!(f, "{address}"),
            None => write!(f, "the {}", self.role),
        }
    }
}

/// Both hosts of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// The host that sends the data.
    pub sender: HostEnd,
    /// The host that receives it.
    pub receiver: HostEnd,
}

impl Ends {
    /// Those of a described path: the host that sends its data has the role that the scenario gives it, which is `receiver` where
    /// the data comes from the path's far end.
    pub fn of_scenario(scenario: &Scenario) -> Self {
        let from = data_from(scenario);
        let host = |end: End, settings: &Settings| {
            let system = if settings.freebsd.is_some() { System::FreeBsd } else { System::Unknown };
            HostEnd { system, ..HostEnd::of_role(end.word()) }
        };
        let [sending, receiving] = data_hosts(scenario);
        Self { sender: host(from, sending), receiver: host(from.other(), receiving) }
    }
}

impl Default for Ends {
    /// Those of a described path.
    fn default() -> Self {
        Self { sender: HostEnd::of_role("sender"), receiver: HostEnd::of_role("receiver") }
    }
}
