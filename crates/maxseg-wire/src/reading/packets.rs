//! The packets of a capture, decoded one after the other.

use std::io::{self, Read};

use super::hole::Hole;
use super::series::{Follows, InterfaceUse, OpenFile, Overlap, Series};
use super::{FilePart, InterfaceFacts, ReadingError};
use crate::capture_file::{CaptureFile, Fault, InterfaceInfo, OpenError, ReadError, Record};
use crate::flow::{DecodedPacket, Decoder, FragmentCounts};

/// Reads a capture packet by packet, of all its interfaces or of one.
pub struct PacketReader<'a, R> {
    /// The file that is read now.
    capture: CaptureFile<R>,
    decoder: Decoder,
    /// The interface that is asked for, by its name or number.
    interface: Option<&'a str>,
    /// By the numbers of the interfaces in that file.
    interfaces: Vec<InterfaceUse>,
    /// What came before and what follows, where the capture is of several files.
    series: Option<Box<Series<'a, R>>>,
    /// Time of the last packet, in nanoseconds since 1970.
    last_at: Option<u64>,
}

/// Who takes the packets of a capture.
pub(super) trait TakesPackets {
    /// A packet, as it was recorded and decoded.
    fn on_packet(&mut self, record: &Record<'_>, packet: &DecodedPacket<'_>);

    /// Files are missing between the last packet and the next.
    fn on_hole(&mut self, hole: &Hole);
}

/// Takes packets alone.
struct PacketsAlone<F>(F);

impl<F: FnMut(&Record<'_>, &DecodedPacket<'_>)> TakesPackets for PacketsAlone<F> {
    #[inline(always)]
    fn on_packet(&mut self, record: &Record<'_>, packet: &DecodedPacket<'_>) {
        (self.0)(record, packet);
    }

    fn on_hole(&mut self, _: &Hole) {}
}

impl<'a, R: Read> PacketReader<'a, R> {
    /// Opens a capture; only packets of `interface` (its name, or its number from 0) are read, or all of them.
    ///
    /// # Errors
    /// `input` is no capture that is read here, or broken before its first packet.
    pub fn open(input: R, interface: Option<&'a str>) -> Result<Self, OpenError> {
        let (capture, decoder) = (CaptureFile::open(input)?, Decoder::default());
        let interfaces = Vec::new();
        Ok(Self { capture, decoder, interface, interfaces, series: None, last_at: None })
    }

    /// Opens the first of several files that follow each other, those of one capture. Their packets are numbered through, as in
    /// the file that `mergecap -a` makes of them, and an interface that several files describe alike is one.
    ///
    /// # Errors
    /// As [`open`](Self::open), for the first of them.
    pub(super) fn open_series(
        names: &'a [String],
        open: OpenFile<'a, R>,
        interface: Option<&'a str>,
    ) -> Result<Self, OpenError> {
        let mut reader = Self::open(open(0)?, interface)?;
        reader.series = Some(Box::new(Series::new(names, open)));
        Ok(reader)
    }

    /// Hands over every packet of the selected interface, as it was recorded and decoded, up to the end.
    ///
    /// # Errors
    /// The input fails or is broken from some packet on; all before it have been handed over.
    #[inline]
    pub fn for_each(
        &mut self,
        take: impl FnMut(&Record<'_>, &DecodedPacket<'_>),
    ) -> Result<(), ReadError> {
        self.hand_over(&mut PacketsAlone(take))
    }

    /// The same, and what is missing between files as well.
    #[inline]
    pub(super) fn hand_over(&mut self, to: &mut impl TakesPackets) -> Result<(), ReadError> {
        loop {
            let end = self.each_of_file(to);
            if self.series.is_none() {
                return end;
            }
            if !self.begin_next_file(end)? {
                return Ok(());
            }
        }
    }

    /// Hands over the packets of the file that is read now.
    #[inline]
    fn each_of_file(&mut self, to: &mut impl TakesPackets) -> Result<(), ReadError> {
        let Self { capture, decoder, interface, interfaces, series, last_at } = self;
        while let Some((mut record, infos)) = capture.next_and_interfaces()? {
            let number = record.interface as usize;
            if number >= interfaces.len() {
                // An interface is described before its first packet: only now is its name known.
                add_interfaces(interfaces, infos, *interface, series.as_deref_mut());
                if let Some(series) = series {
                    let is_read = |info: &InterfaceInfo, place: usize| match *interface {
                        Some(wanted) => is_one_called(info, place, wanted),
                        None => true,
                    };
                    match series.follow(&record, infos, is_read) {
                        Follows::AtOnce => {}
                        Follows::BehindHole(hole) => to.on_hole(&hole),
                        Follows::Not => return Ok(()),
                    }
                }
            }
            if let Some(series) = series
                && series.is_repeat(&record, infos)
            {
                continue;
            }
            let is_selected = interfaces.get_mut(number).is_none_or(|one| {
                one.packets += 1;
                record.interface = one.number;
                one.is_selected
            });
            *last_at = record.at_nanos;
            if is_selected {
                if let Some(series) = series {
                    record.interfaces = record.interfaces.max(series.interfaces());
                }
                let packet = decoder.decode(&record);
                if let Some(series) = series {
                    series.on_packet(&packet.what);
                }
                to.on_packet(&record, &packet);
            }
        }
        Ok(())
    }

