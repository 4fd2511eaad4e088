//! What is kept between commands: the last advice, and what is ignored.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use maxseg_core::advise::Change;
#[cfg(feature = "lab")]
use maxseg_linux::sys::state_folder;
use maxseg_workbench::Error;
use maxseg_workbench::advise::State;
use maxseg_workbench::report::advise::{AdviseDocument, Made};

use crate::failure::Failure;
use crate::printer::Printer;

/// Where an ordinary user's state is kept (XDG Base Directory Specification): nothing of this build takes root.
#[cfg(not(feature = "lab"))]
fn state_folder() -> Option<std::path::PathBuf> {
    use std::path::PathBuf;
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || set("HOME").map(|home| home.join(".local/state"));
    set("XDG_STATE_HOME").or_else(home).map(|folder| folder.join("maxseg"))
}

/// What is kept; nothing where this user has no place for it.
pub(super) struct Kept(Option<State>);

impl Kept {
    pub(super) fn open() -> Self {
        Self(state_folder().map(State::at))
    }

    /// The ids that are ignored, after what the command line changes of them.
    pub(super) fn ignored(
        &self,
        more: &[String],
        forget: bool,
        printer: Printer,
    ) -> Result<Vec<String>, Failure> {
        let Some(state) = &self.0 else {
            if more.is_empty() {
                return Ok(Vec::new());
            }
            return Err(Failure::with_hint(
                "there is no folder to remember in what is ignored",
                "set HOME or XDG_STATE_HOME",
            ));
        };
        let before = state.ignored()?;
        let mut ignored = if forget { Vec::new() } else { before.clone() };
        for id in more {
            let is_word = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if !is_word || !Change::is_name(id) {
                return Err(Failure::usage(
                    format!("{id} is not the name of an advice"),
                    "the names stand in brackets, such as window-receiver",
                ));
            }
            if !ignored.contains(id) {
                ignored.push(id.clone());
            }
        }
        if ignored != before {
            state.keep_ignored(&ignored)?;
            let text = if ignored.is_empty() { "nothing".to_owned() } else { ignored.join(", ") };
            printer.note(&format!("ignored from now on: {text}"));
        }
        Ok(ignored)
    }

    /// Keeps the last advice. That it cannot is no reason to withhold it.
    pub(super) fn keep(&self, document: &AdviseDocument<'_>, printer: Printer) {
        let Some(state) = &self.0 else { return };
        let mut bytes = Vec::new();
        let written: Result<(), Error> = match document.write(&mut bytes) {
            Ok(()) => state.keep_advice(&bytes),
            Err(source) => Err(Error::File { doing: "write", file: state.advice_file(), source }),
        };
        if let Err(error) = written {
            printer.note(&format!("the advice is not kept for `maxseg tune apply`: {error}"));
        }
    }
}

/// Where and when.
pub(super) fn made() -> Made {
    let read = |file: &str| fs::read_to_string(file).ok().map(|text| text.trim().to_owned());
    Made {
        at_s: SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64()),
        host: read("/proc/sys/kernel/hostname"),
        boot_id: read("/proc/sys/kernel/random/boot_id"),
    }
}
