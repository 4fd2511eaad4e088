//! The list of connections: as many columns as there is room for, the chosen one always.

use std::net::SocketAddr;

use maxseg_core::excerpt::{escaped, shortened};
use maxseg_workbench::connections::{Connection, Track};
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::app::{App, shown_end, shown_owner};
use super::metric::Metric;
use super::style::{DIM, HEADING, SELECTED, Styles};

/// Columns of the process, at most, and of the limit.
const PROCESS: usize = 16;
const LIMIT: usize = 15;
/// Columns of an address: less is cut in the middle.
const END: std::ops::RangeInclusive<usize> = 15..=47;
/// Columns of an address below which process, limit and namespace make way.
const LEAST_END: usize = 8;
/// Columns of a number.
const NUMBER: usize = 11;

/// The list, in its part of the screen.
pub(super) fn draw(app: &mut App, styles: Styles, frame: &mut Frame<'_>, area: Rect) {
    app.set_room(usize::from(area.height.saturating_sub(1)));
    if app.rows.is_empty() {
        let why = if app.filter.is_empty() {
            "no TCP connections"
        } else {
            "no connection matches the filter"
        };
        frame.render_widget(Line::styled(why, DIM), area);
        return;
    }
    let tracks: Vec<&Track> = app
        .rows
        .iter()
        .skip(app.first_row)
        .take(app.room)
        .filter_map(|key| app.history.track(key))
        .collect();
    let columns = Columns::fitting(app, &tracks, usize::from(area.width));
    let selected = app.selected_row().map(|row| row.saturating_sub(app.first_row));
    let rows = tracks.iter().enumerate().map(|(at, track)| {
        let row = columns.row(&track.connection, styles);
        if Some(at) == selected {
            row.style(SELECTED)
        } else if track.closed_s.is_some() {
            row.style(DIM)
        } else {
            row
        }
    });
    let table = Table::new(rows, columns.widths()).header(columns.header(app, styles));
    frame.render_widget(table, area);
}

struct Columns {
    has_netns: bool,
    has_state: bool,
    end: usize,
    /// `None` where there is no room for it.
    process: Option<usize>,
    has_limit: bool,
    metrics: Vec<Metric>,
    chosen: Metric,
}

impl Columns {
    /// What fits: both ends and the chosen number always, the limit and the process before others from the left.
    fn fitting(app: &App, tracks: &[&Track], width: usize) -> Self {
        let ends =
            tracks.iter().flat_map(|track| [track.connection.local, track.connection.remote]);
        let widest = ends.map(|end| shown_end(end).len()).max().unwrap_or(0);
        let has_netns = tracks.iter().any(|track| track.connection.netns.is_some());
        let process = tracks.iter().map(|track| shown_owner(track.connection.process.as_ref()));
        let process = process.map(|name| name.chars().count()).max().unwrap_or(0);
        let process = process.clamp("process".len(), PROCESS);
        let chosen_room = NUMBER + 1;
        let of_netns = if has_netns { PROCESS + 1 } else { 0 };
        let has_room = |columns| columns + chosen_room + 2 * (LEAST_END + 1) <= width;
        let has_netns = has_netns && has_room(of_netns);
        let of_netns = if has_netns { of_netns } else { 0 };
        let has_limit = has_room(of_netns + LIMIT + 1);
        let fixed = of_netns + if has_limit { LIMIT + 1 } else { 0 };
        let process = Some(process).filter(|process| has_limit && has_room(fixed + process + 1));
        let fixed = fixed + process.map_or(0, |process| process + 1);
        let for_ends = width.saturating_sub(fixed + chosen_room) / 2;
        let end = widest.clamp(*END.start(), *END.end()).min(for_ends.saturating_sub(1));
        let mut left = width.saturating_sub(fixed + chosen_room + 2 * (end + 1));
        let has_state = left >= 12;
        left = left.saturating_sub(if has_state { 12 } else { 0 });
        let more = left / (NUMBER + 1);
        let others = Metric::ALL.into_iter().filter(|metric| *metric != app.metric).take(more);
        let others: Vec<Metric> = others.collect();
        let is_shown = |metric: &Metric| *metric == app.metric || others.contains(metric);
        let metrics = Metric::ALL.into_iter().filter(is_shown).collect();
        Self { has_netns, has_state, end, process, has_limit, metrics, chosen: app.metric }
    }

