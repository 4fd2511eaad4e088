//! The packets of a capture, decoded one after the other.

use std::io::Read;

use super::{InterfaceFacts, ReadingError};
use crate::capture_file::{CaptureFile, InterfaceInfo, OpenError, ReadError, Record};
use crate::flow::{DecodedPacket, Decoder, FragmentCounts};

/// Reads a capture packet by packet, of all its interfaces or of one.
pub struct PacketReader<'a, R> {
    capture: CaptureFile<R>,
    decoder: Decoder,
    /// The interface that is asked for, by its name or number.
    interface: Option<&'a str>,
    /// By the interfaces' numbers.
    interfaces: Vec<InterfaceUse>,
}

#[derive(Debug, Clone, Copy)]
struct InterfaceUse {
    packets: u64,
    is_selected: bool,
}

impl<'a, R: Read> PacketReader<'a, R> {
    /// Opens a capture; only packets of `interface` (its name, or its number from 0) are read, or all of them.
    ///
    /// # Errors
    /// `input` is no capture that is read here, or broken before its first packet.
    pub fn open(input: R, interface: Option<&'a str>) -> Result<Self, OpenError> {
        let (capture, decoder) = (CaptureFile::open(input)?, Decoder::default());
        Ok(Self { capture, decoder, interface, interfaces: Vec::new() })
    }

    /// Hands over every packet of the selected interface, as it was recorded and decoded, up to the end.
    ///
    /// # Errors
    /// The input fails or is broken from some packet on; all before it have been handed over.
    #[inline]
    pub fn for_each(
        &mut self,
        mut take: impl FnMut(&Record<'_>, &DecodedPacket<'_>),
    ) -> Result<(), ReadError> {
        let Self { capture, decoder, interface, interfaces } = self;
        while let Some((record, infos)) = capture.next_and_interfaces()? {
            let number = record.interface as usize;
            if number >= interfaces.len() {
                // An interface is described before its first packet: only now is its name known.
                add_interfaces(interfaces, infos, number, *interface);
            }
            let is_selected = interfaces.get_mut(number).is_none_or(|one| {
                one.packets += 1;
                one.is_selected
            });
            if is_selected {
                take(&record, &decoder.decode(&record));
            }
        }
        Ok(())
    }

    /// The next packet of the selected interface of which `take` makes something; `None` at the end.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    #[inline]
    pub fn find_map<T>(
        &mut self,
        mut take: impl FnMut(&DecodedPacket<'_>) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let Self { capture, decoder, interface, interfaces } = self;
        while let Some((record, infos)) = capture.next_and_interfaces()? {
            let number = record.interface as usize;
            if number >= interfaces.len() {
                add_interfaces(interfaces, infos, number, *interface);
            }
            let is_selected = interfaces.get(number).is_none_or(|one| one.is_selected);
            if is_selected && let Some(taken) = take(&decoder.decode(&record)) {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    /// The file that is read.
    pub const fn capture(&self) -> &CaptureFile<R> {
        &self.capture
    }

    /// The fragments among the packets so far.
    pub fn fragment_counts(&self) -> FragmentCounts {
        self.decoder.fragment_counts()
    }

    /// The interfaces so far, each with the number of its packets.
    pub fn interfaces(&self) -> Vec<InterfaceFacts> {
        let infos = self.capture.interfaces();
        let facts = infos.iter().enumerate().map(|(number, info)| InterfaceFacts {
            name: info.name.clone().unwrap_or_else(|| number.to_string()),
            section: info.section,
            number_in_section: info.number_in_section,
            link_type: info.link_type,
            packets: self.interfaces.get(number).map_or(0, |one| one.packets),
            dropped: info.dropped,
        });
        facts.collect()
    }

    /// Refuses an interface that the capture does not have; known when the capture has been read.
    ///
    /// # Errors
    /// [`ReadingError::NoSuchInterface`].
    pub fn check_interface(&self) -> Result<(), ReadingError> {
        let infos = self.capture.interfaces();
        match self.interface {
            Some(wanted) if !(0..infos.len()).any(|number| is_called(infos, number, wanted)) => {
                let names = self.interfaces().into_iter().map(|one| one.name).collect();
                Err(ReadingError::NoSuchInterface { wanted: wanted.to_owned(), names })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Adds the interfaces up to `last`, of which no packet came before.
#[cold]
fn add_interfaces(
    interfaces: &mut Vec<InterfaceUse>,
    infos: &[InterfaceInfo],
    last: usize,
    wanted: Option<&str>,
) {
    for number in interfaces.len()..=last {
        let is_selected = wanted.is_none_or(|wanted| is_called(infos, number, wanted));
        interfaces.push(InterfaceUse { packets: 0, is_selected });
    }
}

/// Whether an interface has this name or number.
fn is_called(infos: &[InterfaceInfo], number: usize, wanted: &str) -> bool {
    let name = infos.get(number).and_then(|info| info.name.as_deref());
    name == Some(wanted) || wanted.parse() == Ok(number)
}
