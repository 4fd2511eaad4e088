//! A file that is there when it is whole, or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file on the way to its name. Until [`WholeFile::publish`] it stands beside it, and whoever opens the
/// name finds what was there before; dropped earlier, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile {
    out: File,
    /// `None` for a pipe or a device: it takes what is written as it comes.
    way: Option<Way>,
}

/// From the name while it is written to the name when it is whole.
#[derive(Debug)]
struct Way {
    from: PathBuf,
    to: PathBuf,
}

impl WholeFile {
    /// Begins a file that will be at `path`; until then it is there with `.tmp` behind its name. What a
    /// link points to is replaced, not the link.
    ///
    /// # Errors
    /// The file that is there may not be written to, or none can be made beside it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let old = match OpenOptions::new().write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            opened => Some(opened?),
        };
        let Some(old) = old else { return Self::beside(end_of_links(path)?) };
        let about = old.metadata()?;
        if !about.is_file() {
            return Ok(Self { out: old, way: None });
        }
        let file = Self::beside(fs::canonicalize(path)?)?;
        file.out.set_permissions(about.permissions())?;
        Ok(file)
    }

    fn beside(to: PathBuf) -> io::Result<Self> {
        let mut from = OsString::from(&to);
        from.push(".tmp");
        let from = PathBuf::from(from);
        Ok(Self { out: File::create(&from)?, way: Some(Way { from, to }) })
    }

    /// Writes the last of it, and publishes it.
    ///
    /// # Errors
    /// It cannot be written or published; then it is gone.
    pub fn finish(mut self, content: &[u8]) -> io::Result<()> {
        self.write_all(content)?;
        self.publish()
    }

    /// Puts it in its place when it is on disk.
    ///
    /// # Errors
    /// It cannot be synced or renamed; then it is gone.
    pub fn publish(mut self) -> io::Result<()> {
        let Some(way) = &self.way else { return Ok(()) };
        self.out.sync_all()?;
        fs::rename(&way.from, &way.to)?;
        self.way = None; // nothing is left to take away
        Ok(())
    }
}

/// Where a new file at `path` would come to be: where its links end, if it is one whose target is not there.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows; only links that change meanwhile can go in a circle here.
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
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(way) = &self.way {
            let _ = fs::remove_file(&way.from);
        }
    }
}

/// Replaces the file at `path` as a whole by what `write` writes.
///
/// # Errors
/// As of [`WholeFile`], and those of `write`; then the old file is as it was.
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

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("page.html"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        replace(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(replace(folder.path(), |_| Ok(())).is_err(), "a folder is no file");
    }

    #[cfg(unix)]
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
}