    fn widths(&self) -> Vec<Constraint> {
        let length =
            |columns: usize| Constraint::Length(u16::try_from(columns).unwrap_or(u16::MAX));
        let netns = self.has_netns.then(|| length(PROCESS));
        let state = self.has_state.then(|| length(11));
        netns
            .into_iter()
            .chain([length(self.end), length(self.end)])
            .chain(self.process.map(length))
            .chain(state)
            .chain(self.metrics.iter().map(|_| length(NUMBER)))
            .chain(self.has_limit.then(|| length(LIMIT)))
            .collect()
    }

    fn header(&self, app: &App, styles: Styles) -> Row<'static> {
        let word = |text: &'static str| Cell::from(Span::styled(text, HEADING));
        let number = |metric: &Metric| {
            let arrow = if app.ascending { "▲" } else { "▼" };
            let (text, style) = if *metric == self.chosen {
                (format!("{}{arrow}", metric.title()), styles.chosen())
            } else {
                (metric.title().to_owned(), HEADING)
            };
            Cell::from(Line::styled(text, style).right_aligned())
        };
        let netns = self.has_netns.then(|| word("namespace"));
        let state = self.has_state.then(|| word("state"));
        let cells = netns
            .into_iter()
            .chain([word("local"), word("remote")])
            .chain(self.process.map(|_| word("process")))
            .chain(state)
            .chain(self.metrics.iter().map(number))
            .chain(self.has_limit.then(|| word("limited by")));
        Row::new(cells.collect::<Vec<_>>())
    }

    fn row(&self, connection: &Connection, styles: Styles) -> Row<'static> {
        let text =
            |text: String, most: usize| Cell::from(shortened(&text, most.max(1)).into_owned());
        let number = |metric: &Metric| {
            let shown = metric.shown(metric.of(connection));
            let line = Line::from(shown).right_aligned();
            Cell::from(if *metric == self.chosen { line.style(styles.chosen()) } else { line })
        };
        let netns = self.has_netns.then(|| {
            text(escaped(connection.netns.as_deref().unwrap_or("-")).into_owned(), PROCESS)
        });
        let state = self.has_state.then(|| text(connection.state_name().to_owned(), 11));
        let process = shown_owner(connection.process.as_ref());
        let ends = [connection.local, connection.remote];
        let cells = netns
            .into_iter()
            .chain(ends.map(|end| Cell::from(end_within(end, self.end))))
            .chain(self.process.map(|room| text(process, room)))
            .chain(state)
            .chain(self.metrics.iter().map(number))
            .chain(self.has_limit.then(|| limit(connection, styles)));
        Row::new(cells.collect::<Vec<_>>())
    }
}

/// An end in so many columns: its port is whole, since the last digits of a port look like another one, and its address is cut.
fn end_within(end: SocketAddr, most: usize) -> String {
    let (text, port) = (shown_end(end), format!(":{}", end.port()));
    if text.len() <= most {
        return text;
    }
    let address = text.strip_suffix(&port).unwrap_or(&text);
    match most.saturating_sub(port.len()) {
        0 => end.port().to_string(),
        room => format!("{}{port}", shortened(address, room)),
    }
}

/// The verdict; of a closed connection with a mark.
fn limit(connection: &Connection, styles: Styles) -> Cell<'static> {
    let limit = connection.diagnosis().map(|found| found.limited_by);
    let word = if connection.is_between() || connection.is_remnant() {
        connection.state_name()
    } else {
        limit.map_or("-", |limit| limit.word())
    };
    let mark = if connection.is_closed { "×" } else { "" };
    let style = limit.map(|limit| styles.limit(limit)).unwrap_or_default();
    Cell::from(Span::styled(format!("{mark}{word}"), style))
}
