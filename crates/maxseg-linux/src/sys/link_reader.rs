//! Symbolic links with numbers for names, as those of `/proc/PID/fd`.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd as _, RawFd};

use nix::errno::Errno;

/// Bytes of a target that are read: of longer ones the rest is left out.
const TARGET: usize = 32;
/// Bytes of a name: the digits of a number, and the zero behind them.
const NAME: usize = 12;

/// Reads the links of a folder by their names alone: of a whole path the kernel would look up each part again.
#[derive(Debug)]
pub(crate) struct LinkReader {
    folder: File,
    target: [u8; TARGET],
    is_denied: bool,
}

impl LinkReader {
    pub(crate) const fn of(folder: File) -> Self {
        Self { folder, target: [0; TARGET], is_denied: false }
    }

    pub(crate) const fn folder(&self) -> &File {
        &self.folder
    }

    /// Whether there was a link that may not be read: root without `CAP_SYS_PTRACE` opens `/proc/PID/fd` of every process, and may see
    /// the numbers alone (`proc_fd_access_allowed` in `fs/proc/base.c`).
    pub(crate) const fn is_denied(&self) -> bool {
        self.is_denied
    }

    /// The first bytes of the target of the link with this number; `None` where there is no such link, or it may not be read.
    #[expect(unsafe_code, reason = "what the libraries have allocates 4 KiB for each target")]
    pub(crate) fn read(&mut self, number: RawFd) -> Option<&[u8]> {
        let mut room = [0; NAME];
        let name = decimal(u32::try_from(number).ok()?, &mut room);
        // SAFETY: the name ends with a zero, and the target has as much room as is said.
        let length = unsafe {
            libc::readlinkat(
                self.folder.as_raw_fd(),
                name.as_ptr(),
                self.target.as_mut_ptr().cast(),
                self.target.len(),
            )
        };
        let length = usize::try_from(length)
            .inspect_err(|_| self.is_denied |= Errno::last() == Errno::EACCES);
        self.target.get(..length.ok()?)
    }
}

/// The number in digits.
fn decimal(mut number: u32, room: &mut [u8; NAME]) -> &CStr {
    let mut at = NAME - 1;
    loop {
        at -= 1;
        // One digit.
        room[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return CStr::from_bytes_until_nul(&room[at..]).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_display_does() {
        for number in [0, 7, 10, 65_535, 2_147_483_647, u32::MAX] {
            let mut room = [0; NAME];
            assert_eq!(decimal(number, &mut room).to_str().unwrap(), number.to_string());
        }
    }

    #[test]
    fn the_links_of_this_process_are_those_of_the_standard_library() {
        let file = File::open("/proc/self/exe").unwrap();
        let mut links = LinkReader::of(File::open("/proc/self/fd").unwrap());
        let whole = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
        let target = links.read(file.as_raw_fd()).unwrap();
        assert!(whole.to_str().unwrap().as_bytes().starts_with(target), "{whole:?}");
        assert_eq!(links.read(RawFd::MAX), None);
        assert!(!links.is_denied(), "there is no such link");
    }
}
