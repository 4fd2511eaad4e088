//! Waiting for packets, for a time, or for a waker.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

/// Waits until something can be read from one of `files`, or until `longest` is over; `None` waits for ever.
///
/// # Errors
/// A file is none.
pub(crate) fn wait_for(files: &[BorrowedFd<'_>], longest: Option<Duration>) -> io::Result<()> {
    let mut polled: Vec<PollFd<'_>> =
        files.iter().map(|file| PollFd::new(*file, PollFlags::POLLIN)).collect();
    match ppoll(&mut polled, longest.map(TimeSpec::from), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Wakes a thread that waits.
#[derive(Debug)]
pub struct Waker {
    file: EventFd,
}

impl Waker {
    /// A silent one.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Self { file: EventFd::from_value_and_flags(0, flags)? })
    }

    /// Rings: whoever waits for it wakes, now or when it next waits.
    pub fn wake(&self) {
        // It fails only if it has been rung 2⁶⁴ times and nobody has come.
        let _ = self.file.write(1);
    }

    /// Whether it has rung since it was silent.
    pub fn was_woken(&self) -> bool {
        self.file.read().is_ok()
    }

    /// Silences it.
    pub fn clear(&self) {
        let _ = self.file.read();
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
