//! Numbers over time as characters: a column for each snapshot, the newest on the right.

use maxseg_workbench::connections::Point;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::style::Styles;

/// Eighths of a character, from the bottom.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// Payload that was sent again: known by its pattern where there is no colour.
const RESENT: &str = "▒";

/// Payload a second, both ways, as the list has it.
pub(super) fn payload_bps(point: &Point) -> f64 {
    point.sent_bps + point.received_bps
}

/// Payload a second, with what was sent again above it. The largest that is shown.
pub(super) fn throughput(points: &[Point], styles: Styles, area: Rect, buffer: &mut Buffer) -> f64 {
    let points = newest(points, area.width);
    let all = |point: &Point| payload_bps(point) + point.resent_bps;
    let most = points.iter().map(all).fold(0.0_f64, f64::max);
    if most <= 0.0 {
        return 0.0;
    }
    let first = area.right() - u16::try_from(points.len()).unwrap_or(area.width);
    let eighths = f64::from(area.height) * 8.0;
    for (point, x) in points.iter().zip(first..) {
        let height = whole(payload_bps(point) / most * eighths);
        column(buffer, area, x, height, styles);
        if point.resent_bps > 0.0 {
            // However little it is, it is seen.
            let rows = whole(point.resent_bps / most * f64::from(area.height)).max(1);
            let bottom = height.div_ceil(8).min(area.height.saturating_sub(rows));
            for row in bottom..(bottom + rows).min(area.height) {
                let cell = &mut buffer[(x, area.bottom() - 1 - row)];
                cell.set_symbol(RESENT).set_style(styles.resent());
            }
        }
    }
    most
}

/// A bar of so many eighths of a character.
fn column(buffer: &mut Buffer, area: Rect, x: u16, eighths: u16, styles: Styles) {
    for row in 0..area.height {
        let part = usize::from(eighths.saturating_sub(row * 8).min(8));
        if part > 0 {
            let cell = &mut buffer[(x, area.bottom() - 1 - row)];
            cell.set_symbol(EIGHTHS[part]).set_style(styles.payload());
        }
    }
}

/// One number in a line of characters, from 0 to the largest.
pub(super) fn line(points: &[Point], of: fn(&Point) -> f64, width: u16) -> String {
    let points = newest(points, width);
    let most = points.iter().map(of).fold(0.0_f64, f64::max);
    let blanks = " ".repeat(usize::from(width) - points.len());
    let marks = points.iter().map(|point| {
        if most <= 0.0 {
            return EIGHTHS[0];
        }
        EIGHTHS[usize::from(whole((of(point) / most * 8.0).ceil())).min(8)]
    });
    blanks + &marks.collect::<String>()
}

/// As many of the last points as there is room for.
fn newest(points: &[Point], width: u16) -> &[Point] {
    &points[points.len().saturating_sub(usize::from(width))..]
}

/// Rounded; what is no number is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floating point saturates, and these are heights of a terminal"
)]
fn whole(value: f64) -> u16 {
    value.round() as u16
}
