//! What a file or a folder holds: results of runs, or a capture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;

use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use maxseg_wire::reading::ReadOptions;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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
    /// For each experiment, by its hash, whether anything in it is random; empty where the results do not tell.
    pub experiments: BTreeMap<String, bool>,
    /// Rows of other scenarios that the folder holds as well: they are left out.
    pub others: usize,
    /// How many of them were written after the last row of the scenario that the summary names: of a run that did not finish, unless
    /// the scenario was named again since.
    pub later_others: usize,
    /// Version and commit of the program that made them; `None` where the results do not tell.
    pub version: Option<String>,
}

/// The part of a document of `run --json` that is compared.
#[derive(Deserialize)]
struct RunDocument {
    scenario: Value,
    rows: Vec<Row>,
    #[serde(default)]
    experiments: Vec<Experiment>,
    #[serde(default)]
    environment: Option<Program>,
}

/// The part of `run.json` that is compared.
#[derive(Default, Deserialize)]
struct Summary {
    #[serde(default)]
    scenario: Value,
    #[serde(default)]
    experiments: Vec<Experiment>,
    #[serde(default)]
    environment: Option<Program>,
    /// The points in the order of the sweep.
    #[serde(default, rename = "summary")]
    points: Vec<PointEntry>,
}

/// A point with its engine.
#[derive(Deserialize)]
struct PointEntry {
    engine: EngineName,
    point: Map<String, Value>,
}

/// The part of the environment that tells the program.
#[derive(Deserialize)]
struct Program {
    maxseg: String,
    commit: String,
}

impl Program {
    fn words(&self) -> String {
        format!("{} {}", self.maxseg, self.commit)
    }
}

/// What a line of a stream holds.
#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Experiment {
    hash: String,
    is_random: bool,
}

impl Source {
    /// Reads a folder of `run --out`, a document of `run --json`, lines of `run --json-stream`, a file of rows, or a capture, of
    /// which only packets of an interface, where one is named; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be read, or is none of these.
    pub fn read(file: &Path, interface: Option<&str>) -> Result<Self, Error> {
        let is_stdin = file == Path::new("-");
        if file.is_dir() && !is_stdin {
            return RunSet::of_folder(file).map(Self::Runs);
        }
        if file.is_file() && file.extension().is_some_and(|of| of == "toml") {
            return Err(CompareError::Scenario { file: file.to_owned() }.into());
        }
        let options = ReadOptions { interface, ..ReadOptions::default() };
        let fail = |error| Error::file("read", file, error);
        let mut opened: Box<dyn Read> = if is_stdin {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(file).map_err(fail)?)
        };
        let mut begin = Vec::new();
        (&mut opened).take(1).read_to_end(&mut begin).map_err(fail)?;
        if begin == b"{" {
            opened.read_to_end(&mut begin).map_err(fail)?;
            return RunSet::of_file(file, &begin).map(Self::Runs);
        }
        if file.is_file() && !is_stdin && is_table(file) {
            return Err(CompareError::Table { file: file.to_owned() }.into());
        }
        let capture = if file.is_file() && !is_stdin {
            explain::read_file(file, &options, None)?
        } else {
            // A pipe gives its first byte once.
            explain::read(Cursor::new(begin).chain(opened), &name_of(file), &options)?
        };
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

/// Whether a file begins as what `run --csv` prints.
fn is_table(file: &Path) -> bool {
    /// Its first columns.
    const BEGIN: &[u8] = b"engine,seed,hash,";
    let mut begin = [0; BEGIN.len()];
    let read = File::open(file).and_then(|mut opened| opened.read_exact(&mut begin));
    read.is_ok() && begin == BEGIN
}

impl RunSet {
    /// Rows that stand alone.
    pub fn of_rows(name: String, rows: Vec<Row>) -> Self {
        Self {
            name,
            scenario: Value::Null,
            rows,
            experiments: BTreeMap::new(),
            others: 0,
            later_others: 0,
            version: None,
        }
    }

    fn of_folder(folder: &Path) -> Result<Self, Error> {
        let file = folder.join("rows.jsonl");
        if !file.exists() {
            return Err(CompareError::NoRows { folder: folder.to_owned() }.into());
        }
        let rows = rows(&file, &read(&file)?)?;
        // The summary has the scenario; rows of a run that was killed stand without it.
        let summary = fs::read(folder.join("run.json")).unwrap_or_default();
        let Summary { scenario, experiments, environment, points } =
            serde_json::from_slice(&summary).unwrap_or_default();
        let mut set = Self {
            scenario,
            experiments: by_hash(experiments),
            version: environment.as_ref().map(Program::words),
            ..Self::of_rows(folder.display().to_string(), rows)
        };
        set.keep_the_latest();
        set.keep_the_scenario();
        set.put_in_order(&points);
        set.refuse_several(folder)?;
        Ok(set)
    }

