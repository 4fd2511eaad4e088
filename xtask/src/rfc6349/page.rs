//! The table of docs/rfc6349.md.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::case::Case;
use super::row::Row;

const BEGIN: &str = "<!-- figures of cargo xtask validate rfc6349 -->\n";
const END: &str = "<!-- end of figures -->";

/// The table: measured, and beside it what the lab's links counted.
pub(super) fn figures(rows: &[Row]) -> String {
    let mut text = String::from(
        "| network | direction | bottleneck, is | baseline, is | transfer time ratio, is | efficiency, is | round trip, is | buffer delay, is | cause |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (got, is) = (&row.measured, &row.counted);
        let percent = |share: f64| 100.0 * share;
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} Mbit/s, {:.2} | {:.3} ms, {:.3} | {:.3}, {:.3} | {:.2}%, {:.2}% | {:.2} ms, {:.2} | {:.1}%, {:.1}% | {} |",
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
            got.round_trip_s * 1e3,
            is.round_trip_s * 1e3,
            percent(got.buffer_delay),
            percent(is.buffer_delay),
            row.cause
        );
    }
    text
}

/// The page with these figures in their place. Networks that were not measured keep their rows.
///
/// # Errors
/// The page has no place for them.
pub(super) fn insert(page: &str, figures: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).context("no place for figures in the page")?;
    let (known, after) = rest.split_once(END).context("no end of the figures in the page")?;
    let measured: Vec<&str> = figures.lines().filter_map(network).collect();
    let is_kept = |row: &&str| network(row).is_some_and(|name| !measured.contains(&name));
    let mut rows: Vec<&str> = known.lines().filter(is_kept).collect();
    rows.extend(figures.lines().filter(|line| network(line).is_some()));
    let place = |row: &&str| Case::ALL.iter().position(|case| network(row) == Some(case.name));
    rows.sort_by_key(place);
    let head = figures.lines().take_while(|line| network(line).is_none());
    let table: String = head.chain(rows).flat_map(|line| [line, "\n"]).collect();
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

/// The network of a row; `None` of another line.
fn network(line: &str) -> Option<&str> {
    let name = line.strip_prefix("| ")?.split(" |").next()?;
    Case::ALL.iter().any(|case| case.name == name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_is_measured_again_replaces_its_rows() {
        let page = format!("a\n{BEGIN}| h |\n| plain | up | 1 |\n| loss | up | 1 |\n{END}b\n");
        let figures = "| h |\n| window | up | 2 |\n| plain | up | 2 |\n";
        let rows = "| h |\n| plain | up | 2 |\n| window | up | 2 |\n| loss | up | 1 |\n";
        assert_eq!(insert(&page, figures).unwrap(), format!("a\n{BEGIN}{rows}{END}b\n"));
    }
}
