//! A file that can be read at every moment while it grows.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::fchown;
use std::path::Path;

/// A file of blocks, each handed over by one `write`. Only whole blocks go to the disk, and many at once: whoever
/// reads the file meanwhile, or when its writer was killed, finds no half one.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    out: File,
    /// Whole blocks that are not written yet.
    pending: Vec<u8>,
    /// How much is written; `None` for a pipe or a device, which takes nothing back.
    length: Option<u64>,
}

/// So much is pending before it is written unasked.
const ENOUGH: usize = 1 << 16;

impl GrowingFile {
    /// An empty file at `path`; a new one belongs to `owner`, if there is one, and this process may give it away.
    ///
    /// # Errors
    /// It may not be made or emptied.
    pub(crate) fn create(path: &Path, owner: Option<(u32, u32)>) -> io::Result<Self> {
        let out = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(new) => {
                if let Some((user, group)) = owner {
                    fchown(&new, Some(user), Some(group))?;
                }
                new
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => File::create(path)?,
            Err(error) => return Err(error),
        };
        Self::of(out)
    }

    /// Standard output.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn stdout() -> io::Result<Self> {
        Self::of(io::stdout().as_fd().try_clone_to_owned()?.into())
    }

    fn of(out: File) -> io::Result<Self> {
        let length = out.metadata()?.is_file().then_some(0);
        Ok(Self { out, pending: Vec::new(), length })
    }
}

impl Write for GrowingFile {
    /// Takes a block.
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(block);
        if self.pending.len() >= ENOUGH {
            self.flush()?;
        }
        Ok(block.len())
    }

    /// Writes what is pending; what the disk does not take whole is taken back.
    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.write_all(&self.pending);
        if let Some(length) = &mut self.length {
            match done {
                Ok(()) => *length += self.pending.len() as u64,
                Err(_) => self.out.set_len(*length)?,
            }
        }
        self.pending.clear();
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "what was here before").unwrap();
        let mut file = GrowingFile::create(&path, None).unwrap();
        let block = [7; 1000];
        for n in 1..200 {
            file.write_all(&block).unwrap();
            let there = std::fs::metadata(&path).unwrap().len();
            assert!(
                there.is_multiple_of(1000) && there + (ENOUGH as u64) > n * 1000,
                "{there} of {n}"
            );
        }
        file.flush().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 199_000);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut file = GrowingFile::create(Path::new("/dev/full"), None).unwrap();
        file.write_all(b"block").unwrap();
        assert_eq!(file.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
