//! `maxseg demo`: what it is for, in a minute.

use std::fmt::Write as _;

use clap::Args;
use comfy_table::{Cell, Table};
use maxseg_core::advise::{Trial, what_if};
use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::outcome::LimitedBy;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::sim::Sim;
use serde_json::Value;

use super::input::{Input, InputArgs};
use super::run::rows_of;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::document::Document;
use crate::report::{advice_lines, figures, page, plain, right, segment_sizes, table, words};
use crate::runner::environment::Environment;

/// See in a minute what this is for
#[derive(Debug, Args)]
#[command(after_long_help = "\
Two scenarios that come with the program: a slow transfer through a tunnel over a long path, and the
segment size that a lossy radio link needs. Example:
  maxseg demo --report cellular.html")]
pub(crate) struct DemoArgs {
    /// Where to put the second part's report, with its picture
    #[arg(long, value_name = "FILE", default_value = "maxseg-demo.html")]
    report: std::path::PathBuf,
}

const SEEDS: u64 = 20;

pub(crate) fn run(args: &DemoArgs, printer: Printer) -> Result<(), Failure> {
    slow_tunnel(printer)?;
    cellular(args, printer)
}

/// Why is it slow, what to change, what does that gain?
fn slow_tunnel(printer: Printer) -> Result<(), Failure> {
    let input = InputArgs::shipped("slow-tunnel", &[], 1).load()?;
    let scenario = &input.points[0].scenario;
    let trials =
        what_if(scenario, &mut Sim, SEEDS).map_err(|error| Failure::new(error.to_string()))?;
    let mut text = printer.bold("1. A slow transfer through a tunnel over a long path\n");
    let link = scenario.bottleneck_rate();
    let rtt = scenario.path.propagation_rtt();
    let _ = writeln!(
        text,
        "   {link}, {rtt} there and back, tunnel MTU {}, window {}, one packet in 2000 lost.\n",
        scenario.path.smallest_mtu(),
        words::window(scenario.receiver.window),
    );
    let _ = writeln!(text, "{}\n", trial_table(&trials));
    text += &verdict(&trials, printer);
    printer.data(&text)?;
    Ok(())
}

fn trial_table(trials: &[Trial]) -> Table {
    let mut table = plain();
    let titles = ["by formula", "by packets", "gain"].map(right);
    table.set_header(
        std::iter::once(Cell::new("what if")).chain(titles).chain([Cell::new("then limited by")]),
    );
    let baseline = trials[0].goodput.mean;
    for trial in trials {
        let model = Model.run(&trial.scenario, &mut Unwatched).ok().and_then(|o| o.goodput_bps);
        let interval = trial.goodput.ci95().unwrap_or(0.0) / trial.goodput.mean;
        let packets = words::rate(trial.goodput.mean);
        table.add_row([
            Cell::new(describe(trial)),
            right(model.map_or_else(|| "-".to_owned(), words::rate)),
            right(if interval > 0.0 {
                format!("{packets} ±{}", words::percent(interval))
            } else {
                packets
            }),
            right(if trial.changes.is_empty() {
                String::new()
            } else {
                words::gain(trial.goodput.mean / baseline - 1.0)
            }),
            Cell::new(shares(trial)),
        ]);
    }
    table
}

fn describe(trial: &Trial) -> String {
    match trial.changes.as_slice() {
        [] => "as it is".to_owned(),
        [only] => only.describe(),
        [_, _] => "both".to_owned(),
        _ => "all of these".to_owned(),
    }
}

/// The two limits that held longest, with their shares of the time.
fn shares(trial: &Trial) -> String {
    if trial.limited_by == LimitedBy::Bandwidth {
        return "bandwidth".to_owned();
    }
    let shares = trial.outcome.limits.iter().take(2);
    let shares: Vec<String> =
        shares.map(|limit| format!("{} {:.0}%", limit.kind, 100.0 * limit.share)).collect();
    shares.join(", ")
}

/// The limit, the change, its gain, and what remains.
fn verdict(trials: &[Trial], printer: Printer) -> String {
    let baseline = &trials[0];
    let gain = |trial: &Trial| trial.goodput.mean / baseline.goodput.mean - 1.0;
    let settable = |trial: &&Trial| {
        !trial.changes.is_empty() && trial.changes.iter().all(|change| change.is_setting())
    };
    let mut text = String::new();
    let _ = writeln!(text, "   {} {}", printer.bold("Limit:"), limit_in_words(baseline));
    if let Some(best) = trials.iter().filter(settable).max_by(|a, b| gain(a).total_cmp(&gain(b))) {
        let changes: Vec<String> = best.changes.iter().map(|change| change.describe()).collect();
        let _ = writeln!(
            text,
            "   {} {} gains {} (mean of {} runs each).",
            printer.bold("Change:"),
            changes.join(" and "),
            words::gain(gain(best)),
            best.goodput.n
        );
        if let Some(all) = trials.last().filter(|all| gain(all) > 2.0 * gain(best) + 1.0) {
            let path: Vec<String> = all
                .changes
                .iter()
                .filter(|change| !change.is_setting())
                .map(|change| change.describe())
                .collect();
            let _ = writeln!(
                text,
                "   {} what remains is the path: with {} as well it is {} ({}). Neither alone shows it.",
                printer.bold("Then:"),
                path.join(" and "),
                words::rate(all.goodput.mean),
                words::gain(gain(all))
            );
        }
    }
    let _ = writeln!(
        text,
        "   Try it: maxseg run slow-tunnel --set receiver.window=\"4 MiB\" --seeds 10\n"
    );
    text
}

