//! A row of the table as engines run it, on the path as it was measured.

use std::fmt::Write as _;

use maxseg_core::engine::{EngineName, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{Draft, Scenario};

use super::super::mss::segment_in;
use super::super::note_once;
use super::super::scenario::path_part;
use super::{SizeRow, TableOptions, option_of};
use crate::engines::engine;
use crate::path::{MtuReport, PathReport};

/// Virtual seconds of a run: so many that slow start hardly counts.
const SECONDS: u32 = 30;

/// The rows of these engines; with a note in the report where one cannot run them.
pub(super) fn rows(
    options: &TableOptions,
    report: &mut PathReport,
    segment: Option<u32>,
    window: u32,
) -> Vec<SizeRow> {
    if options.engines.is_empty() {
        return Vec::new();
    }
    let text = text(report, segment, window);
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
                note_once(&mut report.notes, note);
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
    let of_flow = || outcome.flows.iter().find_map(|flow| flow.mss_used_bytes);
    let used = outcome.mss_used_bytes.or_else(of_flow);
    SizeRow {
        engine: name.word().to_owned(),
        mss_bytes: used.and_then(|used| used.try_into().ok()).or(segment).unwrap_or_default(),
        window_bytes: window,
        rate_bps,
        ping_s: outcome.ping_mean_s,
        in_flight_s: rate_bps.map(|rate| 8.0 * f64::from(window) / rate),
        outcome,
    }
}

/// The path with a download, and pings beside it; a way that packets vanish on has the MTU that is known to pass.
fn text(report: &PathReport, segment: Option<u32>, window: u32) -> String {
    let path_mtu = MtuReport { black_hole: None, ..report.path_mtu.clone() };
    let mut text = path_part(&PathReport { path_mtu, ..report.clone() });
    let _ = write!(text, "\n[sender]\nstack = \"linux\"\nwindow = \"{window} B\"\n");
    let fits = report.path_mtu.reverse_bytes().map(|bytes| segment_in(bytes, report.address));
    if let Some(mss) = segment.map(option_of).into_iter().chain(fits).min() {
        let _ = writeln!(text, "mss = {mss}");
    }
    text += "\n[receiver]\nstack = \"linux\"\ncongestion = \"cubic\"\n\
             \n[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n\
             \n[[flow]]\nkind = \"ping\"\ninterval = \"50 ms\"\nstart = \"2 s\"\n";
    let _ = write!(text, "\n[until]\ntime = \"{SECONDS} s\"\n");
    text
}
