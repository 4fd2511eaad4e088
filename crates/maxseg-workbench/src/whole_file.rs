//! Files that are replaced as a whole: a reader finds the old content or the new, never a part.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek as _, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// A file under construction. It is written under a name of its own in the folder of its destination, and renamed
/// by [`WholeFile::publish`]; dropped earlier, it leaves nothing.
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

/// Names of the temporary files of this process: a process that exits drops nothing.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary_names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every unpublished file of this process, which is about to exit. While the guard lives, other threads
/// can neither begin a file nor publish one.
#[must_use = "dropped before the exit, it lets other threads begin new files"]
pub fn remove_unpublished() -> impl Sized {
    let names = temporary_names();
    for name in &*names {
        let _ = fs::remove_file(name);
    }
    names
}

/// A file with a name that nobody else uses, removed when dropped.
#[derive(Debug)]
struct Temporary(Option<NamedTempFile>);

impl Temporary {
    /// In the folder of `path`; its name begins with a dot and the name of `path`, and ends in `.tmp`.
    fn beside(path: &Path) -> io::Result<Self> {
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(path.file_name().unwrap_or_default());
        prefix.push(".");
        let mut names = temporary_names();
        // 0666 less the umask, as for any new file. The name is created with O_EXCL: no link is followed.
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".tmp")
            .permissions(Permissions::from_mode(0o666))
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
        let mut names = temporary_names();
        let Some(file) = self.0.take() else { return Ok(()) };
        names.remove(file.path());
        file.persist(to)?;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut names = temporary_names();
        if let Some(file) = self.0.take() {
            names.remove(file.path());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let names = fs::read_dir(folder).unwrap().map(name);
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_not_published_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        fs::write(&file, "old").unwrap();
        let failed = replace(&file, |out| {
            out.write_all(b"ne")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&file).unwrap(), b"old");
        drop(WholeFile::create(&folder.path().join("new.html")).unwrap());
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn what_is_published_is_all_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        for text in ["a long text", "short"] {
            replace(&file, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn links_modes_and_devices_stay_what_they_are() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("page.html"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        replace(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(replace(folder.path(), |_| Ok(())).is_err(), "a folder is no file");
    }

    #[test]
    fn a_link_to_nothing_yet_stays_a_link() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        let link = folder.path().join("link");
        symlink("below/second", &link).unwrap();
        symlink("page.html", below.join("second")).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("below/second"));
        assert_eq!(names(&below), ["page.html", "second"]);
        assert_eq!(fs::read(below.join("page.html")).unwrap(), b"new");
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(replace(&circle, |_| Ok(())).is_err(), "a circle ends nowhere");
        let nowhere = folder.path().join("nowhere");
        symlink("no-folder/page.html", &nowhere).unwrap();
        assert!(replace(&nowhere, |_| Ok(())).is_err(), "no folder is made");
        assert_eq!(names(folder.path()), ["below", "circle", "link", "nowhere"]);
    }

    #[test]
    fn a_file_called_tmp_is_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let (file, own) = (folder.path().join("page.html"), folder.path().join("page.html.tmp"));
        fs::write(&own, "of the user").unwrap();
        replace(&file, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&own).unwrap(), "of the user");
        assert_eq!(names(folder.path()), ["page.html", "page.html.tmp"]);
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, victim) = (folder.path().join("page.html"), folder.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("page.html.tmp")).unwrap();
        replace(&file, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn two_writers_of_one_file_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        let mut first = WholeFile::create(&file).unwrap();
        let mut second = WholeFile::create(&file).unwrap();
        first.write_all(b"the first, which is longer").unwrap();
        second.write_all(b"the second").unwrap();
        first.publish().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "the first, which is longer");
        second.publish().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "the second");
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn an_existing_file_keeps_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        fs::write(&file, "old").unwrap();
        if std::os::unix::fs::chown(&file, Some(4711), Some(4712)).is_err() {
            return; // only root can give a file away
        }
        replace(&file, |out| out.write_all(b"new")).unwrap();
        let about = fs::metadata(&file).unwrap();
        assert_eq!((about.uid(), about.gid()), (4711, 4712));
    }

    #[test]
    fn a_new_file_has_the_mode_of_any_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
        fs::write(&other, "").unwrap();
        replace(&ours, |_| Ok(())).unwrap();
        let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }
}
