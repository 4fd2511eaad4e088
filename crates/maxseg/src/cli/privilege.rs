//! An ordinary user's way to a lab: a user namespace of its own, for this process.

use maxseg_linux::sys::{is_root, own_user_namespace};

use crate::failure::Failure;

/// Gives this process the right to make a lab. To be called before there is a second thread.
///
/// # Errors
/// This machine does not let an ordinary user have it.
pub(crate) fn for_a_lab() -> Result<(), Failure> {
    if is_root() {
        return Ok(());
    }
    own_user_namespace().map_err(|error| {
        let what = format!(
            "a lab of an ordinary user needs a user namespace, and this process may not make one: {error}"
        );
        Failure::with_hint(
            what,
            "`maxseg doctor` says what is missing, and the command that mends it; --engine sim needs none of it",
        )
    })
}
