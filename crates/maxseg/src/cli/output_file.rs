//! A file for what a command finds out, opened before it begins.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::failure::Failure;

/// A file that can be written to, and is gone again if nothing comes of it.
pub(super) struct OutputFile<'a> {
    path: &'a Path,
    file: File,
    /// Whether there was none before, and nothing was written yet.
    is_empty_and_ours: bool,
}

impl<'a> OutputFile<'a> {
    /// Opens the file and leaves what it holds.
    pub(super) fn open(path: &'a Path) -> Result<Self, Failure> {
        let is_new = !path.exists();
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|error| Failure::file("write", path, &error))?;
        Ok(Self { path, file, is_empty_and_ours: is_new })
    }

    /// Replaces what it holds.
    pub(super) fn finish(mut self, text: &str) -> Result<(), Failure> {
        let write = |file: &mut File| -> io::Result<()> {
            // A pipe or a device has no length to set.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            file.write_all(text.as_bytes())
        };
        write(&mut self.file).map_err(|error| Failure::file("write", self.path, &error))?;
        self.is_empty_and_ours = false;
        Ok(())
    }
}

impl Drop for OutputFile<'_> {
    fn drop(&mut self) {
        if self.is_empty_and_ours {
            let _ = std::fs::remove_file(self.path);
        }
    }
}
