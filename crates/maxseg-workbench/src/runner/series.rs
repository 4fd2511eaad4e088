//! `series.csv`: the simulated senders' state over time, for every row that was asked to have it.
//!
//! Beside it `series.index.jsonl` says which rows' lines are whole: it gets its line when those of the
//! series are on disk. After a crash, lines that it does not vouch for are taken out.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use maxseg_core::engine::{EngineName, Sample};
use maxseg_core::results::{Row, RowKey};
use maxseg_core::scenario::Point;
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::appended::AppendedLines;
use crate::error::{Error, SeriesError};
use crate::experiment::Experiment;
use crate::whole_file::{replace, sync_folder_of};

pub(super) const SERIES: &str = "series.csv";
pub(super) const INDEX: &str = "series.index.jsonl";

const HEADER: &str = "hash,engine,seed,flow,t_s,cwnd_bytes,window_bytes,in_flight_bytes,\
                      srtt_s,rto_s,queue_s,acknowledged_bytes\n";

/// More lines than anything reads: about a gigabyte.
const MOST_SAMPLES: u128 = 10_000_000;

/// Whether a series every so often makes sense for these points.
///
/// # Errors
/// The interval is nothing or gives too many samples; or there is no sender to look at.
pub fn check_series(every: Time, experiment: &Experiment, points: &[Point]) -> Result<(), Error> {
    if every == Time::ZERO {
        return Err(SeriesError::ZeroInterval.into());
    }
    if !experiment.engines.contains(&EngineName::Sim) {
        return Err(SeriesError::NoSimulator.into());
    }
    let seeds = u128::from(experiment.seeds);
    let of_point = |point: &Point| seeds * senders(point);
    let senders_in_all: u128 = points.iter().map(of_point).sum();
    let per_sender =
        |point: &Point| u128::from(point.scenario.until.time.as_nanos() / every.as_nanos()) + 1;
    let samples: u128 = points.iter().map(|point| of_point(point) * per_sender(point)).sum();
    if senders_in_all == 0 {
        return Err(SeriesError::NoSender.into());
    }
    if samples <= MOST_SAMPLES {
        return Ok(());
    }
    let room = MOST_SAMPLES.saturating_sub(senders_in_all).max(1);
    let coarser_s = rounded_up(every.as_secs_f64() * (samples as f64 / room as f64));
    Err(SeriesError::TooManySamples { every, samples, most: MOST_SAMPLES, coarser_s }.into())
}

/// The next number above that has two digits.
fn rounded_up(value: f64) -> f64 {
    let digit = 10_f64.powf(value.log10().floor() - 1.0);
    (value / digit).ceil() * digit
}

/// How many TCP senders a run has.
fn senders(point: &Point) -> u128 {
    point.scenario.flows.iter().filter(|flow| flow.kind.is_tcp()).count() as u128
}

/// A line of the index.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    hash: String,
    engine: EngineName,
    seed: Option<u64>,
    every_ns: u64,
    samples: u64,
}

/// The two files, open to be appended to.
#[derive(Debug)]
pub(super) struct Series {
    folder: PathBuf,
    lines: AppendedLines,
    index: AppendedLines,
    every: Time,
    /// Rows whose series is there, as the first columns of their lines.
    whole: BTreeMap<String, u64>,
}

impl Series {
    /// Opens the files of `folder`, or makes them, and takes out what is not whole.
    pub(super) fn open(
        folder: &Path,
        every: Time,
        rows: &BTreeMap<RowKey, Row>,
    ) -> Result<Self, Error> {
        let (file, index) = (folder.join(SERIES), folder.join(INDEX));
        let entries = read_index(&index)?;
        if let Some(other) = entries.iter().find(|entry| entry.every_ns != every.as_nanos()) {
            let kept = Time::from_nanos(other.every_ns);
            return Err(SeriesError::OtherInterval { file, index, kept, asked: every }.into());
        }
        let found = Found::in_file(&file).map_err(|error| Error::file("read", &file, error))?;
        let whole: BTreeMap<String, u64> = entries
            .iter()
            .filter(|entry| rows.contains_key(&entry.key()))
            .map(|entry| (columns(&entry.key()), entry.samples))
            .filter(|(columns, samples)| found.lines_of(columns) == *samples)
            .collect();
        if !found.is_clean(&whole) || whole.len() != entries.len() {
            keep_only(&file, &whole).map_err(|error| Error::file("write", &file, error))?;
            let kept = entries.iter().filter(|entry| whole.contains_key(&columns(&entry.key())));
            let text: Vec<u8> = kept.flat_map(Entry::line).collect();
            replace(&index, |out| out.write_all(&text))
                .map_err(|error| Error::file("write", &index, error))?;
        }
        let append = |file: &Path| {
            let opened = OpenOptions::new().append(true).create(true).open(file);
            let synced = opened.and_then(|opened| sync_folder_of(file).map(|()| opened));
            synced.and_then(AppendedLines::new).map_err(|error| Error::file("open", file, error))
        };
        Ok(Self {
            folder: folder.to_owned(),
            lines: append(&file)?,
            index: append(&index)?,
            every,
            whole,
        })
    }

