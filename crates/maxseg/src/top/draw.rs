//! The screen: a title, tabs, the page, and keys.

use maxseg_core::excerpt::escaped;
use maxseg_workbench::environment::date_and_time;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::app::{App, Position, Source, Tab};
use super::style::{DIM, HEADING, SELECTED, Styles};
use super::{connection_list, detail, keys, pages};
use crate::wrap::wrapped;

/// Below so many rows or columns there is no list.
const LEAST: (u16, u16) = (24, 6);
/// From so many columns on, the detail stands beside the list.
const WIDE: u16 = 160;
/// The help is no wider.
const MOST_HELP: u16 = 92;
/// Lines of the detail below a list.
const DETAIL_LINES: u16 = 11;

/// Draws all of it.
pub(crate) fn draw(app: &mut App, color: bool, frame: &mut Frame<'_>) {
    let styles = Styles { color };
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (columns, rows) = LEAST;
        let what = format!("too small: {columns}x{rows} is the least; q quits");
        frame.render_widget(Paragraph::new(what).wrap(Wrap { trim: true }), area);
        return;
    }
    let slider = u16::from(matches!(app.source, Source::Recording(_)));
    let [title, tabs, page, time, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(slider),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(title_line(app, title.width), title);
    frame.render_widget(tab_line(app), tabs);
    match app.tab {
        Tab::Connections => connections(app, styles, frame, page),
        Tab::Findings => pages::findings(app, styles, frame, page),
        Tab::Listening => pages::listening(app, styles, frame, page),
    }
    if let Source::Recording(position) = &app.source {
        frame.render_widget(slider_line(position, time.width), time);
    }
    frame.render_widget(foot_line(app, styles), foot);
    if app.shows_help {
        help(app, frame, area);
    }
}

fn connections(app: &mut App, styles: Styles, frame: &mut Frame<'_>, page: Rect) {
    if app.is_detailed {
        return detail::draw(app, styles, frame, page);
    }
    let (list, below) = if page.width >= WIDE {
        let [list, beside] =
            Layout::horizontal([Constraint::Fill(2), Constraint::Fill(1)]).areas(page);
        (list, Some(beside))
    } else if page.height >= DETAIL_LINES + 5 {
        let [list, below] =
            Layout::vertical([Constraint::Min(5), Constraint::Length(DETAIL_LINES)]).areas(page);
        (list, Some(below))
    } else {
        (page, None)
    };
    connection_list::draw(app, styles, frame, list);
    if let Some(below) = below {
        detail::draw(app, styles, frame, below);
    }
}

fn title_line(app: &App, width: u16) -> Line<'static> {
    let latest = app.history.latest();
    let days = match &app.source {
        Source::Recording(position) => has_days(position),
        Source::Live { .. } => false,
    };
    let clock = latest.time_s.map(|time_s| clock(time_s, days)).unwrap_or_default();
    let state = match &app.source {
        Source::Live { interval_s, recorded_to } => {
            let recorded =
                recorded_to.as_ref().map(|file| format!(", recorded to {}", escaped(file)));
            let every = format!("every {}", maxseg_core::units::approx::time(*interval_s));
            // What is paused is the screen alone.
            let shown = if app.is_paused { "PAUSED" } else { &every };
            format!("{shown}{}", recorded.unwrap_or_default())
        }
        Source::Recording(_) if app.is_paused => "recording, stopped".to_owned(),
        Source::Recording(_) => "recording, plays".to_owned(),
    };
    let title = format!("maxseg top  {}  {clock} UTC  {state}", escaped(&app.host));
    let missed = match latest.missed {
        0 => String::new(),
        missed => format!("  {missed} missed"),
    };
    let count = match app.tab {
        Tab::Listening => app.listeners().len(),
        Tab::Connections | Tab::Findings => app.rows.len(),
    };
    let right = format!("{count} shown{missed}");
    let gap = usize::from(width).saturating_sub(title.chars().count() + right.chars().count());
    Line::from(vec![
        Span::styled(title, HEADING),
        Span::raw(" ".repeat(gap.max(2))),
        Span::raw(right),
    ])
}

