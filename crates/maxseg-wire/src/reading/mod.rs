//! From a capture to the evidence of its connections: the one loop over reader, decoder and flows.
//!
//! ```text
//! impl Read → PacketReader: CaptureFile → Decoder ─┬→ Flows → connections: Evidence, one at a time
//!                                                  └→ CaptureSummary: facts and problems of the file
//! ```
//!
//! ```
//! use maxseg_wire::reading::{ReadOptions, read};
//! use maxseg_wire::synthetic::Load;
//!
//! let mut capture = Vec::new();
//! let load = Load { connections: 2, rounds: 5, at_once: 1, rounds_a_turn: 1, ends: true };
//! load.write(&mut capture)?;
//!
//! let reading = read(capture.as_slice(), &ReadOptions::default())?;
//! assert_eq!(reading.summary.file.packets, load.packets());
//! assert!(reading.summary.problems.is_empty());
//! assert_eq!(reading.connections.count(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beginning;
mod error;
mod facts;
mod filter;
mod hole;
#[cfg(test)]
pub(crate) mod made;
mod not_followed;
mod options;
mod packets;
mod pair;
mod problem;
mod seam;
mod series;
mod summary;
mod top_connections;

use std::io::{self, Read};

use maxseg_core::evidence::Evidence;

pub use beginning::Beginning;
pub use error::ReadingError;
pub use facts::{FileFacts, FilePart, InterfaceFacts};
pub use filter::{ConnectionFilter, Ends, FilterError};
pub use hole::Hole;
pub use not_followed::NotFollowed;
pub use options::ReadOptions;
pub use packets::PacketReader;
pub use pair::{JoinedReading, PairError, read_pair};
pub use problem::{Problem, ProblemKind};
pub use summary::CaptureSummary;
pub use top_connections::TopConnections;

use crate::capture_file::Record;
use crate::flow::{DecodedPacket, Flows};
use packets::TakesPackets;
use summary::SummaryBuilder;

/// What a capture holds.
#[derive(Debug)]
pub struct Reading<C> {
    /// The file itself: facts, problems, and what is of no single connection.
    pub summary: CaptureSummary,
    /// The connections, in the order of their first packets. Each is made when it is asked for: there may be more
    /// than fit into memory at once.
    pub connections: C,
}

/// Reads a capture to its end, or to its first fault, which is then the first of
/// [`CaptureSummary::problems`]; all packets before it count.
///
/// # Errors
/// `input` is no capture, or does not have the interface that is asked for.
pub fn read<R: Read>(
    input: R,
    options: &ReadOptions<'_>,
) -> Result<Reading<impl Iterator<Item = Evidence> + use<R>>, ReadingError> {
    let flows = Flows::new(options.flows);
    let packets = PacketReader::open(input, options.interface)?;
    let (flows, summary) = read_packets(packets, options, flows, |_| {})?;
    Ok(finish(flows, summary, options))
}

/// Reads a capture as [`read`] does, while so many other threads follow its connections: it comes to the same. `None`
/// where there are more connections than are followed, for which of them are left out would depend on chance.
///
/// # Errors
/// As [`read`].
pub fn read_in_threads<R: Read>(
    input: R,
    options: &ReadOptions<'_>,
    threads: usize,
) -> Result<Option<Reading<impl Iterator<Item = Evidence> + use<R>>>, ReadingError> {
    let flows = Flows::in_threads(options.flows, threads);
    // A system that starts no thread has this one.
    let flows = flows.unwrap_or_else(|_| Flows::new(options.flows));
    let packets = PacketReader::open(input, options.interface)?;
    let (flows, summary) = read_packets(packets, options, flows, |_| {})?;
    let reading = finish(flows, summary, options);
    Ok((reading.summary.untracked_connections == 0).then_some(reading))
}

/// Reads files of these names that follow each other, in this order, as one capture; see [`read`]. `open` opens them, each when the
/// one before has been read, and that once more where both hold the same time. So many other threads follow the connections: `None` as in [`read_in_threads`].
///
/// # Errors
/// The first is no capture, one begins long before the one before it ends, or there is no such interface.
pub fn read_series<R: Read>(
    names: &[String],
    open: &mut dyn FnMut(usize) -> io::Result<R>,
    options: &ReadOptions<'_>,
    threads: usize,
) -> Result<Option<Reading<impl Iterator<Item = Evidence> + use<R>>>, ReadingError> {
    let flows = match threads {
        0 => Flows::new(options.flows),
        threads => {
            Flows::in_threads(options.flows, threads).unwrap_or_else(|_| Flows::new(options.flows))
        }
    };
    let packets = PacketReader::open_series(names, open, options.interface)?;
    let (flows, summary) = read_packets(packets, options, flows, |_| {})?;
    let reading = finish(flows, summary, options);
    Ok((threads == 0 || reading.summary.untracked_connections == 0).then_some(reading))
}

/// Reads the packets of a capture; each is handed over as well.
fn read_packets<R: Read>(
    mut packets: PacketReader<'_, R>,
    options: &ReadOptions<'_>,
    flows: Flows,
    also: impl FnMut(&DecodedPacket<'_>),
) -> Result<(Flows, CaptureSummary), ReadingError> {
    let gathered = SummaryBuilder::new(options);
    let may_be_several = options.interface.is_none();
    let mut to = Gathering { flows, gathered, also, may_be_several };
    let end = packets.hand_over(&mut to);
    packets.check()?;
    let summary = to.gathered.finish(&packets, end.err().as_ref());
    Ok((to.flows, summary))
}

/// What takes the packets of a capture.
struct Gathering<F> {
    flows: Flows,
    gathered: SummaryBuilder,
    also: F,
    /// All interfaces of the capture are read.
    may_be_several: bool,
}

impl<F: FnMut(&DecodedPacket<'_>)> TakesPackets for Gathering<F> {
    #[inline(always)]
    fn on_packet(&mut self, record: &Record<'_>, packet: &DecodedPacket<'_>) {
        if record.interfaces > 1 && self.may_be_several {
            self.flows.expect_several_interfaces();
        }
        self.flows.on_packet(packet);
        self.gathered.on_packet(record, packet);
        (self.also)(packet);
    }

    fn on_hole(&mut self, hole: &Hole) {
        self.flows.on_hole(hole.from, hole.to);
    }
}

/// What all packets come to.
fn finish(
    flows: Flows,
    mut summary: CaptureSummary,
    options: &ReadOptions<'_>,
) -> Reading<impl Iterator<Item = Evidence> + use<>> {
    let results = flows.finish();
    summary.take_flow_counts(&results, options.flows.most_connections);
    summary.path_mtu_events = results.path_mtu_events;
    let file = summary.file.clone();
    let connections = results.connections.map(move |mut evidence| {
        let at = evidence.capture.interface;
        evidence.capture.interface = at.and_then(|at| file.place_of(at.number));
        evidence
    });
    Reading { summary, connections }
}

#[cfg(test)]
mod series_properties;
#[cfg(test)]
mod series_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thread_tests;
