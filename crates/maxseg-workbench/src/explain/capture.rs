//! A capture whose connections are still to be diagnosed.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use maxseg_core::advise::Case;
use maxseg_core::evidence::{Evidence, note_beside};
use maxseg_wire::reading::{self, CaptureSummary, ReadOptions, Reading, TopConnections};

use super::{CapturePair, Explanation};
use crate::environment::cores;
use crate::error::Error;

/// A capture that was read to its end or its first fault. Its connections are made one at a time, in the order of their
/// first packets: there may be more than fit into memory at once.
pub struct Capture<'a> {
    /// Its name in what is reported.
    pub name: String,
    /// Facts and problems of the file.
    pub summary: CaptureSummary,
    connections: Box<dyn Iterator<Item = Evidence> + 'a>,
    is_selected: Box<dyn Fn(&Evidence) -> bool + 'a>,
    /// The next selected connection, where [`Self::is_empty`] asked for it.
    next: Option<Evidence>,
    filtered_connections: u64,
    /// The two captures, where there are two.
    pub pair: Option<CapturePair>,
    /// Files without a packet, which are left out of several that follow each other.
    pub without_packets: Vec<String>,
}

/// Files from this size on are read by several threads, in bytes: threads take as long as a few thousand packets.
pub(super) const LARGE: u64 = 4 << 20;

/// Reads the capture in a file; see [`read`]. The connections of a large one are followed by so many threads, one for
/// each core by default; the one that reads it is among them.
///
/// # Errors
/// The file cannot be opened, is no capture, or does not have the interface that is asked for.
pub fn read_file(
    file: &Path,
    options: &ReadOptions<'_>,
    jobs: Option<usize>,
) -> Result<Capture<'static>, Error> {
    let open = || File::open(file).map_err(|error| Error::file("read", file, error));
    let (input, name) = (open()?, file.display().to_string());
    let is_large = input.metadata().is_ok_and(|facts| facts.is_file() && facts.len() >= LARGE);
    let jobs = if is_large { jobs.unwrap_or_else(cores) } else { 1 };
    if jobs <= 1 {
        return read(input, &name, options);
    }
    let reading = reading::read_in_threads(input, options, jobs - 1)
        .map_err(|source| Error::Reading { name: name.clone(), source })?;
    match reading {
        Some(reading) => Ok(Capture::new(&name, reading)),
        // More connections than are followed: one thread knows which came first.
        None => read(open()?, &name, options),
    }
}

/// Reads a capture of this name to its end or its first fault, which is then [`CaptureSummary::fault`]; all packets
/// before it count.
///
/// # Errors
/// `input` is no capture, or does not have the interface that is asked for.
pub fn read<'a, R: Read + 'a>(
    input: R,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Capture<'a>, Error> {
    let reading = reading::read(input, options)
        .map_err(|source| Error::Reading { name: name.to_owned(), source })?;
    Ok(Capture::new(name, reading))
}

impl<'a> Capture<'a> {
    /// Connections from any source, under this name. Which share a path is noted among as many as an explanation holds.
    pub fn new<C: Iterator<Item = Evidence> + 'a>(name: &str, mut reading: Reading<C>) -> Self {
        let mut first: Vec<Evidence> =
            reading.connections.by_ref().take(TopConnections::MOST).collect();
        note_beside(&mut first);
        Self {
            name: name.to_owned(),
            summary: reading.summary,
            connections: Box::new(first.into_iter().chain(reading.connections)),
            is_selected: Box::new(|_| true),
            next: None,
            filtered_connections: 0,
            pair: None,
            without_packets: Vec::new(),
        }
    }

    /// Only connections for which this holds; the others are counted.
    #[must_use]
    pub fn select(mut self, is_selected: impl Fn(&Evidence) -> bool + 'a) -> Self {
        self.is_selected = Box::new(is_selected);
        self
    }

    /// Whether it has no selected connection.
    pub fn is_empty(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.advance();
        }
        self.next.is_none()
    }

    /// The connections that were left out by [`Self::select`] so far.
    pub const fn filtered_connections(&self) -> u64 {
        self.filtered_connections
    }

    /// Diagnoses every selected connection.
    pub fn explain(self) -> Explanation {
        let Ok(explanation) = self.explain_each(|_, _| Ok::<(), Infallible>(()));
        explanation
    }

    /// Diagnoses every selected connection and passes it to `each`: more than the explanation can hold.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn explain_each<E>(
        mut self,
        mut each: impl FnMut(&CaptureSummary, &Case<'_>) -> Result<(), E>,
    ) -> Result<Explanation, E> {
        let mut top = TopConnections::default();
        while let Some(evidence) = self.next.take().or_else(|| self.advance()) {
            let case = Case::of(&evidence);
            each(&self.summary, &case)?;
            let impact = case.impact();
            top.offer(impact, evidence);
        }
        let total_connections = top.total();
        let (impacts, connections) = top.into_weighted().into_iter().unzip();
        Ok(Explanation {
            name: self.name,
            capture: self.summary,
            total_connections,
            connections,
            impacts,
            filtered_connections: self.filtered_connections,
            pair: self.pair,
            without_packets: self.without_packets,
        })
    }

    fn advance(&mut self) -> Option<Evidence> {
        let Self { connections, is_selected, filtered_connections, .. } = self;
        connections.find(|evidence| {
            let is_selected = is_selected(evidence);
            *filtered_connections += u64::from(!is_selected);
            is_selected
        })
    }
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, summary, filtered_connections, .. } = self;
        f.debug_struct("Capture")
            .field("name", name)
            .field("summary", summary)
            .field("filtered_connections", filtered_connections)
            .finish_non_exhaustive()
    }
}
