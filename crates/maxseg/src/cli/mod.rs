//! The commands, grouped by what they are for: See, Explain, Try, Set.

mod advise;
mod broken_capture;
mod calc;
#[cfg(feature = "lab")]
mod capture;
mod check;
mod compare;
mod completions;
#[cfg(feature = "lab")]
mod connections;
mod count;
mod demo;
mod demo_cellular;
mod demo_tunnel;
#[cfg(feature = "lab")]
mod doctor;
mod elsewhere;
mod explain;
mod guide;
mod input;
mod json_stream;
#[cfg(feature = "lab")]
mod lab;
mod lab_options;
mod man;
mod new;
mod output_file;
#[cfg(feature = "lab")]
mod path;
#[cfg(feature = "lab")]
mod privilege;
#[cfg(feature = "lab")]
mod recording;
#[cfg(feature = "lab")]
mod responder;
mod run;
mod run_capture;
mod run_notes;
mod run_picture;
mod run_report;
mod schema;
mod stacks;
#[cfg(feature = "lab")]
mod top;
#[cfg(feature = "lab")]
mod tune;
mod usage;
#[cfg(feature = "lab")]
mod zoned_address;
#[cfg(feature = "lab")]
mod zoned_prefix;

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::Failure;
use crate::printer::{ColorChoice, Printer, text_width};
pub use demo::picture;
pub use guide::scenario_reference;
pub use man::{ManPage, man_pages};
pub use schema::{
    advise_schema, compare_schema, connections_schema, explain_schema, results_schema,
    scenario_schema, stream_schema,
};
#[cfg(feature = "lab")]
pub use schema::{path_schema, tune_list_schema, tune_status_schema, why_schema};

/// Finds the TCP segment size, window and timers that a path needs, by formula, simulation and the real kernel.
#[derive(Debug, Parser)]
#[command(
    name = "maxseg",
    version = maxseg_workbench::VERSION,
    disable_help_subcommand = false,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

#[derive(Debug, Clone, Copy, Args)]
struct Global {
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: ColorChoice,
    /// Print less: -q no progress and notes, -qq no errors either
    #[arg(long, short, global = true, action = ArgAction::Count)]
    quiet: u8,
    /// Print more detail
    #[arg(long, short, global = true, action = ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch the TCP connections of this host on a screen
    #[cfg(feature = "lab")]
    Top(top::TopArgs),
    /// List the TCP connections of this host with what limits each
    #[cfg(feature = "lab")]
    Connections(connections::ConnectionsArgs),
    /// Capture packets live and print every header and TCP option
    #[cfg(feature = "lab")]
    Capture(capture::CaptureArgs),
    /// Show what limits a connection, captured or live, and what to do
    #[command(visible_alias = "why")]
    Explain(explain::ExplainArgs),
    /// Find round trip, path MTU and black holes of a path
    #[cfg(feature = "lab")]
    Path(path::PathArgs),
    /// Answer another host's `maxseg path` as its far end
    #[cfg(feature = "lab")]
    Responder(responder::ResponderArgs),
    /// Find the settings a path needs, with proof, price, commands
    Advise(advise::AdviseArgs),
    /// Write a scenario with comments, to begin from
    New(new::NewArgs),
    /// Run a scenario: sweep parameters, compare engines, report
    Run(run::RunArgs),
    /// Check a scenario without running it: points, run time, caveats
    Check(check::CheckArgs),
    /// Compare two runs, engines, stacks or captures
    Compare(compare::CompareArgs),
    /// Emulate a path in network namespaces and keep it up
    #[cfg(feature = "lab")]
    Lab(lab::LabArgs),
    /// Change settings of this host, each with its way back
    #[cfg(feature = "lab")]
    Tune(tune::TuneArgs),
    /// Compute one formula; show its source and range
    Calc(calc::CalcArgs),
    /// Show in one minute what the program can do
    Demo(demo::DemoArgs),
    /// Check what this user can run and see here, and how to fix it
    #[cfg(feature = "lab")]
    Doctor(doctor::DoctorArgs),
    /// Read the glossary and other pages of the documentation
    Guide(guide::GuideArgs),
    /// List the TCP stacks that a scenario can name
    Stacks(stacks::StacksArgs),
    /// Print the JSON Schema of a scenario or a document
    Schema(schema::SchemaArgs),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Print the manual page of the program or a command
    Man(man::ManArgs),
}

/// Commands that serve one purpose.
struct CommandGroup {
    title: &'static str,
    purpose: &'static str,
    commands: &'static [&'static str],
}

