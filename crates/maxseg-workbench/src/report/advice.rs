//! Advice in sentences.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maxseg_core::advise::{Alignment, SegmentSizeAdvice, Versus, segment_size};
use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use maxseg_core::scenario::Scenario;

use super::words;

/// Advice from the simulator where it ran: its hosts do what the scenario says, and its seeds make pairs. Then
/// from the lab, whose hosts are this kernel; then from formulas. `scenarios` are the rows' by their hashes.
pub fn segment_sizes(
    rows: &[Row],
    scenarios: &BTreeMap<&str, &Scenario>,
) -> Vec<SegmentSizeAdvice> {
    let advice = |engine| segment_size(rows, engine, |hash| scenarios.get(hash).copied());
    let engines = [EngineName::Sim, EngineName::Lab, EngineName::Model];
    engines.into_iter().map(advice).find(|advice| !advice.is_empty()).unwrap_or_default()
}

/// A line for each condition, under a heading; nothing where there is no advice.
pub fn advice_lines(advice: &[SegmentSizeAdvice]) -> Vec<String> {
    advice.iter().map(advice_line).collect()
}

/// `error rate on radio 5%: 344 bytes, 3 full frames of 128 …`.
pub(super) fn advice_line(advice: &SegmentSizeAdvice) -> String {
    let mut line = String::new();
    let condition: Vec<String> = advice
        .condition
        .iter()
        .map(|(key, value)| format!("{} {}", words::title(key), words::value(key, value)))
        .collect();
    if !condition.is_empty() {
        let _ = write!(line, "{}: ", condition.join(", "));
    }
    let _ = write!(line, "{} bytes", advice.best);
    if let Some(alignment) = advice.alignment {
        let _ = write!(line, " ({})", frames(alignment));
    }
    let _ = write!(line, ", {}", words::rate(advice.goodput.mean));
    for versus in &advice.versus {
        let _ = write!(line, ", {}", against(versus));
    }
    if !advice.as_good.is_empty() {
        let sizes: Vec<String> = advice.as_good.iter().map(u64::to_string).collect();
        let _ = write!(line, "; within the noise as good: {}", sizes.join(", "));
    }
    line
}

fn frames(alignment: Alignment) -> String {
    let Alignment { frames, frame, unused } = alignment;
    let plural = if frames == 1 { "" } else { "s" };
    match unused {
        0 => format!("{frames} full frame{plural} of {frame}"),
        _ => format!("{frames} frame{plural} of {frame}, {unused} bytes unused"),
    }
}

fn against(versus: &Versus) -> String {
    let gain = format!("{} over {}", words::gain(versus.gain), versus.size);
    match versus.stands_out {
        Some(true) => gain,
        Some(false) => format!("{gain} (not beyond noise)"),
        None => format!("{gain} (one seed: could be chance)"),
    }
}
