//! `maxseg check`

use std::fmt::Write as _;

use clap::Args;
use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::scenario::{FlowKind, Point, Scenario};
use maxseg_core::sim::Sim;
use serde_json::json;

use super::input::{Input, InputArgs};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::words;
use crate::runner::Plan;
use crate::runner::environment::cores;

/// Check a scenario: how many points, how long, which caveats
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg check cellular-mss --seeds 10
  maxseg check path.toml --axis sender.mss=88..1460..4")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a simulated data packet takes with its acknowledgement, and a run whatever it sends: a guess for
/// a machine nobody has measured, good for "seconds or hours?".
const SECONDS_PER_PACKET: f64 = 60e-9;
const SECONDS_PER_RUN: f64 = 50e-6;

pub(crate) fn run(args: &CheckArgs, printer: Printer) -> Result<(), Failure> {
    let input = args.input.load()?;
    let check = Check::of(&input);
    let text = if args.json { check.to_json() } else { check.to_text(&input, printer) };
    printer.data(&text)?;
    Ok(())
}

struct Check {
    points: usize,
    runs: usize,
    simulated_s: f64,
    cpu_s: f64,
    /// Segment sizes that are not what was asked for.
    lowered: Vec<String>,
    caveats: Vec<(EngineName, String, String, usize)>,
}

impl Check {
    fn of(input: &Input) -> Self {
        let by_packets = input.engines.contains(&EngineName::Sim);
        let seeds = if by_packets { input.seeds as f64 } else { 0.0 };
        let mut check = Self {
            points: input.points.len(),
            runs: Plan::new(input).tasks.len(),
            simulated_s: 0.0,
            cpu_s: 0.0,
            lowered: Vec::new(),
            caveats: Vec::new(),
        };
        for point in &input.points {
            let outcome = Model.run(&point.scenario, &mut Unwatched).unwrap_or_default();
            check.simulated_s += seeds * outcome.elapsed_s.unwrap_or(0.0);
            check.cpu_s += seeds
                * (SECONDS_PER_RUN + packets(point, outcome.payload_bytes) * SECONDS_PER_PACKET);
            check.note_mss(point);
            for engine in &input.engines {
                check.note_caveats(*engine, &point.scenario);
            }
        }
        check
    }

    fn note_mss(&mut self, point: &Point) {
        let scenario = &point.scenario;
        for flow in scenario.flows.iter().filter(|flow| flow.kind == FlowKind::Bulk) {
            let mss = scenario.mss(flow);
            let offered = mss.offered_by_sender.min(mss.offered_by_receiver);
            let line = match mss.asked {
                Some(asked) if asked != mss.effective => {
                    format!("asked {asked}, advertised {offered}, effective {}", mss.effective)
                }
                None if offered != mss.effective => {
                    format!("advertised {offered}, effective {}", mss.effective)
                }
                Some(_) | None => continue,
            };
            if !self.lowered.contains(&line) {
                self.lowered.push(line);
            }
        }
    }

    fn note_caveats(&mut self, engine: EngineName, scenario: &Scenario) {
        let caveats = match engine {
            EngineName::Model => Model.caveats(scenario),
            EngineName::Sim => Sim.caveats(scenario),
        };
        for caveat in caveats {
            let same = |known: &&mut (EngineName, String, String, usize)| {
                known.0 == engine && known.1 == caveat.code
            };
            match self.caveats.iter_mut().find(same) {
                Some((.., count)) => *count += 1,
                None => self.caveats.push((engine, caveat.code, caveat.text, 1)),
            }
        }
    }

    fn to_text(&self, input: &Input, printer: Printer) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{} is well formed", input.draft.file());
        let axes: Vec<String> = input
            .sweep
            .axes()
            .iter()
            .map(|axis| format!("{} ({})", axis.keys.join(" with "), axis.steps.len()))
            .collect();
        let sweep = if axes.is_empty() { String::new() } else { format!(": {}", axes.join(" x ")) };
        let _ = writeln!(text, "points    {}{sweep}", self.points);
        let _ = writeln!(text, "runs      {}", self.runs);
        let _ = writeln!(text, "simulated {}", words::time(self.simulated_s));
        let wall = self.cpu_s / cores() as f64;
        let _ = writeln!(text, "takes     about {} on {} cores", words::time(wall), cores());
        for line in &self.lowered {
            let _ = writeln!(text, "MSS       {line}");
        }
        for (engine, code, caveat, count) in &self.caveats {
            let points = if *count > 1 { format!(" ({count} points)") } else { String::new() };
            let _ = writeln!(
                text,
                "{}",
                printer.dim(&format!("caveat    {engine}, {code}{points}: {caveat}"))
            );
        }
        text
    }

    fn to_json(&self) -> String {
        let caveats: Vec<_> = self
            .caveats
            .iter()
            .map(|(engine, code, text, points)| {
                json!({ "engine": engine.word(), "code": code, "text": text, "points": points })
            })
            .collect();
        let document = json!({
            "schema_version": 1,
            "points": self.points,
            "runs": self.runs,
            "simulated_s": self.simulated_s,
            "cpu_s": self.cpu_s,
            "caveats": caveats,
        });
        format!("{document}\n")
    }
}

/// About how many data packets a run sends.
fn packets(point: &Point, payload: Option<u64>) -> f64 {
    let sizes = point.scenario.flows.iter().map(|flow| match flow.kind {
        FlowKind::Bulk => point.scenario.mss(flow).effective.bytes().get(),
        FlowKind::Cbr { size, .. } | FlowKind::Ping { size, .. } => size.get(),
    });
    payload.unwrap_or(0) as f64 / sizes.min().unwrap_or(1).max(1) as f64
}
