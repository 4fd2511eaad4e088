//! Two captures of the same connections, one at each end.

use std::io::{self, Read};

use maxseg_core::evidence::Evidence;
use maxseg_core::units::Time;
use thiserror::Error;

use super::{
    CaptureSummary, PacketReader, ReadOptions, Reading, ReadingError, finish, read_packets,
};
use crate::flow::{Decoded, Flows};
use crate::joined::{Capture, Census, Crossings, JoinError, Packet};

/// What two captures of the same connections hold.
#[derive(Debug)]
pub struct JoinedReading<C> {
    /// The files themselves, in the order in which they were given.
    pub summaries: [CaptureSummary; 2],
    /// The one that was taken nearer to the sender of most payload.
    pub main: Capture,
    /// Connections that only one of the captures holds.
    pub only_in: [u64; 2],
    /// The connections that both hold, numbered anew from 0: those that are judged in the main capture first.
    pub connections: C,
}

/// Why two captures were not joined.
#[derive(Debug, Error)]
pub enum PairError {
    /// One of them cannot be opened.
    #[error("a capture cannot be opened")]
    Io(Capture, #[source] io::Error),
    /// One of them cannot be read.
    #[error("a capture cannot be read")]
    Reading(Capture, #[source] ReadingError),
    /// One of them has a fault before its end: see [`CaptureSummary::fault`].
    #[error("a capture is at fault")]
    Fault(Capture, Box<CaptureSummary>),
    /// They do not fit together.
    #[error(transparent)]
    Join(#[from] JoinError),
}

/// Reads two captures of the same connections; `open` opens one of them, and is called twice for each. Where the times of one
/// follow those of the other, they are taken for two places only if they hold the same packets for the most part: clocks that differ
/// by more than a capture lasts.
///
/// # Errors
/// A capture cannot be read, or they share no connection.
pub fn read_pair<R: Read>(
    open: &mut dyn FnMut(Capture) -> io::Result<R>,
    do_follow: bool,
    options: &ReadOptions<'_>,
) -> Result<JoinedReading<impl Iterator<Item = Evidence> + use<R>>, PairError> {
    let mut open = |capture| open(capture).map_err(|error| PairError::Io(capture, error));
    let (first, census) = first_reading(open(Capture::First)?, options, Capture::First)?;
    let (second, other) = first_reading(open(Capture::Second)?, options, Capture::Second)?;
    if do_follow && !census.holds_packets_of(&other) {
        return Err(JoinError::NothingShared.into());
    }
    let covered = [covered(&first.summary), covered(&second.summary)];
    let mut crossings = Crossings::new([census, other], covered)?;
    let only_in = crossings.only_in();
    let inputs = [open(Capture::First)?, open(Capture::Second)?];
    second_reading(inputs, options, &mut crossings)?;
    let mut joined = crossings.finish();
    let main = joined.main;
    let summaries = [first.summary, second.summary];
    let connections = in_turn(main, first.connections, second.connections);
    let connections = connections.filter_map(move |(capture, one)| joined.join(capture, one));
    let connections = (0..).zip(connections).map(|(id, evidence)| Evidence { id, ..evidence });
    Ok(JoinedReading { summaries, main, only_in, connections })
}

fn first_reading<R: Read>(
    input: R,
    options: &ReadOptions<'_>,
    capture: Capture,
) -> Result<(Reading<impl Iterator<Item = Evidence> + use<R>>, Census), PairError> {
    let mut census = Census::new(options.flows.most_connections);
    let flows = Flows::new(options.flows);
    let read = PacketReader::open(input, options.interface).map_err(ReadingError::from).and_then(
        |packets| read_packets(packets, options, flows, |packet| census.on_packet(packet)),
    );
    let (flows, summary) = read.map_err(|error| PairError::Reading(capture, error))?;
    let reading = finish(flows, summary, options);
    if reading.summary.fault().is_some() {
        return Err(PairError::Fault(capture, Box::new(reading.summary)));
    }
    Ok((reading, census))
}

/// First and last time of a capture, in nanoseconds since 1970.
fn covered(summary: &CaptureSummary) -> (u64, u64) {
    let nanos = |time: Option<Time>| time.map_or(0, Time::as_nanos);
    (nanos(summary.file.first), nanos(summary.file.last))
}

/// Hands over the packets of both in the order of one clock.
fn second_reading<R: Read>(
    inputs: [R; 2],
    options: &ReadOptions<'_>,
    crossings: &mut Crossings,
) -> Result<(), PairError> {
    let [first, second] = inputs;
    let open = |input, capture| {
        PacketReader::open(input, options.interface)
            .map_err(|error| PairError::Reading(capture, error.into()))
    };
    let mut first = open(first, Capture::First)?;
    let mut second = open(second, Capture::Second)?;
    let mut waiting = [
        next(&mut first, crossings, Capture::First),
        next(&mut second, crossings, Capture::Second),
    ];
    loop {
        match &mut waiting {
            [Some(one), other] if other.is_none_or(|other| one.at() <= other.at()) => {
                crossings.on_packet(one);
                waiting[0] = next(&mut first, crossings, Capture::First);
            }
            [_, Some(one)] => {
                crossings.on_packet(one);
                waiting[1] = next(&mut second, crossings, Capture::Second);
            }
            [Some(_) | None, None] => return Ok(()),
        }
    }
}

/// The next packet of a connection that both captures hold. A file that ends within a packet ends here, too.
fn next<R: Read>(
    packets: &mut PacketReader<'_, R>,
    crossings: &mut Crossings,
    capture: Capture,
) -> Option<Packet> {
    let found = packets.find_map(|packet| match &packet.what {
        Decoded::Tcp(seen) => crossings.of(capture, seen),
        Decoded::TooBig(_)
        | Decoded::Unreachable(_)
        | Decoded::Fragment(_)
        | Decoded::Udp(_)
        | Decoded::Other(_)
        | Decoded::Undecodable(_) => None,
    });
    found.ok().flatten()
}

/// The connections of both captures, those of the main one first.
fn in_turn(
    main: Capture,
    first: impl Iterator<Item = Evidence>,
    second: impl Iterator<Item = Evidence>,
) -> impl Iterator<Item = (Capture, Evidence)> {
    let mut first = first.map(|one| (Capture::First, one));
    let mut second = second.map(|one| (Capture::Second, one));
    std::iter::from_fn(move || match main {
        Capture::First => first.next().or_else(|| second.next()),
        Capture::Second => second.next().or_else(|| first.next()),
    })
}
