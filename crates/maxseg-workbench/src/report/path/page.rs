//! A test of a path as a page that needs nothing else.

use std::fmt::Write as _;

use maxseg_core::units::approx;

use super::super::escaped::Escaped;
use super::super::html::STYLE;
use crate::path::{HopReport, PathReport};

/// Size of the picture, and where its bars begin.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 240.0;
const ROOM: f64 = 520.0;
/// Height of a bar, and from one to the next.
const BAR: f64 = 18.0;
const STEP: f64 = 28.0;
const TOP: f64 = 64.0;

/// The page of these reports.
pub fn page(reports: &[PathReport]) -> String {
    let title =
        reports.first().map_or_else(String::new, |report| format!("Path to {}", report.target));
    let body: String = reports.iter().map(one).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{body}</main>\n</body>\n</html>\n",
        Escaped(&title)
    )
}

fn one(report: &PathReport) -> String {
    let mtu = &report.path_mtu;
    let mut text = format!("<h2>{}</h2>\n", Escaped(&report.address.to_string()));
    for finding in &report.findings {
        let remedy = finding
            .remedy
            .as_ref()
            .map_or_else(String::new, |remedy| format!(" Change: {remedy}."));
        let _ = writeln!(
            text,
            "<p class=\"prose\"><strong>{}.</strong>{}</p>",
            Escaped(&finding.text),
            Escaped(&remedy)
        );
    }
    text += "<dl>";
    let number = |bytes: Option<u32>| {
        bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes"))
    };
    let time = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".to_owned(), approx::time);
    let transfers = if report.bottleneck.is_some() { ", transfers aside," } else { "" };
    for (name, value) in [
        ("path MTU", format!("{} ({})", number(mtu.forward_bytes), mtu.confidence.word())),
        ("interface MTU", number(mtu.interface_bytes)),
        ("least round trip", time(report.rtt.min_s)),
        ("median round trip", time(report.rtt.median_s)),
        ("99th percentile", time(report.rtt.p99_s)),
        ("lost", format!("{} of {}", report.rtt.lost, report.rtt.sent)),
        (
            "sent",
            format!("{} bytes{transfers} in {}", report.sent_bytes, approx::time(report.elapsed_s)),
        ),
    ] {
        let _ = write!(text, "<dt>{name}</dt><dd>{}</dd>", Escaped(&value));
    }
    text += "</dl>\n";
    if !mtu.hops.is_empty() {
        text += &picture(report);
        text += &table(report);
    }
    text + &super::far_end_page::far_end(report)
}

/// A bar for each hop: the largest packet that comes to it.
fn picture(report: &PathReport) -> String {
    let hops = &report.path_mtu.hops;
    let most = hops.iter().filter_map(|hop| hop.mtu_bytes).max().unwrap_or(1).max(1);
    let height = TOP + STEP * hops.len() as f64 + 16.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" class=\"chart\" \
         aria-label=\"The largest packet that comes to each hop\"><style>.chart text{{fill:var(--ink);font-size:14px}}\
         .chart .title{{font-weight:600;font-size:16px}}.chart .soft{{fill:var(--soft)}}.chart .bar{{fill:var(--accent)}}\
         .chart .hole{{stroke:#d55e00;stroke-width:2;stroke-dasharray:5 4}}</style>\
         <text class=\"title\" x=\"0\" y=\"22\">The largest packet that comes to each hop</text>\
         <text class=\"soft\" x=\"0\" y=\"44\">bytes; a dashed line marks where larger packets vanish without a message</text>"
    );
    for (at, hop) in hops.iter().enumerate() {
        svg += &bar(hop, TOP + STEP * at as f64, most);
        let hole = report.path_mtu.black_hole.as_ref();
        if hole.is_some_and(|hole| hole.after_hop == Some(hop.hop)) {
            let y = TOP + STEP * at as f64 + f64::midpoint(STEP, BAR);
            let _ =
                write!(svg, "<line class=\"hole\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>");
        }
    }
    svg + "</svg>\n"
}

fn bar(hop: &HopReport, y: f64, most: u32) -> String {
    let length = hop.mtu_bytes.map_or(0.0, |mtu| ROOM * f64::from(mtu) / f64::from(most));
    let size = hop.mtu_bytes.map_or_else(|| "unknown".to_owned(), |mtu| mtu.to_string());
    let text = y + BAR - 4.0;
    format!(
        "<text x=\"0\" y=\"{text}\">{} {}</text><rect class=\"bar\" x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\"/>\
         <text x=\"{:.1}\" y=\"{text}\">{size}</text>",
        hop.hop,
        Escaped(&address(hop)),
        LEFT + length + 8.0
    )
}

fn address(hop: &HopReport) -> String {
    hop.address.map_or_else(|| "no answer".to_owned(), |address| address.to_string())
}

fn table(report: &PathReport) -> String {
    let mut rows = String::new();
    for hop in &report.path_mtu.hops {
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td class=\"word\">{}</td><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>",
            hop.hop,
            Escaped(&address(hop)),
            hop.rtt_s.map_or_else(|| "–".to_owned(), approx::time),
            hop.mtu_bytes.map_or_else(|| "–".to_owned(), |mtu| mtu.to_string()),
            Escaped(hop.note.as_deref().unwrap_or_default())
        );
    }
    format!(
        "<div class=\"wide\"><table>\n<thead><tr><th>hop</th><th class=\"word\">address</th><th>round trip</th>\
         <th>packets up to</th><th class=\"word\"></th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}
