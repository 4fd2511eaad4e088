//! A file of lines that only grows: after a failed write it ends with its last whole line.

use std::fs::File;
use std::io::{self, Write as _};

/// A file that is opened to be appended to, and ends with a whole line.
#[derive(Debug)]
pub(super) struct AppendedLines {
    file: File,
    /// Bytes of the whole lines.
    whole: u64,
    /// A part of a line could not be removed: what is appended behind it would be lost with it.
    is_torn: bool,
}

impl AppendedLines {
    /// `file` must be in append mode.
    ///
    /// # Errors
    /// Its length cannot be read.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let whole = file.metadata()?.len();
        Ok(Self { file, whole, is_torn: false })
    }

    /// Appends whole lines. They are on disk when this returns.
    ///
    /// # Errors
    /// They cannot be written or synced: none of them is in the file then. Or an earlier write has failed, and
    /// what it left cannot be removed.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.remove_torn()?;
        }
        let written = self.file.write_all(lines).and_then(|()| self.file.sync_data());
        if written.is_ok() {
            self.whole += lines.len() as u64;
        } else {
            self.is_torn = true;
            let _ = self.remove_torn(); // what counts is why the write failed
        }
        written
    }

    fn remove_torn(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)?;
        self.file.sync_data()?;
        self.is_torn = false;
        Ok(())
    }
}
