//! Pictures of the window over time, ours on the kernel's.

use std::fmt::Write as _;

use maxseg_core::units::Time;

use super::judge::Judged;
use super::reference::Sample;

/// Panels of the picture.
const PANELS: usize = 6;
const COLUMNS: usize = 2;
/// A panel's plot, and the space around it, in pixels.
const PLOT: (f64, f64) = (400.0, 150.0);
const MARGIN: (f64, f64) = (52.0, 44.0);
/// Points of a line at most.
const POINTS: usize = 500;
/// What is worth looking at, in this order: how slow start ends, sawteeth of both kinds, BBR, idle time.
const WANTED: [(&str, &str); PANELS] = [
    ("ss", "cubic"),
    ("clean", "cubic"),
    ("clean", "reno"),
    ("clean", "bbr"),
    ("idle", "cubic"),
    ("idle", "bbr"),
];

/// Cells whose kernel's window was recorded, one of each kind, and others where a kind is missing.
pub(super) fn pictured(judged: &[Judged]) -> Vec<&Judged> {
    let recorded: Vec<&Judged> = judged
        .iter()
        .filter(|cell| cell.reference.samples.len() > 1 && cell.cell.loss == 0.0)
        .collect();
    let is = |cell: &Judged, (set, cc): (&str, &str)| cell.cell.set == set && cell.cell.cc == cc;
    let mut chosen: Vec<&Judged> = WANTED
        .iter()
        .filter_map(|kind| recorded.iter().find(|cell| is(cell, *kind)).copied())
        .collect();
    for cell in recorded {
        if chosen.len() < PANELS && chosen.iter().all(|other| other.cell.name != cell.cell.name) {
            chosen.push(cell);
        }
    }
    chosen
}

/// The picture of these cells.
pub(super) fn picture(cells: &[&Judged]) -> String {
    let (width, height) = (PLOT.0 + MARGIN.0 + 12.0, PLOT.1 + MARGIN.1 + 22.0);
    let rows = cells.len().div_ceil(COLUMNS);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width * COLUMNS as f64,
        height * rows as f64 + 20.0
    );
    text.push_str(
        "<text x=\"52\" y=\"14\"><tspan fill=\"#999\" font-weight=\"bold\">grey, wide: Linux 6.12</tspan> \
         <tspan fill=\"#c33\" font-weight=\"bold\">red, thin: maxseg</tspan>; congestion window in segments over seconds</text>\n",
    );
    for (index, cell) in cells.iter().enumerate() {
        let x = width * (index % COLUMNS) as f64 + MARGIN.0;
        let y = height * (index / COLUMNS) as f64 + MARGIN.1;
        let _ = writeln!(text, "<g transform=\"translate({x:.0} {y:.0})\">");
        panel(&mut text, cell);
        text.push_str("</g>\n");
    }
    text.push_str("</svg>\n");
    text
}

fn panel(text: &mut String, cell: &Judged) {
    let (kernel, ours) = (&cell.reference.samples, &cell.first.samples);
    let windows = kernel.iter().chain(ours).map(|sample| sample.info.cwnd);
    let most = windows.max().unwrap_or(1).max(1) as f64;
    let end = cell.cell.time;
    let (width, height) = PLOT;
    let below = height + 14.0;
    let _ = writeln!(
        text,
        "<text x=\"0\" y=\"-6\">{}</text>\n<rect width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#bbb\"/>\n\
         <text x=\"-6\" y=\"10\" text-anchor=\"end\">{most:.0}</text>\n<text x=\"-6\" y=\"{height}\" text-anchor=\"end\">0</text>\n\
         <text x=\"0\" y=\"{below}\">0</text>\n<text x=\"{width}\" y=\"{below}\" text-anchor=\"end\">{:.0} s</text>",
        cell.cell.name,
        end.as_secs_f64(),
    );
    for (samples, colour, stroke) in [(kernel, "#bbb", 4.0), (ours, "#c33", 1.0)] {
        let _ = writeln!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{stroke}\" points=\"{}\"/>",
            points(samples, end, most)
        );
    }
}

/// A line of so many points at most; of each group of samples the first.
fn points(samples: &[Sample], end: Time, most: f64) -> String {
    let step = samples.len().div_ceil(POINTS).max(1);
    let mut line = String::new();
    for sample in samples.iter().step_by(step) {
        let x = PLOT.0 * sample.at.as_secs_f64() / end.as_secs_f64();
        let y = PLOT.1 * (1.0 - sample.info.cwnd as f64 / most);
        let _ = write!(line, "{x:.1},{y:.1} ");
    }
    line
}
