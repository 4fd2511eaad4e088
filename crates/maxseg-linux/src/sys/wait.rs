//! Waiting for descriptors, for a time, or for another thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

/// Waits until one of `files` is readable, or until `longest` has passed; `None` waits without a limit.
///
/// # Errors
/// A descriptor is invalid.
pub(crate) fn wait_for(files: &[BorrowedFd<'_>], longest: Option<Duration>) -> io::Result<()> {
    wait(&mut readable(files), longest)
}

/// As [`wait_for`], and until the reader of `output` is gone: [`io::ErrorKind::BrokenPipe`], as a write would say.
///
/// # Errors
/// The reader is gone, or a descriptor is invalid.
pub(crate) fn wait_while_read(
    files: &[BorrowedFd<'_>],
    output: BorrowedFd<'_>,
    longest: Option<Duration>,
) -> io::Result<()> {
    let mut polled = readable(files);
    // POLLERR and POLLHUP are reported unasked.
    polled.push(PollFd::new(output, PollFlags::empty()));
    wait(&mut polled, longest)?;
    let is_gone = polled.last().and_then(PollFd::any).unwrap_or(false);
    if is_gone { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
}

fn readable<'f>(files: &[BorrowedFd<'f>]) -> Vec<PollFd<'f>> {
    files.iter().map(|file| PollFd::new(*file, PollFlags::POLLIN)).collect()
}

fn wait(polled: &mut [PollFd<'_>], longest: Option<Duration>) -> io::Result<()> {
    match ppoll(polled, longest.map(TimeSpec::from), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Wakes a thread that waits for descriptors (eventfd(2)).
#[derive(Debug)]
pub struct Waker {
    file: EventFd,
}

impl Waker {
    /// A waker that is not woken.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Self { file: EventFd::from_value_and_flags(0, flags)? })
    }

    /// Makes the descriptor readable: a thread that waits for it wakes, now or when it next waits.
    pub fn wake(&self) {
        // It fails only after 2⁶⁴ − 1 wakes that no thread has cleared.
        let _ = self.file.write(1);
    }

    /// Whether it was woken since this was last called; clears it.
    pub fn was_woken(&self) -> bool {
        self.file.read().is_ok()
    }

    /// Makes it unreadable again.
    pub fn clear(&self) {
        let _ = self.file.read();
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
