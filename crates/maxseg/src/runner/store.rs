//! The folder that `--out` names. Rows are safe on disk as soon as they are done, and a later run of
//! the same points goes on where this one ended.
//!
//! `rows.jsonl` is the truth: a row a line, synced before the next. All else is made from it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use maxseg_core::engine::Sample;
use maxseg_core::results::{Row, RowKey};

use crate::failure::Failure;

const ROWS: &str = "rows.jsonl";
const SERIES: &str = "series.csv";
/// What a folder of ours may hold; a folder with anything else, and without [`ROWS`], is not ours.
const OURS: [&str; 5] = [ROWS, SERIES, "run.json", "rows.parquet", "report.html"];

/// An open folder with its rows.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    rows: File,
    series: Option<File>,
    known: BTreeMap<RowKey, Row>,
}

impl Store {
    /// Opens `folder`, or makes it. Nobody else can write to it meanwhile.
    pub(crate) fn open(folder: &Path, with_series: bool) -> Result<Self, Failure> {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::file("make the folder", folder, &error))?;
        refuse_foreign(folder)?;
        let file = folder.join(ROWS);
        let mut rows = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&file)
            .map_err(|error| Failure::file("open", &file, &error))?;
        match rows.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::with_hint(
                    format!("another maxseg is writing to {}", folder.display()),
                    "wait for it, or choose another folder",
                ));
            }
            Err(TryLockError::Error(error)) => {
                return Err(Failure::file("lock", &file, &error));
            }
        }
        let known = read_rows(&mut rows, &file)?;
        let series = if with_series { Some(open_series(folder)?) } else { None };
        Ok(Self { folder: folder.to_owned(), rows, series, known })
    }

    /// The row that is there already under this key.
    pub(crate) fn known(&self, key: &RowKey) -> Option<&Row> {
        self.known.get(key)
    }

    /// Adds a row; it is on disk when this returns.
    pub(crate) fn add(&mut self, row: &Row, series: &[Sample]) -> Result<(), Failure> {
        if let Some(file) = &mut self.series {
            let text: String = series.iter().map(|sample| series_line(row, sample)).collect();
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_data())
                .map_err(|error| Failure::file("write", &self.folder.join(SERIES), &error))?;
        }
        let mut line = serde_json::to_vec(row).map_err(|error| Failure::new(error.to_string()))?;
        line.push(b'\n');
        self.rows
            .write_all(&line)
            .and_then(|()| self.rows.sync_data())
            .map_err(|error| Failure::file("write", &self.folder.join(ROWS), &error))
    }

    /// Replaces a file of the folder as a whole: whoever opens it sees the old one or the new one.
    pub(crate) fn replace(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let (file, fresh) = (self.folder.join(name), self.folder.join(format!("{name}.tmp")));
        let write = || {
            let mut out = File::create(&fresh)?;
            out.write_all(content)?;
            out.sync_all()?;
            fs::rename(&fresh, &file)
        };
        write().map_err(|error| Failure::file("write", &file, &error))
    }

    /// Where a file of the folder is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn refuse_foreign(folder: &Path) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::file("read", folder, &error))?;
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    let ours = |name: &String| OURS.contains(&name.trim_end_matches(".tmp"));
    match names.iter().find(|name| !ours(name)) {
        Some(foreign) if !names.iter().any(|name| name == ROWS) => Err(Failure::with_hint(
            format!("{} is not a folder of results: it holds {foreign}", folder.display()),
            "name a new folder, or an empty one",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The rows of an earlier run. A last line without its end is what a crash left of a row that was not
/// yet kept: it is cut off.
fn read_rows(rows: &mut File, file: &Path) -> Result<BTreeMap<RowKey, Row>, Failure> {
    let fail = |error| Failure::file("read", file, &error);
    let mut text = String::new();
    rows.seek(SeekFrom::Start(0)).map_err(fail)?;
    rows.read_to_string(&mut text).map_err(fail)?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        rows.set_len(whole as u64).map_err(fail)?;
    }
    let mut known = BTreeMap::new();
    for (number, line) in (1..).zip(text[..whole].lines()) {
        let row: Row = serde_json::from_str(line).map_err(|error| {
            Failure::with_hint(
                format!("{}:{number} is not a row: {error}", file.display()),
                "take that line out, or choose another folder; the other rows are whole",
            )
        })?;
        known.insert(row.key(), row);
    }
    Ok(known)
}

fn open_series(folder: &Path) -> Result<File, Failure> {
    let file = folder.join(SERIES);
    let open = || {
        let mut series = OpenOptions::new().append(true).create(true).open(&file)?;
        if series.metadata()?.len() == 0 {
            series.write_all(SERIES_HEADER.as_bytes())?;
        }
        Ok(series)
    };
    open().map_err(|error| Failure::file("open", &file, &error))
}

const SERIES_HEADER: &str = "hash,engine,seed,flow,t_s,cwnd_bytes,window_bytes,in_flight_bytes,\
                             srtt_s,rto_s,queue_s,acknowledged_bytes\n";

fn series_line(row: &Row, sample: &Sample) -> String {
    format!(
        "{},{},{},{},{},{},{},{},{},{},{},{}\n",
        row.hash,
        row.engine,
        row.seed.map_or_else(String::new, |seed| seed.to_string()),
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

#[cfg(test)]
mod tests {
    use maxseg_core::engine::EngineName;
    use maxseg_core::outcome::Outcome;

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
        let mut store = Store::open(folder.path(), false).unwrap();
        store.add(&row(1), &[]).unwrap();
        store.add(&row(2), &[]).unwrap();
        drop(store);
        let file = folder.path().join(ROWS);
        let mut text = fs::read_to_string(&file).unwrap();
        text.push_str("{\"engine\":\"sim\",\"poi");
        fs::write(&file, &text).unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        assert_eq!(store.known(&row(2).key()), Some(&row(2)));
        assert_eq!(store.known.len(), 2);
        store.add(&row(3), &[]).unwrap();
        drop(store);
        assert_eq!(Store::open(folder.path(), false).unwrap().known.len(), 3);
    }

    #[test]
    fn a_line_that_is_no_row_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(ROWS), "{}\n").unwrap();
        let failure = Store::open(folder.path(), false).unwrap_err().render();
        assert!(failure.contains("rows.jsonl:1 is not a row"), "{failure}");
    }

    #[test]
    fn one_writer_at_a_time_and_no_foreign_folder() {
        let folder = tempfile::tempdir().unwrap();
        let _store = Store::open(folder.path(), false).unwrap();
        let failure = Store::open(folder.path(), false).unwrap_err().render();
        assert!(failure.contains("another maxseg is writing"), "{failure}");
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join("thesis.tex"), "").unwrap();
        let failure = Store::open(foreign.path(), false).unwrap_err().render();
        assert!(failure.contains("it holds thesis.tex"), "{failure}");
    }
}
