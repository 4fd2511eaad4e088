//! The demo's second part: the segment size for a radio link with errors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use maxseg_core::advise::SegmentSizeAdvice;
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, Row, groups};
use maxseg_core::scenario::Scenario;
use maxseg_core::stats::Summary;
use maxseg_core::units::Bytes;
use serde_json::Value;

use crate::printer::Printer;
use crate::report::results;
use crate::wrap::{hanging, wrapped};
use maxseg_workbench::environment::Environment;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::report::axes::distinct;
use maxseg_workbench::report::document::Document;
use maxseg_workbench::report::{FrameEnd, advice_lines, words};

const SIZE: &str = "sender.mss";
const RATE: &str = "hop.radio.errors.rate";

pub(super) fn show(
    rows: &[Row],
    scenario: &Scenario,
    advice: &[SegmentSizeAdvice],
    frame_end: Option<&FrameEnd>,
    printer: Printer,
) -> String {
    let mut text = printer.bold(&format!("2. {}\n", scenario.name));
    if let Some((_, frame)) = scenario.path.smallest_frames() {
        let fate = format!(
            "A packet is lost with any of its {frame}-byte radio frames; {} of each packet are headers.",
            scenario.tcp_ip_headers()
        );
        let _ = writeln!(text, "{}", wrapped(&fate, printer.width(), "   "));
    }
    text += &results(rows, printer);
    let _ = writeln!(text, "\n   {}", printer.bold("Best segment size:"));
    for line in advice_lines(advice) {
        text += &hanging(&format!("   {line}"), printer.width(), "  ");
    }
    if let Some(frame_end) = frame_end {
        let _ = writeln!(text, "\n   {}", printer.bold(&frame_end.question));
        text += &wrapped(&frame_end.why, printer.width(), "   ");
        for (sizes, gains) in &frame_end.gains {
            text += &hanging(&format!("   {sizes}: {gains}"), printer.width(), "  ");
        }
    }
    text
}

/// The results as a document.
pub(super) fn document(
    experiment: &Experiment,
    rows: Vec<Row>,
    advice: &[SegmentSizeAdvice],
) -> Document {
    let written = experiment.draft.to_json();
    Document::new(written, Environment::of(&experiment.engines), rows, true, advice)
}

/// A size that fills its frames, a smaller one that takes as many, and one byte more than it.
#[derive(Debug, Clone, Copy)]
struct Neighbours {
    smaller: u64,
    full: u64,
    above: u64,
    /// Of the first two; the third takes one more.
    frames: u32,
}

impl Neighbours {
    /// The first such three in a sweep.
    fn of(sizes: &BTreeSet<u64>, scenario: &Scenario) -> Option<Self> {
        let (link, _) = scenario.path.smallest_frames()?;
        let frames = |size: u64| link.frames(Bytes::new(size) + scenario.tcp_ip_headers());
        sizes.iter().find_map(|full| {
            let above = full + 1;
            let smaller = *sizes.range(..full).next_back()?;
            let fits = sizes.contains(&above)
                && frames(above) > frames(*full)
                && frames(smaller) == frames(*full);
            fits.then(|| Self { smaller, full: *full, above, frames: frames(*full) })
        })
    }
}

/// What a byte more or less around a frame's end does; `None` where the sweep has no such sizes.
pub(super) fn frame_end(rows: &[Row], scenario: &Scenario) -> Option<FrameEnd> {
    let groups = groups(rows);
    let sizes = distinct(&groups, SIZE).into_iter().filter_map(Value::as_u64).collect();
    let Neighbours { smaller, full, above, frames } = Neighbours::of(&sizes, scenario)?;
    let over = |other| (format!("{full} over {other}"), gains(&groups, full, other).join(", "));
    Some(FrameEnd {
        question: format!("Why {full}, not {smaller} or {above}?"),
        why: format!(
            "{smaller} and {full} take {frames} frames each and are lost as often, but {full} fills them; one byte more \
             takes {}.",
            frames + 1
        ),
        gains: [smaller, above].map(over).to_vec(),
    })
}

/// What one size gains over another at each error rate under which frames are lost at all, run by run
/// of the same seed.
fn gains(groups: &[Group<'_>], size: u64, other: u64) -> Vec<String> {
    let goodputs = |size: u64, rate: &Value| -> BTreeMap<Option<u64>, f64> {
        let here = |group: &&Group<'_>| {
            group.engine == EngineName::Sim
                && group.point.get(SIZE).and_then(Value::as_u64) == Some(size)
                && group.point.get(RATE) == Some(rate)
        };
        let rows = groups.iter().filter(here).flat_map(|group| &group.rows);
        rows.filter_map(|row| Some((row.seed, row.outcome.goodput_bps?))).collect()
    };
    let lossy = |rate: &&Value| words::quantity(RATE, rate).is_some_and(|(_, share)| share > 0.0);
    distinct(groups, RATE)
        .into_iter()
        .filter(lossy)
        .filter_map(|rate| {
            let (ours, theirs) = (goodputs(size, rate), goodputs(other, rate));
            let pairs = ours.iter().filter_map(|(seed, ours)| Some((*ours, *theirs.get(seed)?)));
            let pairs: Vec<(f64, f64)> = pairs.collect();
            let mean = Summary::of(&pairs.iter().map(|(_, b)| *b).collect::<Vec<_>>()).mean;
            let difference = Summary::of(&pairs.iter().map(|(a, b)| a - b).collect::<Vec<_>>());
            let half = difference.ci95().unwrap_or(0.0) / mean;
            let gain = words::gain_within(difference.mean / mean, half);
            (mean > 0.0).then(|| format!("{gain} at {}", words::value(RATE, rate)))
        })
        .collect()
}
