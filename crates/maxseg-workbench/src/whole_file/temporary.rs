//! What is written before it has its name.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::unistd::linkat;
use tempfile::NamedTempFile;

use super::folder_of;

/// Less the umask, as for any new file.
const MODE: u32 = 0o666;

/// Names of the temporary files of this process: a process that exits drops nothing.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every unpublished file of this process, which is about to exit. While the guard lives, other threads
/// can neither begin a file nor publish one.
#[must_use = "dropped before the exit, it lets other threads begin new files"]
pub fn remove_unpublished() -> impl Sized {
    let names = names();
    for name in &*names {
        let _ = fs::remove_file(name);
    }
    names
}

/// A file that is gone when it is dropped.
#[derive(Debug)]
pub(super) enum Temporary {
    /// Without a name: it is gone when its process ends, however that does.
    Unnamed(File),
    /// With one that nobody else uses, where the file system has no other files.
    Named(Named),
}

impl Temporary {
    /// On the file system of `path`, which need not exist yet.
    pub(super) fn beside(path: &Path) -> io::Result<Self> {
        match unnamed_in(folder_of(path)) {
            Ok(file) => Ok(Self::Unnamed(file)),
            // What is wrong with the folder, if anything, the other way says as well.
            Err(_) => Named::beside(path).map(Self::Named),
        }
    }

    pub(super) fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(named) => named.file(),
        }
    }

    pub(super) fn file_mut(&mut self) -> &mut File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(named) => named.file_mut(),
        }
    }

    /// Puts it at `to`, in the place of what is there.
    pub(super) fn rename(self, to: &Path) -> io::Result<()> {
        match self {
            Self::Unnamed(file) => link_over(&file, to),
            Self::Named(named) => named.rename(to),
        }
    }
}

fn unnamed_in(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(MODE).custom_flags(OFlag::O_TMPFILE.bits());
    let file = options.open(folder)?;
    // Without /proc it could get no name.
    fs::metadata(descriptor(&file))?;
    Ok(file)
}

/// The file by its descriptor: linkat(2) has it so for those that are not root.
fn descriptor(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn link(file: &File, to: &Path) -> io::Result<()> {
    Ok(linkat(AT_FDCWD, &descriptor(file), AT_FDCWD, to, AtFlags::AT_SYMLINK_FOLLOW)?)
}

/// Gives a file without a name that of `to`. A link replaces nothing: where something is, the file has another name for a moment.
fn link_over(file: &File, to: &Path) -> io::Result<()> {
    // A process that exits waits for the rename.
    let _names = names();
    match link(file, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        done => return done,
    }
    let prefix = prefix_of(to);
    let beside = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(SUFFIX)
        .make_in(folder_of(to), |name| link(file, name))?;
    beside.persist(to)?;
    Ok(())
}

/// The file system has no files without a name.
#[derive(Debug)]
pub(super) struct Named(Option<NamedTempFile>);

impl Named {
    pub(super) fn beside(path: &Path) -> io::Result<Self> {
        let prefix = prefix_of(path);
        let mut names = names();
        // The name is created with O_EXCL: no link is followed.
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(SUFFIX)
            .permissions(Permissions::from_mode(MODE))
            .tempfile_in(folder_of(path))?;
        names.insert(file.path().to_owned());
        Ok(Self(Some(file)))
    }

    fn file(&self) -> &File {
        self.0.as_ref().expect("present until renamed or dropped").as_file()
    }

    fn file_mut(&mut self) -> &mut File {
        self.0.as_mut().expect("present until renamed or dropped").as_file_mut()
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        let mut names = names();
        let Some(file) = self.0.take() else { return Ok(()) };
        names.remove(file.path());
        file.persist(to)?;
        Ok(())
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let mut names = names();
        if let Some(file) = self.0.take() {
            names.remove(file.path());
        }
    }
}

/// A temporary name begins with a dot and the name of what it is beside.
fn prefix_of(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

const SUFFIX: &str = ".tmp";
