//! Errors of files in words, with what to do about them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

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

/// Refuses what stands in the place of a file of the program's own and is none: a named pipe would be waited for, and a device may have no end.
/// That it is a folder, or is not there, its opening tells.
///
/// # Errors
/// It is something else, or what it is cannot be told.
pub fn refuse_irregular(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(there) if there.is_file() || there.is_dir() => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    Err(io::Error::other("it is a named pipe, a device or a socket, not a regular file"))
}

/// What could not be done with `file`, and why. `doing` is a verb: with `write`, and what ends in `the folder`, `file` is made.
pub fn what(doing: &str, file: &Path, error: &io::Error) -> String {
    let why = match refusing_folder(doing, file, error) {
        Some(folder) => format!("nobody can make a file in {}", folder.display()),
        None => reason(error),
    };
    format!("cannot {doing} {}: {why}", file.display())
}

/// The folder where `file` was to be made and cannot be, though nothing that it needs is missing: of a file system whose names the kernel
/// alone makes, such as /proc, which calls what it does not make "not there".
fn refusing_folder<'a>(doing: &str, file: &'a Path, error: &io::Error) -> Option<&'a Path> {
    if error.kind() != ErrorKind::NotFound || !is_made(doing) {
        return None;
    }
    let folder = folder_of(file);
    // With a folder, those above it are made.
    if makes_folders(doing) {
        nearest_folder(folder)
    } else {
        Some(folder).filter(|it| it.is_dir())
    }
}

fn is_made(doing: &str) -> bool {
    doing == "write" || makes_folders(doing)
}

fn makes_folders(doing: &str) -> bool {
    doing.ends_with("the folder")
}

/// The folder that a file is in.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// The folder, or the nearest above it that is there.
fn nearest_folder(folder: &Path) -> Option<&Path> {
    let mut above =
        folder.ancestors().map(|it| if it.as_os_str().is_empty() { Path::new(".") } else { it });
    above.find(|it| it.is_dir())
}

/// The file, or the nearest folder above it where that is not there, or is not to be seen.
fn what_is_there(file: &Path) -> &Path {
    let is_there = fs::symlink_metadata(file).is_ok();
    if is_there { file } else { nearest_folder(folder_of(file)).unwrap_or(Path::new("/")) }
}

/// What to do where `file` cannot be used: the name that was meant, or what is needed.
pub fn hint(doing: &str, file: &Path, error: &io::Error) -> Option<String> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "one hint for all others")]
    match error.kind() {
        ErrorKind::NotFound if refusing_folder(doing, file, error).is_some() => {
            Some("name another folder, such as one in /tmp".to_owned())
        }
        ErrorKind::NotFound if is_made(doing) => Some(format!(
            "mkdir -p {}   # there is no such folder",
            path_for_shell(folder_of(file))
        )),
        ErrorKind::NotFound => Some(missing_hint(file)),
        ErrorKind::PermissionDenied => Some(format!(
            "`ls -ld {}` names who may use it; or name another {}",
            path_for_shell(what_is_there(file)),
            if makes_folders(doing) { "folder" } else { "file" }
        )),
        ErrorKind::ReadOnlyFilesystem => Some(format!(
            "`df {}` names the file system; name a place on another one",
            path_for_shell(what_is_there(file))
        )),
        ErrorKind::IsADirectory => Some(format!("name a file in it: {}/NAME", file.display())),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            Some("name another folder".to_owned())
        }
        ErrorKind::StorageFull => {
            Some("`df -h` shows the space; or name a file elsewhere".to_owned())
        }
        ErrorKind::InvalidFilename => Some("a name has at most 255 bytes".to_owned()),
        _ => Some(format!("`ls -ld {}` shows what it is", path_for_shell(file))),
    }
}

/// What is there in place of a missing file: a similar name in its folder, or the nearest folder that exists.
pub fn missing_hint(file: &Path) -> String {
    let folder = folder_of(file);
    if let Some(similar) = similar_file(file) {
        return format!("did you mean `{}`?", similar.display());
    }
    match nearest_folder(folder) {
        Some(nearest) if nearest == folder => {
            format!("`ls {}` lists the files there", path_for_shell(folder))
        }
        nearest => format!(
            "there is no folder {}; `ls {}` lists what is there",
            folder.display(),
            path_for_shell(nearest.unwrap_or(Path::new("/")))
        ),
    }
}

/// The file that a missing one may have meant: the one of that name with an ending, or the nearest name of its folder.
pub fn similar_file(missing: &Path) -> Option<PathBuf> {
    let wanted = missing.file_name()?.to_str()?;
    let mut names: Vec<String> = fs::read_dir(folder_of(missing))
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    let is_with_ending =
        |name: &&String| name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
    // An ending that both have makes no name similar to another.
    let is_near = |name: &&str| closest(stem_of(wanted), [stem_of(name)]).is_some();
    let near = || closest(wanted, names.iter().map(String::as_str).filter(is_near));
    let name = names.iter().find(is_with_ending).map(String::as_str).or_else(near)?;
    Some(missing.with_file_name(name))
}