fn limit_in_words(trial: &Trial) -> String {
    let shares: Vec<String> = trial
        .outcome
        .limits
        .iter()
        .take(2)
        .map(|limit| {
            let what = match limit.kind {
                LimitedBy::Congestion => "losses keep the congestion window small",
                LimitedBy::ReceiveWindow => "the receiver's window is full",
                LimitedBy::SendBuffer => "the sender's buffer is full",
                LimitedBy::Opportunity => "it is still starting",
                LimitedBy::Rto => "it waits for a retransmission timer",
                LimitedBy::Application => "there is nothing to send",
                LimitedBy::Bandwidth | LimitedBy::PathMtu | LimitedBy::Unknown => {
                    "the path is full"
                }
            };
            format!("{:.0}% of the time {what}", 100.0 * limit.share)
        })
        .collect();
    format!("{}.", shares.join(", "))
}

/// A small cut of the cellular grid.
fn cellular_input() -> Result<Input, Failure> {
    let axes = [
        "sender.mss=88,216,344,472,536,600,601,728,984,1368,1460",
        "hop.radio.errors.rate=0.0,0.01,0.03,0.05,0.1",
    ];
    InputArgs::shipped("cellular-mss", &axes, SEEDS).load()
}

/// The demo's picture as an SVG file; `None` where it cannot be made.
pub fn picture() -> Option<String> {
    let input = cellular_input().ok()?;
    let rows = rows_of(&input, Printer::silent()).ok()?;
    let figures = figures(&rows, &input.points[0].scenario);
    figures.first().map(|figure| figure.to_svg(true))
}

/// Which segment size does a lossy radio link need?
fn cellular(args: &DemoArgs, printer: Printer) -> Result<(), Failure> {
    let input = cellular_input()?;
    let rows = rows_of(&input, printer)?;
    let scenario = &input.points[0].scenario;
    let advice = segment_sizes(&rows, &input.points);
    let mut text = printer.bold("2. The segment size that a lossy radio link needs\n");
    text +=
        "   A packet dies with any of its 128-byte radio frames; 40 bytes of it are headers.\n\n";
    text += &table(&rows, printer);
    let _ = writeln!(text, "\n   {}", printer.bold("Best segment size:"));
    for line in advice_lines(&advice) {
        let _ = writeln!(text, "   {line}");
    }
    let _ = writeln!(text, "\n   {}", printer.bold("Why 600 and not 536, nor 601?"));
    text += "   536 and 600 take five frames each and die as often, but 600 fills them; one byte more takes a sixth.\n";
    text += &neighbours(&rows);
    printer.data(&text)?;
    let document = Document::new(input.draft.to_json(), Environment::here(), rows, true, &advice);
    let figures = figures(&document.rows, scenario);
    let page = page(&document, &input.text, &figures, &advice);
    std::fs::write(&args.report, page)
        .map_err(|error| Failure::file("write", &args.report, &error))?;
    printer.data(&format!(
        "\n   The picture, and all that was found: {}\n   The paper's full grid: maxseg run cellular-mss --seeds 10 --out cellular\n",
        args.report.display()
    ))?;
    Ok(())
}

/// What 600 gains over its neighbours, at each error rate.
fn neighbours(rows: &[Row]) -> String {
    let groups = groups(rows);
    let goodput = |mss: u64, rate: &Value| {
        let here = |group: &&Group<'_>| {
            group.engine == EngineName::Sim
                && group.point.get("sender.mss").and_then(Value::as_u64) == Some(mss)
                && group.point.get(RATE) == Some(rate)
        };
        groups.iter().find(here)?.goodput().map(|summary| summary.mean)
    };
    let mut rates: Vec<&Value> = Vec::new();
    for rate in groups.iter().filter_map(|group| group.point.get(RATE)) {
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    }
    let mut text = String::new();
    for other in [536, 601] {
        let gains: Vec<String> = rates
            .iter()
            .filter_map(|rate| {
                let gain = goodput(600, rate)? / goodput(other, rate)? - 1.0;
                Some(format!("{} at {}", words::gain(gain), words::value(RATE, rate)))
            })
            .collect();
        let _ = writeln!(text, "   600 over {other}: {}", gains.join(", "));
    }
    text
}

const RATE: &str = "hop.radio.errors.rate";