    /// Whether the series of the row with this key is there.
    pub(super) fn has(&self, key: &RowKey) -> bool {
        self.whole.contains_key(&columns(key))
    }

    /// Adds a row's samples unless they are there already; they are on disk when this returns.
    pub(super) fn add(&mut self, key: &RowKey, samples: &[Sample]) -> Result<(), Error> {
        let own = columns(key);
        if self.whole.contains_key(&own) {
            return Ok(());
        }
        let text: String = samples.iter().map(|sample| line(&own, sample)).collect();
        self.lines
            .append(text.as_bytes())
            .map_err(|error| Error::file("write", &self.folder.join(SERIES), error))?;
        let (hash, engine, seed) = key.clone();
        let samples = samples.len() as u64;
        let entry = Entry { hash, engine, seed, every_ns: self.every.as_nanos(), samples };
        self.index
            .append(&entry.line())
            .map_err(|error| Error::file("write", &self.folder.join(INDEX), error))?;
        self.whole.insert(own, samples);
        Ok(())
    }
}

impl Entry {
    fn key(&self) -> RowKey {
        (self.hash.clone(), self.engine, self.seed)
    }

    fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("an entry is plain data");
        line.push(b'\n');
        line
    }
}

/// The entries of the index; what a crash tore vouches for nothing.
fn read_index(file: &Path) -> Result<Vec<Entry>, Error> {
    match std::fs::read(file) {
        Ok(bytes) => {
            let lines = bytes.split(|byte| *byte == b'\n');
            Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::file("read", file, error)),
    }
}

/// What is in the file: how many whole lines of each row.
#[derive(Debug, Default)]
struct Found {
    has_header: bool,
    is_torn: bool,
    lines: BTreeMap<String, u64>,
}

impl Found {
    fn in_file(file: &Path) -> io::Result<Self> {
        let opened = match File::open(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            opened => opened?,
        };
        let mut found = Self::default();
        for_each_line(opened, |line| {
            if !line.ends_with(b"\n") {
                found.is_torn = true;
            } else if !found.has_header && found.lines.is_empty() && line == HEADER.as_bytes() {
                found.has_header = true;
            } else {
                *found.lines.entry(row_of(line)).or_default() += 1;
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn lines_of(&self, columns: &str) -> u64 {
        self.lines.get(columns).copied().unwrap_or(0)
    }

    fn is_clean(&self, whole: &BTreeMap<String, u64>) -> bool {
        let known = |columns: &String| whole.contains_key(columns);
        self.has_header && !self.is_torn && self.lines.keys().all(known)
    }
}

/// Writes the file anew with a header and the lines of these rows.
fn keep_only(file: &Path, whole: &BTreeMap<String, u64>) -> io::Result<()> {
    let old = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        opened => Some(opened?),
    };
    replace(file, |out| {
        let mut out = BufWriter::new(out);
        out.write_all(HEADER.as_bytes())?;
        if let Some(old) = old {
            for_each_line(old, |line| {
                let is_good = line.ends_with(b"\n") && whole.contains_key(&row_of(line));
                if is_good { out.write_all(line) } else { Ok(()) }
            })?;
        }
        out.flush()
    })
}

/// Every line with its end; the last may lack it.
fn for_each_line(file: impl Read, mut work: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        work(&line)?;
        line.clear();
    }
    Ok(())
}

/// The columns of a line that say whose it is: the first three.
fn row_of(line: &[u8]) -> String {
    let columns: Vec<&[u8]> = line.splitn(4, |byte| *byte == b',').take(3).collect();
    String::from_utf8_lossy(&columns.join(&b',')).into_owned()
}

fn columns((hash, engine, seed): &RowKey) -> String {
    format!("{hash},{engine},{}", seed.map_or_else(String::new, |seed| seed.to_string()))
}

fn line(columns: &str, sample: &Sample) -> String {
    format!(
        "{columns},{},{},{},{},{},{},{},{},{}\n",
        sample.flow,
        sample.at.as_secs_f64(),
        sample.cwnd.get(),
        sample.window.get(),
        sample.in_flight.get(),
        sample.srtt.map_or_else(String::new, |srtt| srtt.as_secs_f64().to_string()),
        sample.rto.as_secs_f64(),
        sample.queue.as_secs_f64(),
        sample.acknowledged.get(),
    )
}
