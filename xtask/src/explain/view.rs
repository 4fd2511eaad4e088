//! A capture as somebody else would have made it: at one point, from one time on, of one direction.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One capture of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The interfaces of the lab that it has.
    pub interfaces: Vec<String>,
    /// How much of the time is over when it begins, from 0 to 1.
    pub begins_at: f64,
    /// The direction that it has; `None` for both.
    pub only: Option<Way>,
}

/// A direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// That of the data.
    Data,
    /// That of the acknowledgements.
    Acks,
}

/// The address of the data's sender in every run.
pub(super) const SENDER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);

impl View {
    /// Everything at an interface.
    pub fn at(interface: &str) -> Self {
        Self { interfaces: vec![interface.to_owned()], begins_at: 0.0, only: None }
    }

    /// In a table.
    pub fn words(&self) -> String {
        let mut text = self.interfaces.join(" and ");
        if self.begins_at > 0.0 {
            text = format!("{text}, without the first {:.0}%", 100.0 * self.begins_at);
        }
        match self.only {
            Some(Way::Data) => format!("{text}, data only"),
            Some(Way::Acks) => format!("{text}, acknowledgements only"),
            None => text,
        }
    }
}

/// The file of the view with this number, of a run that is kept in `folder`.
pub(super) fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number}.pcapng.gz"))
}
