//! What a file or a folder holds: results of runs, or a capture.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use maxseg_core::results::Row;
use maxseg_wire::reading::ReadOptions;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{CompareError, Error};
use crate::explain::{self, Explanation};
use crate::json_words;

/// What is compared.
#[derive(Debug)]
pub enum Source {
    /// Results of `run`.
    Runs(RunSet),
    /// A capture, explained.
    Capture(Box<Explanation>),
}

/// Results of `run`.
#[derive(Debug, Clone)]
pub struct RunSet {
    /// The path as given.
    pub name: String,
    /// The scenario, values as in the file; null where the rows stand alone.
    pub scenario: Value,
    /// The runs.
    pub rows: Vec<Row>,
}

/// The part of a document of `run --json` that is compared.
#[derive(Deserialize)]
struct RunDocument {
    scenario: Value,
    rows: Vec<Row>,
}

impl Source {
    /// Reads a folder of `run --out`, a document of `run --json`, a file of rows, or a capture; of that only packets of an interface,
    /// where one is named.
    ///
    /// # Errors
    /// It cannot be read, or is none of these.
    pub fn read(file: &Path, interface: Option<&str>) -> Result<Self, Error> {
        if file.is_dir() {
            return RunSet::of_folder(file).map(Self::Runs);
        }
        let mut begin = [0; 1];
        let length = File::open(file)
            .and_then(|mut opened| opened.read(&mut begin))
            .map_err(|error| Error::file("read", file, error))?;
        if length == 1 && begin == *b"{" {
            return RunSet::of_file(file).map(Self::Runs);
        }
        let capture =
            explain::read_file(file, &ReadOptions { interface, ..ReadOptions::default() }, None)?;
        if capture.summary.fault().is_some() {
            let summary = Box::new(capture.summary.clone());
            return Err(Error::Fault { name: capture.name, summary });
        }
        Ok(Self::Capture(Box::new(capture.explain())))
    }

    /// Its path as given.
    pub fn name(&self) -> &str {
        match self {
            Self::Runs(runs) => &runs.name,
            Self::Capture(explanation) => &explanation.name,
        }
    }
}

impl RunSet {
    fn of_folder(folder: &Path) -> Result<Self, Error> {
        let file = folder.join("rows.jsonl");
        if !file.exists() {
            return Err(CompareError::NoRows { folder: folder.to_owned() }.into());
        }
        let rows = rows(&file, &read(&file)?)?;
        // The summary has the scenario; rows of a run that was killed stand without it.
        let summary = fs::read(folder.join("run.json")).unwrap_or_default();
        let summary: Value = serde_json::from_slice(&summary).unwrap_or_default();
        Ok(Self { name: folder.display().to_string(), scenario: summary["scenario"].clone(), rows })
    }

    /// A document, or rows one a line.
    fn of_file(file: &Path) -> Result<Self, Error> {
        let bytes = read(file)?;
        let name = file.display().to_string();
        match json_words::parse::<RunDocument>(&bytes) {
            Ok(RunDocument { scenario, rows }) => Ok(Self { name, scenario, rows }),
            Err(why) => match rows(file, &bytes) {
                Ok(rows) if !rows.is_empty() => Ok(Self { name, scenario: Value::Null, rows }),
                Ok(_) | Err(_) => Err(CompareError::Broken { file: file.to_owned(), why }.into()),
            },
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(|error| Error::file("read", file, error))
}

/// Rows, one a line; a last line without its end is what a crash left.
fn rows(file: &Path, bytes: &[u8]) -> Result<Vec<Row>, Error> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let row = |(number, line): (usize, &[u8])| {
        json_words::parse(line).map_err(|why| {
            let why = format!("line {number}: {why}");
            CompareError::Broken { file: file.to_owned(), why }.into()
        })
    };
    (1..).zip(lines).map(row).collect()
}
