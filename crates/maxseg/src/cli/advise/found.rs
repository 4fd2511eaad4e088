//! What `maxseg advise` was given.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use maxseg_wire::flow::FlowOptions;
use maxseg_wire::reading::ReadOptions;
use maxseg_workbench::explain::{self, Explanation};
use maxseg_workbench::file_error::{for_shell, missing_hint};

use super::super::explain::Target;
use super::super::output_file::{same_files, twice_text};
use super::AdviseArgs;
use crate::failure::Failure;
use crate::shipped;

/// What an argument is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// A scenario: a file, standard input, or a shipped one.
    Scenario,
    /// A capture.
    Capture,
    /// A connection of this host, or a host.
    Live(Target),
}

/// Of a text this much is looked at.
const LOOKED_AT: usize = 4096;

impl Found {
    pub(super) fn of(argument: &str) -> Result<Self, Failure> {
        if argument == "-" {
            return Ok(Self::Scenario);
        }
        let path = Path::new(argument);
        if let Ok(metadata) = path.metadata() {
            if !metadata.is_file() && !metadata.is_dir() {
                return Err(Failure::with_hint(
                    format!("{argument} is a pipe or a device, and not a file"),
                    "write it to a file first; `-` is a scenario on standard input",
                ));
            }
            return Ok(if is_text(path)? { Self::Scenario } else { Self::Capture });
        }
        if shipped::scenario(argument).is_some() {
            return Ok(Self::Scenario);
        }
        let is_scenario = path.extension().is_some_and(|extension| extension == "toml");
        match Target::of(argument).filter(|_| !is_scenario) {
            Some(Target::Process(pid)) => Err(Failure::usage(
                format!("{pid} is a process; advice is about one connection"),
                format!(
                    "`maxseg connections` lists them with both ends; `maxseg explain {pid}` explains all of a process"
                ),
            )),
            Some(Target::Port(port)) => Err(Failure::usage(
                "a port alone names no connection; advice is about one",
                format!(
                    "`maxseg connections --port {port}` lists them with both ends; `maxseg explain :{port}` explains them all"
                ),
            )),
            Some(target) => Ok(Self::Live(target)),
            None => Err(Failure::with_hint(
                format!("there is no file {argument}, and no shipped scenario of that name"),
                missing_hint(path),
            )),
        }
    }

    /// What several arguments are together: the files of a capture, or one of anything else.
    pub(super) fn of_all(arguments: &[String]) -> Result<Self, Failure> {
        let [first, others @ ..] = arguments else { return Ok(Self::Scenario) };
        let found = Self::of(first)?;
        if others.is_empty() {
            return Ok(found);
        }
        for argument in arguments {
            if Self::of(argument)? != Self::Capture {
                return Err(Failure::usage(
                    format!(
                        "{argument} is no capture, and several arguments are files of captures"
                    ),
                    format!("one at a time: maxseg advise {}", for_shell(argument)),
                ));
            }
        }
        match same_files(arguments) {
            Some(two) => {
                Err(Failure::usage(twice_text(two), format!("give {} once", for_shell(two[0]))))
            }
            None => Ok(found),
        }
    }

    /// Refuses options of another kind of target.
    pub(super) fn refuse_others(&self, args: &AdviseArgs) -> Result<(), Failure> {
        let of_scenario = !args.set.is_empty() || args.stack.is_some();
        if of_scenario && *self != Self::Scenario {
            return Err(Failure::usage(
                "--set and --stack are for scenarios, and none is given",
                "write the path as a scenario first: `maxseg explain FILE --scenario path.toml`",
            ));
        }
        let of_capture = [
            (args.connection.is_some(), "--connection chooses one of a capture"),
            (args.interface.is_some(), "--interface chooses packets of a capture"),
        ];
        if let Some((_, what)) = of_capture.into_iter().find(|(is_given, _)| *is_given)
            && *self != Self::Capture
        {
            return Err(Failure::usage(format!("{what}, and none is given"), "leave it out"));
        }
        Ok(())
    }
}

/// Whether a file is text that is no JSON: a scenario, right or wrong.
fn is_text(path: &Path) -> Result<bool, Failure> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        return Ok(true);
    }
    let mut beginning = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(LOOKED_AT as u64).read_to_end(&mut beginning));
    read.map_err(|error| Failure::file("read", path, &error))?;
    let has_control = beginning.iter().any(|byte| *byte < 9 || (14..32).contains(byte));
    let is_json = beginning.trim_ascii_start().first().is_some_and(|first| b"{[".contains(first))
        && !beginning.trim_ascii_start().starts_with(b"[[");
    Ok(!has_control && !is_json)
}

/// The connections of a capture of one file or several, or one of them.
pub(super) fn explanation(
    files: &[String],
    connection: Option<u32>,
    interface: Option<&str>,
) -> Result<Explanation, Failure> {
    let options = ReadOptions {
        interface,
        flows: FlowOptions { most_connections: 1_000_000, trace: false },
        tshark: false,
    };
    let capture = match files {
        [file] => explain::read_file(Path::new(file), &options, None),
        several => explain::read_files(several, &options, None),
    };
    let mut capture =
        capture?.select(move |evidence| connection.is_none_or(|id| evidence.id == id));
    let all: Vec<String> = files.iter().map(|file| for_shell(file)).collect();
    let explains = format!("`maxseg explain {}`", all.join(" "));
    if let Some(fault) = capture.summary.fault() {
        let file = fault.file.as_ref().unwrap_or(&capture.name);
        return Err(Failure::with_hint(
            format!("{file} is at fault: {}", crate::report::explain::problem_text(fault)),
            format!("{explains} names the command that reads what comes before"),
        ));
    }
    if let Some(id) = connection
        && capture.is_empty()
    {
        return Err(Failure::with_hint(
            format!("there is no connection {id} in {}", capture.name),
            format!("{explains} lists them"),
        ));
    }
    Ok(capture.explain())
}
