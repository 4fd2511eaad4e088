//! What `run` and `check` have in common: a scenario, changed from the command line, with its sweep.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use maxseg_core::engine::EngineName;
use maxseg_core::scenario::{Draft, End, StackFile};
use maxseg_core::settings::stack as shipped_stack;
use maxseg_core::similar::closest;
use maxseg_core::units::Mtu;

use super::lab_options::LabOptionArgs;
use crate::failure::Failure;
use crate::shipped;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::file_error::{for_shell, similar_file};

/// A scenario, changed from the command line.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScenarioArgs {
    /// The scenario: a file, `-` for standard input, or the name of a shipped one
    #[arg(value_name = "FILE")]
    file: String,
    /// Give both hosts this stack: a name of `maxseg stacks`, or a stack file such as host.toml. Keys of the scenario
    /// and --set take precedence
    #[arg(long, value_name = "NAME|FILE")]
    stack: Option<String>,
    /// Set a scenario key, such as sender.mss=536 or hop.radio.errors.rate=1%
    #[arg(long, short, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Set the MTU of every interface; on a hop with a tunnel, of the link that carries it. --set for one hop
    /// takes precedence
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(i64::from(Mtu::MIN)..))]
    mtu: Option<u16>,
}

/// What a command was given.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "lab"), expect(dead_code, reason = "`lab up` passes them on"))]
pub(crate) struct Given {
    /// What the scenario is called.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// What is set in it, in order.
    pub(crate) assignments: Vec<String>,
    /// Both together.
    pub(crate) draft: Draft,
}

impl ScenarioArgs {
    /// A scenario with this stack, and these keys set.
    pub(crate) fn of(file: &str, stack: Option<String>, set: Vec<String>) -> Self {
        Self { file: file.to_owned(), stack, set, mtu: None }
    }

    pub(crate) fn load(&self) -> Result<Given, Failure> {
        let (name, text) = read(&self.file)?;
        let mut draft = Draft::parse(&name, &text)?;
        let in_scenario = ENDS.map(|end| draft.stack_of(end).map(str::to_owned));
        let mut assignments = self.mtu.map_or_else(Vec::new, |mtu| whole_path(&draft, mtu));
        if let Some(stack) = &self.stack {
            refuse_unknown(stack)?;
            let quoted = toml::Value::String(stack.clone());
            assignments.extend(ENDS.map(|end| format!("{}.stack={quoted}", end.word())));
        }
        assignments.extend(self.set.iter().cloned());
        for assignment in &assignments {
            draft.set_argument(assignment)?;
        }
        for (end, in_scenario) in ENDS.into_iter().zip(in_scenario) {
            let Some(named) = draft.stack_of(end).filter(|name| StackFile::is_meant_by(name))
            else {
                continue;
            };
            if draft.sweeps_stack_of(end) {
                return Err(Failure::with_hint(
                    format!("the sweep changes {}.stack, which names a stack file", end.word()),
                    "name the file in the sweep alone, as in --axis stack=linux,./host.toml",
                ));
            }
            // A path in the scenario is below the scenario's folder, one of the command line below the current one.
            let folder =
                Path::new(&self.file).parent().filter(|_| in_scenario.as_deref() == Some(named));
            let stack = stack_file(&folder.unwrap_or(Path::new("")).join(named))?;
            assignments.extend(draft.set_stack_file(end, &stack)?);
        }
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        for named in draft.swept_stack_files() {
            draft.add_stack_file(&named, stack_file(&folder.join(&named))?);
        }
        Ok(Given { name, text, assignments, draft })
    }
}

const ENDS: [End; 2] = [End::Sender, End::Receiver];

/// A stack that is neither shipped nor a file, as it stands behind `--stack`.
fn refuse_unknown(stack: &str) -> Result<(), Failure> {
    let Some(error) = shipped_stack(stack).err().filter(|_| !StackFile::is_meant_by(stack)) else {
        return Ok(());
    };
    let file = format!("{stack}.toml");
    let hint = if Path::new(&file).is_file() {
        format!("did you mean the file: --stack {}?", for_shell(&file))
    } else {
        error.hint()
    };
    Err(Failure::with_hint(error.to_string(), hint))
}

fn stack_file(path: &Path) -> Result<StackFile, Failure> {
    let name = path.display().to_string();
    let opened = std::fs::File::open(path).map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            let hint = similar_file(path).map_or_else(
                || "`maxseg stacks from-host --out host.toml` writes this host's; `maxseg stacks` lists the shipped".to_owned(),
                |similar| format!("did you mean `{}`?", similar.display()),
            );
            return Failure::with_hint(format!("there is no stack file `{name}`"), hint);
        }
        Failure::file("read", path, &error)
    })?;
    Ok(StackFile::parse(&name, &read_text(&name, opened)?)?)
}

/// What gives every interface of the path this MTU: those too of which the file says something else.
fn whole_path(draft: &Draft, mtu: u16) -> Vec<String> {
    let document = draft.to_json();
    let hops = document["hop"].as_array().map_or(&[][..], Vec::as_slice);
    let has_own = hops.iter().enumerate().filter(|(_, hop)| !hop["reverse"]["mtu"].is_null());
    let own = has_own.map(|(index, _)| format!("hop.{index}.reverse.mtu={mtu}"));
    std::iter::once(format!("hop.*.mtu={mtu}")).chain(own).collect()
}

/// A scenario and how to run it.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Engines, comma-separated
    #[arg(
        long,
        short,
        value_enum,
        value_delimiter = ',',
        default_value = "model,sim",
        value_name = "ENGINE"
    )]
    engine: Vec<EngineArg>,
    /// Sweep a key: KEY=VALUE,VALUE… or KEY=FROM..TO..STEP (STEP xN multiplies by N); several axes are combined
    #[arg(long, short, value_name = "KEY=LIST")]
    axis: Vec<String>,
    /// Repeat with N consecutive seeds, starting with the scenario's
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    #[command(flatten)]
    lab: LabOptionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    /// Formulas: instant, valid within their range
    Model,
    /// Packet-level simulation
    Sim,
    /// The real kernel in network namespaces, in real time
    Lab,
}

