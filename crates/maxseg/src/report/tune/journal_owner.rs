//! Whose journal a command reads: root has its own, which no other user may read.

use maxseg_linux::sys::sudo_user;
use maxseg_linux::tune::root_journal_is_hidden;

/// A command of this program as its user types it: with `sudo` where that started it, since what root sets is in root's journal.
pub(crate) fn own_command(arguments: &str) -> String {
    as_typed(arguments, sudo_user().is_some_and(|user| !user.is_root()))
}

fn as_typed(arguments: &str, is_by_sudo: bool) -> String {
    let sudo = if is_by_sudo { "sudo " } else { "" };
    format!("{sudo}maxseg {arguments}")
}

/// What `arguments` does not show or reach for this user, with the command that does; `None` where it has everything.
pub(crate) fn hidden_from_user(arguments: &str) -> Option<String> {
    root_journal_is_hidden()
        .then(|| format!("what root has set is not visible to this user: sudo maxseg {arguments}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sudo_has_set_is_undone_by_sudo() {
        assert_eq!(as_typed("tune undo 3", true), "sudo maxseg tune undo 3");
        assert_eq!(as_typed("tune undo 3", false), "maxseg tune undo 3");
    }
}