fn tab_line(app: &App) -> Line<'static> {
    let mut spans = Vec::new();
    for (tab, name) in Tab::ALL {
        let style = if tab == app.tab { SELECTED } else { DIM };
        spans.push(Span::styled(format!(" {name} "), style));
        spans.push(Span::raw(" "));
    }
    let arrow = if app.ascending { "▲" } else { "▼" };
    let held = if app.holds_order { ", order held" } else { "" };
    spans.push(Span::styled(format!("  sorted by {} {arrow}{held}", app.metric.title()), DIM));
    if app.types_filter || !app.filter.is_empty() {
        let cursor = if app.types_filter { "▏" } else { "" };
        spans.push(Span::styled(format!("  /{}{cursor}", escaped(&app.filter)), HEADING));
    }
    Line::from(spans)
}

fn foot_line(app: &App, styles: Styles) -> Line<'static> {
    if let Some(why) = app.recording_ended.as_ref().filter(|_| !app.types_filter) {
        let note = format!("the recording has ended: {}", escaped(why));
        return Line::styled(note, styles.alarm());
    }
    let keys = if app.types_filter {
        "Enter: done  Esc: no filter"
    } else if matches!(app.source, Source::Recording(_)) {
        "? help  q quit  Space play  ← → step  Enter detail  < > column  s sort  / filter"
    } else {
        "? help  q quit  p pause  Enter detail  < > column  s sort  h hold  / filter"
    };
    Line::styled(keys, DIM)
}

/// Where in its recording a snapshot is.
fn slider_line(position: &Position, width: u16) -> Line<'static> {
    let [from, to] =
        [position.from_s, position.to_s].map(|time_s| clock(time_s, has_days(position)));
    let count = format!("  sample {} of {}", position.frame + 1, position.frames);
    let room = usize::from(width).saturating_sub(from.len() + to.len() + count.len() + 2).max(3);
    let last = position.frames.saturating_sub(1).max(1);
    let place = position.frame * (room - 1) / last;
    let line = format!("{from} {}●{} {to}", "─".repeat(place), "─".repeat(room - 1 - place));
    Line::from(vec![Span::raw(line), Span::styled(count, DIM)])
}

fn help(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let width = area.width.min(MOST_HELP);
    let lines = help_lines(usize::from(width.saturating_sub(2)));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2).min(area.height);
    app.last_help_line = lines.len().saturating_sub(usize::from(height.saturating_sub(2)));
    app.help_line = app.help_line.min(app.last_help_line);
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    let window = Rect { x, y, width, height };
    frame.render_widget(Clear, window);
    let mut block = Block::bordered().title(" Keys ");
    if app.last_help_line > 0 {
        block = block.title_bottom(" ↑ ↓ scroll ");
    }
    let lines: Vec<Line<'_>> = lines.into_iter().skip(app.help_line).collect();
    frame.render_widget(Paragraph::new(lines).block(block), window);
}

/// Keys and what they do beside each other, or below where `width` has no room for that.
fn help_lines(width: usize) -> Vec<Line<'static>> {
    let widest = |of: fn(&(&str, &str)) -> usize| keys::HELP.iter().map(of).max().unwrap_or(0);
    let (keys, words) = (widest(|(key, _)| key.chars().count()), widest(|(_, what)| what.len()));
    let mut lines = Vec::new();
    for (key, what) in keys::HELP {
        let heading = Span::styled(key, HEADING);
        if keys + 2 + words <= width {
            let gap = Span::raw(" ".repeat(keys + 2 - key.chars().count()));
            lines.push(Line::from(vec![heading, gap, Span::raw(what)]));
        } else {
            lines.push(Line::from(heading));
            let text = wrapped(what, width, "  ");
            lines.extend(text.lines().map(|line| Line::raw(line.to_owned())));
        }
    }
    lines
}

/// Whether a recording begins on another day than it ends.
fn has_days(position: &Position) -> bool {
    let day = |seconds: f64| super::metric::whole(seconds.floor()) / 86_400;
    day(position.from_s) != day(position.to_s)
}

/// The time in UTC, with its date where days differ.
fn clock(seconds: f64, has_days: bool) -> String {
    if has_days {
        date_and_time(super::metric::whole(seconds.floor()))
    } else {
        time_of_day(seconds)
    }
}

/// The time of day in UTC.
pub(super) fn time_of_day(seconds: f64) -> String {
    let seconds = super::metric::whole(seconds.floor()) % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
