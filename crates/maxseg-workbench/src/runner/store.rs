//! The folder that `--out` names. Rows are safe on disk as soon as they are done, and a later run of
//! the same points goes on where this one ended.
//!
//! `rows.jsonl` is the truth: a row a line, synced before the next. All else is made from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use maxseg_core::engine::{EngineName, Sample};
use maxseg_core::results::{Row, RowKey};
use maxseg_core::units::Time;

use super::series::{INDEX, SERIES, Series, write_synced};
use crate::error::Error;
use crate::whole_file::replace;

const ROWS: &str = "rows.jsonl";
/// What a folder of ours may hold; a folder with anything else, and without [`ROWS`], is not ours.
const OURS: [&str; 6] = [ROWS, SERIES, INDEX, "run.json", "rows.parquet", "report.html"];

/// An open folder with its rows.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    rows: File,
    series: Option<Series>,
    known: BTreeMap<RowKey, Row>,
}

impl Store {
    /// Opens `folder`, or makes it. Nobody else can write to it meanwhile.
    pub fn open(folder: &Path, series_every: Option<Time>) -> Result<Self, Error> {
        fs::create_dir_all(folder)
            .map_err(|error| Error::file("make the folder", folder, error))?;
        refuse_foreign(folder)?;
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
                return Err(Error::with_hint(
                    format!("another maxseg is writing to {}", folder.display()),
                    "wait for it, or choose another folder",
                ));
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::file("lock", &file, error));
            }
        }
        let known = read_rows(&mut rows, &file)?;
        let series = series_every.map(|every| Series::open(folder, every, &known)).transpose()?;
        Ok(Self { folder: folder.to_owned(), rows, series, known })
    }

    /// The row that is there already under this key, with its series where one is asked for.
    pub fn finished(&self, key: &RowKey) -> Option<&Row> {
        let wants_series = self.series.as_ref().filter(|_| key.1 == EngineName::Sim);
        let row = self.known.get(key)?;
        wants_series.is_none_or(|series| series.has(key)).then_some(row)
    }

    /// Whether there is nothing under this key that could be believed.
    pub fn lacks(&self, key: &RowKey) -> bool {
        self.finished(key).is_none_or(|row| !row.outcome.is_valid())
    }

    /// How many rows the folder held from the beginning that belong to none of these experiments.
    pub fn others(&self, hashes: &BTreeSet<&str>) -> usize {
        self.known.keys().filter(|(hash, ..)| !hashes.contains(hash.as_str())).count()
    }

    /// Adds a row, or to a row that is there its series; it is on disk when this returns. A row takes the
    /// place of an invalid one: of two with one key the later counts.
    pub fn add(&mut self, row: &Row, samples: &[Sample]) -> Result<(), Error> {
        let key = row.key();
        if let Some(series) = self.series.as_mut().filter(|_| row.engine == EngineName::Sim) {
            series.add(&key, samples)?;
        }
        if self.known.get(&key).is_some_and(|row| row.outcome.is_valid()) {
            return Ok(());
        }
        let mut line = serde_json::to_vec(row).expect("a row is plain data");
        line.push(b'\n');
        write_synced(&mut self.rows, &line)
            .map_err(|error| Error::file("write", &self.folder.join(ROWS), error))
    }

    /// Replaces a file of the folder as a whole: whoever opens it sees the old one or the new one.
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