    /// A document, or rows one a line, among other lines of a stream.
    fn of_file(file: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let name = name_of(file);
        let set = match json_words::parse::<RunDocument>(bytes) {
            Ok(RunDocument { scenario, rows, experiments, environment }) => Self {
                scenario,
                experiments: by_hash(experiments),
                version: environment.as_ref().map(Program::words),
                ..Self::of_rows(name, rows)
            },
            Err(why) => match stream(file, bytes) {
                Ok((begin, rows)) if !rows.is_empty() => Self {
                    scenario: begin.scenario,
                    version: begin.environment.as_ref().map(Program::words),
                    ..Self::of_rows(name, rows)
                },
                Err(of_line) if is_lines(bytes) => return Err(of_line),
                Ok(_) | Err(_) => {
                    return Err(CompareError::Broken { file: file.to_owned(), why }.into());
                }
            },
        };
        set.refuse_several(file)?;
        Ok(set)
    }

    /// Of two rows of a folder with one key the later counts: the earlier one was invalid.
    fn keep_the_latest(&mut self) {
        let mut known = BTreeSet::new();
        let mut latest: Vec<Row> =
            self.rows.drain(..).rev().filter(|row| known.insert(row.key())).collect();
        latest.reverse();
        self.rows = latest;
    }

    /// A folder keeps the rows of earlier scenarios; the summary names the experiments of the last one.
    fn keep_the_scenario(&mut self) {
        if self.experiments.is_empty() {
            return;
        }
        let all = self.rows.len();
        let is_other = |row: &&Row| !self.experiments.contains_key(&row.hash);
        self.later_others = self.rows.iter().rev().take_while(is_other).count();
        self.rows.retain(|row| self.experiments.contains_key(&row.hash));
        self.others = all - self.rows.len();
    }

    /// Rows are kept as they are done, by several threads: their points are put in the order of the sweep.
    fn put_in_order(&mut self, points: &[PointEntry]) {
        let places: BTreeMap<_, usize> =
            (0..).zip(points).map(|(place, of)| (point_key(of.engine, &of.point), place)).collect();
        let place = |row: &Row| places.get(&point_key(row.engine, &row.point)).copied();
        self.rows.sort_by_cached_key(|row| place(row).unwrap_or(usize::MAX));
    }

    /// Refuses rows of several scenarios, where nothing tells them apart.
    fn refuse_several(&self, file: &Path) -> Result<(), Error> {
        let mut known: BTreeMap<(EngineName, String), &str> = BTreeMap::new();
        for row in &self.rows {
            let hash = known.entry(point_key(row.engine, &row.point)).or_insert(&row.hash);
            if *hash != row.hash {
                return Err(CompareError::SeveralScenarios { file: file.to_owned() }.into());
            }
        }
        Ok(())
    }

    /// Whether anything is random in the experiment of these rows, as far as is known.
    pub fn is_random(&self, rows: &[Row]) -> bool {
        rows.iter().any(|row| self.experiments.get(&row.hash) != Some(&false))
    }
}

/// An engine at a point, whatever the order of its keys.
fn point_key(engine: EngineName, point: &Map<String, Value>) -> (EngineName, String) {
    let point: BTreeMap<&String, &Value> = point.iter().collect();
    (engine, format!("{point:?}"))
}

fn by_hash(experiments: Vec<Experiment>) -> BTreeMap<String, bool> {
    experiments.into_iter().map(|one| (one.hash, one.is_random)).collect()
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(|error| Error::file("read", file, error))
}

/// What a file is called; `-` is standard input.
fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

/// Rows, one a line; a last line without its end is what a crash left.
fn rows(file: &Path, bytes: &[u8]) -> Result<Vec<Row>, Error> {
    lines(bytes).map(|(number, line)| of_line(file, number, line)).collect()
}

/// The lines of `run --json-stream`: what is run, and the rows. Rows that stand alone are of no known scenario.
fn stream(file: &Path, bytes: &[u8]) -> Result<(Summary, Vec<Row>), Error> {
    let (mut begin, mut rows) = (Summary::default(), Vec::new());
    for (number, line) in lines(bytes) {
        let Tag { kind } = of_line(file, number, line)?;
        match kind.as_deref() {
            Some("run") => begin = of_line(file, number, line)?,
            None | Some("row") => rows.push(of_line(file, number, line)?),
            Some(_) => {}
        }
    }
    Ok((begin, rows))
}

/// The whole lines of a file, numbered from 1.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (1..).zip(bytes[..whole].split(|byte| *byte == b'\n')).filter(|(_, line)| !line.is_empty())
}

