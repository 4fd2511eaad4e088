//! The log: a file of lines that only grows, each on disk before what it announces is done.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::Uid;
use serde::{Deserialize, Serialize};

use super::{LearntMtu, now_s};
use crate::sys::{namespace_cookie, open_growing, state_folder_of, state_folders, sudo_user};

/// The name of the file.
const NAME: &str = "path-learnt.jsonl";

/// A log that is open.
#[derive(Debug)]
pub struct TeachLog {
    file: File,
    path: PathBuf,
}

/// What the kernel remembered at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remembered {
    pub(super) mtu_bytes: u32,
    /// Seconds since 1970.
    pub(super) until_s: f64,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// Seconds since 1970.
    pub(super) at_s: f64,
    /// The boot of this machine (`/proc/sys/kernel/random/boot_id`), with which the route cache ends.
    pub(super) boot: String,
    /// The network namespace, by its inode,
    pub(super) namespace: u64,
    /// and by its cookie: an inode is used again. `None` before Linux 5.14.
    #[serde(default)]
    pub(super) cookie: Option<u64>,
    #[serde(flatten)]
    pub(super) event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Event {
    /// Probes are about to be sent that may teach the kernel.
    Begin { destination: IpAddr, before: Option<Remembered> },
    /// They are over.
    End { destination: IpAddr, after: Option<Remembered> },
    /// What they taught was removed, or was no longer there.
    Forgotten { destination: IpAddr },
    /// A sysctl is about to be changed for a moment.
    SysctlChange { name: String, was: String },
    /// It is as it was.
    SysctlRestored { name: String },
}

