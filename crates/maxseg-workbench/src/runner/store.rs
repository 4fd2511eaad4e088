//! The folder that `--out` names. Rows are safe on disk as soon as they are done, and a later run of
//! the same points goes on where this one ended.
//!
//! `rows.jsonl` is the truth: a row a line, synced before the next. All else is made from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use maxseg_core::engine::{EngineName, Sample};
use maxseg_core::results::{Row, RowKey};
use maxseg_core::units::Time;

use super::appended::AppendedLines;
use super::series::{INDEX, SERIES, Series};
use crate::error::{Error, StoreError};
use crate::file_error::refuse_irregular;
use crate::json_words;
use crate::whole_file::{replace, sync_folder_of};

const ROWS: &str = "rows.jsonl";
/// All but the rows: scenario, environment, summary.
pub(super) const SUMMARY: &str = "run.json";
/// The layout of [`SUMMARY`] that this program reads and writes.
pub(super) const SCHEMA_VERSION: u64 = 1;
/// What a folder of ours may hold; a folder with anything else, and without [`ROWS`], is not ours.
const OURS: [&str; 6] = [ROWS, SERIES, INDEX, SUMMARY, "rows.parquet", "report.html"];
/// Those that are written once all is run, and not read before.
const LAST: [&str; 2] = ["rows.parquet", "report.html"];

/// An open folder with its rows.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    rows: AppendedLines,
    series: Option<Series>,
    /// The rows of earlier runs.
    known: BTreeMap<RowKey, Row>,
    /// The valid rows that were added since.
    added: BTreeSet<RowKey>,
}

impl Store {
    /// Opens `folder`, or makes it. Nobody else can write to it meanwhile.
    ///
    /// # Errors
    /// The folder is in use, not one of results, or cannot be read or written.
    pub fn open(folder: &Path, series_every: Option<Time>) -> Result<Self, Error> {
        create_folder(folder).map_err(|error| Error::file("create the folder", folder, error))?;
        refuse_foreign(folder)?;
        // What stands in the place of one is told before anything is run.
        for file in LAST.map(|name| folder.join(name)) {
            if file.is_dir() {
                let error = io::Error::from(io::ErrorKind::IsADirectory);
                return Err(Error::file("write", &file, error));
            }
        }
        refuse_other_version(&folder.join(SUMMARY))?;
        let file = folder.join(ROWS);
        let mut rows = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&file)
            .map_err(|error| Error::file("open", &file, error))?;
        match rows.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Busy { folder: folder.to_owned() }.into());
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::file("lock", &file, error));
            }
        }
        let known = read_rows(&mut rows, &file)?;
        let rows = sync_folder_of(&file)
            .and_then(|()| AppendedLines::new(rows))
            .map_err(|error| Error::file("open", &file, error))?;
        let series = series_every.map(|every| Series::open(folder, every, &known)).transpose()?;
        Ok(Self { folder: folder.to_owned(), rows, series, known, added: BTreeSet::new() })
    }

    /// The row that is there already under this key, with its series where one is asked for.
    pub fn finished(&self, key: &RowKey) -> Option<&Row> {
        let wants_series = self.series.as_ref().filter(|_| key.1 == EngineName::Sim);
        let row = self.known.get(key)?;
        wants_series.is_none_or(|series| series.has(key)).then_some(row)
    }

    /// Whether there is nothing under this key that could be believed.
    pub fn lacks(&self, key: &RowKey) -> bool {
        !self.added.contains(key) && self.finished(key).is_none_or(|row| !row.outcome.is_valid())
    }

    /// How many rows the folder held from the beginning that belong to none of these experiments.
    pub fn others(&self, hashes: &BTreeSet<&str>) -> usize {
        self.known.keys().filter(|(hash, ..)| !hashes.contains(hash.as_str())).count()
    }

    /// Adds a row, or to a row that is there its series; it is on disk when this returns. A row takes the
    /// place of an invalid one: of two with one key the later counts.
    ///
    /// # Errors
    /// A file cannot be written.
    #[expect(clippy::missing_panics_doc, reason = "plain data can always be serialised")]
    pub fn add(&mut self, row: &Row, samples: &[Sample]) -> Result<(), Error> {
        let key = row.key();
        if let Some(series) = self.series.as_mut().filter(|_| row.engine == EngineName::Sim) {
            series.add(&key, samples)?;
        }
        let is_known = self.known.get(&key).is_some_and(|row| row.outcome.is_valid());
        if is_known || self.added.contains(&key) {
            return Ok(());
        }
        let mut line = serde_json::to_vec(row).expect("a row is plain data");
        line.push(b'\n');
        self.rows
            .append(&line)
            .map_err(|error| Error::file("write", &self.folder.join(ROWS), error))?;
        if row.outcome.is_valid() {
            self.added.insert(key);
        }
        Ok(())
    }

    /// Replaces a file of the folder as a whole: whoever opens it sees the old one or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn replace(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let file = self.folder.join(name);
        replace(&file, |out| out.write_all(content))
            .map_err(|error| Error::file("write", &file, error))
    }

    /// Where a file of the folder is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Creates a folder and those above it. Their names are on disk when this returns.
