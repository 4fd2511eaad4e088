//! Advice in sentences.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maxseg_core::advise::{
    Alignment, LoweredSizes, SegmentSizeAdvice, Versus, lowered_sizes, segment_size,
};
use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use maxseg_core::scenario::Scenario;
use serde_json::{Map, Value};

use super::marks::{DOUBTFUL, point_words};
use super::{Swept, words};

/// Whose runs advice is from: the first that has any.
const ENGINES: [EngineName; 3] = [EngineName::Sim, EngineName::Lab, EngineName::Model];

/// Advice from the simulator where it ran: its hosts do what the scenario says, and its seeds make pairs. Then
/// from the lab, whose hosts are this kernel; then from formulas. `scenarios` are the rows' by their hashes.
pub fn segment_sizes(
    rows: &[Row],
    scenarios: &BTreeMap<&str, &Scenario>,
) -> Vec<SegmentSizeAdvice> {
    let advice = |engine| segment_size(rows, engine, |hash| scenarios.get(hash).copied());
    ENGINES.into_iter().map(advice).find(|advice| !advice.is_empty()).unwrap_or_default()
}

/// What is said of the best segment size: the advice, and where there is none because sizes were lowered, that.
pub fn size_lines(rows: &[Row], advice: &[SegmentSizeAdvice], swept: Swept<'_>) -> Vec<String> {
    let mut lines = advice_lines(advice);
    if swept.is_complete {
        let engine = advice.first().map(|advice| advice.engine);
        let engines = ENGINES.into_iter().filter(|one| engine.is_none_or(|engine| engine == *one));
        let mut lowered =
            engines.map(|engine| lowered_sizes(rows, engine, |_| Some(swept.scenario)));
        let of_one = lowered.find(|lowered| !lowered.is_empty()).unwrap_or_default();
        lines.extend(of_one.iter().map(lowered_line));
    }
    lines
}

/// A line for each condition, under a heading; nothing where there is no advice.
pub fn advice_lines(advice: &[SegmentSizeAdvice]) -> Vec<String> {
    advice.iter().map(advice_line).collect()
}

/// `error rate on radio 5%: 344 bytes, 3 full frames of 128 …`.
pub(super) fn advice_line(advice: &SegmentSizeAdvice) -> String {
    let mut line = under(&advice.condition);
    let _ = write!(line, "{} bytes", advice.best);
    if let Some(alignment) = advice.alignment {
        let _ = write!(line, " ({})", frames(alignment));
    }
    let _ = write!(line, ", {}{}", sign(advice.is_doubtful), words::rate(advice.goodput.mean));
    for versus in &advice.versus {
        let _ = write!(line, ", {}", against(versus, advice.goodput.n));
    }
    if !advice.as_good.is_empty() {
        let sizes: Vec<String> = advice.as_good.iter().map(u64::to_string).collect();
        let _ = write!(line, "; as good within the noise: {}", sizes.join(", "));
    }
    line
}

/// What stands before what comes from a formula outside its range.
const fn sign(is_doubtful: bool) -> &'static str {
    if is_doubtful { DOUBTFUL } else { "" }
}

/// `MTU of radio (bytes) 576: none, because the path MTU …`.
fn lowered_line(lowered: &LoweredSizes) -> String {
    let kept = lowered.kept.map_or_else(String::new, |size| format!(" but {size}"));
    let used = match lowered.used {
        (least, most) if least == most => format!("{most} bytes"),
        (least, most) => format!("{least} to {most} bytes"),
    };
    format!(
        "{}none: the path MTU or the receiver's MSS lowered every size of the sweep{kept}, to {used}",
        under(&lowered.condition)
    )
}

/// `error rate on radio 5%: `; nothing where only sizes were swept.
fn under(condition: &Map<String, Value>) -> String {
    let words = point_words(condition);
    if words.is_empty() { String::new() } else { format!("{}: ", words.join(", ")) }
}

fn frames(alignment: Alignment) -> String {
    let Alignment { frames, frame, unused } = alignment;
    let plural = if frames == 1 { "" } else { "s" };
    match unused {
        0 => format!("{frames} full frame{plural} of {frame}"),
        _ => format!("{frames} frame{plural} of {frame}, {unused} bytes unused"),
    }
}

/// The gain over a size; the best one has so many seeds.
fn against(versus: &Versus, seeds: usize) -> String {
    let gain =
        format!("{} over {}{}", words::gain(versus.gain), sign(versus.is_doubtful), versus.size);
    match versus.stands_out {
        Some(true) => gain,
        Some(false) => format!("{gain} (not beyond noise)"),
        None if seeds == 1 => format!("{gain} (one seed: could be chance)"),
        None => format!("{gain} ({seeds} seeds: could be chance)"),
    }
}
