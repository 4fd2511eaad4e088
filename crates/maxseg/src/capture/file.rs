//! A file that is there when it is whole, or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file on the way to its name; removed when dropped before [`WholeFile::publish`].
#[derive(Debug)]
pub(super) struct WholeFile {
    path: PathBuf,
    fresh: PathBuf,
    published: bool,
}

impl WholeFile {
    /// Begins a file that will be at `path`; until then it is `path` with `.tmp` behind it.
    pub(super) fn create(path: &Path) -> io::Result<(Self, File)> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut fresh = OsString::from(path);
        fresh.push(".tmp");
        let fresh = PathBuf::from(fresh);
        let out = File::create(&fresh)?;
        Ok((Self { path: path.to_owned(), fresh, published: false }, out))
    }

    /// Where it will be.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in its place; `out` is what was written to.
    pub(super) fn publish(mut self, out: &File) -> io::Result<()> {
        out.sync_all()?;
        fs::rename(&self.fresh, &self.path)?;
        self.published = true;
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.published {
            let _ = fs::remove_file(&self.fresh);
        }
    }
}