fn stem_of(name: &str) -> &str {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name)
}

/// The command that tells what is in a file by this name, where maxseg cannot read it.
pub fn what_it_is(name: &str) -> String {
    if name == "standard input" {
        "`file -` in place of `maxseg` shows what it is".to_owned()
    } else {
        format!("`file {}` shows what it is", for_shell(name))
    }
}

/// A file's path as a shell takes it.
pub fn path_for_shell(path: &Path) -> String {
    for_shell(&path.to_string_lossy())
}

/// A file's name as a shell takes it: in single quotes where it has anything but plain characters.
pub fn for_shell(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system's error for a name that is not there, and cannot be made there.
    fn not_found() -> io::Error {
        ErrorKind::NotFound.into()
    }

    #[test]
    fn a_file_is_one_word_of_a_shell() {
        assert_eq!(for_shell("/tmp/lo-1.pcapng"), "/tmp/lo-1.pcapng");
        assert_eq!(for_shell("it's $(mine).pcap"), r"'it'\''s $(mine).pcap'");
    }

    #[test]
    fn an_ending_alone_makes_no_file_similar() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["modem.toml", "q.toml", "slow.pcapng"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let meant = |name: &str| similar_file(&folder.path().join(name));
        for (wanted, file) in
            [("moden.toml", "modem.toml"), ("modem", "modem.toml"), ("slow.pcap", "slow.pcapng")]
        {
            assert_eq!(meant(wanted), Some(folder.path().join(file)), "{wanted}");
        }
        assert_eq!(meant("nope.toml"), None);
        assert_eq!(meant("h2.toml"), None);
    }

    #[test]
    fn commands_of_hints_are_pasted_as_they_are() {
        let told = |doing, file: &str, kind: ErrorKind| {
            hint(doing, Path::new(file), &kind.into()).unwrap()
        };
        assert_eq!(
            told("write", "/no such/$(x);y/z.toml", ErrorKind::NotFound),
            "mkdir -p '/no such/$(x);y'   # there is no such folder"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it's.toml");
        fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        let refused = told("read", file, ErrorKind::PermissionDenied);
        assert!(
            refused.starts_with("`ls -ld '") && refused.contains(r"it'\''s.toml'` names"),
            "{refused}"
        );
    }

    #[test]
    fn who_may_make_a_file_is_said_by_the_folder_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().display();
        for (doing, kind, wanted) in [
            (
                "create the folder",
                ErrorKind::PermissionDenied,
                format!("`ls -ld {there}` names who may use it; or name another folder"),
            ),
            (
                "write",
                ErrorKind::PermissionDenied,
                format!("`ls -ld {there}` names who may use it; or name another file"),
            ),
            (
                "write",
                ErrorKind::ReadOnlyFilesystem,
                format!("`df {there}` names the file system; name a place on another one"),
            ),
        ] {
            let file = folder.path().join("no/o");
            assert_eq!(hint(doing, &file, &kind.into()), Some(wanted));
        }
    }

    #[test]
    fn what_is_made_needs_its_folder_and_never_means_a_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("chart.svg"), "").unwrap();
        let told = |doing, name: &str| {
            let (file, error) = (folder.path().join(name), not_found());
            let text =
                format!("{} | {}", what(doing, &file, &error), hint(doing, &file, &error).unwrap());
            text.replace(&folder.path().display().to_string(), "F")
        };
        let cases = [
            (
                "read",
                "chart.svgg",
                "cannot read F/chart.svgg: there is no such file or folder | did you mean `F/chart.svg`?",
            ),
            (
                "read",
                "chart",
                "cannot read F/chart: there is no such file or folder | did you mean `F/chart.svg`?",
            ),
            (
                "read",
                "x",
                "cannot read F/x: there is no such file or folder | `ls F` lists the files there",
            ),
            (
                "read",
                "no/x",
                "cannot read F/no/x: there is no such file or folder | there is no folder F/no; `ls F` lists what is there",
            ),
            (
                "write",
                "charts.svg",
                "cannot write F/charts.svg: nobody can make a file in F | name another folder, such as one in /tmp",
            ),
            (
                "write",
                "no/x",
                "cannot write F/no/x: there is no such file or folder | mkdir -p F/no   # there is no such folder",
            ),
            (
                "create the folder",
                "no/x",
                "cannot create the folder F/no/x: nobody can make a file in F | name another folder, such as one in /tmp",
            ),
        ];
        for (doing, name, wanted) in cases {
            assert_eq!(told(doing, name), wanted);
        }
    }
}
