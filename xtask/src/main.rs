//! `cargo xtask COMMAND`, or `cargo x COMMAND`: what developers and CI run. Nothing else to install.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
#[cfg(target_os = "linux")]
use xtask::{advise, experiments, explain, gain, lab, path, rfc6349};
use xtask::{
    bench, check_licences, fuzz, generate, layers, linux, mutants, packetdrill, test, validate,
};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development commands of maxseg")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the checks and tests, with samples of large tables; with CI=true install what they need, and leave nothing out
    Test,
    /// The same as `test`
    Ci,
    /// Check that modules and crates use only what is to their left
    Layers,
    /// Check that every dependency has a permissive licence
    Licences,
    /// Write what is generated: schemas, manual pages, the reference of the scenario file, the README's picture
    Gen {
        /// Only say what would change, and fail if anything would
        #[arg(long)]
        check: bool,
    },
    /// Write the pages of the documents' experiments: tables of every engine, what commands print, docs/experiments.md
    #[cfg(target_os = "linux")]
    Experiments(experiments::ExperimentsArgs),
    /// Look for bytes that break a decoder
    Fuzz {
        /// One decoder; all if none is named
        target: Option<String>,
        /// For how long each
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Another seed makes other inputs
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Test the core's tests: change one expression at a time and see whether a test fails (cargo-mutants)
    Mutants(mutants::MutantsArgs),
    /// Compare the simulator with the ns-2 and ns-3 tables and write docs/validation.md
    Validate {
        #[command(subcommand)]
        what: Option<Validated>,
    },
    /// Measure the simulator against the installed ns-2
    Bench {
        /// Also write docs/performance.md
        #[arg(long)]
        write: bool,
        /// Repetitions; the median counts
        #[arg(long, default_value_t = 5)]
        repeat: usize,
    },
    /// Measure what the lab carries here, and how exact its links are
    #[cfg(target_os = "linux")]
    BenchLab {
        /// Also write docs/lab-performance.md
        #[arg(long)]
        write: bool,
        /// Repetitions; the best valid one counts
        #[arg(long, default_value_t = 3)]
        repeat: usize,
    },
    /// Measure how fast captures are explained, beside tcptrace and tshark
    BenchExplain {
        /// Also write docs/performance-explain.md
        #[arg(long)]
        write: bool,
        /// Repetitions; the median counts
        #[arg(long, default_value_t = 5)]
        repeat: usize,
    },
    /// Measure what a list of live connections costs, beside `ss`
    #[cfg(target_os = "linux")]
    BenchLive {
        /// Also write docs/performance-connections.md
        #[arg(long)]
        write: bool,
        /// Repetitions; the median counts
        #[arg(long, default_value_t = 5)]
        repeat: usize,
    },
    /// Run the netem backend on Debian's kernel, in qemu without KVM: slow, and not part of `test`
    #[cfg(target_os = "linux")]
    LabQemu,
    /// Run a case of the benchmark once and print its CPU seconds and delivered packets
    #[command(hide = true)]
    BenchOnce {
        /// Its place in the list
        case: usize,
    },
    /// Run a scenario in the lab after commands in its hosts
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    LabOnce(gain::OnceArgs),
    /// Open connected pairs of sockets and hold them until the input ends
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    HoldConnections {
        /// How many
        pairs: usize,
    },
    /// Record the socket of a lab's first flow, in the network namespace of its sender
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    LabWatch(explain::WatchArgs),
    /// Run a program and print the most memory that it took, in MiB
    #[command(hide = true)]
    PeakMemory {
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

/// What else there is to compare with the truth.
#[derive(Subcommand)]
enum Validated {
    /// Explain captures of random lab runs, compare with what hosts and links know, write docs/validation-explain.md
    #[cfg(target_os = "linux")]
    Explain(explain::ExplainArgs),
    /// Compare the advice on drawn paths with exhaustive sweeps, write docs/validation-advise.md
    #[cfg(target_os = "linux")]
    Advise(advise::AdviseArgs),
    /// Carry out the advice on captures of random lab runs, compare with what was predicted, write docs/validation-gain.md
    #[cfg(target_os = "linux")]
    Gain(gain::GainArgs),
    /// Run drawn paths in the simulator and in the lab with this kernel, write docs/validation-lab.md
    #[cfg(target_os = "linux")]
    Lab(lab::LabArgs),
    /// Test drawn networks with `maxseg path`, tracepath and scamper, write docs/validation-path.md
    Path(path::PathArgs),
    /// Test known networks with `maxseg path --rfc6349` beside the lab's own counters, write the table of docs/rfc6349.md
    Rfc6349(rfc6349::Rfc6349Args),
    /// Play packetdrill's scripts against the Linux stack, write docs/validation-packetdrill.md
    Packetdrill,
    /// Run the cells of Linux in virtual time (`MAXSEG_LINUX`), write docs/validation-linux.md
    Linux,
}

#[expect(clippy::print_stderr, reason = "a command-line program")]
fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Test | Command::Ci => test::run(),
        Command::Layers => layers::check(),
        Command::Licences => check_licences::check(),
        Command::Gen { check } => generate::run(check),
        Command::Mutants(options) => mutants::run(&options),
        Command::Validate { what: None } => validate::run(),
        Command::Validate { what: Some(Validated::Packetdrill) } => packetdrill::run(),
        #[cfg(target_os = "linux")]
        Command::Validate { what: Some(Validated::Explain(options)) } => explain::run(&options),
        #[cfg(target_os = "linux")]
        Command::Validate { what: Some(Validated::Gain(options)) } => gain::run(&options),
        #[cfg(target_os = "linux")]
        Command::Validate { what: Some(Validated::Advise(options)) } => advise::run(&options),
        Command::Validate { what: Some(Validated::Path(options)) } => path::run(&options),
        Command::Validate { what: Some(Validated::Rfc6349(options)) } => rfc6349::run(&options),
        #[cfg(target_os = "linux")]
        Command::LabOnce(options) => gain::once(&options),
        #[cfg(target_os = "linux")]
        Command::LabWatch(options) => explain::watch(&options),
        #[cfg(target_os = "linux")]
        Command::Validate { what: Some(Validated::Lab(options)) } => lab::run(&options),
        Command::Validate { what: Some(Validated::Linux) } => linux::validate(),
        #[cfg(target_os = "linux")]
        Command::Experiments(options) => experiments::run(&options),
        Command::Fuzz { target, seconds, seed } => fuzz::run(target.as_deref(), seconds, seed),
        Command::Bench { write, repeat } => bench::run(write, repeat),
        #[cfg(target_os = "linux")]
        Command::BenchLab { write, repeat } => bench::lab::run(write, repeat),
        #[cfg(target_os = "linux")]
        Command::BenchLive { write, repeat } => bench::live::run(write, repeat),
        #[cfg(target_os = "linux")]
        Command::HoldConnections { pairs } => bench::live::hold(pairs),
        Command::BenchExplain { write, repeat } => bench::explain::run(write, repeat),
        #[cfg(target_os = "linux")]
        Command::LabQemu => xtask::qemu::run(),
        Command::BenchOnce { case } => bench::once(case),
        Command::PeakMemory { command } => bench::peak_memory(&command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
