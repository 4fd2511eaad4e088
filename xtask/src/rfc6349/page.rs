//! The table of docs/rfc6349.md.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::row::Row;

const BEGIN: &str = "<!-- figures of cargo xtask validate rfc6349 -->\n";
const END: &str = "<!-- end of figures -->";

/// The table: measured, and beside it what the lab's links counted.
pub(super) fn figures(rows: &[Row]) -> String {
    let mut text = String::from(
        "| network | direction | bottleneck, is | baseline, is | transfer time ratio, is | efficiency, is | buffer delay, is | cause |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (got, is) = (&row.measured, &row.counted);
        let percent = |share: f64| 100.0 * share;
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} Mbit/s, {:.2} | {:.3} ms, {:.3} | {:.3}, {:.3} | {:.2}%, {:.2}% | {:.1}%, {:.1}% | {} |",
            row.case.name,
            row.direction,
            row.bottleneck_bps / 1e6,
            row.case.rate_bps / 1e6,
            row.baseline_s * 1e3,
            row.case.baseline_s() * 1e3,
            got.ratio,
            is.ratio,
            percent(got.efficiency),
            percent(is.efficiency),
            percent(got.buffer_delay),
            percent(is.buffer_delay),
            row.cause
        );
    }
    text
}

/// The page with these figures in their place.
///
/// # Errors
/// The page has no place for them.
pub(super) fn insert(page: &str, figures: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).context("no place for figures in the page")?;
    let (_, after) = rest.split_once(END).context("no end of the figures in the page")?;
    Ok(format!("{before}{BEGIN}{figures}{END}{after}"))
}
