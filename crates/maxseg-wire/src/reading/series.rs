//! Files that follow each other, as a ring or a rotation leaves them: one capture.
//!
//! One is open at a time, and its packets are numbered on from the last of the one before: as in the file that
//! `mergecap -a` makes of them.

use std::io::{self, Read};

use maxseg_core::units::Time;

use super::hole::{Hole, Tail};
use super::seam::Seam;
use super::{FilePart, InterfaceFacts};
use crate::capture_file::{CaptureFile, InterfaceInfo, ReadError, Record};
use crate::flow::Decoded;

/// Opens the file at a place, at its begin.
pub(super) type OpenFile<'a, R> = &'a mut dyn FnMut(usize) -> io::Result<R>;

/// How an interface of the file that is read is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct InterfaceUse {
    /// Its number in the capture: over all files.
    pub(super) number: u32,
    pub(super) packets: u64,
    pub(super) is_selected: bool,
}

/// Two files of which the second begins long before the first ends.
#[derive(Debug, Clone)]
pub(super) struct Overlap {
    pub(super) names: [String; 2],
    pub(super) by: Time,
}

/// The files beside the one that is read.
pub(super) struct Series<'a, R> {
    names: &'a [String],
    open: OpenFile<'a, R>,
    /// The files that have been read.
    parts: Vec<FilePart>,
    /// The interfaces of all files: those that are described alike are one.
    infos: Vec<InterfaceInfo>,
    /// Packets of each of them.
    packets: Vec<u64>,
    /// First packet of the file that is read.
    first_at: Option<u64>,
    /// First and last packet of the latest file that has packets, and its place.
    before: Option<Before>,
    overlap: Option<Overlap>,
    /// The file with the fault that ended the reading.
    faulty: Option<usize>,
    /// What both the file that is read and the one before may hold: packets that passed while both were open.
    seam: Seam,
    /// What the files before it end with, and what is missing between files.
    tail: Tail,
    holes: Vec<Hole>,
}

/// How a file follows the one before it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Follows {
    /// Nothing is missing between them, as far as that shows.
    AtOnce,
    /// Files are missing between them.
    BehindHole(Hole),
    /// It begins long before the other ends.
    Not,
}

/// A file that another follows.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// First and last packet, in nanoseconds since 1970.
    times: (u64, u64),
    place: usize,
    has_several_interfaces: bool,
}

/// By so much a file may begin before the last packet of the one before it, in nanoseconds: what one interface received may stand
/// behind what another did later, and of captures that are changed by hand the next begins before the last ends.
pub(super) const MOST_OVERLAP: u64 = 1_000_000_000;

/// Whether a file that begins at `next` follows one with a first and a last packet at these times, all in nanoseconds since 1970:
/// it begins within its last second or later; where it has one interface, and its packets are in order, within its latter half as well.
pub(super) const fn follows((first, last): (u64, u64), next: u64, has_several: bool) -> bool {
    let half = last.saturating_sub(first) / 2;
    let most = if half < MOST_OVERLAP && !has_several { half } else { MOST_OVERLAP };
    next.saturating_add(most) >= last
}

impl<'a, R> Series<'a, R> {
    /// Files of these names, opened by `open`.
    pub(super) fn new(names: &'a [String], open: OpenFile<'a, R>) -> Self {
        Self {
            names,
            open,
            parts: Vec::new(),
            infos: Vec::new(),
            packets: Vec::new(),
            first_at: None,
            before: None,
            overlap: None,
            faulty: None,
            seam: Seam::default(),
            tail: Tail::default(),
            holes: Vec::new(),
        }
    }

    /// Opens the file behind those that have been read; `None` behind the last.
    pub(super) fn next_input(&mut self) -> Option<io::Result<R>> {
        let place = self.parts.len();
        (place < self.names.len()).then(|| (self.open)(place))
    }

    /// Whether a packet is in the file before as well.
    #[inline]
    pub(super) fn is_repeat(&mut self, record: &Record<'_>, infos: &[InterfaceInfo]) -> bool {
        self.seam.takes(record, infos)
    }

    /// Packets that are in two files.
    pub(super) const fn repeats(&self) -> u64 {
        self.seam.repeats
    }

    /// A packet of the selected interfaces passes.
    #[inline]
    pub(super) fn on_packet(&mut self, what: &Decoded<'_>) {
        self.tail.on_packet(what);
    }

    /// What is missing between files.
    pub(super) fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// Goes on to the next file, and gives the number of packets before its first.
    pub(super) fn begin_file(&mut self) -> u64 {
        self.first_at = None;
        self.seam.end();
        self.packets_before()
    }

    /// The next file cannot be opened.
    pub(super) fn cannot_open(&mut self) {
        self.faulty = Some(self.parts.len());
    }

    /// The name of the file with the fault that ended the reading.
    pub(super) fn faulty(&self) -> Option<&String> {
        self.names.get(self.faulty?)
    }