const COMMAND_GROUPS: [CommandGroup; 5] = [
    CommandGroup {
        title: "See",
        purpose: "watch the connections and packets of this host",
        commands: &["top", "connections", "capture"],
    },
    CommandGroup {
        title: "Explain",
        purpose: "find out what makes a connection or a path slow",
        commands: &["explain", "path", "responder"],
    },
    CommandGroup {
        title: "Try",
        purpose: "test a change first: by formula, by simulation, with the real kernel",
        commands: &["new", "run", "compare", "check", "lab", "calc"],
    },
    CommandGroup {
        title: "Set",
        purpose: "find the change with its proof, make it, and undo it",
        commands: &["advise", "tune"],
    },
    CommandGroup {
        title: "Help and setup",
        purpose: "learn the program, prepare this machine",
        commands: &["demo", "guide", "doctor", "stacks", "schema", "completions", "man", "help"],
    },
];

/// The command line, for completions, man pages and the help page.
pub(crate) fn command() -> clap::Command {
    let command = guide::with_guides(Cli::command());
    let groups = command_groups(&command);
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}\n\n\
         `maxseg help COMMAND` prints the details of a command, with examples.\n\
         Begin with `maxseg demo`.\n"
    );
    command.help_template(template).term_width(text_width())
}

/// The commands by purpose, one line each.
fn command_groups(command: &clap::Command) -> String {
    let mut text = String::new();
    for CommandGroup { title, purpose, commands } in COMMAND_GROUPS {
        let _ = writeln!(text, "{title}: {purpose}");
        let is_here = |name: &&&str| **name == "help" || command.find_subcommand(name).is_some();
        for name in commands.iter().filter(is_here) {
            let about = match command.find_subcommand(name).and_then(clap::Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print the details of a command, with examples".to_owned(),
            };
            let _ = writeln!(text, "  {name:12} {about}");
        }
    }
    text
}

pub(crate) fn main() -> ExitCode {
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) if std::env::args_os().len() < 2 => {
            // No argument at all asks what there is.
            let _ = error.print();
            return ExitCode::from(2);
        }
        Err(error) => {
            let failure = usage::failure(&error, &command());
            Printer::new(ColorChoice::Never, 0, 0).failure(&failure.render());
            return ExitCode::from(failure.exit_code());
        }
    };
    let printer = Printer::new(cli.global.color, cli.global.quiet, cli.global.verbose);
    // A user namespace wants a process of one thread: before anything else.
    match cli.command.take_privilege().and_then(|()| cli.command.run(printer)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            printer.failure(&failure.render());
            ExitCode::from(failure.exit_code())
        }
    }
}

impl Command {
    /// Takes the privilege that the command needs, and gives up what it does not.
    #[cfg(feature = "lab")]
    fn take_privilege(&self) -> Result<(), Failure> {
        if self.needs_lab() {
            privilege::for_a_lab()
        } else if self.may_see_packets() {
            Ok(())
        } else {
            privilege::without_packets()
        }
    }

    /// No command of this build needs a privilege.
    #[cfg(not(feature = "lab"))]
    fn take_privilege(&self) -> Result<(), Failure> {
        if let Self::Run(args) = self
            && args.needs_lab()
        {
            return Err(maxseg_workbench::Error::NoLab.into());
        }
        Ok(())
    }

    /// Whether this process is to make a lab.
    #[cfg(feature = "lab")]
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other command makes a lab")]
    fn needs_lab(&self) -> bool {
        match self {
            Self::Run(args) => args.needs_lab(),
            Self::Lab(args) => args.needs_lab(),
            Self::Advise(args) => args.needs_lab(),
            _ => false,
        }
    }

    /// Whether `CAP_NET_RAW` is of use to it, or is what it asks for.
    #[cfg(feature = "lab")]
    fn may_see_packets(&self) -> bool {
        matches!(self, Self::Capture(args) if args.is_live())
            || matches!(self, Self::Advise(args) if args.may_test_a_path())
            || matches!(self, Self::Doctor(_) | Self::Path(_))
    }

    fn run(&self, printer: Printer) -> Result<(), Failure> {
        match self {
            #[cfg(feature = "lab")]
            Self::Top(args) => top::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Connections(args) => connections::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Capture(args) => capture::run(args, printer),
            Self::Explain(args) => explain::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Path(args) => path::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Responder(args) => responder::run(args, printer),
            Self::Advise(args) => advise::run(args, printer),
            Self::New(args) => new::run(args, printer),
            Self::Run(args) => run::run(args, printer),
            Self::Check(args) => check::run(args, printer),
            Self::Compare(args) => compare::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Lab(args) => lab::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Tune(args) => tune::run(args, printer),
            Self::Calc(args) => calc::run(args, printer),
            Self::Demo(args) => demo::run(args, printer),
            #[cfg(feature = "lab")]
            Self::Doctor(args) => doctor::run(args, printer),
            Self::Guide(args) => guide::run(args, printer),
            Self::Stacks(args) => stacks::run(args, printer),
            Self::Schema(args) => schema::run(args, printer),
            Self::Completions(args) => completions::run(args, printer),
            Self::Man(args) => man::run(args, printer),
        }
    }
}
