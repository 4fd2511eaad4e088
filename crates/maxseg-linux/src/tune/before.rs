//! What connections did before a change, kept beside the journal until the change is undone.
//!
//! A file for each plan. Nothing depends on it but `tune status --effect`: where it cannot be written or read, that says so.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use maxseg_core::tune::{Entry, History, Place, Progress, Sample, Step, incomparable};
use serde::{Deserialize, Serialize};

use super::Journal;
use super::touched::sample;
use crate::sys::read_regular;

/// The names of the files: this, the number of the plan, and that.
const NAME: [&str; 2] = ["tune-before-", ".json"];

/// Connections when a plan was made.
#[derive(Debug, Serialize, Deserialize)]
struct Before {
    /// Where: a cookie is of one boot.
    place: Place,
    /// By the numbers of the entries.
    entries: BTreeMap<u64, Sample>,
}

/// Keeps what the connections that these steps reach have done so far. It is on disk when this returns, or is not kept.
pub(super) fn keep(journal: &Journal, plan: u64, first: u64, steps: &[Step]) {
    let Some(folder) = journal.path().parent() else { return };
    forget_undone(folder, journal.history());
    let comparable = (first..).zip(steps).filter(|(_, step)| incomparable(step).is_none());
    let entries: BTreeMap<u64, Sample> = comparable
        .filter_map(|(entry, step)| Some((entry, sample(&step.target, steps).ok()?)))
        .collect();
    let path = file(folder, plan);
    let before = Before { place: journal.moment().place.clone(), entries };
    if before.entries.is_empty() || write(&path, &before).is_err() {
        // One of another plan of this number, whose journal is gone, or half a file.
        let _ = std::fs::remove_file(&path);
    }
}

/// What the connections that a change reaches had done when it was made; `None` where that is not known.
pub(super) fn before(folder: &Path, entry: &Entry) -> Option<Sample> {
    let bytes = read_regular(&file(folder, entry.plan)).ok()?;
    let mut before: Before = serde_json::from_slice(&bytes).ok()?;
    if before.place == entry.place { before.entries.remove(&entry.id) } else { None }
}

fn file(folder: &Path, plan: u64) -> PathBuf {
    folder.join(format!("{}{plan}{}", NAME[0], NAME[1]))
}

fn write(path: &Path, before: &Before) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        // A FIFO without a reader is an error, and not waited for.
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    file.write_all(&serde_json::to_vec(before)?)?;
    file.sync_data()
}

/// Removes the files of plans of which nothing is set any more.
fn forget_undone(folder: &Path, history: &History) {
    let live = |entry: &Entry| entry.progress != Progress::Undone;
    let plans: Vec<u64> = history.entries().filter(live).map(|entry| entry.plan).collect();
    let number = |name: &str| -> Option<u64> {
        name.strip_prefix(NAME[0])?.strip_suffix(NAME[1])?.parse().ok()
    };
    for one in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let plan = one.file_name().to_str().and_then(number);
        if plan.is_some_and(|plan| !plans.contains(&plan)) {
            // It only takes room.
            let _ = std::fs::remove_file(one.path());
        }
    }
}
