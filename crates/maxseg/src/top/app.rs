//! What the screen shows, and what keys change of it. Nothing here knows a terminal or a kernel.

use std::cmp::{Ordering, Reverse};
use std::net::SocketAddr;

use maxseg_core::diagnose::SocketFinding;
use maxseg_core::excerpt::escaped;
use maxseg_wire::tcp_info::State;
use maxseg_workbench::connections::{
    Connection, History, Listener, Owner, Snapshot, Track, TrackKey,
};

use super::metric::Metric;

/// A page of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Connections,
    Findings,
    Listening,
}

impl Tab {
    pub(crate) const ALL: [(Self, &'static str); 3] = [
        (Self::Connections, "1 Connections"),
        (Self::Findings, "2 Findings"),
        (Self::Listening, "3 Listening"),
    ];
}

/// Where the snapshots come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// The kernel, so many seconds apart.
    Live { interval_s: f64, recorded_to: Option<String> },
    /// A recording.
    Recording(Position),
}

/// A snapshot of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Position {
    pub(crate) frame: usize,
    pub(crate) frames: usize,
    /// The times of the first and the last, seconds since 1970.
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
}

/// The state of the screen.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the keyboard")]
pub(crate) struct App {
    pub(crate) host: String,
    pub(crate) source: Source,
    pub(crate) history: History,
    pub(crate) tab: Tab,
    pub(crate) metric: Metric,
    /// The smallest first.
    pub(crate) ascending: bool,
    /// Rows keep their order, whatever their numbers are.
    pub(crate) holds_order: bool,
    pub(crate) is_paused: bool,
    /// Rows have this text in an address, a process, a state, the congestion control or the limit.
    pub(crate) filter: String,
    pub(crate) types_filter: bool,
    pub(crate) shows_help: bool,
    /// The first line of the help on the screen, and the last that it can be: 0 where all of it has room.
    pub(crate) help_line: usize,
    pub(crate) last_help_line: usize,
    /// The selected connection has the whole screen.
    pub(crate) is_detailed: bool,
    /// Why the recording has ended before the screen: it stays in sight, and is told again at the end.
    pub(crate) recording_ended: Option<String>,
    /// The connections in the order of their rows.
    pub(crate) rows: Vec<TrackKey>,
    pub(crate) selected: Option<TrackKey>,
    /// The first row on the screen, and how many there is room for.
    pub(crate) first_row: usize,
    pub(crate) room: usize,
    /// The first line of the findings or of the listening sockets.
    pub(crate) first_line: usize,
}

impl App {
    pub(crate) fn new(host: String, source: Source, metric: Option<Metric>) -> Self {
        Self {
            host,
            source,
            history: History::default(),
            tab: Tab::Connections,
            metric: metric.unwrap_or(Metric::Payload),
            ascending: false,
            holds_order: false,
            is_paused: false,
            filter: String::new(),
            types_filter: false,
            shows_help: false,
            help_line: 0,
            last_help_line: 0,
            is_detailed: false,
            recording_ended: None,
            rows: Vec::new(),
            selected: None,
            first_row: 0,
            room: 1,
            first_line: 0,
        }
    }

    /// Takes a snapshot, unless the user has the screen paused.
    pub(crate) fn take(&mut self, snapshot: Snapshot) {
        if !self.is_paused {
            self.history.add(snapshot);
            self.arrange();
        }
    }

    /// Begins anew, as after a jump in a recording.
    pub(crate) fn replace(&mut self, history: History, position: Position) {
        (self.history, self.source) = (history, Source::Recording(position));
        self.arrange();
    }

    /// Goes on to the next snapshot of a recording.
    pub(crate) fn continue_with(&mut self, snapshot: Snapshot, position: Position) {
        self.history.add(snapshot);
        self.source = Source::Recording(position);
        self.arrange();
    }

    /// Puts the rows in order: those that match, by the chosen column, closed ones as they were.
    pub(crate) fn arrange(&mut self) {
        let mut rows: Vec<(&TrackKey, &Track)> =
            self.history.tracks().filter(|(_, track)| self.matches(&track.connection)).collect();
        if self.holds_order {
            let places: std::collections::HashMap<&TrackKey, usize> =
                self.rows.iter().enumerate().map(|(at, key)| (key, at)).collect();
            let place = |key: &TrackKey| places.get(key).copied().unwrap_or(usize::MAX);
            rows.sort_by(|(a, x), (b, y)| {
                place(a).cmp(&place(b)).then_with(|| by_ends(&x.connection, &y.connection))
            });
        } else {
            let (metric, ascending) = (self.metric, self.ascending);
            let key = |connection: &Connection| (metric.of(connection), connection.moved_bytes());
            let mut keyed: Vec<_> =
                rows.into_iter().map(|row| (key(&row.1.connection), row)).collect();
            keyed.sort_by(|((x, moved_x), (_, a)), ((y, moved_y), (_, b))| {
                by_value(*x, *y, ascending)
                    .then_with(|| moved_y.cmp(moved_x))
                    .then_with(|| by_ends(&a.connection, &b.connection))
            });
            rows = keyed.into_iter().map(|(_, row)| row).collect();
        }
        let rows: Vec<TrackKey> = rows.into_iter().map(|(key, _)| key.clone()).collect();
        self.rows = rows;
        // The first snapshot has no rates yet, and its order is by chance.
        let is_first = self.history.latest().interval.is_none();
        if is_first || self.selected_row().is_none() {
            let place = self.first_row.min(self.rows.len().saturating_sub(1));
            self.selected = self.rows.get(place).cloned();
        }
        self.keep_visible();
    }

