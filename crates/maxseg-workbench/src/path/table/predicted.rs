//! A row of the table as engines run it, on the path as it was measured.

use std::fmt::Write as _;

use maxseg_core::engine::{EngineName, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{Draft, Scenario};

use super::super::scenario::path_part;
use super::{SizeRow, TableOptions};
use crate::engines::engine;
use crate::path::{MtuReport, PathReport};

/// Virtual seconds of a run: so many that slow start hardly counts.
const SECONDS: u32 = 30;

/// The rows of these engines; with a note in the report where one cannot run them.
pub(super) fn rows(
    options: &TableOptions,
    report: &mut PathReport,
    (mss, segment): (Option<u32>, Option<u32>),
    window: u32,
) -> Vec<SizeRow> {
    if options.engines.is_empty() {
        return Vec::new();
    }
    let text = text(report, mss, window);
    let scenario = Draft::parse("path.toml", &text).and_then(|draft| draft.scenario());
    let mut rows = Vec::new();
    for name in &options.engines {
        let outcome = match &scenario {
            Ok(scenario) => run(*name, scenario),
            Err(error) => Err(error.what.clone()),
        };
        match outcome {
            Ok(outcome) => rows.push(row(*name, outcome, segment, window)),
            Err(why) => {
                let note = format!("no rows of {name} in the table: {why}");
                if !report.notes.contains(&note) {
                    report.notes.push(note);
                }
            }
        }
    }
    rows
}

fn run(name: EngineName, scenario: &Scenario) -> Result<Outcome, String> {
    let mut engine = engine(name).map_err(|error| error.to_string())?;
    engine.run(scenario, &mut Unwatched).map_err(|error| error.to_string())
}

fn row(name: EngineName, outcome: Outcome, segment: Option<u32>, window: u32) -> SizeRow {
    let rate_bps = outcome.headline_goodput_bps().filter(|rate| *rate > 0.0);
    let used = outcome.mss_used_bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let of_flow = outcome.flows.iter().find_map(|flow| flow.mss_used_bytes);
    let of_flow = of_flow.and_then(|bytes| u32::try_from(bytes).ok());
    SizeRow {
        engine: name.word().to_owned(),
        mss_bytes: used.or(of_flow).or(segment).unwrap_or_default(),
        window_bytes: window,
        rate_bps,
        ping_s: outcome.ping_mean_s,
        in_flight_s: rate_bps.map(|rate| 8.0 * f64::from(window) / rate),
        outcome,
    }
}

/// The path with a download, and pings beside it; a way that packets vanish on has the MTU that is known to pass.
fn text(report: &PathReport, mss: Option<u32>, window: u32) -> String {
    let path_mtu = MtuReport { black_hole: None, ..report.path_mtu.clone() };
    let mut text = path_part(&PathReport { path_mtu, ..report.clone() });
    let _ = write!(text, "\n[sender]\nstack = \"linux\"\nwindow = \"{window} B\"\n");
    let reverse = report.path_mtu.reverse_bytes();
    let headers = if report.address.is_ipv4() { 40 } else { 60 };
    let fits = reverse.map(|bytes| bytes.saturating_sub(headers));
    if let Some(mss) = mss.into_iter().chain(fits).min() {
        let _ = writeln!(text, "mss = {mss}");
    }
    text += "\n[receiver]\nstack = \"linux\"\ncongestion = \"cubic\"\n\
             \n[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n\
             \n[[flow]]\nkind = \"ping\"\ninterval = \"50 ms\"\nstart = \"2 s\"\n";
    let _ = write!(text, "\n[until]\ntime = \"{SECONDS} s\"\n");
    text
}