    /// Goes on with the next of several files; `false` behind the last. One that ends within a packet, as a capture that was
    /// killed does, is whole up to there, and the next may follow.
    #[cold]
    fn begin_next_file(&mut self, end: Result<(), ReadError>) -> Result<bool, ReadError> {
        let Self { capture, interfaces, series, last_at, .. } = self;
        let Some(series) = series else { return Ok(false) };
        let end = series.end_file(capture, interfaces, last_at.take(), end.err());
        interfaces.clear();
        if let Some(fault) = end {
            return Err(fault);
        }
        if series.overlap().is_some() {
            return Ok(false);
        }
        let Some(next) = series.next_input() else { return Ok(false) };
        // It was a capture when it was looked at first.
        let opened = next.map_err(OpenError::Io).and_then(CaptureFile::open);
        let opened = opened.map_err(|error| {
            series.cannot_open();
            let fault = error.of_system().unwrap_or_else(|other| {
                io::Error::new(io::ErrorKind::InvalidData, other.to_string())
            });
            ReadError { offset: 0, compression: None, fault: Fault::Io(fault) }
        })?;
        *capture = opened;
        capture.number_from(series.begin_file());
        Ok(true)
    }

    /// The next packet of the selected interface of which `take` makes something; `None` at the end of the file.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    #[inline]
    pub fn find_map<T>(
        &mut self,
        mut take: impl FnMut(&DecodedPacket<'_>) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let Self { capture, decoder, interface, interfaces, .. } = self;
        while let Some((record, infos)) = capture.next_and_interfaces()? {
            let number = record.interface as usize;
            if number >= interfaces.len() {
                add_interfaces::<R>(interfaces, infos, *interface, None);
            }
            let is_selected = interfaces.get(number).is_none_or(|one| one.is_selected);
            if is_selected && let Some(taken) = take(&decoder.decode(&record)) {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    /// The file that is read now: the last of several, when all have been read.
    pub const fn capture(&self) -> &CaptureFile<R> {
        &self.capture
    }

    /// The files that were read, in order; empty where the capture is one file.
    pub(super) fn parts(&self) -> &[FilePart] {
        self.series.as_ref().map_or(&[], |series| series.parts())
    }

    /// Packets that are in two of several files, which are handed over once.
    pub(super) fn repeats(&self) -> u64 {
        self.series.as_ref().map_or(0, |series| series.repeats())
    }

    /// What is missing between the files that were read.
    pub(super) fn holes(&self) -> &[Hole] {
        self.series.as_ref().map_or(&[], |series| series.holes())
    }

    /// The file with the fault that ended the reading, where there are several.
    pub(super) fn faulty(&self) -> Option<&String> {
        self.series.as_ref().and_then(|series| series.faulty())
    }

    /// The fragments among the packets so far.
    pub fn fragment_counts(&self) -> FragmentCounts {
        self.decoder.fragment_counts()
    }

    /// The interfaces so far, each with the number of its packets: of several files, those of all that have been read to their
    /// ends.
    pub fn interfaces(&self) -> Vec<InterfaceFacts> {
        if let Some(series) = &self.series {
            return series.interface_facts();
        }
        let infos = self.capture.interfaces();
        let facts = infos.iter().enumerate().map(|(number, info)| {
            let packets = self.interfaces.get(number).map_or(0, |one| one.packets);
            InterfaceFacts::of(info, number, packets)
        });
        facts.collect()
    }

    /// Refuses an interface that the capture does not have, and files that do not follow each other; known when the capture has
    /// been read.
    ///
    /// # Errors
    /// [`ReadingError::NoSuchInterface`], [`ReadingError::Overlap`].
    pub fn check(&self) -> Result<(), ReadingError> {
        if let Some(Overlap { names, by }) = self.series.as_ref().and_then(|one| one.overlap()) {
            return Err(ReadingError::Overlap { names: names.clone(), by: *by });
        }
        let Some(wanted) = self.interface else { return Ok(()) };
        let facts = self.interfaces();
        let infos = self.series.as_ref().map_or(self.capture.interfaces(), |all| all.infos());
        if (0..infos.len()).any(|number| is_called(infos, number, wanted)) {
            return Ok(());
        }
        let names = facts.into_iter().map(|one| one.name).collect();
        Err(ReadingError::NoSuchInterface { wanted: wanted.to_owned(), names })
    }
}

/// Adds the interfaces that were described since, of which no packet came before.
#[cold]
fn add_interfaces<R>(
    interfaces: &mut Vec<InterfaceUse>,
    infos: &[InterfaceInfo],
    wanted: Option<&str>,
    mut series: Option<&mut Series<'_, R>>,
) {
    for place in interfaces.len()..infos.len() {
        let number = series.as_mut().map_or(place, |series| series.number_of(infos, place));
        let is_selected = wanted.is_none_or(|wanted| match &series {
            Some(series) => is_called(series.infos(), number, wanted),
            None => is_called(infos, number, wanted),
        });
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        interfaces.push(InterfaceUse { number, packets: 0, is_selected });
    }
}

/// Whether an interface has this name or number.
fn is_called(infos: &[InterfaceInfo], number: usize, wanted: &str) -> bool {
    infos.get(number).is_some_and(|info| is_one_called(info, number, wanted))
        || wanted.parse() == Ok(number)
}

fn is_one_called(info: &InterfaceInfo, number: usize, wanted: &str) -> bool {
    info.name.as_deref() == Some(wanted) || wanted.parse() == Ok(number)
}