    /// Whether a connection has the filter's text.
    fn matches(&self, connection: &Connection) -> bool {
        let Some(has) = self.finder() else { return true };
        let process = connection.process.as_ref();
        has(&shown_end(connection.local))
            || has(&shown_end(connection.remote))
            || process.is_some_and(|owner| has(&owner.to_string()))
            || has(connection.state_name())
            || connection.congestion.as_deref().is_some_and(&has)
            || connection.netns.as_deref().is_some_and(&has)
            || connection.diagnosis().is_some_and(|found| has(found.limited_by.word()))
    }

    /// Whether a text has the filter's; `None` without a filter.
    fn finder(&self) -> Option<impl Fn(&str) -> bool> {
        let wanted = self.filter.to_lowercase();
        (!wanted.is_empty()).then_some(move |text: &str| text.to_lowercase().contains(&wanted))
    }

    /// The listening sockets that have the filter's text: full ones first, then those with the most that wait.
    pub(super) fn listeners(&self) -> Vec<&Listener> {
        let finder = self.finder();
        let matches = |listener: &&Listener| {
            let Some(has) = &finder else { return true };
            has(&shown_end(listener.local))
                || listener.process.as_ref().is_some_and(|owner| has(&owner.to_string()))
                || listener.netns.as_deref().is_some_and(has)
                || has(State::Listen.name())
                || has(listener.queue_word())
        };
        let mut listeners: Vec<&Listener> =
            self.history.latest().listeners.iter().filter(matches).collect();
        listeners.sort_by_key(|one| (Reverse(one.is_full()), Reverse(one.queued), one.local));
        listeners
    }

    /// The row of the selected connection.
    pub(crate) fn selected_row(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.rows.iter().position(|key| key == selected)
    }

    /// The selected connection.
    pub(crate) fn selected_track(&self) -> Option<&Track> {
        self.history.track(self.selected.as_ref()?)
    }

    /// Selects another row, so many below.
    pub(super) fn select(&mut self, steps: isize) {
        if self.tab != Tab::Connections {
            self.first_line = self.first_line.saturating_add_signed(steps);
            return;
        }
        let last = self.rows.len().saturating_sub(1);
        let row = self.selected_row().unwrap_or(0).saturating_add_signed(steps).min(last);
        self.selected = self.rows.get(row).cloned();
        self.keep_visible();
    }

    /// How many rows a page has.
    pub(crate) fn set_room(&mut self, rows: usize) {
        self.room = rows.max(1);
        self.keep_visible();
    }

    /// Of so many lines of a page, `rows` are shown at once: scrolling ends where the last one is the lowest.
    pub(super) fn scroll_within(&mut self, lines: usize, rows: usize) {
        self.room = rows.max(1);
        self.first_line = self.first_line.min(lines.saturating_sub(self.room));
    }

    fn keep_visible(&mut self) {
        let row = self.selected_row().unwrap_or(0);
        let last_first = self.rows.len().saturating_sub(self.room);
        self.first_row =
            self.first_row.clamp((row + 1).saturating_sub(self.room), row).min(last_first);
    }

    /// What there is to know of the connections on the list, and of full accept queues, the gravest first.
    pub(crate) fn findings(&self) -> (Vec<&Listener>, Vec<(&Connection, SocketFinding)>) {
        let full = self.listeners().into_iter().filter(|one| one.is_full()).collect();
        let mut found: Vec<(&Connection, SocketFinding)> = Vec::new();
        for track in self.rows.iter().filter_map(|key| self.history.track(key)) {
            let Some(evidence) = track.connection.evidence() else { continue };
            let findings = maxseg_core::diagnose::socket_findings(&evidence);
            found.extend(findings.into_iter().map(|finding| (&track.connection, finding)));
        }
        (full, found)
    }
}

/// An address and port; IPv4 in an IPv6 socket as what it is on the wire.
pub(super) fn shown_end(end: SocketAddr) -> String {
    SocketAddr::new(end.ip().to_canonical(), end.port()).to_string()
}

/// A process's name and number.
pub(super) fn shown_owner(owner: Option<&Owner>) -> String {
    owner.map_or_else(|| "-".to_owned(), |owner| escaped(&owner.to_string()).into_owned())
}

/// The unknown last, whichever way is up.
fn by_value(a: Option<f64>, b: Option<f64>, ascending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if ascending => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

fn by_ends(a: &Connection, b: &Connection) -> Ordering {
    (a.local, a.remote, a.cookie).cmp(&(b.local, b.remote, b.cookie))
}
