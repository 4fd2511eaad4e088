//! The question before a change.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Whether there is somebody to ask.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks; anything but yes is no.
pub(super) fn ask(question: &str) -> Result<bool, Failure> {
    let mut talk = io::stderr();
    let _ = write!(talk, "{question} [y/N] ");
    let _ = talk.flush();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What became of showing a change before it is made. Where nobody is asked, a reader that has gone (`| head -1`) keeps nothing from being
/// done; an output that cannot be written otherwise, such as a full disk, does, and is told.
pub(super) fn unless_unread(shown: io::Result<()>, is_asked: bool) -> io::Result<()> {
    match shown {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && !is_asked => Ok(()),
        shown => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_stops_no_change_that_nobody_is_asked_about() {
        let broken = || Err(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(unless_unread(broken(), false).is_ok());
        assert!(unless_unread(broken(), true).is_err());
        let full = Err(io::Error::from(io::ErrorKind::StorageFull));
        assert!(unless_unread(full, false).is_err());
    }
}