    /// Packets in the files that have been read.
    fn packets_before(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.before + part.packets)
    }

    /// The files that have been read.
    pub(super) fn parts(&self) -> &[FilePart] {
        &self.parts
    }

    pub(super) const fn overlap(&self) -> Option<&Overlap> {
        self.overlap.as_ref()
    }

    /// The interfaces of all files so far.
    pub(super) fn infos(&self) -> &[InterfaceInfo] {
        &self.infos
    }

    #[inline]
    pub(super) const fn interfaces(&self) -> usize {
        self.infos.len()
    }

    pub(super) fn interface_facts(&self) -> Vec<InterfaceFacts> {
        let all = self.infos.iter().zip(&self.packets).enumerate();
        all.map(|(number, (info, packets))| InterfaceFacts::of(info, number, *packets)).collect()
    }

    /// The number among those of all files of the interface at this place of a file.
    pub(super) fn number_of(&mut self, infos: &[InterfaceInfo], place: usize) -> usize {
        let Some(info) = infos.get(place) else { return place };
        let is_alike =
            |other: &&InterfaceInfo| (&other.name, other.link_type) == (&info.name, info.link_type);
        // A file may describe several alike: the first of them is the first in every file.
        let before = infos.iter().take(place).filter(is_alike).count();
        let known = self.infos.iter().enumerate().filter(|(_, other)| is_alike(other)).nth(before);
        if let Some((number, _)) = known {
            return number;
        }
        let number = self.infos.len();
        let number_in_section = u32::try_from(number).unwrap_or(u32::MAX);
        let (received, dropped) = (None, None);
        self.infos.push(InterfaceInfo {
            section: 1,
            number_in_section,
            received,
            dropped,
            ..info.clone()
        });
        self.packets.push(0);
        number
    }
}

impl<R: Read> Series<'_, R> {
    /// Takes the first packet of a file, and tells how it follows the file before. Of another packet it knows nothing.
    /// `is_selected` tells whether packets of an interface are read, by its place in the file.
    pub(super) fn follow(
        &mut self,
        record: &Record<'_>,
        infos: &[InterfaceInfo],
        is_selected: impl Fn(&InterfaceInfo, usize) -> bool,
    ) -> Follows {
        let Some(at) = record.at_nanos.filter(|_| self.first_at.is_none()) else {
            return Follows::AtOnce;
        };
        self.first_at = Some(at);
        let Some(Before { times, place, has_several_interfaces }) = self.before else {
            return Follows::AtOnce;
        };
        let last = times.1;
        if Seam::is_possible(at, last)
            && let Ok(input) = (self.open)(place)
        {
            self.seam.begin(input, record, infos);
        }
        if follows(times, at, has_several_interfaces) || self.seam.holds_all() {
            if at > last
                && let Some(hole) = self.hole((last, at), is_selected)
            {
                self.holes.push(hole);
                return Follows::BehindHole(hole);
            }
            return Follows::AtOnce;
        }
        let name = |place: usize| self.names.get(place).cloned().unwrap_or_default();
        let names = [name(place), name(self.parts.len())];
        self.overlap = Some(Overlap { names, by: Time::from_nanos(last - at) });
        Follows::Not
    }

    /// What is missing before the file that begins, from when to when in nanoseconds since 1970.
    fn hole(
        &mut self,
        (from, to): (u64, u64),
        is_selected: impl Fn(&InterfaceInfo, usize) -> bool,
    ) -> Option<Hole> {
        let before = self.parts.len();
        let input = (self.open)(before).ok()?;
        let (connections, bytes) = self.tail.missing_before(input, is_selected)?;
        let (from, to) = (Time::from_nanos(from), Time::from_nanos(to));
        Some(Hole { before, from, to, connections, bytes })
    }

    /// Takes what was read of a file, and gives back the error that ends the reading. One that only ends within a packet ends
    /// that file alone.
    pub(super) fn end_file(
        &mut self,
        file: &CaptureFile<R>,
        uses: &[InterfaceUse],
        last_at: Option<u64>,
        end: Option<ReadError>,
    ) -> Option<ReadError> {
        let place = self.parts.len();
        let before = self.packets_before();
        for place in 0..file.interfaces().len() {
            let number = match uses.get(place) {
                Some(one) => one.number as usize,
                None => self.number_of(file.interfaces(), place),
            };
            let packets = uses.get(place).map_or(0, |one| one.packets);
            if let Some(all) = self.packets.get_mut(number) {
                *all += packets;
            }
            if let (Some(all), Some(own)) =
                (self.infos.get_mut(number), file.interfaces().get(place))
            {
                all.received = counted_on(all.received, own.received);
                all.dropped = counted_on(all.dropped, own.dropped);
            }
        }
        let (cut, fault) = match end {
            Some(error) if error.fault.is_cut() => {
                (Some((error.offset, error.fault.to_string())), None)
            }
            other => (None, other),
        };
        self.faulty = fault.as_ref().map(|_| place);
        self.parts.push(FilePart {
            name: self.names.get(place).cloned().unwrap_or_default(),
            format: file.format(),
            compression: file.compression(),
            before,
            packets: file.count().saturating_sub(before),
            first: self.first_at.map(Time::from_nanos),
            cut,
            interfaces: file.interfaces().len(),
        });
        if let (Some(first), Some(last)) = (self.first_at, last_at) {
            let has_several_interfaces = file.interfaces().len() > 1;
            let next = Before { times: (first, last), place, has_several_interfaces };
            // One may end before the one that it begins in.
            self.before = self.before.filter(|before| before.times.1 > last).or(Some(next));
        }
        fault
    }
}

/// A count of all files so far and that of the next: counts run from the begin of a capture (pcapng, Interface Statistics
/// Block), over all files of a ring; one that is smaller is of another capture.
fn counted_on(so_far: Option<u64>, next: Option<u64>) -> Option<u64> {
    match (so_far, next) {
        (Some(so_far), Some(next)) if next < so_far => Some(so_far + next),
        (so_far, next) => next.or(so_far),
    }
}
