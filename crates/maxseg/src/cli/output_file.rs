//! Options that name what is written beside the printed result.

use std::path::Path;

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