impl TeachLog {
    /// The log of this user, which is made where there is none: under `$XDG_STATE_HOME`, else in `/var/lib` as root and in
    /// `~/.local/state` as another user; where none of these can be written, in the directory for temporary files.
    ///
    /// # Errors
    /// None of the places can be written.
    pub fn open() -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for folder in folders() {
            match Self::open_in(&folder) {
                Ok(log) => return Ok(log),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The log in this folder, which is made where it is missing.
    ///
    /// # Errors
    /// It cannot be written, or belongs to somebody else.
    pub fn open_in(folder: &Path) -> io::Result<Self> {
        let is_new = !folder.exists();
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let owner = folder.symlink_metadata()?;
        if owner.uid() != Uid::effective().as_raw() || !owner.is_dir() {
            return Err(io::Error::other(format!("{} is somebody else's", folder.display())));
        }
        let path = folder.join(NAME);
        let file = open_growing(&path)?;
        refuse_others(&file, &[Uid::effective()])?;
        let mut log = Self { file, path };
        log.end_torn_line()?;
        // The name of a new file is on disk once its folder is, and the folder's once its own folder is.
        File::open(folder)?.sync_all()?;
        if let Some(above) = folder.parent().filter(|_| is_new) {
            File::open(above)?.sync_all()?;
        }
        Ok(log)
    }

    /// A log that is there: this user's, or for root that of the user who ran `sudo`.
    ///
    /// # Errors
    /// It cannot be written, or belongs to somebody else.
    pub fn open_file(path: &Path) -> io::Result<Self> {
        let flags = libc::O_NOFOLLOW;
        let file = OpenOptions::new().read(true).append(true).custom_flags(flags).open(path)?;
        refuse_others(&file, &trusted())?;
        let mut log = Self { file, path: path.to_owned() };
        log.end_torn_line()?;
        Ok(log)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Probes to this destination are about to begin: what the kernel remembers of it is noted, on disk when this returns.
    ///
    /// # Errors
    /// The log cannot be written, or there is no route to the destination.
    pub fn begin(&mut self, destination: IpAddr) -> io::Result<()> {
        let before = LearntMtu::of(destination)?.map(Remembered::from);
        self.append(Event::Begin { destination, before })
    }

    /// They are over: what the kernel remembers now is noted.
    ///
    /// # Errors
    /// The log cannot be written, or there is no route to the destination any more.
    pub fn end(&mut self, destination: IpAddr) -> io::Result<()> {
        let after = LearntMtu::of(destination)?.map(Remembered::from);
        self.append(Event::End { destination, after })
    }

    /// Appends a line, on disk when this returns.
    pub(super) fn append(&mut self, event: Event) -> io::Result<()> {
        let Here { boot, namespace, cookie } = here()?;
        let line = Line { at_s: now_s(), boot, namespace, cookie, event };
        let mut text = serde_json::to_string(&line).map_err(io::Error::other)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()
    }

    /// The lines of this boot and namespace. What cannot be read, as a line that a full disk has cut, is passed over.
    pub(super) fn lines(&mut self) -> io::Result<Vec<Line>> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut text = Vec::new();
        self.file.read_to_end(&mut text)?;
        let here = here()?;
        let lines = String::from_utf8_lossy(&text);
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        Ok(lines.filter(|line| here.is_of(line)).collect())
    }

    /// A line that was cut in writing ends here, so that the next is a line of its own.
    fn end_torn_line(&mut self) -> io::Result<()> {
        let mut last = [b'\n'];
        if self.file.metadata()?.len() > 0 {
            self.file.seek(SeekFrom::End(-1))?;
            self.file.read_exact(&mut last)?;
        }
        if last == [b'\n'] { Ok(()) } else { self.file.write_all(b"\n") }
    }
}

/// The logs that there are: this user's, and those of the user who ran `sudo`. A file of somebody else, who may put one into the
/// directory for temporary files, is none.
pub fn log_files() -> Vec<PathBuf> {
    let mut folders = folders();
    if let Some(user) = sudo_user() {
        folders.extend(state_folder_of(user));
        folders.push(temporary(user));
    }
    let trusted = trusted();
    folders.retain(|folder| {
        let file = folder.join(NAME).symlink_metadata();
        file.is_ok_and(|file| file.is_file() && trusted.contains(&Uid::from_raw(file.uid())))
    });
    folders.dedup();
    folders.into_iter().map(|folder| folder.join(NAME)).collect()
}

/// Whose logs are read.
fn trusted() -> Vec<Uid> {
    [Uid::effective()].into_iter().chain(sudo_user()).collect()
}

/// Refuses an open file that is not one of these users', or has another name as well, by which it may be something else.
fn refuse_others(file: &File, owners: &[Uid]) -> io::Result<()> {
    let about = file.metadata()?;
    let is_own = owners.contains(&Uid::from_raw(about.uid()));
    if is_own && about.is_file() && about.nlink() == 1 {
        return Ok(());
    }
    Err(io::Error::other("the file is somebody else's, or not a regular file"))
}

/// Where a log may be, the best place first.
fn folders() -> Vec<PathBuf> {
    let mut folders = state_folders();
    if !Uid::effective().is_root() {
        folders.push(temporary(Uid::effective()));
    }
    folders
}

fn temporary(user: Uid) -> PathBuf {
    std::env::temp_dir().join(format!("maxseg-{user}"))
}

/// The boot of this machine, and the network namespace of the calling thread.
struct Here {
    boot: String,
    namespace: u64,
    cookie: Option<u64>,
}

impl Here {
    fn is_of(&self, line: &Line) -> bool {
        // Lines of earlier versions have no cookie.
        let cookies = self.cookie.zip(line.cookie);
        self.boot == line.boot
            && self.namespace == line.namespace
            && cookies.is_none_or(|(here, there)| here == there)
    }
}

fn here() -> io::Result<Here> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let namespace = std::fs::metadata("/proc/thread-self/ns/net")?.ino();
    Ok(Here { boot: boot.trim().to_owned(), namespace, cookie: namespace_cookie().ok() })
}

impl From<Remembered> for LearntMtu {
    fn from(remembered: Remembered) -> Self {
        // The log does not have it: the kernel is asked before anything is removed.
        Self { mtu: remembered.mtu_bytes, until_s: remembered.until_s, is_locked: false }
    }
}

impl From<LearntMtu> for Remembered {
    fn from(learnt: LearntMtu) -> Self {
        Self { mtu_bytes: learnt.mtu, until_s: learnt.until_s }
    }
}
