//! Options that name what is written beside the printed result.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use maxseg_workbench::whole_file::WholeFile;

use crate::failure::Failure;

/// Refuses `-` for an option that writes a file or a folder: standard output is for what the command prints. Only
/// `capture --write -` differs, where the file is all that is printed.
pub(super) fn refuse_stdout(
    option: &str,
    written: &str,
    path: &Path,
    example: &str,
) -> Result<(), Failure> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{option} writes a {written}, not standard output"),
        format!("for example {option} {example}; `./-` names a {written} called `-`"),
    ))
}

/// A file beside what is printed, begun before anything else is done: where it cannot be written, nothing is printed.
pub(super) struct BegunFile<'a> {
    /// Where it is to be.
    pub(super) path: &'a Path,
    file: WholeFile,
}

impl<'a> BegunFile<'a> {
    /// Begins the file that an option names; `None` without the option.
    pub(super) fn begin(path: Option<&'a PathBuf>) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        match WholeFile::create(path) {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(error) => Err(Failure::file("write", path, &error)),
        }
    }

    /// Writes it, whole.
    pub(super) fn finish(self, text: &str) -> Result<(), Failure> {
        let Self { path, file } = self;
        file.finish(text.as_bytes()).map_err(|error| Failure::file("write", path, &error))
    }
}

/// Whether both paths lead to one file, by whatever name or link.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) {
            return (a.dev(), a.ino()) == (b.dev(), b.ino());
        }
    }
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The first two of these paths that lead to one file; `-` is standard input. Of pipes and devices several may be read.
pub(super) fn same_files(names: &[String]) -> Option<[&String; 2]> {
    let mut by_name: HashMap<&Path, &String> = HashMap::new();
    let mut by_file: HashMap<(u64, u64), &String> = HashMap::new();
    names.iter().find_map(|name| {
        let path = Path::new(name);
        let same_name = by_name.insert(path, name);
        let file = identity(path).filter(|_| name != "-");
        let before = file.and_then(|file| by_file.insert(file, name)).or(same_name)?;
        Some([before, name])
    })
}

/// That a file is given twice, by one name or two.
pub(super) fn twice_text([first, second]: [&String; 2]) -> String {
    if first == second {
        format!("{first} is given twice")
    } else {
        format!("{first} and {second} are the same capture")
    }
}

/// What names and links of a regular file have in common.
fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        path.metadata().ok().filter(std::fs::Metadata::is_file).map(|it| (it.dev(), it.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Whether a file that may not exist yet is, or would be, in this folder or below it, by whatever names or links.
pub(super) fn is_within(file: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let parent = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    // The end of a link is what is replaced.
    let places = [parent.canonicalize(), file.canonicalize()];
    folder.is_dir() && places.iter().flatten().any(|place| place.starts_with(&folder))
}
