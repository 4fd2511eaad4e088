//! A program that other users may run.

use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of a program in `folder`, which everybody may enter then. `cp` writes it: a file that this process wrote may still be open in
/// a child that another test is starting, and is no program until that is gone (`ETXTBSY`, execve(2)).
///
/// # Errors
/// It cannot be copied, or the folder is not this user's.
pub fn for_everybody(program: &str, folder: &Path) -> io::Result<PathBuf> {
    let copy = folder.join(Path::new(program).file_name().unwrap_or_default());
    let status = Command::new("cp").arg("--").arg(program).arg(&copy).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("cp {program}: {status}")));
    }
    set_permissions(folder, Permissions::from_mode(0o755))?;
    Ok(copy)
}
