//! A test of a path as a page that needs nothing else.

use std::fmt::Write as _;

use maxseg_core::units::approx;

use super::super::escaped::Escaped;
use super::super::html::whole_page;
use super::bars::{Bar, picture};
use crate::path::{HopReport, PathReport};

/// The page of these reports.
pub fn page(reports: &[PathReport]) -> String {
    let title =
        reports.first().map_or_else(String::new, |report| format!("Path to {}", report.target));
    let body: String = reports.iter().map(one).collect();
    whole_page(&title, &body)
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
    if let Some(fault) = &report.far_end_fault {
        let _ = writeln!(text, "<p class=\"prose\"><strong>{}.</strong></p>", Escaped(&fault.text));
    }
    text += "<dl>";
    let number = |bytes: Option<u32>| {
        bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes"))
    };
    let time = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".to_owned(), approx::time);
    let transfers = if report.bottleneck.is_some() { ", transfers aside," } else { "" };
    let way_back = mtu.reverse.as_ref().map_or_else(
        || "unknown, without a far end".to_owned(),
        |reverse| format!("{} ({})", number(reverse.bytes), reverse.confidence.word()),
    );
    for (name, value) in [
        ("path MTU", format!("{} ({})", number(mtu.forward_bytes), mtu.confidence.word())),
        ("path MTU of the way back", way_back),
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
        text += &hops(report);
        text += &table(report);
    }
    text + &super::far_end_page::far_end(report)
}

/// A bar for each hop: the largest packet that comes to it.
fn hops(report: &PathReport) -> String {
    let hole = report.path_mtu.black_hole.as_ref();
    let bar = |hop: &HopReport| Bar {
        name: format!("{} {}", hop.hop, address(hop)),
        length: hop.mtu_bytes.map_or(0.0, f64::from),
        said: hop.mtu_bytes.map_or_else(|| "unknown".to_owned(), |mtu| mtu.to_string()),
        is_last_before_line: hole.is_some_and(|hole| hole.after_hop == Some(hop.hop)),
        ..Bar::default()
    };
    let bars: Vec<Bar> = report.path_mtu.hops.iter().map(bar).collect();
    let subtitle = "bytes; a dashed line marks where larger packets vanish without a message";
    picture("The largest packet that comes to each hop", subtitle, &bars)
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