fn create_folder(folder: &Path) -> io::Result<()> {
    let above = folder.ancestors().filter(|above| !above.as_os_str().is_empty());
    let missing: Vec<&Path> = above.take_while(|above| !above.exists()).collect();
    fs::create_dir_all(folder)?;
    missing.into_iter().try_for_each(sync_folder_of)
}

/// Refuses to replace a summary that this program could not have written.
fn refuse_other_version(file: &Path) -> Result<(), Error> {
    let bytes = match refuse_irregular(file).and_then(|()| fs::read(file)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|error| Error::file("read", file, error))?,
    };
    let summary: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match &summary["schema_version"] {
        version if *version == SCHEMA_VERSION => Ok(()),
        serde_json::Value::Number(found) => Err(StoreError::OtherVersion {
            file: file.to_owned(),
            found: found.clone(),
            written: SCHEMA_VERSION,
        }
        .into()),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::String(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_) => {
            Err(StoreError::BrokenSummary { file: file.to_owned() }.into())
        }
    }
}

fn refuse_foreign(folder: &Path) -> Result<(), Error> {
    let entries = fs::read_dir(folder).map_err(|error| Error::file("read", folder, error))?;
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    let ours = |name: &String| {
        // A temporary file of an earlier run that was killed: `.run.json.Xy12ab.tmp`.
        let of = name.strip_suffix(".tmp").and_then(|name| name.strip_prefix('.'));
        let of = of.and_then(|name| name.rsplit_once('.')).map_or(&**name, |(of, _)| of);
        OURS.contains(&of)
    };
    match names.iter().find(|name| !ours(name)) {
        Some(foreign) if !names.iter().any(|name| name == ROWS) => {
            Err(StoreError::Foreign { folder: folder.to_owned(), entry: foreign.clone() }.into())
        }
        Some(_) | None => Ok(()),
    }
}

/// The rows of an earlier run. A last line without its end is what a crash left of a row that was not
/// yet kept: it is cut off, whatever it holds.
fn read_rows(rows: &mut File, file: &Path) -> Result<BTreeMap<RowKey, Row>, Error> {
    let fail = |error| Error::file("read", file, error);
    let mut bytes = Vec::new();
    rows.seek(SeekFrom::Start(0)).map_err(fail)?;
    rows.read_to_end(&mut bytes).map_err(fail)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() {
        rows.set_len(whole as u64).map_err(fail)?;
    }
    let mut known = BTreeMap::new();
    for (number, line) in (1..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n')) {
        let row: Row = json_words::parse(line.trim_ascii_end())
            .map_err(|why| StoreError::BrokenRow { file: file.to_owned(), line: number, why })?;
        known.insert(row.key(), row);
    }
    Ok(known)
}

#[cfg(test)]
mod tests;
