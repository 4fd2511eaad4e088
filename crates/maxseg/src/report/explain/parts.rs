//! Pieces of several views.

pub(super) use crate::report::wrapped;
use maxseg_core::outcome::{LimitShare, LimitedBy};
pub(super) use maxseg_core::units::approx::whole_percent as share;
pub(super) use maxseg_workbench::report::words::capital;

/// A number of bytes without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, and sizes are not negative"
)]
pub(super) fn rounded(bytes: f64) -> u64 {
    bytes.round() as u64
}

/// A size in decimal units: `24.6 MB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("bytes", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
    let bytes = bytes as f64;
    let (unit, of) = UNITS.iter().rev().find(|(_, of)| bytes >= 0.9995 * of).unwrap_or(&UNITS[0]);
    if *of < 2.0 {
        format!("{bytes:.0} bytes")
    } else {
        format!("{} {unit}", maxseg_workbench::report::words::digits(bytes / of))
    }
}

/// One thing or several: `1 packet`, `2 packets`.
pub(super) fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", maxseg_workbench::report::words::grouped(count))
}

/// `receive-window 90%, start-up 10%`.
pub(super) fn shares(limits: &[LimitShare]) -> String {
    let shown = limits.iter().filter(|limit| limit.share >= 0.005);
    let words: Vec<String> =
        shown.map(|limit| format!("{} {}", limit.kind, share(limit.share))).collect();
    words.join(", ")
}

/// The first packets of a list: `packets 50, 60, 70`.
pub(super) fn packets(frames: &[u64]) -> String {
    const SHOWN: usize = 5;
    let numbers: Vec<String> = frames.iter().take(SHOWN).map(u64::to_string).collect();
    let word = if numbers.len() == 1 { "packet" } else { "packets" };
    let more = if frames.len() > SHOWN { " …" } else { "" };
    format!("{word} {}{more}", numbers.join(", "))
}

/// How many characters a letter of the bar stands for: the widest share has the most.
pub(super) fn bar(limits: &[LimitShare], width: usize) -> Vec<(LimitedBy, usize)> {
    let mut cells: Vec<(LimitedBy, usize)> = Vec::new();
    let (mut end, mut sum) = (0, 0.0);
    for limit in limits {
        sum += limit.share;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a short bar"
        )]
        let place = ((sum * width as f64).round() as usize).min(width);
        cells.push((limit.kind, place.saturating_sub(end)));
        end = place.max(end);
    }
    cells
}
