//! Where programs of this user keep what is not configuration (XDG Base Directory Specification).

use std::env;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

/// The folder in which this user's journal, advice and the like are kept: that of `maxseg` below `$XDG_STATE_HOME` where that is
/// set; else `/var/lib/maxseg` as root, and `~/.local/state/maxseg` of others. `None` where there is no home.
pub fn state_folder() -> Option<PathBuf> {
    state_folders().into_iter().next()
}

/// The same with the other places where it may be, the best first.
pub(crate) fn state_folders() -> Vec<PathBuf> {
    let of = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let set = of("XDG_STATE_HOME").map(|state| state.join("maxseg"));
    let usual = if Uid::effective().is_root() {
        Some(PathBuf::from("/var/lib/maxseg"))
    } else {
        of("HOME").map(|home| state_below(&home))
    };
    set.into_iter().chain(usual).collect()
}

/// The one of an ordinary user with this home.
pub(crate) fn state_below(home: &Path) -> PathBuf {
    home.join(".local/state/maxseg")
}

/// A file of lines that only grows, for this user alone, which is made where it is missing; a link is not followed.
///
/// # Errors
/// It cannot be opened, or is a link.
pub(crate) fn open_growing(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}
