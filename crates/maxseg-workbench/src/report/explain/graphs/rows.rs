//! The limits and the findings over time: a row of bars each.

use maxseg_core::advise::Case;

use super::super::super::chart::{Panel, Row, Span, Unit};
use super::super::super::words;
use super::super::colors::{NOTED, limit_color};
use super::{Clock, panel};

/// The limit at each time: a row for each limit.
pub(super) fn limits(case: &Case<'_>, clock: Clock) -> Option<Panel> {
    let spans = &case.diagnosis.spans;
    let rows = case.diagnosis.limits.iter().map(|limit| {
        let of = spans.iter().filter(|span| span.kind == limit.kind);
        let bars = of.map(|span| {
            let (from, to) = (clock.s(span.from), clock.s(span.to));
            let text =
                format!("{} from {} to {}", span.kind, words::moment(from), words::moment(to));
            Span { from, to, text }
        });
        Row {
            label: limit.kind.word().to_owned(),
            color: limit_color(limit.kind),
            spans: bars.collect(),
        }
    });
    let rows: Vec<Row> = rows.filter(|row| !row.spans.is_empty()).collect();
    let note =
        "A bar is what limited most of an interval; the shares count its other parts as well.";
    with_rows("limits", "Limits", rows).map(|panel| Panel { note: note.to_owned(), ..panel })
}

/// When each finding held.
pub(super) fn findings(case: &Case<'_>, clock: Clock) -> Option<Panel> {
    let rows = case.diagnosis.findings.iter().map(|finding| Row {
        label: finding.kind.word().to_owned(),
        color: NOTED,
        spans: vec![Span {
            from: clock.s(finding.from),
            to: clock.s(finding.to),
            text: format!("{}: {}", finding.kind.word(), finding.text),
        }],
    });
    with_rows("findings", "Findings", rows.collect())
}

fn with_rows(id: &'static str, title: &str, rows: Vec<Row>) -> Option<Panel> {
    (!rows.is_empty()).then(|| Panel { rows, ..panel(id, title, 0.0, Unit::Bytes, Vec::new()) })
}
