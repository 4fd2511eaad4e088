//! The command: makes networks, measures in them, and publishes that beside what their links counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use maxseg_core::stats::median;
use serde_json::Value;

use super::case::Case;
use super::counters::{Counted, Look};
use super::page::{figures, insert};
use super::row::Row;
use crate::bench::release_program;
use crate::draws::{Running, UpLab};
use crate::root;

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct Rfc6349Args {
    /// The run in equilibrium, each way
    #[arg(long, default_value_t = 12)]
    pub seconds: u64,
    /// How often it is made; medians are compared
    #[arg(long, default_value_t = 3)]
    pub repeats: usize,
    /// Only this network
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// The program that is tested; this tree's, built for it, unless given
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Write the table of docs/rfc6349.md
    #[arg(long)]
    pub write: bool,
}

const FILE: &str = "docs/rfc6349.md";
const TOKEN: &str = "open sesame";
/// Between two looks at the counters.
const LOOK: Duration = Duration::from_millis(60);

/// The network of a case, with its hosts set up.
fn network<'p>(program: &'p Path, case: &Case) -> Result<UpLab<'p>> {
    let name = format!("rfc6349-{}-{}", case.name, std::process::id());
    let folder = std::env::temp_dir().join(&name);
    fs::create_dir_all(&folder)?;
    let lab = UpLab::up(program, &folder, &name, &case.scenario())?;
    fs::remove_dir_all(&folder)?;
    for (host, setting) in case.sysctls {
        let set = lab.within(host).args(["sysctl", "-qw", setting]).output()?;
        ensure!(set.status.success(), "{setting}: {}", String::from_utf8_lossy(&set.stderr));
    }
    Ok(lab)
}

fn responder(program: &Path, lab: &UpLab<'_>) -> Result<Running> {
    let mut command = lab.within("receiver");
    command.arg(program).args(["responder", "--listen", "0.0.0.0"]);
    Running::listening(command.env("MAXSEG_TOKEN", TOKEN))
}

/// Makes and measures, and writes the table.
///
/// # Errors
/// The lab cannot run here, or a file cannot be written; or a bar is missed, after the table is written.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(options: &Rfc6349Args) -> Result<()> {
    let program = options.program.clone().map_or_else(release_program, Ok)?;
    let mut rows = Vec::new();
    let is_wanted = |case: &Case| options.only.as_deref().is_none_or(|only| only == case.name);
    let names = Case::ALL.map(|case| case.name).join(", ");
    ensure!(Case::ALL.iter().any(is_wanted), "there is no such network: {names}");
    for case in Case::ALL.into_iter().filter(is_wanted) {
        let found = measured(&program, &case, options)?;
        ensure!(found.len() == 2, "{}: {} directions were tested, not two", case.name, found.len());
        rows.extend(found);
    }
    let text = figures(&rows);
    println!("{text}");
    if options.write {
        let file = root().join(FILE);
        let page = insert(&fs::read_to_string(&file)?, &text)?;
        fs::write(&file, page).with_context(|| file.display().to_string())?;
    }
    let missed: Vec<String> = rows.iter().flat_map(Row::missed).collect();
    ensure!(missed.is_empty(), "{}", missed.join("; "));
    Ok(())
}

fn measured(program: &Path, case: &Case, options: &Rfc6349Args) -> Result<Vec<Row>> {
    let lab = network(program, case)?;
    let _responder = responder(program, &lab)?;
    let seconds = format!("{} s", options.seconds);
    let mut path = lab.within("sender");
    path.arg(program).args(["path", "receiver", "--far-end", "responder", "--rfc6349", "--json"]);
    path.args(["--duration", &seconds, "--repeats", &options.repeats.to_string()]);
    let mut child = Running(
        path.env("MAXSEG_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?,
    );
    let output = child.0.stdout.take().context("its output")?;
    let reading = std::thread::spawn(move || serde_json::from_reader::<_, Value>(output));
    let mut looks = Vec::new();
    while !reading.is_finished() {
        looks.push(Look::now(program, lab.name())?);
        std::thread::sleep(LOOK);
    }
    let report = reading.join().map_err(|_| anyhow::anyhow!("the report was not read"))??;
    let late_p99_s = looks.last().map_or(0.0, Look::late_p99_s);
    let test = &report["rfc6349"];
    let baseline_s = test["baseline"]["rtt_s"].as_f64().context("a baseline")?;
    let mut rows = Vec::new();
    for (link, direction) in test["directions"].as_array().into_iter().flatten().enumerate() {
        let number = |value: &Value| value.as_f64().context("a number");
        let (mut measured, mut counted) = (Vec::new(), Vec::new());
        let runs = direction["runs"].as_array().into_iter().flatten();
        for (at, run) in runs.enumerate() {
            let began = number(&direction["runs_began_s"][at])?;
            let from = began + number(&run["equilibrium"]["from_s"])?;
            let until = from + number(&run["counted_s"])?;
            let found = Counted::between(case, &looks, [from, until], link, baseline_s);
            counted.push(found.context("no look at the counters")?);
            measured.push(Counted {
                ratio: number(&run["transfer_time_ratio"])?,
                efficiency: number(&run["efficiency"])?,
                round_trip_s: number(&run["rtt_mean_s"])?,
                buffer_delay: number(&run["buffer_delay"])?,
            });
        }
        rows.push(Row {
            case: *case,
            direction: direction["direction"].as_str().unwrap_or_default().to_owned(),
            cause: direction["interpretation"]["cause"].as_str().unwrap_or("none").to_owned(),
            bottleneck_bps: number(&direction["bottleneck_bps"])?,
            baseline_s,
            late_p99_s,
            measured: medians(&measured)?,
            counted: medians(&counted)?,
        });
    }
    Ok(rows)
}

fn medians(all: &[Counted]) -> Result<Counted> {
    let of = |number: fn(&Counted) -> f64| {
        median(all.iter().map(number).collect()).context("no run in equilibrium")
    };
    Ok(Counted {
        ratio: of(|one| one.ratio)?,
        efficiency: of(|one| one.efficiency)?,
        round_trip_s: of(|one| one.round_trip_s)?,
        buffer_delay: of(|one| one.buffer_delay)?,
    })
}
