//! The files of several captures, each of which is read more than once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek};
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

    /// Opens the file at this place, at its begin.
    pub(super) fn open(&mut self, place: usize) -> io::Result<File> {
        match self.kept.get(&place) {
            // The clones share their position; one ends before the next begins.
            Some(file) => file.try_clone().and_then(|mut file| file.rewind().map(|()| file)),
            None => File::open(&self.files[place]),
        }
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

/// Keeps what can be read once only.
fn keep(mut input: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut input, &mut file)?;
    Ok(file)
}
