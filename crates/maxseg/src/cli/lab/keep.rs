//! The process of a lab: this program, started by `lab up` without a terminal.
//!
//! ```text
//! lab up ── plan (standard input) ──→ lab keep ── status, one line (standard output) ──→ lab up
//!                                         └─ or an error (standard error) ─────────────→ lab up
//! ```

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use clap::Args;
use maxseg_core::scenario::Draft;
use maxseg_linux::lab::persistent::{LabStatus, PersistentLab};
use maxseg_linux::sys::{Waker, detach_from_terminal};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::printer::Printer;

/// Run a lab's process
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Shown in the process list
    #[arg(value_name = "NAME")]
    _name: String,
}

/// The plan of a lab.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The lab's name.
    pub(super) name: String,
    /// The scenario's name.
    pub(super) file: String,
    /// The scenario's text.
    pub(super) text: String,
    /// Assignments of `--set`, in order.
    pub(super) assignments: Vec<String>,
}

/// Starts a lab in a new process. Gives its status when it is up.
pub(super) fn start(plan: &Plan) -> Result<LabStatus, Failure> {
    let cannot = |error: io::Error| Failure::new(format!("cannot start a lab's process: {error}"));
    let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
    command.args(["lab", "keep", &plan.name]).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    detach_from_terminal(&mut command);
    let mut child = command.spawn().map_err(cannot)?;
    if let Some(mut input) = child.stdin.take() {
        let plan = serde_json::to_vec(plan).expect("names and texts are plain JSON");
        // If the process has already ended, its standard error has the reason.
        let _ = input.write_all(&plan);
    }
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line).map_err(cannot)?;
    }
    serde_json::from_str(&line).map_err(|_| last_words(child))
}

/// The error with which the process of a lab ended.
fn last_words(mut child: Child) -> Failure {
    let mut words = String::new();
    if let Some(errors) = &mut child.stderr {
        let _ = errors.read_to_string(&mut words);
    }
    let words = words.trim_end();
    let words = words.strip_prefix("error: ").unwrap_or(words);
    match (words.split_once("\nhint: "), child.wait()) {
        (Some((what, hint)), _) => Failure::with_hint(what, hint),
        (None, Ok(status)) if words.is_empty() => {
            Failure::new(format!("the lab's process ended with {status} and said nothing"))
        }
        (None, _) => Failure::new(words),
    }
}

/// Runs the process of a lab.
pub(super) fn run(printer: Printer) -> Result<(), Failure> {
    let mut plan = String::new();
    let input = Path::new("standard input");
    io::stdin().read_to_string(&mut plan).map_err(|error| Failure::file("read", input, &error))?;
    let plan: Plan = serde_json::from_str(&plan).map_err(|_| {
        Failure::with_hint("this is how `maxseg lab up` starts a lab", "run `maxseg lab up`")
    })?;
    let mut draft = Draft::parse(&plan.file, &plan.text)?;
    for assignment in &plan.assignments {
        draft.set_argument(assignment)?;
    }
    let lab = PersistentLab::up(&plan.name, draft)?;
    let status = serde_json::to_string(&lab.status()?).expect("names and numbers are plain JSON");
    // If `lab up` has been killed, the lab ends too.
    printer.data(&format!("{status}\n"))?;
    // Nothing wakes it: `lab down` and signals end this process.
    let never = Waker::new().map_err(|error| Failure::new(error.to_string()))?;
    // No output: later requests get the error of the link.
    lab.serve(&never, |_| ())?;
    Ok(())
}
