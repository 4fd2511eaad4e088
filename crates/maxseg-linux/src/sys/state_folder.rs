//! Where programs of this user keep what is not configuration (XDG Base Directory Specification).

use std::env;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::unistd::{Uid, User};

/// The one of root.
pub(crate) const ROOT_FOLDER: &str = "/var/lib/maxseg";

/// The folder in which this user's journal, advice and the like are kept: that of `maxseg` below `$XDG_STATE_HOME` where that is
/// set; else `/var/lib/maxseg` as root, and `~/.local/state/maxseg` of others. `None` where there is no home.
pub fn state_folder() -> Option<PathBuf> {
    state_folders().into_iter().next()
}

/// The same with the other places where it may be, the best first.
pub(crate) fn state_folders() -> Vec<PathBuf> {
    let set = absolute("XDG_STATE_HOME").map(|state| state.join("maxseg"));
    let usual = if Uid::effective().is_root() {
        Some(PathBuf::from(ROOT_FOLDER))
    } else {
        absolute("HOME").map(|home| state_below(&home))
    };
    set.into_iter().chain(usual).collect()
}

/// The one of an ordinary user, without that user's environment.
pub(crate) fn state_folder_of(user: Uid) -> Option<PathBuf> {
    Some(state_below(&User::from_uid(user).ok().flatten()?.dir))
}

/// The user who ran `sudo`, where this is root.
pub fn sudo_user() -> Option<Uid> {
    let number = env::var("SUDO_UID").ok()?.parse().ok()?;
    Uid::effective().is_root().then(|| Uid::from_raw(number))
}

/// A file of this name, as it was last written: by this user, or by the one who ran `sudo`, whose own it has to be. With
/// `$XDG_STATE_HOME` it is the one there. `None` where there is none.
///
/// # Errors
/// The one that is there cannot be read, or is somebody else's: its path, and why.
pub fn latest_state_file(name: &str) -> Result<Option<(PathBuf, String)>, (PathBuf, io::Error)> {
    let own = state_folder().map(|folder| (folder, Uid::effective()));
    let user = sudo_user().filter(|_| absolute("XDG_STATE_HOME").is_none());
    let behind = user.and_then(|user| Some((state_folder_of(user)?, user)));
    let mut found: Vec<(SystemTime, PathBuf, File)> = Vec::new();
    let mut fault = None;
    for (folder, owner) in own.into_iter().chain(behind) {
        let path = folder.join(name);
        match open_owned(&path, owner) {
            Ok((file, written)) => found.push((written, path, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => fault = fault.or(Some((path, error))),
        }
    }
    match found.into_iter().max_by_key(|(written, ..)| *written) {
        Some((_, path, file)) => match io::read_to_string(file) {
            Ok(text) => Ok(Some((path, text))),
            Err(error) => Err((path, error)),
        },
        None => fault.map_or(Ok(None), Err),
    }
}

/// A file of this user, and when it was last written.
fn open_owned(path: &Path, owner: Uid) -> io::Result<(File, SystemTime)> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.uid() != owner.as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok((file, about.modified()?))
}

/// A folder of the environment: a relative one counts as not set (XDG Base Directory Specification).
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn state_below(home: &Path) -> PathBuf {
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
