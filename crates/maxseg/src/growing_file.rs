//! A file that can be read at every moment while it grows.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// A file of blocks, each handed over by one `write`. It ends with a whole block between two calls of write(2).
/// Within one, the kernel extends a file page by page and leaves off between two pages when the process is killed
/// (`generic_perform_write` in mm/filemap.c): blocks within a page are written together, and a block that crosses
/// into the next page by a call of its own. Only such a block, and only the last one, can be cut.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    out: File,
    /// Whole blocks that are not written yet.
    pending: Vec<u8>,
    /// Where each of them ends there.
    ends: Vec<usize>,
    /// A pipe or a device takes nothing back.
    takes_back: bool,
    /// It was opened by somebody else with `O_APPEND`: whatever is written goes to its end.
    appends: bool,
    /// Bytes of all blocks that were handed over.
    size: u64,
}

/// So much is pending before it is written unasked.
const ENOUGH: usize = 1 << 16;

/// The smallest page of Linux, of which the larger ones are multiples.
const PAGE: u64 = 4096;

/// What to write by one call each of blocks with these ends, when the first of them is written at `begin`.
fn pieces(begin: u64, ends: &[usize]) -> Vec<Range<usize>> {
    let page = |offset: usize| (begin + offset as u64) / PAGE;
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for &end in ends.iter().filter(|end| **end > 0) {
        match pieces.last_mut() {
            Some(piece) if page(piece.start) == page(end - 1) => piece.end = end,
            Some(_) | None => pieces.push(start..end),
        }
        start = end;
    }
    pieces
}

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
        Ok(Self { out, pending: Vec::new(), ends: Vec::new(), takes_back, appends, size: 0 })
    }

    /// Bytes that were handed over since it was made or emptied.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Removes all that is in the file; it begins anew.
    ///
    /// # Errors
    /// It is no regular file.
    pub(crate) fn empty(&mut self) -> io::Result<()> {
        self.pending.clear();
        self.ends.clear();
        self.size = 0;
        self.out.set_len(0)?;
        self.out.rewind()
    }

    /// Where a regular file is written next.
    fn position(&mut self) -> io::Result<u64> {
        if self.appends { self.out.seek(SeekFrom::End(0)) } else { self.out.stream_position() }
    }

    /// Writes what is pending to a regular file; a piece that the disk does not take whole is taken back.
    fn write_pieces(&mut self) -> io::Result<()> {
        let begin = self.position()?;
        for piece in pieces(begin, &self.ends) {
            let of_piece = begin + piece.start as u64;
            if let Err(error) = self.out.write_all(&self.pending[piece]) {
                self.take_back(of_piece)?;
                return Err(error);
            }
        }
        Ok(())
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
        self.size += block.len() as u64;
        self.ends.push(self.pending.len());
        if self.pending.len() >= ENOUGH {
            self.flush()?;
        }
        Ok(block.len())
    }

    /// Writes what is pending; what the disk does not take whole is taken back.
    fn flush(&mut self) -> io::Result<()> {
        let done =
            if self.takes_back { self.write_pieces() } else { self.out.write_all(&self.pending) };
        self.pending.clear();
        self.ends.clear();
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
    fn only_a_block_that_crosses_a_page_is_written_across_one() {
        assert_eq!(pieces(0, &[1000, 2000, 4096, 5000]), [0..4096, 4096..5000]);
        assert_eq!(pieces(0, &[4000, 4200, 4300]), [0..4000, 4000..4200, 4200..4300]);
        assert_eq!(pieces(4000, &[90, 9000, 9010]), [0..90, 90..9000, 9000..9010]);
        assert_eq!(pieces(0, &[9000, 9000, 12_288]), [0..9000, 9000..12_288]);
        assert!(pieces(7, &[]).is_empty());
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut file = GrowingFile::create(Path::new("/dev/full")).unwrap();
        file.write_all(b"block").unwrap();
        assert_eq!(file.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn an_emptied_file_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = GrowingFile::create(&path).unwrap();
        file.write_all(b"first ").unwrap();
        file.flush().unwrap();
        file.write_all(b"pending").unwrap();
        assert_eq!(file.size(), 13);
        file.empty().unwrap();
        file.write_all(b"anew").unwrap();
        file.flush().unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), file.size()), (b"anew".to_vec(), 4));
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
