//! A file that can be read at every moment while it grows.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::os::fd::AsFd as _;
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// A file of blocks, each handed over by one `write`. Whole blocks are written, many at once, so that the file ends
/// with a whole block between two writes. Within one, the kernel extends a file page by page
/// (`generic_perform_write` in mm/filemap.c) and leaves off at a page when the process is killed: only then, and only
/// the last block, can be cut.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    out: File,
    /// Whole blocks that are not written yet.
    pending: Vec<u8>,
    /// A pipe or a device takes nothing back.
    takes_back: bool,
    /// It was opened by somebody else with `O_APPEND`: whatever is written goes to its end.
    appends: bool,
}

/// So much is pending before it is written unasked.
const ENOUGH: usize = 1 << 16;

impl GrowingFile {
    /// An empty file at `path`, its mode by the umask.
    ///
    /// # Errors
    /// It may not be made or emptied.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Self::of(File::create(path)?)
    }

    /// Standard output, behind what may be there already.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn stdout() -> io::Result<Self> {
        Self::of(io::stdout().as_fd().try_clone_to_owned()?.into())
    }

    fn of(out: File) -> io::Result<Self> {
        let takes_back = out.metadata()?.is_file();
        let flags = OFlag::from_bits_retain(fcntl(&out, FcntlArg::F_GETFL)?);
        let appends = flags.contains(OFlag::O_APPEND);
        Ok(Self { out, pending: Vec::new(), takes_back, appends })
    }

    /// Where a regular file is written next.
    fn position(&mut self) -> io::Result<u64> {
        if self.appends { self.out.seek(SeekFrom::End(0)) } else { self.out.stream_position() }
    }

    /// Cuts off what was written since `begin`, unless something else is behind it.
    fn take_back(&mut self, begin: u64) -> io::Result<()> {
        if self.out.stream_position()? == self.out.metadata()?.len() {
            self.out.set_len(begin)?;
            self.out.seek(SeekFrom::Start(begin))?; // else the next block follows a gap of zeros
        }
        Ok(())
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
        let begin = if self.takes_back { Some(self.position()?) } else { None };
        let done = self.out.write_all(&self.pending);
        self.pending.clear();
        if let (Err(_), Some(begin)) = (&done, begin) {
            self.take_back(begin)?;
        }
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
        let mut file = GrowingFile::create(&path).unwrap();
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
        let mut file = GrowingFile::create(Path::new("/dev/full")).unwrap();
        file.write_all(b"block").unwrap();
        assert_eq!(file.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn what_is_taken_back_leaves_no_gap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = GrowingFile::create(&path).unwrap();
        file.write_all(b"first ").unwrap();
        file.flush().unwrap();
        // What a full disk took of a block.
        file.out.write_all(b"sec").unwrap();
        file.take_back(6).unwrap();
        file.write_all(b"third").unwrap();
        file.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"first third");
    }
}
