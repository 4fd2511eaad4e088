//! What is kept from one command to the next: the last advice, and what is ignored.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::file_error::refuse_irregular;
use crate::whole_file::WholeFile;

/// The folder of what is kept.
#[derive(Debug, Clone)]
pub struct State {
    folder: PathBuf,
}

/// The last advice, as `advise --json` prints it.
pub const ADVICE: &str = "advice.json";
/// The ids that are ignored, one a line.
const IGNORED: &str = "advice-ignored";

fn failed(doing: &'static str, file: &Path, source: io::Error) -> Error {
    Error::File { doing, file: file.to_owned(), source }
}

impl State {
    /// Of this folder; nothing is made before something is kept.
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where the last advice is kept.
    pub fn advice_file(&self) -> PathBuf {
        self.folder.join(ADVICE)
    }

    /// Keeps the last advice.
    ///
    /// # Errors
    /// The folder is another user's, or cannot be written to.
    pub fn keep_advice(&self, document: &[u8]) -> Result<(), Error> {
        self.keep(ADVICE, document)
    }

    /// The ids that are ignored; none where nothing was ever kept.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn ignored(&self) -> Result<Vec<String>, Error> {
        let file = self.folder.join(IGNORED);
        match refuse_irregular(&file).and_then(|()| fs::read_to_string(&file)) {
            Ok(text) => {
                Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(Vec::new())
            }
            Err(error) => Err(failed("read", &file, error)),
        }
    }

    /// Keeps these ids as ignored, in the place of all others.
    ///
    /// # Errors
    /// As [`State::keep_advice`].
    pub fn keep_ignored(&self, ids: &[String]) -> Result<(), Error> {
        let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
        self.keep(IGNORED, text.as_bytes())
    }

    fn keep(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        self.make_folder()?;
        let file = self.folder.join(name);
        let created = refuse_irregular(&file).and_then(|()| WholeFile::create(&file));
        let written = created.and_then(|whole| whole.finish(content));
        written.map_err(|error| failed("write", &file, error))
    }

    /// Makes the folder for this user alone, or checks that it is.
    fn make_folder(&self) -> Result<(), Error> {
        let fault = |error| failed("use", &self.folder, error);
        let parent = self.folder.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(fault)?;
        match fs::DirBuilder::new().mode(0o700).create(&self.folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fault(error)),
        }
        let found = fs::symlink_metadata(&self.folder).map_err(fault)?;
        let own = fs::metadata("/proc/self").map_err(fault)?.uid();
        if !found.is_dir() {
            return Err(fault(io::ErrorKind::NotADirectory.into()));
        }
        if found.uid() != own {
            return Err(fault(io::ErrorKind::PermissionDenied.into()));
        }
        if found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700)).map_err(fault)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket stands for all that is no file: to open a FIFO would be to wait.
    #[test]
    fn what_is_no_regular_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::at(folder.path().to_owned());
        for name in [ADVICE, IGNORED] {
            std::os::unix::net::UnixListener::bind(folder.path().join(name)).unwrap();
        }
        for error in [
            state.ignored().unwrap_err(),
            state.keep_ignored(&[]).unwrap_err(),
            state.keep_advice(b"{}").unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }

    #[test]
    fn what_is_kept_is_found_again_and_of_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::at(folder.path().join("state/maxseg"));
        assert!(state.ignored().unwrap().is_empty());
        state.keep_ignored(&["window-receiver".to_owned()]).unwrap();
        assert_eq!(state.ignored().unwrap(), ["window-receiver"]);
        state.keep_advice(b"{}\n").unwrap();
        assert_eq!(fs::read(state.advice_file()).unwrap(), b"{}\n");
        let mode = fs::metadata(folder.path().join("state/maxseg")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn what_is_no_folder_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("maxseg");
        fs::write(&file, "").unwrap();
        let error = State::at(file).keep_advice(b"{}").unwrap_err();
        let Error::File { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotADirectory, "{error}");
    }
}
