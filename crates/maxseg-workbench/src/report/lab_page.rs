//! The lab's part of the report: what its links did, how late they were, what flows asked for and got.

use std::fmt::Write as _;

use maxseg_core::outcome::{LabFlow, LabLink, Lateness};
use maxseg_core::results::Group;
use maxseg_core::units::Bytes;

use super::chart::{Bar, Histogram};
use super::escaped::Escaped;
use super::proof::{CAUSES, LossUnit, PointProof, lateness_of_all, mss_advertised, point_proofs};
use super::words;

/// The section; empty where the lab gave no account.
pub(super) fn lab_section(groups: &[Group<'_>]) -> String {
    let points = point_proofs(groups);
    if points.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>What the lab did</h2>\n");
    text += &lateness_of_all(&points).map(|all| picture(&all).to_svg()).unwrap_or_default();
    text += &runs(&points);
    text += &links(&points);
    text += &flows(&points);
    text
}

/// A cell of a table, to the left where it is a word.
enum Field {
    Number(String),
    Word(String),
}

use Field::{Number, Word};

fn table(title: &str, heads: &[Field], rows: &[Vec<Field>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |tag: &str, fields: &[Field]| -> String {
        let cell = |field: &Field| match field {
            Number(text) => format!("<{tag}>{}</{tag}>", Escaped(text)),
            Word(text) => format!("<{tag} class=\"word\">{}</{tag}>", Escaped(text)),
        };
        format!("<tr>{}</tr>", fields.iter().map(cell).collect::<String>())
    };
    let mut text = format!(
        "<h3>{title}</h3>\n<div class=\"wide\"><table>\n<thead>{}</thead>\n<tbody>\n",
        line("th", heads)
    );
    for row in rows {
        let _ = writeln!(text, "{}", line("td", row));
    }
    text += "</tbody>\n</table></div>\n";
    text
}

fn number(text: impl Into<String>) -> Field {
    Number(text.into())
}

fn word(text: impl Into<String>) -> Field {
    Word(text.into())
}

/// A dash for the unknown.
fn known<T>(value: Option<T>, write: impl Fn(T) -> String) -> Field {
    Number(value.map_or_else(|| "–".to_owned(), write))
}

fn runs(points: &[PointProof]) -> String {
    let heads = [
        word("point"),
        number("late by p50"),
        number("p99"),
        number("max"),
        number("dropped by the kernel"),
        number("CPU"),
        number("the relay's"),
        word("valid"),
    ];
    let row = |point: &PointProof| {
        let proof = &point.proof;
        let late = |of: fn(&Lateness) -> f64| known(proof.lateness.as_ref().map(of), words::time);
        vec![
            word(point.heading()),
            late(|late| late.p50_s),
            late(|late| late.p99_s),
            late(|late| late.max_s),
            number(words::grouped(proof.kernel_drops)),
            number(words::time(proof.cpu_s)),
            known(proof.relay_cpu_s, words::time),
            word(if proof.is_valid() {
                "yes".to_owned()
            } else {
                format!("! no: {}", proof.invalid_because.join("; "))
            }),
        ]
    };
    table("Relay and kernel", &heads, &points.iter().map(row).collect::<Vec<_>>())
}

fn links(points: &[PointProof]) -> String {
    let all = || points.iter().flat_map(|point| point.proof.links.iter());
    let causes: Vec<_> =
        CAUSES.iter().filter(|cause| all().any(|link| (cause.count)(link) > 0)).collect();
    let fixed = [
        word("point"),
        word("link"),
        number("packets"),
        number("super-packets"),
        number("damaged"),
        word("unit"),
        number("observed"),
        number("configured"),
    ];
    let heads: Vec<Field> =
        fixed.into_iter().chain(causes.iter().map(|cause| number(cause.words))).collect();
    let row = |point: &PointProof, link: &LabLink| {
        let fixed = [
            word(point.heading()),
            word(link.link.clone()),
            number(words::grouped(link.packets)),
            number(words::grouped(link.super_packets)),
            number(words::grouped(link.damaged)),
            word(match point.unit {
                LossUnit::Packet => "packets",
                LossUnit::SuperPacket => "super-packets",
            }),
            known(point.unit.share_damaged(link), words::share),
            known(link.damaged_expected, words::share),
        ];
        let counts = causes.iter().map(|cause| number(words::grouped((cause.count)(link))));
        fixed.into_iter().chain(counts).collect::<Vec<Field>>()
    };
    let rows: Vec<Vec<Field>> = points
        .iter()
        .flat_map(|point| point.proof.links.iter().map(move |link| row(point, link)))
        .collect();
    table("Packets by link", &heads, &rows)
}

fn flows(points: &[PointProof]) -> String {
    let heads = [
        word("point"),
        word("flow"),
        word("congestion control"),
        number("MSS asked"),
        number("advertised"),
        number("effective"),
        number("window asked"),
        number("advertised"),
        number("most in flight"),
        word("why they differ"),
    ];
    let bytes = |count: Option<u64>| known(count, |count| Bytes::new(count).to_string());
    let plain = |count: Option<u64>| known(count, |count| count.to_string());
    let row = |point: &PointProof, flow: &LabFlow| {
        let reasons: Vec<&str> = [&flow.mss_reason, &flow.window_reason]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        vec![
            word(point.heading()),
            word(format!("flow.{}", flow.flow)),
            word(flow.congestion.clone().unwrap_or_default()),
            plain(flow.mss_asked),
            known(mss_advertised(flow), |mss| mss),
            plain(flow.mss_effective),
            bytes(flow.window_asked),
            bytes(flow.window_advertised),
            bytes(flow.window_effective),
            word(reasons.join("; ")),
        ]
    };
    let rows: Vec<Vec<Field>> = points
        .iter()
        .flat_map(|point| point.proof.flows.iter().map(move |flow| row(point, flow)))
        .collect();
    table("Asked for, advertised, in effect", &heads, &rows)
}

fn picture(lateness: &Lateness) -> Histogram {
    let all: u64 = lateness.histogram.iter().map(|bucket| bucket.packets).sum();
    let bar = |bucket: &maxseg_core::outcome::LatenessBucket| {
        let edge = words::time(bucket.up_to_s);
        let share = bucket.packets as f64 / all.max(1) as f64;
        let words = format!(
            "up to {edge}: {} packets, {}",
            words::grouped(bucket.packets),
            words::share(share)
        );
        Bar { label: format!("≤ {edge}"), share, words }
    };
    let [p50, p99, max] = [lateness.p50_s, lateness.p99_s, lateness.max_s].map(words::time);
    Histogram {
        title: "How late packets left the relay".to_owned(),
        subtitle: format!(
            "{} packets of all lab runs; at the worst p50 {p50}, p99 {p99}, max {max}",
            words::grouped(lateness.packets)
        ),
        x_title: "later than their time, and more than the bar before".to_owned(),
        bars: lateness.histogram.iter().map(bar).collect(),
    }
}
