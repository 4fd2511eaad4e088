//! The way to a lab, by this process's own rights or a user namespace of its own; and from a right without use.

use maxseg_linux::observe::capture::give_up_file_right;
use maxseg_linux::sys::NamespaceAccess;

use crate::failure::Failure;

/// Gives this process the right to make a lab, by the way that `maxseg doctor` finds too. To be called before
/// there is a second thread.
///
/// # Errors
/// This machine does not let this user have it.
pub(crate) fn for_a_lab() -> Result<(), Failure> {
    let access = NamespaceAccess::detect().map_err(|refusal| refusal.error);
    access.and_then(NamespaceAccess::enter).map_err(|error| {
        let what = format!(
            "the lab needs network namespaces, and this process may not create them, as it is or in a user namespace: {error}"
        );
        Failure::with_hint(
            what,
            "`maxseg doctor` prints what is missing and the command that fixes it; --engine sim runs without",
        )
    })
}

/// Gives up the right to look at packets, which the program's file may have for the sake of `maxseg capture`: what
/// reads a file from anywhere has no use for it. To be called before there is a second thread.
///
/// # Errors
/// It is still there.
pub(crate) fn without_packets() -> Result<(), Failure> {
    give_up_file_right().map_err(|error| Failure::new(format!("cannot drop CAP_NET_RAW: {error}")))
}
