//! The journal: a file of lines that only grows, each on disk before what it announces is done.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use maxseg_core::tune::{BrokenLine, Event, History, Moment, Record, VERSION, records_of};
use nix::fcntl::{FallocateFlags, fallocate};
use nix::unistd::Uid;

use super::TuneError;
use super::here::{moment, now_s};
use crate::sys::{self, open_growing, read_regular};

/// The name of the file.
const NAME: &str = "tune.jsonl";
/// Room that is taken on the disk before a plan, bytes: a disk that is full is found before anything is changed.
const ROOM: i64 = 64 << 10;
/// How long to wait for another command, which locks the journal for no longer than its changes take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often to look whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The folder in which this user's changes are kept: [`sys::state_folder`].
///
/// # Errors
/// This user has no home.
pub fn state_folder() -> Result<PathBuf, TuneError> {
    sys::state_folder().ok_or(TuneError::NoFolder)
}

/// Whether root may have changes that this user cannot see: root's journal is there, or in a folder that this user may not search.
pub fn root_journal_is_hidden() -> bool {
    let is_there = || Path::new(sys::ROOT_FOLDER).join(NAME).symlink_metadata();
    !Uid::effective().is_root()
        && is_there().map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
}

/// A journal that this process may write to: nobody else does meanwhile.
#[derive(Debug)]
pub struct Journal {
    /// `None` where it can be read alone.
    file: Option<File>,
    path: PathBuf,
    /// Bytes of the whole lines.
    whole: u64,
    history: History,
    moment: Moment,
}

impl Journal {
    /// Opens the journal of a folder, which is made where it is missing, and locks it. A last line that was cut is removed.
    ///
    /// # Errors
    /// It cannot be written, belongs to somebody else, is locked, or has a line that makes no sense.
    pub fn open(folder: &Path) -> Result<Self, TuneError> {
        let moment = moment()?;
        let fail = |doing, path: &Path| {
            let file = path.to_owned();
            move |error| TuneError::Journal { doing, file, error }
        };
        let is_new = !folder.exists();
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(fail("create", folder))?;
        refuse_foreign(folder)?;
        let path = folder.join(NAME);
        let mut file = open_growing(&path).map_err(fail("open", &path))?;
        refuse_foreign(&path)?;
        lock(&file, &path)?;
        // The name of a new file is on disk once its folder is, and the folder's once its own folder is.
        let sync = |folder: &Path| File::open(folder)?.sync_all();
        sync(folder).map_err(fail("sync", folder))?;
        if let Some(above) = folder.parent().filter(|_| is_new) {
            sync(above).map_err(fail("sync", above))?;
        }
        let bytes = read_all(&mut file).map_err(fail("read", &path))?;
        let (records, whole) = parse(&bytes, &path)?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(fail("mend", &path))?;
        }
        let history = History::of(&records);
        Ok(Self { file: Some(file), path, whole: whole as u64, history, moment })
    }

    /// The same for undoing, which a folder that cannot be written does not keep from being done: there its lines are of this
    /// process alone.
    ///
    /// # Errors
    /// It cannot be read, belongs to somebody else, is locked, or has a line that makes no sense.
    pub fn open_to_undo(folder: &Path) -> Result<Self, TuneError> {
        match Self::open(folder) {
            Err(TuneError::Journal { error, .. }) if is_read_only(&error) => {
                let moment = moment()?;
                refuse_foreign(folder)?;
                let path = folder.join(NAME);
                let history = Self::read(folder)?;
                Ok(Self { file: None, path, whole: 0, history, moment })
            }
            opened => opened,
        }
    }

    /// Whether what is undone is noted nowhere.
    pub const fn is_read_only(&self) -> bool {
        self.file.is_none()
    }

    /// What the journal of a folder tells, without writing to it; nothing where there is none.
    ///
    /// # Errors
    /// It cannot be read, or has a line that makes no sense.
    pub fn read(folder: &Path) -> Result<History, TuneError> {
        let path = folder.join(NAME);
        let bytes = match read_regular(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(History::default()),
            read => read.map_err(|error| TuneError::Journal {
                doing: "read",
                file: path.clone(),
                error,
            })?,
        };
        Ok(History::of(&parse(&bytes, &path)?.0))
    }

    /// What it tells.
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// Where and when it was opened.
    pub const fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes room on the disk for the lines of a plan.
    pub(super) fn reserve(&self) -> Result<(), TuneError> {
        let Some(file) = &self.file else { return Ok(()) };
        let at = i64::try_from(self.whole).unwrap_or(i64::MAX - ROOM);
        match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, at, ROOM) {
            Err(nix::errno::Errno::ENOSPC) => Err(TuneError::Journal {
                doing: "write",
                file: self.path.clone(),
                error: io::ErrorKind::StorageFull.into(),
            }),
            // Other file systems have no such call.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Appends a line. It is on disk when this returns; where it cannot be, nothing of it remains.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn append(&mut self, event: Event) -> Result<(), TuneError> {
        let place = self.moment.place.clone();
        let record = Record { v: VERSION, at_s: now_s(), place, event };
        let fail = |error| TuneError::Journal { doing: "write", file: self.path.clone(), error };
        let mut line = serde_json::to_vec(&record).map_err(|error| fail(error.into()))?;
        line.push(b'\n');
        if let Some(file) = &mut self.file {
            let whole = self.whole;
            let mended = mend(file, whole);
            let written =
                mended.and_then(|()| file.write_all(&line)).and_then(|()| file.sync_data());
            if let Err(error) = written {
                // What counts is why the write failed; the next to open the journal removes a cut line too.
                let _ = mend(file, whole);
                return Err(fail(error));
            }
        }
        self.whole += line.len() as u64;
        self.history.add(&record);
        Ok(())
    }
}

/// Removes what a write that failed has left behind the whole lines.
fn mend(file: &File, whole: u64) -> io::Result<()> {
    if file.metadata()?.len() == whole { Ok(()) } else { file.set_len(whole) }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}

fn lock(file: &File, path: &Path) -> Result<(), TuneError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => {
                return Err(TuneError::Busy { file: path.to_owned() });
            }
            Err(TryLockError::Error(error)) => {
                return Err(TuneError::Journal { doing: "lock", file: path.to_owned(), error });
            }
        }
    }
}

/// Whoever may write there decides what this program sets back.
fn refuse_foreign(path: &Path) -> Result<(), TuneError> {
    let status = path.symlink_metadata().map_err(|error| TuneError::Journal {
        doing: "look at",
        file: path.to_owned(),
        error,
    })?;
    let is_ours = status.uid() == Uid::effective().as_raw();
    if is_ours && status.mode() & 0o022 == 0 && !status.is_symlink() {
        Ok(())
    } else {
        Err(TuneError::NotOurs { folder: path.to_owned() })
    }
}

fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The lines, and how many bytes the whole ones have.
fn parse(bytes: &[u8], path: &Path) -> Result<(Vec<Record>, usize), TuneError> {
    records_of(bytes).map_err(|BrokenLine { line, why, is_later }| {
        let file = path.to_owned();
        if is_later {
            TuneError::LaterLine { file, line, why }
        } else {
            TuneError::BrokenLine { file, line, why }
        }
    })
}
