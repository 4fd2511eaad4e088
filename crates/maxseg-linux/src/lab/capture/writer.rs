//! Writes the records of all relay threads in order of time.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use maxseg_core::scenario::Scenario;
use maxseg_core::units::Time;
use maxseg_wire::pcapng::{Direction, Interface, Packet, Section, Statistics, Writer, link_type};

use super::record_queue::{LinkEnd, Loss, PacketRecord, RecordQueue, SNAP_LEN};
use crate::sys::Clock;

/// The records of one relay thread.
#[derive(Debug)]
pub(super) struct Source {
    /// Its queue.
    pub(super) queue: Arc<RecordQueue>,
    /// The interfaces where packets enter its link, and leave it.
    pub(super) interfaces: [usize; 2],
    /// The comment on packets that did not reach the wire.
    pub(super) refused: &'static str,
}

/// Merges the records of several threads in order of time, and writes them as pcapng.
pub(super) struct Merger<'a> {
    out: Writer<BufWriter<&'a mut (dyn Write + Send)>>,
    clock: Clock,
    /// The time at which the run's clock shows zero, in nanoseconds since 1970.
    zero: u64,
    sources: Vec<Source>,
    /// Records taken and not yet written, each with the index of its source.
    held: Vec<(usize, PacketRecord)>,
    /// Packets written, by interface.
    written: Vec<u64>,
    taken: Vec<PacketRecord>,
}

/// How often the queues are emptied. Relays do not wake the writer: that would cost more than a packet.
const FLUSH_INTERVAL: Duration = Duration::from_millis(10);
/// Most records that wait for earlier ones; beyond that the file is not in order of time.
const MOST_HELD: usize = 1 << 20;

impl<'a> Merger<'a> {
    /// Begins the section and its interfaces.
    pub(super) fn begin(
        out: &'a mut (dyn Write + Send),
        scenario: &Scenario,
        clock: Clock,
        interfaces: &[(String, String)],
        sources: Vec<Source>,
    ) -> io::Result<Self> {
        let zero = (wall_clock() + clock.until(Time::ZERO).into()).as_nanos();
        let name = match scenario.name.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        };
        let comment = format!(
            "{name}the lab's packets of the wire, seed {}, scenario {}; times are the wall clock's: the run began \
             at {}.{:09}",
            scenario.seed,
            scenario.content_hash(),
            zero / 1_000_000_000,
            zero % 1_000_000_000
        );
        let section = Section {
            application: Some(concat!("maxseg ", env!("CARGO_PKG_VERSION")).into()),
            comment: Some(comment.into()),
        };
        let mut out = Writer::new(BufWriter::with_capacity(1 << 20, out), &section)?;
        for (name, description) in interfaces {
            out.interface(&Interface {
                name: Some(name.into()),
                description: Some(description.into()),
                link_type: link_type::RAW,
                snap_len: u32::try_from(SNAP_LEN).unwrap_or(u32::MAX),
            })?;
        }
        let written = vec![0; interfaces.len()];
        Ok(Self { out, clock, zero, sources, held: Vec::new(), written, taken: Vec::new() })
    }

    /// Writes until `is_over` is set, then the rest. Gives how many packets were dropped.
    pub(super) fn run(mut self, is_over: &AtomicBool) -> io::Result<u64> {
        while !is_over.load(Ordering::Acquire) {
            std::thread::park_timeout(FLUSH_INTERVAL);
            self.flush()?;
        }
        self.take();
        self.write_before(Time::NEVER)?;
        self.finish()
    }

    /// Takes the records of all queues, and writes those that no earlier record can follow.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        // First the bounds, then the records: a record before its queue's bound is then among those taken.
        let now = self.clock.now();
        let complete = self.sources.iter().map(|source| source.queue.complete_until_now(now)).min();
        self.take();
        let before = if self.held.len() > MOST_HELD { now } else { complete.unwrap_or(now) };
        self.write_before(before)
    }

    /// Records that wait for earlier ones.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    fn take(&mut self) {
        for (number, source) in self.sources.iter().enumerate() {
            source.queue.take(&mut self.taken);
            self.held.extend(self.taken.drain(..).map(|record| (number, record)));
        }
    }

    fn write_before(&mut self, before: Time) -> io::Result<()> {
        // A stable sort, which is fast on records that are mostly in order.
        self.held.sort_by_key(|(_, record)| record.at);
        let count = self.held.partition_point(|(_, record)| record.at < before);
        for (number, record) in self.held.drain(..count) {
            let source = &self.sources[number];
            let interface = source.interfaces[record.place as usize];
            self.written[interface] += 1;
            let comment = record.loss.map(|loss| match loss {
                Loss::Damaged => "damaged on this link",
                Loss::Refused => source.refused,
                Loss::TooBig => "larger than the MTU of this link",
            });
            let direction = match record.place {
                LinkEnd::Entering => Direction::Outbound,
                LinkEnd::Leaving => Direction::Inbound,
            };
            self.out.packet(&Packet {
                interface: u32::try_from(interface).map_err(io::Error::other)?,
                at_nanos: self.zero + record.at.as_nanos(),
                original_len: record.original_len,
                data: record.bytes[..usize::from(record.kept)].into(),
                direction: Some(direction),
                comment: comment.map(Into::into),
            })?;
        }
        Ok(())
    }

    /// Writes the statistics of each interface.
    fn finish(mut self) -> io::Result<u64> {
        let mut dropped = vec![0; self.written.len()];
        for Source { queue, interfaces, .. } in &self.sources {
            for place in [LinkEnd::Entering, LinkEnd::Leaving] {
                dropped[interfaces[place as usize]] += queue.dropped(place);
            }
        }
        let at_nanos = self.zero + self.clock.now().as_nanos();
        for (interface, (written, dropped)) in self.written.iter().zip(&dropped).enumerate() {
            self.out.statistics(&Statistics {
                interface: u32::try_from(interface).map_err(io::Error::other)?,
                at_nanos,
                received: Some(written + dropped),
                dropped: Some(*dropped),
            })?;
        }
        self.out.finish()?;
        Ok(dropped.iter().sum())
    }
}

fn wall_clock() -> Time {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().into()
}
