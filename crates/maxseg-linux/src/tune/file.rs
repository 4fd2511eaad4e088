//! A file of settings that lasts beyond the next boot.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use maxseg_core::tune::{Target, Value};

use super::{Reading, TuneError};

/// More is no file of settings.
const MOST_BYTES: u64 = 1 << 20;
/// Everyone may read it, as sysctl.d(5) and systemd.unit(5) have it.
const MODE: u32 = 0o644;

/// What a file holds.
pub(super) fn read(path: &str) -> Result<Reading, TuneError> {
    match content(Path::new(path)) {
        Ok(text) => Ok(Reading::plain(Value::Text(text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Reading::plain(Value::Absent)),
        Err(error) => Err(TuneError::open(&Target::File(path.to_owned()), error)),
    }
}

fn content(path: &Path) -> io::Result<String> {
    let status = path.symlink_metadata()?;
    if !status.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    if status.len() > MOST_BYTES {
        return Err(io::Error::other("it is longer than a file of settings"));
    }
    fs::read_to_string(path)
}

/// Replaces a file as a whole, or removes it: by a single rename or unlink.
pub(super) fn write(path: &str, value: &Value) -> Result<(), TuneError> {
    let file = Path::new(path);
    let done = match value {
        Value::Text(text) => replace(file, text),
        Value::Unset | Value::Absent => {
            sweep(path);
            fs::remove_file(file).and_then(|()| sync_folder(file))
        }
    };
    done.map_err(|error| TuneError::write(&Target::File(path.to_owned()), value, error))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = beside(path);
    let made = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        // What a cut-off attempt has left goes; a link that somebody else has put there is not followed.
        let _ = fs::remove_file(&beside);
        let mut file = options.write(true).create_new(true).mode(MODE).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    if let Err(error) = made() {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    sync_folder(path)
}

/// Removes what a write of this file has left that was cut off before its rename.
pub(super) fn sweep(path: &str) {
    let _ = fs::remove_file(beside(Path::new(path)));
}

/// A name that no program reads settings from, the same each time.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".maxseg-new");
    path.with_file_name(name)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
