//! Files that are replaced as a whole: a reader finds the old content or the new, never a part.

mod temporary;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, Write};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use temporary::Temporary;
pub use temporary::remove_unpublished;

/// A file under construction. It is written without a name on the file system of its destination, where that has such files
/// (`O_TMPFILE`), and gets its name by [`WholeFile::publish`]; dropped earlier, or killed, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile(Target);

#[derive(Debug)]
enum Target {
    /// A pipe or a device takes what is written as it comes.
    Device(File),
    /// To be renamed.
    Renamed { temporary: Temporary, to: PathBuf },
    /// To be copied into the existing file, whose owner this process may not give to another file.
    Copied { temporary: Temporary, into: File },
}

impl WholeFile {
    /// Begins a file that will be at `path`. A symbolic link stays, and its target is replaced; an existing file
    /// keeps its owner, group and mode.
    ///
    /// # Errors
    /// The existing file may not be written to, or none can be created beside it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let old = match OpenOptions::new().write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            opened => Some(opened?),
        };
        let Some(old) = old else {
            let to = end_of_links(path)?;
            let temporary = Temporary::beside(&to)?;
            return Ok(Self(Target::Renamed { temporary, to }));
        };
        let about = old.metadata()?;
        if !about.is_file() {
            return Ok(Self(Target::Device(old)));
        }
        let to = fs::canonicalize(path)?;
        let temporary = Temporary::beside(&to)?;
        let own = temporary.file().metadata()?;
        let is_same_owner = (own.uid(), own.gid()) == (about.uid(), about.gid());
        if !is_same_owner && fchown(temporary.file(), Some(about.uid()), Some(about.gid())).is_err()
        {
            return Ok(Self(Target::Copied { temporary, into: old }));
        }
        // After the owner: a change of owner clears mode bits (chown(2)).
        temporary.file().set_permissions(about.permissions())?;
        Ok(Self(Target::Renamed { temporary, to }))
    }

    /// Writes `content` behind what was written before, and publishes the file.
    ///
    /// # Errors
    /// It cannot be written or published; the destination is as it was.
    pub fn finish(mut self, content: &[u8]) -> io::Result<()> {
        self.write_all(content)?;
        self.publish()
    }

    /// Moves the file to its destination. It is on disk when this returns, and so is its name.
    ///
    /// # Errors
    /// It cannot be synced or renamed; then it is removed.
    pub fn publish(self) -> io::Result<()> {
        match self.0 {
            Target::Device(_) => Ok(()),
            Target::Renamed { temporary, to } => {
                temporary.file().sync_all()?;
                temporary.rename(&to)?;
                sync_folder_of(&to)
            }
            Target::Copied { temporary, mut into } => {
                let mut from = temporary.file();
                from.rewind()?;
                into.set_len(0)?;
                io::copy(&mut from, &mut into)?;
                into.sync_all()
            }
        }
    }

    fn out(&mut self) -> &mut File {
        match &mut self.0 {
            Target::Device(out) => out,
            Target::Renamed { temporary, .. } | Target::Copied { temporary, .. } => {
                temporary.file_mut()
            }
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Waits until the entry of `path` in its folder is on disk: fsync(2) of a file does not include it.
///
/// # Errors
/// The folder cannot be opened or synced.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path))?.sync_all() {
        // Some file systems have nothing to sync in a folder, and say so.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// Where a new file at `path` is created: at the end of its chain of symbolic links.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows (MAXSYMLINKS); open(2) has refused a loop already, unless links change meanwhile.
    const MOST_LINKS: usize = 40;
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&end) {
            Ok(about) if about.is_symlink() => {
                let target = fs::read_link(&end)?;
                end.pop(); // a relative target begins at the folder of its link
                end.push(target);
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(end),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out().flush()
    }
}

/// Replaces the content of the file at `path` by what `write` writes.
///
/// # Errors
/// Those of [`WholeFile`], and those of `write`; the old file is as it was.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut WholeFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    write(&mut file)?;
    file.publish()
}
