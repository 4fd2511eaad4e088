//! Bars with their names and values, as an SVG picture of the page.

use std::fmt::Write as _;

use super::super::escaped::Escaped;

/// Width of a picture, of what stands behind a bar, and of a character at most.
const WIDTH: f64 = 900.0;
const BEHIND: f64 = 140.0;
const CHARACTER: f64 = 8.6;
/// Where bars begin at the least and at the most: an address of IPv6 has 39 characters.
const LEFT: [f64; 2] = [140.0, 420.0];
/// Height of a bar, and from one to the next.
const BAR: f64 = 18.0;
const STEP: f64 = 28.0;
const TOP: f64 = 64.0;

/// A bar: its name, its length in any unit, and what stands behind it.
#[derive(Debug, Default)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) length: f64,
    pub(super) said: String,
    /// It is only expected.
    pub(super) is_expected: bool,
    /// A dashed line follows it.
    pub(super) is_last_before_line: bool,
}

/// The picture of these bars.
pub(super) fn picture(title: &str, subtitle: &str, bars: &[Bar]) -> String {
    let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    let left = (CHARACTER * longest as f64 + 12.0).clamp(LEFT[0], LEFT[1]);
    let room = WIDTH - left - BEHIND;
    let most = bars.iter().map(|bar| bar.length).fold(f64::MIN_POSITIVE, f64::max);
    let height = TOP + STEP * bars.len() as f64 + 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" class=\"chart\" \
         aria-label=\"{0}\"><style>.chart text{{fill:var(--ink);font-size:14px}}\
         .chart .title{{font-weight:600;font-size:16px}}.chart .soft{{fill:var(--soft)}}.chart .bar{{fill:var(--accent)}}\
         .chart .expected{{fill:none;stroke:var(--accent);stroke-dasharray:5 4}}\
         .chart .line{{stroke:#d55e00;stroke-width:2;stroke-dasharray:5 4}}</style>\
         <text class=\"title\" x=\"0\" y=\"22\">{0}</text><text class=\"soft\" x=\"0\" y=\"44\">{1}</text>",
        Escaped(title),
        Escaped(subtitle)
    );
    for (at, bar) in bars.iter().enumerate() {
        let y = TOP + STEP * at as f64;
        let (length, text) = (room * bar.length / most, y + BAR - 4.0);
        let _ = write!(
            svg,
            "<text x=\"0\" y=\"{text}\">{}</text><rect class=\"{}\" x=\"{left}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\"/>\
             <text x=\"{:.1}\" y=\"{text}\">{}</text>",
            Escaped(&bar.name),
            if bar.is_expected { "expected" } else { "bar" },
            left + length + 8.0,
            Escaped(&bar.said)
        );
        if bar.is_last_before_line {
            let y = y + f64::midpoint(STEP, BAR);
            let _ =
                write!(svg, "<line class=\"line\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>");
        }
    }
    svg + "</svg>\n"
}
