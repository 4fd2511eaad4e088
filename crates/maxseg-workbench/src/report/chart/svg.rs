//! The chart as an SVG document: style, titles, legend.

use std::fmt::Write as _;

use super::super::escaped::Escaped;
use super::figure::{CHARACTER, Chart, HEIGHT, LEFT, WIDTH, bar, cross, diamond};
use super::palette;
use super::plot::Plot;

impl Chart {
    /// The chart as an SVG document. `standalone` for a file of its own, with a ground; otherwise the
    /// page around it provides one.
    pub fn to_svg(&self, standalone: bool) -> String {
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{}\" class=\"chart\">{}",
            Escaped(&format!("{}. {}", self.title, self.subtitle)),
            self.style(standalone)
        );
        if standalone {
            let _ = write!(svg, "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
        }
        svg += &self.headings();
        svg += &Plot::new(self).to_svg();
        svg += &self.legend();
        svg += "</svg>\n";
        svg
    }

    fn style(&self, standalone: bool) -> String {
        let count = self.series.len();
        let (light, dark) = (
            palette::properties(count, self.order, false),
            palette::properties(count, self.order, true),
        );
        let mut css = base_style(&light, &dark);
        if standalone {
            css += ".chart .ground{fill:var(--ground)}";
        }
        for index in 0..count {
            let _ = write!(
                css,
                ".chart .c{index}{{stroke:var(--s{index})}}.chart .f{index}{{fill:var(--s{index})}}"
            );
        }
        format!("<style>{css}</style>")
    }

    fn headings(&self) -> String {
        format!(
            "<text class=\"title\" x=\"{LEFT}\" y=\"30\">{}</text><text class=\"soft\" x=\"{LEFT}\" y=\"52\">{}</text>",
            Escaped(&self.title),
            Escaped(&self.subtitle)
        )
    }

    fn legend(&self) -> String {
        let kinds = if self.is_categorical() {
            ["dot", "bar", "hollow", "cross", "mark"]
        } else {
            ["solid", "band", "dash", "cross", "mark"]
        };
        let legend = &self.legend;
        let words =
            [&legend.solid, &legend.band, &legend.dashed, &legend.crosses, &self.marks_title];
        let mut text = String::new();
        let mut x = LEFT;
        let y = HEIGHT - 16.0;
        for (kind, words) in kinds.into_iter().zip(words).filter(|(_, words)| !words.is_empty()) {
            text += &sample(kind, x, y - 4.0);
            let _ = write!(
                text,
                "<text class=\"soft\" x=\"{}\" y=\"{y}\">{}</text>",
                x + 37.0,
                Escaped(words)
            );
            x += 37.0 + CHARACTER * words.chars().count() as f64 + 26.0;
        }
        text
    }
}

/// What every picture has, with more properties on light ground and on dark.
pub(super) fn base_style(light: &str, dark: &str) -> String {
    format!(
        ".chart{{--ink:#1c1e21;--soft:#5d646b;--line:#d5d9dd;--ground:#ffffff;{light}\
         font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:13px}}\
         @media(prefers-color-scheme:dark){{.chart{{--ink:#e8eaed;--soft:#a2a9b0;--line:#3a4047;\
         --ground:#16181b;{dark}}}}}\
         .chart text{{fill:var(--ink)}}.chart .soft{{fill:var(--soft)}}\
         .chart .title{{font-size:18px;font-weight:600}}\
         .chart .grid{{stroke:var(--line);stroke-width:1}}\
         .chart .mark{{stroke:var(--soft);stroke-width:1;stroke-dasharray:1 4}}\
         .chart .curve,.chart .bar{{fill:none;stroke-width:2;stroke-linejoin:round}}\
         .chart .dash{{fill:none;stroke-width:1.4;stroke-dasharray:5 4;opacity:.85}}\
         .chart .hollow{{fill:none;stroke-width:1.6}}\
         .chart .cross{{fill:none;stroke-width:2.2}}\
         .chart .band{{stroke:none;opacity:.18}}\
         .chart .lead{{stroke:var(--soft);stroke-width:.7;fill:none}}"
    )
}

/// What a kind of line or point looks like, 30 wide.
fn sample(kind: &str, x: f64, y: f64) -> String {
    let (middle, end) = (x + 15.0, x + 30.0);
    let dot = format!("<circle style=\"fill:var(--ink)\" cx=\"{middle}\" cy=\"{y}\" r=\"3\"/>");
    let ink = "style=\"stroke:var(--ink)\"";
    match kind {
        "band" => format!(
            "<rect class=\"band\" style=\"fill:var(--ink)\" x=\"{x}\" y=\"{}\" width=\"30\" height=\"12\"/>",
            y - 6.0
        ),
        "solid" => format!("<path class=\"curve\" {ink} d=\"M{x} {y}H{end}\"/>{dot}"),
        "dot" => dot,
        "bar" => format!("<path class=\"bar\" {ink} d=\"{}\"/>", bar(middle, y - 8.0, y + 8.0)),
        "hollow" => format!("<path class=\"hollow\" {ink} d=\"{}\"/>", diamond(middle, y)),
        "cross" => format!("<path class=\"cross\" {ink} d=\"{}\"/>", cross(middle, y)),
        kind => format!("<path class=\"{kind}\" {ink} d=\"M{x} {y}H{end}\"/>"),
    }
}
