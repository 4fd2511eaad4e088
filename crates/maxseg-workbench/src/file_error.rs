//! What the system reports about a file, in words, and what to do about it.

use std::io::{Error, ErrorKind};
use std::path::Path;

/// The report without the number of the system's error.
pub fn file_error_text(error: &Error) -> String {
    if error.kind() == ErrorKind::InvalidData && error.raw_os_error().is_none() {
        return "it is not text in UTF-8".to_owned();
    }
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

/// What would work in place of `file`, with which `doing` (a verb such as `read` or `write`) failed.
pub fn file_error_hint(doing: &str, file: &Path, error: &Error) -> String {
    let reads = doing == "read";
    let shown = file.display();
    let name = file.file_name().map_or_else(|| "out".into(), |name| name.to_string_lossy());
    let folder = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    };
    match error.kind() {
        ErrorKind::NotFound if reads => format!("`ls {}` lists what is there", folder.display()),
        ErrorKind::NotFound => format!("make its folder first: mkdir -p {}", folder.display()),
        ErrorKind::IsADirectory if reads => format!("name a file in it: `ls {shown}` lists them"),
        ErrorKind::IsADirectory => format!("name a file, such as {}", file.join("out").display()),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            format!("a file is where a folder must be: choose another folder, such as ./{name}-2")
        }
        ErrorKind::PermissionDenied if reads => format!("`ls -l {shown}` shows who may read it"),
        ErrorKind::PermissionDenied => format!("choose a folder of yours, such as /tmp/{name}"),
        ErrorKind::InvalidData => format!("`file {shown}` shows what it is; save it as UTF-8"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free space on that disk, or choose a folder on another".to_owned()
        }
        ErrorKind::InvalidFilename => {
            "a file's name has at most 255 bytes: choose a shorter one".to_owned()
        }
        _ if reads => format!("`ls -l {shown}` shows what it is"),
        _ => format!("choose another place, such as /tmp/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_error_is_not_told() {
        let error = Error::from_raw_os_error(2);
        assert_eq!(file_error_text(&error), "no such file or directory");
        assert_eq!(
            file_error_hint("write", Path::new("no/such/x.svg"), &error),
            "make its folder first: mkdir -p no/such"
        );
        let text = Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
        assert_eq!(file_error_text(&text), "it is not text in UTF-8");
    }
}
