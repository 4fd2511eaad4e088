//! Folders of results that cannot be used.

use std::path::PathBuf;

use crate::file_error::for_shell;

/// Why a folder of results cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process writes to it.
    #[error("another maxseg is writing to {}", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds files that are not of results.
    #[error("{} is not a folder of results: it holds {entry}", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// One of them.
        entry: String,
    },
    /// A line of its rows is not one.
    #[error("{}:{line} is not a row: {why}", file.display())]
    BrokenRow {
        /// The file of rows.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// Why not: the key, its value and what it takes.
        why: String,
    },
    /// Its summary has another version.
    #[error("{} has schema_version {found}, and this maxseg writes {written}", file.display())]
    OtherVersion {
        /// The summary.
        file: PathBuf,
        /// Its version.
        found: serde_json::Number,
        /// The version of this build.
        written: u64,
    },
    /// Its summary cannot be read.
    #[error("{} is damaged: it is not JSON with a schema_version", file.display())]
    BrokenSummary {
        /// The summary.
        file: PathBuf,
    },
}

impl StoreError {
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Busy { .. } => "wait for it, or choose another folder".to_owned(),
            Self::Foreign { .. } => "name a new folder, or an empty one".to_owned(),
            Self::BrokenRow { file, line, .. } => {
                let file = for_shell(&file.to_string_lossy());
                format!(
                    "sed -i {line}d {file}   # takes the line out, and its run is made again; or name another folder"
                )
            }
            Self::OtherVersion { .. } => {
                "name another folder, or run the maxseg that wrote this one".to_owned()
            }
            Self::BrokenSummary { file } => {
                let file = for_shell(&file.to_string_lossy());
                format!("rm {file}   # it is made anew from the rows; or name another folder")
            }
        }
    }
}
