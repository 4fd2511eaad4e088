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
