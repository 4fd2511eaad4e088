//! A test of a path as a page that needs nothing else.

use maud::{Markup, html};
use maxseg_core::units::approx;

use super::super::chart::{Bar, BarChart, BarKind};
use super::super::page::{facts, lead, whole_page};
use super::super::table::{Cell, Column, table};
use super::far_end_page::far_end;
use super::verdict::{sentence, told_fault, untold};
use crate::path::{HopReport, PathReport};

/// The page of these reports.
pub fn page(reports: &[PathReport]) -> String {
    let title =
        reports.first().map_or_else(String::new, |report| format!("Path to {}", report.target));
    whole_page(&title, &html! { @for report in reports { (one(report)) } })
}

fn one(report: &PathReport) -> Markup {
    let told = told_fault(report).and_then(|told| told.remedy.as_ref());
    html! {
        h2 { (report.address) }
        (lead(&sentence(report)))
        @if let Some(remedy) = told { p.prose { "Change: " (remedy) "." } }
        @for finding in untold(report) {
            p.prose {
                strong { (finding.text) "." }
                @if let Some(remedy) = &finding.remedy { " Change: " (remedy) "." }
            }
        }
        @if let Some(fault) = &report.far_end_fault { p.prose { strong { (fault.text) "." } } }
        (facts(&numbers(report)))
        @if !report.path_mtu.hops.is_empty() { (hops(report).to_html()) (hop_table(report)) }
        (far_end(report))
    }
}

fn numbers(report: &PathReport) -> [(&'static str, String); 8] {
    let mtu = &report.path_mtu;
    let number = |bytes: Option<u32>| {
        bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes"))
    };
    let time = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".to_owned(), approx::time);
    let transfers = if report.bottleneck.is_some() { ", transfers aside," } else { "" };
    let way_back = mtu.reverse.as_ref().map_or_else(
        || "unknown, without a far end".to_owned(),
        |reverse| format!("{} ({})", number(reverse.bytes), reverse.confidence.word()),
    );
    let sent =
        format!("{} bytes{transfers} in {}", report.sent_bytes, approx::time(report.elapsed_s));
    [
        ("path MTU", format!("{} ({})", number(mtu.forward_bytes), mtu.confidence.word())),
        ("path MTU of the way back", way_back),
        ("interface MTU", number(mtu.interface_bytes)),
        ("least round trip", time(report.rtt.min_s)),
        ("median round trip", time(report.rtt.median_s)),
        ("99th percentile", time(report.rtt.p99_s)),
        ("lost", format!("{} of {}", report.rtt.lost, report.rtt.sent)),
        ("sent", sent),
    ]
}

/// A bar for each hop: the largest packet that comes to it.
fn hops(report: &PathReport) -> BarChart {
    let hole = report.path_mtu.black_hole.as_ref();
    let bar = |hop: &HopReport| Bar {
        name: format!("{} {}", hop.hop, address(hop)),
        length: hop.mtu_bytes.map_or(0.0, f64::from),
        said: hop.mtu_bytes.map_or_else(|| "unknown".to_owned(), |mtu| format!("{mtu} bytes")),
        is_last_before_line: hole.is_some_and(|hole| hole.after_hop == Some(hop.hop)),
        ..Bar::default()
    };
    let subtitle = match hole {
        Some(_) => "a dashed line marks where larger packets vanish without a message",
        None => "",
    };
    BarChart {
        title: "The largest packet that comes to each hop".to_owned(),
        subtitle: subtitle.to_owned(),
        kind: BarKind::Size,
        bars: report.path_mtu.hops.iter().map(bar).collect(),
    }
}

fn address(hop: &HopReport) -> String {
    hop.address.map_or_else(|| "no answer".to_owned(), |address| address.to_string())
}

fn hop_table(report: &PathReport) -> Markup {
    let columns = [
        Column::number("hop"),
        Column::word("address"),
        Column::number("round trip"),
        Column::number("packets up to (bytes)"),
        Column::word("note"),
    ];
    let line = |hop: &HopReport| -> Vec<Cell> {
        vec![
            hop.hop.to_string().into(),
            address(hop).into(),
            Cell::known(hop.rtt_s, approx::time),
            Cell::known(hop.mtu_bytes.map(f64::from), |mtu| format!("{mtu:.0}")),
            hop.note.as_deref().unwrap_or_default().into(),
        ]
    };
    table("Hops", &columns, report.path_mtu.hops.iter().map(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{FarEndFault, MtuReport, RttMethod, RttReport};

    #[test]
    fn names_and_notes_of_others_are_text() {
        let hostile = "</dd><script>alert(1)</script>\"&".to_owned();
        let hop = HopReport {
            hop: 1,
            address: None,
            rtt_s: None,
            mtu_bytes: Some(1500),
            stated_mtu_bytes: None,
            note: Some(hostile.clone()),
        };
        let rtt = RttReport::of(RttMethod::IcmpEcho, &[]);
        let path_mtu =
            MtuReport { hops: vec![hop], reason: Some(hostile.clone()), ..MtuReport::default() };
        let address = "192.0.2.7".parse().unwrap();
        let report = PathReport {
            far_end_fault: Some(FarEndFault { text: hostile.clone(), hint: None }),
            ..PathReport::begun(hostile, address, rtt, path_mtu)
        };
        let page = page(&[report]);
        assert_eq!(page.matches("<script>").count(), 1, "the page's own");
        assert!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count() >= 4, "{page}");
    }
}