/// Whether a file is meant as documents, one a line: its first line is whole, and others follow.
fn is_lines(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes).map(|(_, line)| line.trim_ascii());
    lines.next().is_some_and(|line| line.starts_with(b"{") && line.ends_with(b"}"))
        && lines.next().is_some()
}

fn of_line<T: DeserializeOwned>(file: &Path, number: usize, line: &[u8]) -> Result<T, Error> {
    json_words::parse(line).map_err(|why| {
        let why = format!("line {number}: {why}");
        CompareError::Broken { file: file.to_owned(), why }.into()
    })
}

#[cfg(test)]
mod tests {
    use maxseg_testkit::rows::sim;
    use serde_json::json;

    use super::*;

    fn folder(rows: &[(&str, u64, f64)], summary: &str) -> Result<RunSet, Error> {
        let folder = tempfile::tempdir().unwrap();
        let line = |(hash, seed, goodput): &(&str, u64, f64)| {
            let mut row = sim(&json!({"sender.mss": 536}), *goodput);
            (row.hash, row.seed) = ((*hash).to_owned(), Some(*seed));
            serde_json::to_string(&row).unwrap() + "\n"
        };
        let lines: String = rows.iter().map(line).collect();
        fs::write(folder.path().join("rows.jsonl"), lines).unwrap();
        fs::write(folder.path().join("run.json"), summary).unwrap();
        RunSet::of_folder(folder.path())
    }

    #[test]
    fn a_row_that_is_wrong_is_named_by_its_line() {
        let row = serde_json::to_string(&sim(&json!({"sender.mss": 536}), 1e6)).unwrap();
        let wrong = |of: &str| {
            let bad = row.replacen("1000000.0", of, 1);
            assert_ne!(bad, row);
            let text = format!("{row}\n{bad}\n");
            RunSet::of_file(Path::new("rows.jsonl"), text.as_bytes()).unwrap_err().to_string()
        };
        let text = wrong("\"fast\"");
        assert!(text.contains("line 2: `outcome.goodput_bps` is \"fast\""), "{text}");
        let text = wrong("1e400");
        assert!(text.contains("line 2: a number is too large"), "{text}");
    }

    #[test]
    fn of_a_folder_the_rows_of_its_last_scenario_count() {
        let rows = [("a", 1, 1.0), ("b", 1, 2.0), ("a", 2, 3.0), ("b", 1, 4.0)];
        let summary = r#"{"scenario": {}, "experiments": [{"hash": "b", "is_random": false}]}"#;
        let set = folder(&rows, summary).unwrap();
        let goodputs: Vec<_> = set.rows.iter().map(|row| row.outcome.goodput_bps).collect();
        assert_eq!((goodputs, set.others), (vec![Some(4.0)], 2), "and of one key the later");
        assert!(!set.is_random(&set.rows));
        let error = folder(&rows, "").unwrap_err();
        assert!(error.to_string().contains("runs of several scenarios"), "{error}");
        let one = folder(&[("a", 1, 1.0), ("a", 2, 3.0)], "").unwrap();
        assert_eq!((one.rows.len(), one.others), (2, 0));
        assert!(one.is_random(&one.rows), "as far as is known");
    }

    /// The summary is written at the end of a run.
    #[test]
    fn rows_of_a_run_that_was_killed_stand_behind_those_of_the_summary() {
        let summary = r#"{"scenario": {}, "experiments": [{"hash": "b", "is_random": true}]}"#;
        let later = |rows: &[(&str, u64, f64)]| {
            let set = folder(rows, summary).unwrap();
            (set.others, set.later_others)
        };
        let [a, b] = [("a", 1, 1.0), ("b", 1, 2.0)];
        assert_eq!(later(&[a, b]), (1, 0));
        assert_eq!(later(&[b, a]), (1, 1));
        assert_eq!(later(&[a, b, ("c", 1, 3.0), ("c", 2, 3.0)]), (3, 2));
    }
}