impl From<EngineArg> for EngineName {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Model => Self::Model,
            EngineArg::Sim => Self::Sim,
            EngineArg::Lab => Self::Lab,
        }
    }
}

impl InputArgs {
    /// A scenario of the program's own, with these axes.
    pub(crate) fn shipped(name: &str, axes: &[&str], seeds: u64) -> Self {
        Self {
            scenario: ScenarioArgs {
                file: name.to_owned(),
                stack: None,
                set: Vec::new(),
                mtu: None,
            },
            engine: vec![EngineArg::Model, EngineArg::Sim],
            axis: axes.iter().map(|axis| (*axis).to_owned()).collect(),
            seeds,
            lab: LabOptionArgs::default(),
        }
    }

    /// The scenario's file; `None` for standard input. A shipped scenario has none either, but a name.
    pub(crate) fn file(&self) -> Option<&Path> {
        (self.scenario.file != "-").then(|| Path::new(&self.scenario.file))
    }

    /// Whether a run of it is to make a lab.
    pub(crate) fn needs_lab(&self) -> bool {
        self.engine.contains(&EngineArg::Lab)
    }

    pub(crate) fn load(&self) -> Result<Experiment, Failure> {
        let Given { text, mut draft, .. } = self.scenario.load()?;
        let engines = self.engines();
        for assignment in self.lab.assignments(&engines)? {
            draft.set_argument(&assignment)?;
        }
        let in_scenario = draft.swept_stack_files();
        for axis in &self.axis {
            draft.sweep_argument(axis)?;
        }
        for named in draft.swept_stack_files().iter().filter(|name| !in_scenario.contains(name)) {
            draft.add_stack_file(named, stack_file(Path::new(named))?);
        }
        Ok(Experiment::new(draft, text, engines, self.seeds)?)
    }

    /// Each once, in the order in which they were asked for.
    fn engines(&self) -> Vec<EngineName> {
        let mut engines: Vec<EngineName> = Vec::new();
        for engine in self.engine.iter().map(|engine| (*engine).into()) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        engines
    }
}

/// No scenario is larger, in bytes.
const LARGEST_SCENARIO: u64 = 32 << 20;

/// The text behind a FILE argument, and what to call it.
fn read(file: &str) -> Result<(String, String), Failure> {
    if file == "-" {
        let text = read_text("standard input", std::io::stdin().lock())?;
        return Ok(("<stdin>".to_owned(), text));
    }
    match std::fs::File::open(file) {
        Ok(opened) => Ok((file.to_owned(), read_text(file, opened)?)),
        Err(error) => match shipped::scenario(file).filter(|_| is_out_of_sight(file)) {
            Some(text) => Ok((format!("{file} (shipped)"), text.to_owned())),
            None if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Failure::with_hint(format!("there is no file `{file}`"), scenario_hint(file)))
            }
            None => Err(Failure::file("read", Path::new(file), &error)),
        },
    }
}

/// Whether there is no such file, or none that can be seen: in a folder that the user may not search, every name is refused.
fn is_out_of_sight(file: &str) -> bool {
    std::fs::metadata(file).is_err_and(|error| {
        let kind = error.kind();
        kind == std::io::ErrorKind::NotFound || kind == std::io::ErrorKind::PermissionDenied
    })
}

/// The whole of a file, as text.
fn read_text(name: &str, mut from: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limited = from.by_ref().take(LARGEST_SCENARIO + 1).read_to_end(&mut bytes);
    limited.map_err(|error| Failure::file("read", Path::new(name), &error))?;
    if bytes.len() as u64 > LARGEST_SCENARIO {
        return Err(Failure::with_hint(
            format!("{name} is larger than 32 MiB, which no scenario is"),
            "name a scenario, such as slow-tunnel; captures are for `maxseg explain`",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let whole = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..whole].split(|byte| *byte == b'\n').count();
        Failure::with_hint(
            format!("{name}:{line}: a byte there is not text in UTF-8"),
            "a scenario is a text file: save it as UTF-8; captures are for `maxseg explain`",
        )
    })
}

/// The scenario that was meant, or all that are shipped.
fn scenario_hint(file: &str) -> String {
    match scenario_meant(file) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => shipped_hint(file),
    }
}

/// The scenario that was meant: the file with its ending left out, a shipped one, or another file.
pub(super) fn scenario_meant(name: &str) -> Option<String> {
    let path = Path::new(name);
    let file =
        similar_file(path).filter(|file| file.extension().is_some_and(|ending| ending == "toml"));
    let is_same_but_for_ending = |file: &PathBuf| file.file_stem() == path.file_name();
    let told = |file: &PathBuf| file.display().to_string();
    let complete = file.as_ref().filter(|file| is_same_but_for_ending(file)).map(told);
    complete.or_else(|| shipped_meant(name).map(str::to_owned)).or_else(|| file.as_ref().map(told))
}

/// The shipped scenario that was meant, or all of them.
pub(super) fn shipped_hint(file: &str) -> String {
    match shipped_meant(file) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("shipped scenarios: {}", shipped_names().collect::<Vec<_>>().join(", ")),
    }
}

fn shipped_meant(file: &str) -> Option<&'static str> {
    closest(file.strip_suffix(".toml").unwrap_or(file), shipped_names())
}

fn shipped_names() -> impl Iterator<Item = &'static str> {
    shipped::SCENARIOS.iter().map(|(name, _)| *name)
}
