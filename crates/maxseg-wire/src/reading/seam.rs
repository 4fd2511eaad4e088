//! Packets that two files hold, because the second capture was begun before the first was ended.
//!
//! The kernel stamps a packet once, whatever the number of sockets that it hands it to: such a packet has the same time and bytes in
//! both files. Without this it would count as sent again.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::io::Read;

use foldhash::fast::{FixedState, RandomState};

use crate::capture_file::{CaptureFile, InterfaceInfo, Record};

/// Packets at the end of a file that the next may hold as well.
#[derive(Debug, Default)]
pub(super) struct Seam {
    /// How often each is there.
    packets: HashMap<u64, u32, RandomState>,
    /// Those that the next file held as well, at all seams.
    pub(super) repeats: u64,
    /// There are more of them than are kept.
    is_cut: bool,
}

/// Most packets of a seam: 16 MiB. Beyond them none is known.
const MOST: usize = 1 << 20;
/// Times count in microseconds, in nanoseconds: not all formats have finer ones.
const MICROSECOND: u64 = 1_000;
/// Bytes by which packets are told apart: captures may keep more or less of each.
const COMPARED: usize = 64;

impl Seam {
    /// Whether a file that begins at this time may hold packets of one that ends at that time, in nanoseconds since 1970. Of one
    /// time a capture may hold a packet several times: where it passes several interfaces, it is stamped once.
    pub(super) const fn is_possible(begin: u64, last: u64) -> bool {
        begin / MICROSECOND < last / MICROSECOND
    }

    /// Reads the end of a file, for one that begins with this packet. While both were captured both hold it, or else they have no
    /// packet in common: what one interface received may stand behind what another did later.
    #[cold]
    pub(super) fn begin<R: Read>(&mut self, input: R, first: &Record<'_>, infos: &[InterfaceInfo]) {
        self.packets.clear();
        self.is_cut = false;
        let Some(from) = first.at_nanos else { return };
        let Ok(mut file) = CaptureFile::open(input) else { return };
        while let Ok(Some((record, own))) = file.next_and_interfaces() {
            let is_late = record.at_nanos.is_some_and(|at| at / MICROSECOND >= from / MICROSECOND);
            self.is_cut |= is_late && self.packets.len() >= MOST;
            if is_late && self.packets.len() < MOST {
                *self.packets.entry(identity(&record, own)).or_default() += 1;
            }
        }
        if !self.packets.contains_key(&identity(first, infos)) {
            self.packets.clear();
        }
    }

    /// Whether both files hold what the second begins with, and all that both may hold is known: they are of one place, however long both
    /// were captured.
    pub(super) fn holds_all(&self) -> bool {
        !self.packets.is_empty() && !self.is_cut
    }

    /// Another file begins.
    pub(super) fn end(&mut self) {
        self.packets.clear();
    }

    /// Whether a packet is one of them; each is once.
    #[inline]
    pub(super) fn takes(&mut self, record: &Record<'_>, infos: &[InterfaceInfo]) -> bool {
        !self.packets.is_empty() && self.takes_one(identity(record, infos))
    }

    #[cold]
    fn takes_one(&mut self, packet: u64) -> bool {
        let Some(left) = self.packets.get_mut(&packet).filter(|left| **left > 0) else {
            return false;
        };
        *left -= 1;
        self.repeats += 1;
        true
    }
}

/// What a packet has in common with its copy in another file. Where it passes several interfaces of a host, it has one time at all.
fn identity(record: &Record<'_>, infos: &[InterfaceInfo]) -> u64 {
    let data = record.data.get(..COMPARED).unwrap_or(record.data);
    let at_micros = record.at_nanos.map(|at| at / MICROSECOND);
    let name = infos.get(record.interface as usize).and_then(|info| info.name.as_deref());
    let fields = (at_micros, record.original_len, record.link_type, name, data);
    FixedState::with_seed(0).hash_one(fields)
}
