//! Where programs of this user keep what is not configuration (XDG Base Directory Specification).

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
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
    let file = open_regular(path)?;
    let about = file.metadata()?;
    if about.uid() != owner.as_raw() {
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
/// It cannot be opened, or is a link, or no regular file.
pub(crate) fn open_growing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let opened = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    regular(opened.map_err(|error| match error.raw_os_error() {
        // open(2) has the words of a chain of links.
        Some(libc::ELOOP) => io::Error::other("it is a symbolic link, not a regular file"),
        _ => error,
    })?)
}

/// A file of the program's own, to read. A FIFO in its place is refused, where open(2) without `O_NONBLOCK` waits for a writer, and so is a
/// device, which may have no end.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?)
}

/// What is in a file of the program's own: [`open_regular`].
///
/// # Errors
/// It cannot be opened or read, or is no regular file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The file, where it is a regular one. `O_NONBLOCK` does nothing for these.
fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(file),
        () if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "something else",
    };
    Err(io::Error::other(format!("it is {what}, not a regular file")))
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mkfifo(&fifo, Mode::from_bits_truncate(0o600)).unwrap();
        let told = |result: io::Result<File>| result.unwrap_err().to_string();
        for opened in [
            open_regular(&fifo),
            open_growing(&fifo),
            open_owned(&fifo, Uid::effective()).map(|of| of.0),
        ] {
            assert_eq!(told(opened), "it is a named pipe, not a regular file");
        }
        assert_eq!(
            told(open_regular(Path::new("/dev/zero"))),
            "it is a device, not a regular file"
        );
        let folder_error = open_regular(folder.path()).unwrap_err();
        assert_eq!(folder_error.kind(), io::ErrorKind::IsADirectory);
        let file = folder.path().join("file");
        drop(open_growing(&file).unwrap());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(told(open_growing(&link)), "it is a symbolic link, not a regular file");
        assert_eq!(read_regular(&file).unwrap(), b"");
    }
}
