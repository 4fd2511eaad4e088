//! The files of several captures, each of which is read more than once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::Error;

/// Files that are read several times. What can be read once only, standard input and pipes, is kept in temporary files.
pub(super) struct Inputs<'a> {
    files: &'a [String],
    kept: HashMap<usize, File>,
}

impl<'a> Inputs<'a> {
    pub(super) fn of(files: &'a [String]) -> Result<Self, Error> {
        let mut kept = HashMap::new();
        for (place, name) in files.iter().enumerate() {
            let file = if name == "-" {
                Some(keep(io::stdin()))
            } else {
                let is_kept =
                    Path::new(name).metadata().is_ok_and(|it| !it.is_file() && !it.is_dir());
                is_kept.then(|| File::open(name).and_then(keep))
            };
            if let Some(file) = file {
                kept.insert(
                    place,
                    file.map_err(|error| Error::file("read", Path::new(name), error))?,
                );
            }
        }
        Ok(Self { files, kept })
    }

    /// Opens the file at this place, at its begin: also while it is read already.
    pub(super) fn open(&mut self, place: usize) -> io::Result<Input> {
        let file = match self.kept.get(&place) {
            Some(file) => file.try_clone()?,
            None => File::open(&self.files[place])?,
        };
        Ok(Input { file, at: 0 })
    }

    /// Bytes of all files.
    pub(super) fn size(&self) -> u64 {
        let sizes =
            self.files.iter().enumerate().map(|(place, name)| match self.kept.get(&place) {
                Some(file) => file.metadata(),
                None => Path::new(name).metadata(),
            });
        sizes.flatten().map(|facts| facts.len()).sum()
    }
}

/// A file that is read from its begin, wherever others read it: clones of a file share its position.
pub(super) struct Input {
    file: File,
    at: u64,
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Keeps what can be read once only.
fn keep(mut input: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut input, &mut file)?;
    Ok(file)
}
