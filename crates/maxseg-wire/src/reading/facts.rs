//! What is known of a capture file, whatever its connections.

use maxseg_core::evidence::FileInterface;
use maxseg_core::units::Time;

use crate::capture_file::{Compression, Format};
use crate::encapsulation::EncapPath;
use crate::link_type;

/// What is known of a capture file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Its format.
    pub format: Format,
    /// How it is compressed, if it is.
    pub compression: Option<Compression>,
    /// Packets of the selected interfaces, as far as the file could be read.
    pub packets: u64,
    /// Bytes of these packets on the wire, whatever the capture kept of them.
    pub bytes: u64,
    /// The earliest time of a packet, since 1970.
    pub first: Option<Time>,
    /// The latest time of a packet, since 1970.
    pub last: Option<Time>,
    /// Its interfaces, by their numbers.
    pub interfaces: Vec<InterfaceFacts>,
    /// The different stacks of headers below TCP's IP packet; at most 64 of them.
    pub encapsulations: Vec<EncapPath>,
}

/// An interface of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// Its name, or its number where it has none.
    pub name: String,
    /// The section of the file that describes it, counted from 1.
    pub section: u32,
    /// Its number in that section, from 0.
    pub number_in_section: u32,
    /// The link type of its packets; see [`link_type`].
    pub link_type: u16,
    /// Packets of it in the file, selected or not.
    pub packets: u64,
    /// Packets that the capturing host dropped there, where the file says so.
    pub dropped: Option<u64>,
}

impl FileFacts {
    /// Format and compression, such as `pcapng, gzip`.
    pub fn format_name(&self) -> String {
        match self.compression {
            Some(compression) => format!("{}, {}", self.format.name(), compression.name()),
            None => self.format.name().to_owned(),
        }
    }

    /// Where a display filter finds the interface of this number; `None` where the file has packets of no other.
    pub(super) fn place_of(&self, interface: u32) -> Option<FileInterface> {
        let with_packets = self.interfaces.iter().filter(|one| one.packets > 0).count();
        let found = self.interfaces.get(interface as usize).filter(|_| with_packets > 1)?;
        let has_sections = self.interfaces.iter().any(|one| one.section != found.section);
        Some(FileInterface {
            section: has_sections.then_some(found.section),
            number: found.number_in_section,
        })
    }

    /// The encapsulations in words, such as `Ethernet, VLAN`; plain Ethernet and IP alone are left out.
    pub fn encapsulation_names(&self) -> Vec<String> {
        let names = self.encapsulations.iter().map(ToString::to_string);
        names.filter(|names| !names.is_empty() && names != "Ethernet").collect()
    }
}

impl InterfaceFacts {
    /// The name of its link type, such as `Ethernet`.
    pub fn link_name(&self) -> String {
        link_type::name(self.link_type)
            .map_or_else(|| format!("link type {}", self.link_type), str::to_owned)
    }
}
