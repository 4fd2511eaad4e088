//! The lab's part of the report: what its links did, how late they were, what flows asked for and got.

use maud::{Markup, html};
use maxseg_core::outcome::{LabFlow, LabLink, Lateness, LatenessBucket};
use maxseg_core::results::Group;
use maxseg_core::units::Bytes;

use super::chart::{Histogram, Range};
use super::proof::{CAUSES, LossUnit, PointProof, lateness_of_all, mss_advertised, point_proofs};
use super::table::{Cell, Column, table};
use super::words;

/// The section; empty where the lab gave no account.
pub(super) fn lab_section(groups: &[Group<'_>]) -> Markup {
    let points = point_proofs(groups);
    html! {
        @if !points.is_empty() {
            h2 { "What the lab did" }
            @if let Some(all) = lateness_of_all(&points) { (picture(&all).to_html()) }
            (runs(&points))
            (links(&points))
            (flows(&points))
        }
    }
}

/// A table with a heading; its first column is of the points, which a scenario by itself has not.
fn titled(title: &str, columns: &[Column], lines: Vec<Vec<Cell>>, points: &[PointProof]) -> Markup {
    let from = usize::from(points.iter().all(|point| point.heading().is_empty()));
    let lines = lines.into_iter().map(|mut line| line.split_off(from)).collect::<Vec<_>>();
    html! { @if !lines.is_empty() { h3 { (title) } (table(title, &columns[from..], lines)) } }
}

fn count(count: u64) -> Cell {
    Cell::number(words::grouped(count), count as f64)
}

fn runs(points: &[PointProof]) -> Markup {
    let heads = [
        Column::word("point"),
        Column::number("late by p50"),
        Column::number("p99"),
        Column::number("max"),
        Column::number("dropped by the kernel"),
        Column::number("CPU"),
        Column::number("the relay's"),
        Column::word("valid"),
    ];
    let row = |point: &PointProof| {
        let proof = &point.proof;
        let late =
            |of: fn(&Lateness) -> f64| Cell::known(proof.lateness.as_ref().map(of), words::time);
        vec![
            point.heading().into(),
            late(|late| late.p50_s),
            late(|late| late.p99_s),
            late(|late| late.max_s),
            count(proof.kernel_drops),
            Cell::number(words::time(proof.cpu_s), proof.cpu_s),
            Cell::known(proof.relay_cpu_s, words::time),
            if proof.is_valid() {
                "yes".into()
            } else {
                format!("! no: {}", proof.invalid_because.join("; ")).into()
            },
        ]
    };
    titled("Relay and kernel", &heads, points.iter().map(row).collect(), points)
}

fn links(points: &[PointProof]) -> Markup {
    let all = || points.iter().flat_map(|point| point.proof.links.iter());
    let causes: Vec<_> =
        CAUSES.iter().filter(|cause| all().any(|link| (cause.count)(link) > 0)).collect();
    let fixed = [
        Column::word("point"),
        Column::word("link"),
        Column::number("packets"),
        Column::number("super-packets"),
        Column::number("damaged"),
        Column::word("unit"),
        Column::number("observed"),
        Column::number("configured"),
    ];
    let heads: Vec<Column> =
        fixed.into_iter().chain(causes.iter().map(|cause| Column::number(cause.words))).collect();
    let row = |point: &PointProof, link: &LabLink| {
        let fixed = [
            point.heading().into(),
            link.link.clone().into(),
            count(link.packets),
            count(link.super_packets),
            count(link.damaged),
            Cell::from(match point.unit {
                LossUnit::Packet => "packets",
                LossUnit::SuperPacket => "super-packets",
            }),
            Cell::known(point.unit.share_damaged(link), words::share),
            Cell::known(link.damaged_expected, words::share),
        ];
        let counts = causes.iter().map(|cause| count((cause.count)(link)));
        fixed.into_iter().chain(counts).collect::<Vec<Cell>>()
    };
    let rows: Vec<Vec<Cell>> = points
        .iter()
        .flat_map(|point| point.proof.links.iter().map(move |link| row(point, link)))
        .collect();
    titled("Packets by link", &heads, rows, points)
}

fn flows(points: &[PointProof]) -> Markup {
    let heads = [
        Column::word("point"),
        Column::word("flow"),
        Column::word("congestion control"),
        Column::number("MSS asked"),
        Column::number("advertised"),
        Column::number("effective"),
        Column::number("window asked"),
        Column::number("advertised"),
        Column::number("most in flight"),
        Column::word("why they differ"),
    ];
    let written = |count: Option<u64>, write: fn(u64) -> String| {
        count.map_or_else(|| "–".into(), |count| Cell::number(write(count), count as f64))
    };
    let bytes = |count: Option<u64>| written(count, |count| Bytes::new(count).to_string());
    let plain = |count: Option<u64>| written(count, |count| count.to_string());
    let row = |point: &PointProof, flow: &LabFlow| {
        let reasons: Vec<&str> = [&flow.mss_reason, &flow.window_reason]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        vec![
            point.heading().into(),
            format!("flow.{}", flow.flow).into(),
            flow.congestion.clone().unwrap_or_default().into(),
            plain(flow.mss_asked),
            mss_advertised(flow).unwrap_or_else(|| "–".to_owned()).into(),
            plain(flow.mss_effective),
            bytes(flow.window_asked),
            bytes(flow.window_advertised),
            bytes(flow.window_effective),
            reasons.join("; ").into(),
        ]
    };
    let rows: Vec<Vec<Cell>> = points
        .iter()
        .flat_map(|point| point.proof.flows.iter().map(move |flow| row(point, flow)))
        .collect();
    titled("Asked for, advertised, in effect", &heads, rows, points)
}

fn picture(lateness: &Lateness) -> Histogram {
    let all: u64 = lateness.histogram.iter().map(|bucket| bucket.packets).sum();
    let range = |bucket: &LatenessBucket| {
        let edge = words::time(bucket.up_to_s);
        let share = bucket.packets as f64 / all.max(1) as f64;
        let words = format!(
            "up to {edge}: {} packets, {}",
            words::grouped(bucket.packets),
            words::share(share)
        );
        Range { label: format!("≤ {edge}"), share, words }
    };
    let [p50, p99, max] = [lateness.p50_s, lateness.p99_s, lateness.max_s].map(words::time);
    Histogram {
        title: "How late packets left the relay".to_owned(),
        subtitle: format!(
            "{} packets of all lab runs; at the worst p50 {p50}, p99 {p99}, max {max}",
            words::grouped(lateness.packets)
        ),
        x_title: "later than their time, beyond the range before".to_owned(),
        y_title: "share of the packets".to_owned(),
        ranges: lateness.histogram.iter().map(range).collect(),
    }
}
