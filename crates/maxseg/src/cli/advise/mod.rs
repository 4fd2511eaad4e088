//! `maxseg advise`

mod found;
#[cfg(feature = "lab")]
mod live;
mod state;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use maxseg_core::advise::{Goal, GuideName};
use maxseg_workbench::advise::{PathAdvice, Question, of_capture, of_scenario};
use maxseg_workbench::report::advise::{AdviseDocument, page};

use super::input::ScenarioArgs;
use super::output_file::{BegunFile, refuse_stdout};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::advise::advise_text;
use found::Found;
use state::Kept;

/// Find the settings a path needs, with proof, price, commands
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg advise slow-tunnel
  maxseg advise path.toml --goal latency
  maxseg advise slow.pcapng --connection 3
  maxseg advise run.pcapng --interface 0
  maxseg advise slow_*.pcapng
  maxseg advise 10.0.0.1:40000-10.0.0.2:443
  maxseg advise www.example.org
  maxseg advise slow-tunnel --guide esnet
  maxseg advise slow-tunnel --prove lab --report advice.html
  maxseg advise slow-tunnel --json | jq '.advice[] | [.id, .gain.goodput_pct]'
  maxseg advise --ignore congestion-sender

The first lines are the limit, the change, its gain and one command. Candidates (segment sizes, windows, buffers, congestion \
control, timers) are ranked by formulas, the best are run by the simulator, at most 60 runs, and what is advised is proven by \
runs with other seeds than those that chose it. What gains no more than chance is not advised: \"Leave it as it is\" is an \
answer. Nothing is changed on any host.

Of a capture, the observed path is run, as by `maxseg explain`; of a connection of this host, the path that its socket shows; \
of a host, a short test of the path comes first, as by `maxseg path`. Where that shows too little, the answer is unknown, with \
what would show it.

The last advice is kept for `maxseg tune apply ID`.

Exit codes: 0 done, 1 error in the input, 2 usage, 130 interrupted.")]
pub(crate) struct AdviseArgs {
    /// A scenario, a capture (several files as of `maxseg explain`), a connection of this host (ADDRESS:PORT-ADDRESS:PORT, this
    /// end first), or a host to test the path to
    #[arg(value_name = "FILE|CONNECTION|HOST", num_args = 1.., required_unless_present_any = ["ignore", "forget_ignored"])]
    targets: Vec<String>,
    /// What the advice is for
    #[arg(long, value_enum, default_value_t, value_name = "GOAL", hide_possible_values = true)]
    goal: GoalArg,
    /// Prove by the simulator, or by the kernel in the lab as well: sim or lab
    #[arg(long, value_enum, default_value_t, value_name = "ENGINE", hide_possible_values = true)]
    prove: Prover,
    /// Judge a guide's settings on this path: esnet, tuned, bpftune
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "NAME",
        hide_possible_values = true
    )]
    guide: Vec<GuideArg>,
    /// Number of connections, for the memory that a change takes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    connections: u64,
    /// Give both hosts of a scenario this stack
    #[arg(long, value_name = "NAME|FILE")]
    stack: Option<String>,
    /// Set a key of a scenario, such as sender.mss=536
    #[arg(long, short, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The connection of a capture, as `maxseg explain` counts them; default: that of the highest impact
    #[arg(long, short = 'n', value_name = "N")]
    connection: Option<u32>,
    /// Only packets of this interface of a capture: its name, or its number from 0
    #[arg(long, short, value_name = "NAME")]
    interface: Option<String>,
    /// Never advise this again, by the name in brackets; may be repeated
    #[arg(long, value_name = "ID")]
    ignore: Vec<String>,
    /// Advise again what was ignored
    #[arg(long)]
    forget_ignored: bool,
    /// Print tables in one piece, however wide
    #[arg(long)]
    wide: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write an HTML page with goodput over round trip
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum GoalArg {
    /// The most goodput
    #[default]
    Throughput,
    /// Short round trips under load
    Latency,
    /// Goodput over round trip
    Balanced,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Prover {
    /// The simulator
    #[default]
    Sim,
    /// The kernel, too
    Lab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GuideArg {
    /// The host tuning of `ESnet`
    Esnet,
    /// tuned's network profiles
    Tuned,
    /// bpftune's tuners
    Bpftune,
}

impl AdviseArgs {
    /// Whether it is to make a lab.
    #[cfg_attr(
        not(feature = "lab"),
        expect(dead_code, reason = "a build without a lab asks the engine")
    )]
    pub(crate) fn needs_lab(&self) -> bool {
        self.prove == Prover::Lab
    }

    /// Whether packets of its own are of use: it may test a path.
    #[cfg(feature = "lab")]
    pub(crate) fn may_test_a_path(&self) -> bool {
        self.targets.iter().any(|target| matches!(Found::of(target), Ok(Found::Live(_))))
    }

    fn question(&self, ignored: Vec<String>) -> Question {
        Question {
            goal: match self.goal {
                GoalArg::Throughput => Goal::Throughput,
                GoalArg::Latency => Goal::Latency,
                GoalArg::Balanced => Goal::Balanced,
            },
            by_lab: self.prove == Prover::Lab,
            ignored,
            guides: self
                .guide
                .iter()
                .map(|guide| match guide {
                    GuideArg::Esnet => GuideName::Esnet,
                    GuideArg::Tuned => GuideName::Tuned,
                    GuideArg::Bpftune => GuideName::Bpftune,
                })
                .collect(),
            connections: self.connections,
        }
    }
}

