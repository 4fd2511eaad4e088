//! A capture as somebody else would have made it: at one point, from one time on, of one direction.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::watch;

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

/// The address of the data's sender in every run: in the lab,
const IN_LAB: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// and in the simulator.
const IN_SIM: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(super) const SENDERS: [Ipv4Addr; 2] = [IN_LAB, IN_SIM];

/// The address of its receiver in the simulator.
const RECEIVER_IN_SIM: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// Whether a connection with these ends is the one that is judged: others are other traffic.
pub(super) fn is_judged(ends: [SocketAddr; 2]) -> bool {
    let has = |address: Ipv4Addr| ends.iter().any(|end| end.ip() == address);
    ends.iter().any(|end| end.port() == watch::PORT) || has(IN_SIM) && has(RECEIVER_IN_SIM)
}

impl View {
    /// Everything at an interface.
    pub fn at(interface: &str) -> Self {
        Self { interfaces: vec![interface.to_owned()], begins_at: 0.0, only: None }
    }

    /// Between two hops the lab's router has two interfaces, and the simulator one point, that has the name of the hop
    /// before it.
    pub(super) fn name_as_simulated(&mut self, first_hop: &str) {
        for interface in &mut self.interfaces {
            if interface.starts_with("r1.") {
                first_hop.clone_into(interface);
            }
        }
        self.interfaces.dedup();
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
