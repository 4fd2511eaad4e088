//! Errors of files in words, with what to do about them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use maxseg_core::similar::closest;

/// What the system says, in words and without the number of the error.
pub fn reason(error: &io::Error) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the system has words for all others")]
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a file of that name is where a folder is needed".to_owned()
        }
        ErrorKind::StorageFull => "no space is left on the device".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

/// What to do where `file` cannot be used: the name that was meant, or what is needed.
pub fn hint(file: &Path, error: &io::Error) -> Option<String> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "one hint for all others")]
    match error.kind() {
        ErrorKind::NotFound => Some(missing_hint(file)),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Some(format!("`ls -ld {}` names who may use it; or name another file", file.display()))
        }
        ErrorKind::IsADirectory => Some(format!("name a file in it: {}/NAME", file.display())),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            Some("name another folder".to_owned())
        }
        ErrorKind::StorageFull => {
            Some("`df -h` shows the space; or name a file elsewhere".to_owned())
        }
        ErrorKind::InvalidFilename => Some("a name has at most 255 bytes".to_owned()),
        _ => Some(format!("`ls -ld {}` shows what it is", file.display())),
    }
}

/// What is there in place of a missing file: a similar name in its folder, or the nearest folder that exists.
pub fn missing_hint(file: &Path) -> String {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    if !folder.is_dir() {
        return format!("mkdir -p {}   there is no such folder", folder.display());
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let wanted = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match closest(wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{}`?", file.with_file_name(name).display()),
        None => format!("`ls {}` lists the files there", folder.display()),
    }
}

/// A file's name as a shell takes it: in single quotes where it has anything but plain characters.
pub fn for_shell(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}
