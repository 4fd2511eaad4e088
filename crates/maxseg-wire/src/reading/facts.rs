//! What is known of a capture file, whatever its connections.

use maxseg_core::evidence::FileInterface;
use maxseg_core::units::Time;

use super::{Hole, Problem, ProblemKind};
use crate::capture_file::{Compression, Format, InterfaceInfo};
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
    /// The files that follow each other, in order, where the capture is of several; then format and compression are the first
    /// one's, and packets are numbered through.
    pub parts: Vec<FilePart>,
    /// What is missing between them, in order.
    pub holes: Vec<Hole>,
}

/// One of several files that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Its name.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// How it is compressed, if it is.
    pub compression: Option<Compression>,
    /// Packets in the files before it: its own are numbered from the next on.
    pub before: u64,
    /// Packets in it, of all interfaces.
    pub packets: u64,
    /// Time of its first packet, since 1970.
    pub first: Option<Time>,
    /// Where and how it ends within a packet.
    pub(super) cut: Option<(u64, String)>,
    /// Interfaces that it describes.
    pub(super) interfaces: usize,
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
    /// Packets of it in the file, selected or not; those in two of several files once.
    pub packets: u64,
    /// Packets that the capturing host dropped there, where the file says so.
    pub dropped: Option<u64>,
}

impl FileFacts {
    /// Format and compression, such as `pcapng, gzip`; those of several files that differ, with semicolons.
    pub fn format_name(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for part in &self.parts {
            let name = part.format_name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return format_name(self.format, self.compression);
        }
        names.join("; ")
    }

    /// Whether the files of a capture describe different interfaces.
    pub fn has_other_interfaces(&self) -> bool {
        self.parts.iter().any(|part| part.packets > 0 && part.interfaces != self.interfaces.len())
    }

    /// What is missing between files, each as a problem of the capture.
    pub(super) fn hole_problems(&self) -> impl Iterator<Item = Problem> {
        let name = |place: usize| self.parts.get(place).map_or("", |part| &part.name).to_owned();
        self.holes.iter().map(move |hole| {
            let names = [name(hole.before.saturating_sub(1)), name(hole.before)];
            let kind = ProblemKind::MissingFiles {
                names,
                lasts: hole.to.since(hole.from),
                connections: hole.connections,
                bytes: hole.bytes,
            };
            Problem { kind, offset: None, count: 1, file: None }
        })
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

impl FilePart {
    /// Whether it ends within a packet.
    pub const fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Where it ends within a packet.
    pub(super) fn cut_problem(&self) -> Option<Problem> {
        let (offset, text) = self.cut.clone()?;
        let (kind, file) = (ProblemKind::Truncated(text), Some(self.name.clone()));
        Some(Problem { kind, offset: Some(offset), count: 1, file })
    }

    /// Its format and compression, such as `pcapng, gzip`.
    pub fn format_name(&self) -> String {
        format_name(self.format, self.compression)
    }
}

fn format_name(format: Format, compression: Option<Compression>) -> String {
    match compression {
        Some(compression) => format!("{}, {}", format.name(), compression.name()),
        None => format.name().to_owned(),
    }
}

impl InterfaceFacts {
    /// What is known of an interface of this number in the capture.
    pub(super) fn of(info: &InterfaceInfo, number: usize, packets: u64) -> Self {
        Self {
            name: info.name.clone().unwrap_or_else(|| number.to_string()),
            section: info.section,
            number_in_section: info.number_in_section,
            link_type: info.link_type,
            packets,
            dropped: info.dropped,
        }
    }

    /// The name of its link type, such as `Ethernet`.
    pub fn link_name(&self) -> String {
        link_type::name(self.link_type)
            .map_or_else(|| format!("link type {}", self.link_type), str::to_owned)
    }
}
