//! The files of a capture that follow each other, and the one file that packet numbers and filters are for.

use maxseg_wire::reading::{FileFacts, FilePart};

use super::super::words::grouped;
use crate::file_error::for_shell;

/// What the file of all packets is called.
pub(super) const JOINED: &str = "joined.pcapng";

/// Files that are named one by one: the first, and the last.
const NAMED: usize = 8;

/// The files of a capture that follow each other.
#[derive(Debug, PartialEq, Eq)]
pub struct FilesInOrder {
    /// Which has which packets, in a line.
    pub files: String,
    /// What the numbers of packets mean.
    pub numbers: String,
    /// What makes one file of all.
    pub command: String,
}

impl FilesInOrder {
    /// Of a capture of several files; `None` for one.
    pub fn of(file: &FileFacts) -> Option<Self> {
        let parts = &file.parts;
        let [_, .., last] = parts.as_slice() else { return None };
        let from = |before: u64| grouped(before + 1);
        let is_short = parts.len() <= NAMED;
        let listed = if is_short { parts.len() } else { NAMED - 1 };
        let first = parts.iter().take(listed);
        let mut said: Vec<String> =
            first.map(|part| format!("{} from packet {}", part.name, from(part.before))).collect();
        if !is_short {
            let others = grouped((parts.len() - listed - 1) as u64);
            let last = format!("{} from packet {}", last.name, from(last.before));
            said.push(format!("{others} more (--json has all), {last}"));
        }
        let arguments = if is_short {
            let all: Vec<String> = parts.iter().map(|part| for_shell(&part.name)).collect();
            all.join(" ")
        } else {
            "FILES".to_owned()
        };
        // Equal interfaces of files that describe different ones become one.
        let merge = if file.has_other_interfaces() { "-I any " } else { "" };
        let command = format!("mergecap -a {merge}-w {JOINED} {arguments}");
        let in_order = if is_short { "" } else { ", with the files in this order" };
        let cut = if parts.iter().any(FilePart::is_cut) {
            ", which stops at a file that is cut (`editcap CUT.pcap WHOLE.pcapng` first)"
        } else {
            ""
        };
        let numbers = format!(
            "numbered through all files; filters with packet numbers are for {JOINED}, as mergecap makes it{in_order}{cut}"
        );
        Some(Self { files: said.join(", "), numbers, command })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use maxseg_wire::reading::{ReadOptions, read_series};
    use maxseg_wire::synthetic::Load;

    use super::*;

    /// The first of a file for each hour, so many of them.
    fn of_files(count: usize) -> Option<FilesInOrder> {
        let load = Load { connections: 1, rounds: 1, at_once: 1, rounds_a_turn: 1, ends: true };
        let mut bytes = Vec::new();
        load.write(&mut bytes).unwrap();
        let names: Vec<String> = (1..=count).map(|n| format!("a {n}.pcap")).collect();
        // The seconds of each packet stand first in its header; all packets have the same.
        let mut open = |place: usize| {
            let mut at = 24;
            let mut file = bytes.clone();
            while at < file.len() {
                let length = u32::from_le_bytes(*file[at + 8..].first_chunk().unwrap()) as usize;
                let seconds = u32::from_le_bytes(*file[at..].first_chunk().unwrap());
                let later = seconds + 3600 * u32::try_from(place).unwrap();
                file[at..at + 4].copy_from_slice(&later.to_le_bytes());
                at += 16 + length;
            }
            Ok(Cursor::new(file))
        };
        let reading = read_series(&names, &mut open, &ReadOptions::default(), 0).unwrap().unwrap();
        FilesInOrder::of(&reading.summary.file)
    }

    #[test]
    fn few_files_are_named_in_the_command_and_many_are_counted() {
        assert_eq!(of_files(1), None);
        let two = of_files(2).unwrap();
        assert_eq!(two.command, "mergecap -a -w joined.pcapng 'a 1.pcap' 'a 2.pcap'");
        assert!(two.files.starts_with("a 1.pcap from packet 1, a 2.pcap from packet "), "{two:?}");
        let many = of_files(1200).unwrap();
        assert_eq!(many.command, "mergecap -a -w joined.pcapng FILES");
        assert!(many.files.contains(", 1 192 more (--json has all), a 1200.pcap from"), "{many:?}");
        assert!(many.numbers.ends_with(", with the files in this order"), "{many:?}");
    }
}
