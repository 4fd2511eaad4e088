//! One connection: what limits it, its numbers over time, its state.

use maxseg_core::excerpt::escaped;
use maxseg_core::units::approx;
use maxseg_workbench::connections::{Connection, Point, Track};
use maxseg_workbench::report::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

use super::app::{App, shown_end, shown_owner};
use super::chart;
use super::metric::{Metric, whole};
use super::style::{DIM, HEADING, Styles};

/// Numbers over time: a heading, the number, and how it is written.
type Series = (&'static str, fn(&Point) -> f64, fn(f64) -> String);

const SERIES: [Series; 5] = [
    ("RTT", |point| point.rtt_s, time),
    ("RTO", |point| point.rto_s, time),
    ("cwnd", |point| point.cwnd_segments, |value| format!("{value}")),
    ("snd wnd", |point| point.window_bytes, size),
    ("in flight", |point| point.in_flight_bytes, size),
];
/// Columns of a heading and of a number beside its line: `max 32.0 Mbit/s` and a blank.
const NAME: usize = 10;
const VALUE: usize = 16;

fn time(seconds: f64) -> String {
    if seconds > 0.0 { approx::time(seconds) } else { "-".to_owned() }
}

fn size(bytes: f64) -> String {
    words::size(whole(bytes))
}

/// The selected connection, in its part of the screen.
pub(super) fn draw(app: &App, styles: Styles, frame: &mut Frame<'_>, area: Rect) {
    let block = Block::new().borders(Borders::TOP).border_style(DIM);
    let Some(track) = app.selected_track() else {
        frame.render_widget(block, area);
        return;
    };
    let connection = &track.connection;
    let title = format!(" {} → {} ", shown_end(connection.local), shown_end(connection.remote));
    let inner = block.inner(area);
    frame.render_widget(block.title(Span::styled(title, HEADING)), area);
    let verdict = verdict(connection, styles);
    let width = usize::from(inner.width.max(1));
    let length: usize = verdict.iter().map(|line| line.width().div_ceil(width).max(1)).sum();
    let lines = u16::try_from(length).unwrap_or(u16::MAX).min(inner.height / 2);
    let [words, numbers] =
        Layout::vertical([Constraint::Length(lines.max(1)), Constraint::Fill(1)]).areas(inner);
    frame.render_widget(Paragraph::new(verdict).wrap(Wrap { trim: true }), words);
    if inner.height >= 20 {
        let [over_time, facts] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(8)]).areas(numbers);
        over_time_of(track, styles, frame, over_time);
        frame.render_widget(Paragraph::new(facts_of(connection)).wrap(Wrap { trim: true }), facts);
    } else {
        over_time_of(track, styles, frame, numbers);
    }
}

/// What limits it, why that is unknown, and what else there is to know.
fn verdict(connection: &Connection, styles: Styles) -> Vec<Line<'static>> {
    let Some(found) = connection.diagnosis() else {
        let text = format!("{}: no tcp_info of this state", connection.state_name());
        return vec![Line::styled(text, DIM)];
    };
    let share = found.limits.first().map(|first| approx::whole_percent(first.share));
    let of_time = share.map(|share| format!(" {share} of the time")).unwrap_or_default();
    let because = found.unknown_because.map(|because| format!(": {because}")).unwrap_or_default();
    let mut lines = vec![Line::from(vec![
        Span::raw("limited by "),
        Span::styled(found.limited_by.word(), styles.limit(found.limited_by).patch(HEADING)),
        Span::raw(if because.is_empty() { of_time } else { because }),
    ])];
    let findings = connection.evidence().as_ref().map(maxseg_core::diagnose::socket_findings);
    let findings = findings.into_iter().flatten();
    lines.extend(findings.map(|finding| Line::raw(words::capital(&finding.text) + ".")));
    lines
}

fn over_time_of(track: &Track, styles: Styles, frame: &mut Frame<'_>, area: Rect) {
    let points: Vec<Point> = track.points.iter().copied().collect();
    let series = u16::try_from(SERIES.len()).unwrap_or(0);
    let lines = series.min(area.height.saturating_sub(2));
    let [chart, lines_area] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(lines)]).areas(area);
    let side = u16::try_from(NAME).unwrap_or(0);
    let end = u16::try_from(VALUE).unwrap_or(0);
    let [heading, plot, value] = Layout::horizontal([
        Constraint::Length(side),
        Constraint::Fill(1),
        Constraint::Length(end),
    ])
    .areas(chart);
    let most = chart::throughput(&points, styles, plot, frame.buffer_mut());
    frame.render_widget(Paragraph::new(legend(&points, styles)), heading);
    frame.render_widget(Paragraph::new(payload_now(&points, most)).right_aligned(), value);
    for ((name, of, shown), y) in SERIES.iter().zip(lines_area.y..lines_area.bottom()) {
        let row = Rect { y, height: 1, ..lines_area };
        let now = points.last().map_or_else(|| "-".to_owned(), |point| shown(of(point)));
        let marks = chart::line(&points, *of, row.width.saturating_sub(side + end));
        let line = Line::from(vec![
            Span::styled(format!("{name:NAME$}"), HEADING),
            Span::styled(marks, styles.payload()),
            Span::raw(format!("{now:>VALUE$}")),
        ]);
        frame.render_widget(line, row);
    }
}

/// The payload a second of the last bar, as the list has it, and below it what the highest bar is.
fn payload_now(points: &[Point], most_bps: f64) -> Vec<Line<'static>> {
    let Some(last) = points.last() else { return Vec::new() };
    let now = Metric::Payload.shown(Some(chart::payload_bps(last)));
    let most = (most_bps > 0.0).then(|| format!("max {}", approx::rate(most_bps)));
    let most = most.map(|most| Line::styled(most, DIM));
    [Line::raw(now)].into_iter().chain(most).collect()
}

/// What the bars are; what was sent again is named where there is any.
fn legend(points: &[Point], styles: Styles) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("payload", HEADING)];
    if points.iter().any(|point| point.resent_bps > 0.0) {
        lines.push(Line::styled("▒ resent", styles.resent()));
    }
    if points.is_empty() {
        lines.push(Line::styled("(no sample)", DIM));
    }
    lines
}

/// All numbers of the connection in a few lines.
fn facts_of(connection: &Connection) -> Vec<Line<'static>> {
    let metrics = Metric::ALL.into_iter().filter_map(|metric| {
        let value = metric.of(connection)?;
        Some(format!("{} {}", metric.title(), metric.shown(Some(value))))
    });
    let process = format!("process {}", shown_owner(connection.process.as_ref()));
    let congestion = connection
        .congestion
        .as_deref()
        .map(|name| format!("{} congestion control", escaped(name)));
    let netns = connection.netns.as_deref().map(|name| format!("namespace {}", escaped(name)));
    let facts: Vec<String> =
        [Some(connection.state_name().to_owned()), Some(process), congestion, netns]
            .into_iter()
            .flatten()
            .chain(metrics)
            .collect();
    vec![Line::raw(facts.join("   "))]
}
