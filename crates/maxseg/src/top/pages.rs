//! The pages of findings and of listening sockets.

use maxseg_core::excerpt::escaped;
use maxseg_workbench::connections::Listener;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};

use super::app::{App, shown_end, shown_owner};
use super::style::{DIM, HEADING, Styles};
use crate::wrap::wrapped;

/// What there is to know of all connections on the list.
pub(super) fn findings(app: &mut App, styles: Styles, frame: &mut Frame<'_>, area: Rect) {
    let lines = finding_lines(app, styles, usize::from(area.width));
    app.scroll_within(lines.len(), usize::from(area.height));
    let lines: Vec<Line<'_>> = lines.into_iter().skip(app.first_line).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Whom each is about, and below it the finding in lines of `width`.
fn finding_lines(app: &App, styles: Styles, width: usize) -> Vec<Line<'static>> {
    let (full, found) = app.findings();
    let full = full.into_iter().map(|listener| {
        let text = format!(
            "The accept queue is full: {} connections wait, its limit is {}. The process accepts too slowly, or its backlog \
             is too small (listen(2), net.core.somaxconn).",
            listener.queued, listener.limit
        );
        let whose = format!("{} {}", shown_end(listener.local), shown_owner(listener.process.as_ref()));
        (Line::styled(whose, styles.alarm()), text)
    });
    let found = found.into_iter().map(|(connection, finding)| {
        let whose = format!(
            "{} → {} {}",
            shown_end(connection.local),
            shown_end(connection.remote),
            shown_owner(connection.process.as_ref())
        );
        (Line::styled(whose, HEADING), format!("{}.", finding.text))
    });
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (whose, text) in full.chain(found) {
        lines.push(whose);
        let text = wrapped(&text, width, "  ");
        lines.extend(text.lines().map(|line| Line::raw(line.to_owned())));
    }
    if lines.is_empty() {
        return vec![Line::styled("nothing found: no losses, full queues or closed windows", DIM)];
    }
    lines
}

/// The listening sockets with their accept queues, full ones first.
pub(super) fn listening(app: &mut App, styles: Styles, frame: &mut Frame<'_>, area: Rect) {
    let count = app.listeners().len();
    // Its first row is the header.
    app.scroll_within(count, usize::from(area.height.saturating_sub(1)));
    let listeners = app.listeners();
    if listeners.is_empty() {
        let none = match app.history.latest().listeners.len() {
            0 => "no listening TCP sockets",
            _ => "no listening TCP socket has the filter's text",
        };
        frame.render_widget(Line::styled(none, DIM), area);
        return;
    }
    let rows = listeners.iter().skip(app.first_line).map(|listener| row(listener, styles));
    let number = Constraint::Length(9);
    let widths =
        [Constraint::Fill(2), Constraint::Fill(1), number, number, number, Constraint::Length(12)];
    let heading = |text: &'static str| Cell::from(Span::styled(text, HEADING));
    let right = |text: &'static str| Cell::from(Line::styled(text, HEADING).right_aligned());
    let header = Row::new([
        heading("local"),
        heading("process"),
        right("queued"),
        right("limit"),
        right("dropped"),
        heading("accept queue"),
    ]);
    frame.render_widget(Table::new(rows, widths).header(header), area);
}

fn row(listener: &Listener, styles: Styles) -> Row<'static> {
    let number = |count: Option<u32>| {
        let text = count.map_or_else(|| "-".to_owned(), |count| count.to_string());
        Cell::from(Line::raw(text).right_aligned())
    };
    let netns = listener.netns.as_deref().map(|name| format!("{} ", escaped(name)));
    let style = match listener.queue_word() {
        "ok" => DIM,
        _ if listener.is_full() => styles.alarm(),
        _ => styles.resent(),
    };
    Row::new([
        Cell::from(format!("{}{}", netns.unwrap_or_default(), shown_end(listener.local))),
        Cell::from(shown_owner(listener.process.as_ref())),
        number(Some(listener.queued)),
        number(Some(listener.limit)),
        number(listener.overflows),
        Cell::from(Span::styled(listener.queue_word(), style)),
    ])
}