pub(crate) fn run(args: &AdviseArgs, printer: Printer) -> Result<(), Failure> {
    let printer = printer.wide(args.wide);
    if let Some(report) = &args.report {
        refuse_stdout("--report", "file", report, "advice.html")?;
    }
    let kept = Kept::open();
    let ignored = kept.ignored(&args.ignore, args.forget_ignored, printer)?;
    let Some(target) = args.targets.first() else { return Ok(()) };
    let found = Found::of_all(&args.targets)?;
    found.refuse_others(args)?;
    let report = BegunFile::begin(args.report.as_ref())?;
    let question = args.question(ignored);
    let advice = answer(&found, target, args, &question, printer)?;
    let made = state::made();
    let document = AdviseDocument::new(&advice, &made);
    kept.keep(&document, printer);
    // Written before printed: whoever reads our output may have gone.
    let report = report.map(|report| (report.path, report.finish(&page(&advice))));
    if args.json {
        printer.stream(|out| document.write(out))?;
    } else {
        printer.text(&advise_text(&advice, printer))?;
    }
    if let Some((path, written)) = report {
        written?;
        printer.note_verbatim(&format!("{}: the report", path.display()));
    }
    Ok(())
}

fn answer(
    found: &Found,
    target: &str,
    args: &AdviseArgs,
    question: &Question,
    printer: Printer,
) -> Result<PathAdvice, Failure> {
    match found {
        Found::Scenario => {
            let given = ScenarioArgs::of(target, args.stack.clone(), args.set.clone()).load()?;
            let scenario = given.draft.scenario()?;
            let mut advice = of_scenario(&scenario, target, question)?;
            if !given.draft.sweep()?.is_empty() {
                advice.notes.push(
                    "Its sweep is left out: this is about the path as the rest of the file has it."
                        .to_owned(),
                );
            }
            Ok(advice)
        }
        Found::Capture => {
            let explanation =
                found::explanation(&args.targets, args.connection, args.interface.as_deref())?;
            let headline = explanation.headline().ok_or_else(|| {
                Failure::with_hint(
                    format!("{} has no TCP connection to advise about", explanation.name),
                    "`maxseg explain` lists the connections of a capture",
                )
            })?;
            Ok(of_capture(&headline, &explanation.name, question)?)
        }
        #[cfg(feature = "lab")]
        Found::Live(of) => live::answer(of, question, printer),
        #[cfg(not(feature = "lab"))]
        Found::Live(_) => {
            let _ = printer;
            Err(Failure::with_hint(
                format!(
                    "there is no file {target}, and this build advises about scenarios and captures alone"
                ),
                "connections and hosts need Linux and a build with the feature `lab`",
            ))
        }
    }
}