fn refuse_foreign(folder: &Path) -> Result<(), Error> {
    let entries = fs::read_dir(folder).map_err(|error| Error::file("read", folder, error))?;
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    let ours = |name: &String| OURS.contains(&name.trim_end_matches(".tmp"));
    match names.iter().find(|name| !ours(name)) {
        Some(foreign) if !names.iter().any(|name| name == ROWS) => Err(Error::with_hint(
            format!("{} is not a folder of results: it holds {foreign}", folder.display()),
            "name a new folder, or an empty one",
        )),
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
        let row: Row = serde_json::from_slice(line).map_err(|error| {
            Error::with_hint(
                format!("{}:{number} is not a row: {error}", file.display()),
                "take that line out, or choose another folder; the other rows are whole",
            )
        })?;
        known.insert(row.key(), row);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::{LabProof, Outcome};
    use maxseg_core::units::Bytes;

    use super::*;

    fn row(seed: u64) -> Row {
        Row {
            engine: EngineName::Sim,
            point: serde_json::Map::new(),
            hash: "abc".to_owned(),
            seed: Some(seed),
            outcome: Outcome { goodput_bps: Some(0.1 + seed as f64), ..Outcome::default() },
            caveats: Vec::new(),
        }
    }

    #[test]
    fn rows_survive_and_a_torn_last_line_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), None).unwrap();
        store.add(&row(1), &[]).unwrap();
        store.add(&row(2), &[]).unwrap();
        drop(store);
        let file = folder.path().join(ROWS);
        let mut bytes = fs::read(&file).unwrap();
        // Torn within a character of two bytes.
        bytes.extend("{\"engine\":\"sim\",\"point\":{\"name\":\"\u{fc}".as_bytes());
        bytes.pop();
        fs::write(&file, &bytes).unwrap();
        let mut store = Store::open(folder.path(), None).unwrap();
        assert_eq!(store.finished(&row(2).key()), Some(&row(2)));
        assert_eq!(store.known.len(), 2);
        store.add(&row(3), &[]).unwrap();
        drop(store);
        assert_eq!(Store::open(folder.path(), None).unwrap().known.len(), 3);
    }

    #[test]
    fn a_line_that_is_no_row_is_named() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path(), None).unwrap().add(&row(1), &[]).unwrap();
        let file = folder.path().join(ROWS);
        let whole = fs::read(&file).unwrap();
        for wrong in [b"{}\n".as_slice(), b"\n", b"\xff\xfe\n"] {
            fs::write(&file, [whole.as_slice(), wrong].concat()).unwrap();
            let failure = Store::open(folder.path(), None).unwrap_err().told();
            assert!(failure.contains("rows.jsonl:2 is not a row"), "{failure}");
        }
    }

    #[test]
    fn one_writer_at_a_time_and_no_foreign_folder() {
        let folder = tempfile::tempdir().unwrap();
        let _store = Store::open(folder.path(), None).unwrap();
        let failure = Store::open(folder.path(), None).unwrap_err().told();
        assert!(failure.contains("another maxseg is writing"), "{failure}");
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join("thesis.tex"), "").unwrap();
        let failure = Store::open(foreign.path(), None).unwrap_err().told();
        assert!(failure.contains("it holds thesis.tex"), "{failure}");
    }

    #[test]
    fn a_run_that_proves_nothing_is_kept_until_a_better_one_comes() {
        let folder = tempfile::tempdir().unwrap();
        let lab = |doubts: &[&str]| {
            let invalid_because = doubts.iter().map(|doubt| (*doubt).to_owned()).collect();
            let proof = LabProof { invalid_because, ..LabProof::default() };
            let outcome = Outcome { lab: Some(Box::new(proof)), ..Outcome::default() };
            Row { engine: EngineName::Lab, outcome, ..row(1) }
        };
        let (bad, good) = (lab(&["the machine was busy"]), lab(&[]));
        let keep = |row: &Row| Store::open(folder.path(), None).unwrap().add(row, &[]).unwrap();
        let known = || {
            let store = Store::open(folder.path(), None).unwrap();
            (store.finished(&bad.key()).cloned(), store.lacks(&bad.key()))
        };
        keep(&bad);
        assert_eq!(known(), (Some(bad.clone()), true));
        keep(&good);
        assert_eq!(known(), (Some(good.clone()), false));
        keep(&bad);
        assert_eq!(known(), (Some(good.clone()), false), "a valid one is not replaced");
    }

    const EVERY: Time = Time::from_millis(100);

    fn sample(n: u64) -> Sample {
        Sample {
            at: Time::from_millis(100 * n),
            flow: 0,
            cwnd: Bytes::new(n),
            window: Bytes::new(n),
            in_flight: Bytes::ZERO,
            srtt: None,
            rto: Time::from_millis(1000),
            queue: Time::ZERO,
            acknowledged: Bytes::ZERO,
        }
    }

    fn series(folder: &Path) -> Vec<String> {
        let text = fs::read_to_string(folder.join(SERIES)).unwrap();
        text.lines()
            .skip(1)
            .map(|line| line.split(',').take(5).collect::<Vec<_>>().join(","))
            .collect()
    }

    #[test]
    fn a_row_without_its_series_is_missing_and_gets_it_without_being_doubled() {
        let folder = tempfile::tempdir().unwrap();
        let key = row(1).key();
        Store::open(folder.path(), None).unwrap().add(&row(1), &[]).unwrap();
        let rows = fs::read(folder.path().join(ROWS)).unwrap();
        let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
        assert_eq!(store.finished(&key), None);
        store.add(&row(1), &[sample(0), sample(1)]).unwrap();
        drop(store);
        assert_eq!(fs::read(folder.path().join(ROWS)).unwrap(), rows);
        let store = Store::open(folder.path(), Some(EVERY)).unwrap();
        assert_eq!(store.finished(&key), Some(&row(1)));
        assert_eq!(series(folder.path()), ["abc,sim,1,0,0", "abc,sim,1,0,0.1"]);
    }

    #[test]
    fn no_crash_doubles_or_tears_a_series() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
        for seed in [1, 2] {
            store.add(&row(seed), &[sample(0), sample(1)]).unwrap();
        }
        drop(store);
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        let (rows, lines, index) = (read(ROWS), read(SERIES), read(INDEX));
        let first = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        // Where a crash can come: anywhere in the second row's lines, with none of its index or row; in
        // its index; after that and before its row.
        let second = String::from_utf8_lossy(&lines).find("abc,sim,2").unwrap();
        let crashes = (second..=lines.len())
            .map(|end| (end, first(&index)))
            .chain([(lines.len(), index.len() - 3), (lines.len(), index.len())]);
        for (lines_end, index_end) in crashes {
            fs::write(folder.path().join(ROWS), &rows[..first(&rows)]).unwrap();
            fs::write(folder.path().join(SERIES), &lines[..lines_end]).unwrap();
            fs::write(folder.path().join(INDEX), &index[..index_end]).unwrap();
            let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
            assert!(
                store.finished(&row(1).key()).is_some() && store.finished(&row(2).key()).is_none()
            );
            assert_eq!(series(folder.path()).len(), 2, "the first row's alone");
            store.add(&row(2), &[sample(0), sample(1)]).unwrap();
            drop(store);
            assert_eq!(read(SERIES), lines, "after a crash at {lines_end}, {index_end}");
            assert_eq!((read(ROWS), read(INDEX)), (rows.clone(), index.clone()));
        }
    }

    #[test]
    fn one_folder_has_one_interval() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Some(EVERY)).unwrap();
        store.add(&row(1), &[sample(0)]).unwrap();
        drop(store);
        let failure = Store::open(folder.path(), Some(Time::from_millis(7))).unwrap_err().told();
        assert!(failure.contains("holds samples every 100 ms, not every 7 ms"), "{failure}");
        Store::open(folder.path(), None).unwrap();
    }

    #[test]
    fn rows_of_other_scenarios_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), None).unwrap();
        store.add(&row(1), &[]).unwrap();
        store.add(&Row { hash: "other".to_owned(), ..row(1) }, &[]).unwrap();
        drop(store);
        let store = Store::open(folder.path(), None).unwrap();
        assert_eq!(store.others(&["abc", "new"].into()), 1);
    }
}
