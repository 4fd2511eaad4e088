//! What keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::app::{App, Source, Tab};

/// What is left to do for whoever has the terminal and the snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Draw,
    Quit,
    /// Go to another snapshot of the recording, counted from here.
    Step(isize),
    /// Go to the recording's first snapshot, or its last.
    First,
    Last,
}

/// Keys and what they do, and what a sign means, for the help page.
pub(crate) const HELP: [(&str, &str); 15] = [
    ("↑ ↓ PgUp PgDn Home End", "select a connection, or scroll"),
    ("1 2 3, Tab", "connections, findings, listening sockets"),
    ("Enter", "the selected connection alone, and back"),
    ("< >, F6", "choose a column"),
    ("s", "sort the other way: smallest first"),
    ("h", "hold the order of the rows, or sort again"),
    ("p, Space", "pause, or go on; a recording plays or stops"),
    ("/, F3, F4", "filter: address, process, state, limit …"),
    ("Esc", "remove the filter, close this page"),
    ("← →", "in a recording: one sample back or forward"),
    ("Shift ← →, [ ]", "in a recording: 60 samples back or forward"),
    ("{ }", "in a recording: the first sample, the last"),
    ("?, F1", "this page"),
    ("q, F10, Ctrl-C", "quit"),
    ("×", "before a limit: the connection has closed"),
];

/// Lines of the help that Page Up and Page Down go: fewer than any screen that has it shows.
const HELP_PAGE: usize = 4;
/// Looks of a large step.
const LEAP: isize = 60;

impl App {
    /// Does what a key is for.
    pub(crate) fn on_key(&mut self, key: KeyEvent) -> Action {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Action::Quit;
        }
        if self.types_filter {
            self.type_filter(key.code);
            return Action::Draw;
        }
        if self.shows_help {
            if self.scrolls_help(key.code) {
                return Action::Draw;
            }
            self.shows_help = false;
            let quits = matches!(key.code, KeyCode::Char('q') | KeyCode::F(10));
            return if quits { Action::Quit } else { Action::Draw };
        }
        self.command(key.code, key.modifiers.contains(KeyModifiers::SHIFT))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most keys do nothing")]
    fn command(&mut self, key: KeyCode, shift: bool) -> Action {
        let page = isize::try_from(self.room).unwrap_or(1);
        match key {
            KeyCode::Char('q') | KeyCode::F(10) => return Action::Quit,
            KeyCode::Left | KeyCode::Right if matches!(self.source, Source::Recording(_)) => {
                let steps = if shift { LEAP } else { 1 };
                return Action::Step(if key == KeyCode::Left { -steps } else { steps });
            }
            KeyCode::Char('[') => return Action::Step(-LEAP),
            KeyCode::Char(']') => return Action::Step(LEAP),
            KeyCode::Char('{') => return Action::First,
            KeyCode::Char('}') => return Action::Last,
            KeyCode::Down | KeyCode::Char('j') => self.select(1),
            KeyCode::Up | KeyCode::Char('k') => self.select(-1),
            KeyCode::PageDown => self.select(page),
            KeyCode::PageUp => self.select(-page),
            KeyCode::Home => self.select(isize::MIN / 2),
            KeyCode::End => self.select(isize::MAX / 2),
            KeyCode::Char('1') => self.open(Tab::Connections),
            KeyCode::Char('2') => self.open(Tab::Findings),
            KeyCode::Char('3') => self.open(Tab::Listening),
            KeyCode::Tab => self.open(match self.tab {
                Tab::Connections => Tab::Findings,
                Tab::Findings => Tab::Listening,
                Tab::Listening => Tab::Connections,
            }),
            KeyCode::Enter => self.is_detailed = !self.is_detailed,
            KeyCode::Char('>' | 'c') | KeyCode::F(6) => self.choose(true),
            KeyCode::Char('<') => self.choose(false),
            KeyCode::Char('s') => self.sort_the_other_way(),
            KeyCode::Char('h') => {
                self.holds_order = !self.holds_order;
                self.arrange();
            }
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('/') | KeyCode::F(3 | 4) => self.types_filter = true,
            KeyCode::Char('?') | KeyCode::F(1) => (self.shows_help, self.help_line) = (true, 0),
            KeyCode::Esc => self.leave(),
            _ => {}
        }
        Action::Draw
    }

    /// Scrolls the help where the screen has no room for all of it; gives whether the key does that.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other keys close the help")]
    fn scrolls_help(&mut self, key: KeyCode) -> bool {
        let (at, last) = (self.help_line, self.last_help_line);
        let to = match key {
            KeyCode::Down | KeyCode::Char('j') => at + 1,
            KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
            KeyCode::PageDown => at + HELP_PAGE,
            KeyCode::PageUp => at.saturating_sub(HELP_PAGE),
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => return false,
        };
        self.help_line = to.min(last);
        last > 0
    }

    fn open(&mut self, tab: Tab) {
        (self.tab, self.first_line, self.is_detailed) = (tab, 0, false);
    }

    fn choose(&mut self, to_the_right: bool) {
        (self.metric, self.ascending) = (self.metric.beside(to_the_right), false);
        self.arrange();
    }

    fn sort_the_other_way(&mut self) {
        self.ascending = !self.ascending;
        self.arrange();
    }

    fn leave(&mut self) {
        if self.is_detailed {
            self.is_detailed = false;
        } else {
            self.filter.clear();
            self.arrange();
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most keys do nothing")]
    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.types_filter = false,
            KeyCode::Esc => {
                self.types_filter = false;
                self.filter.clear();
            }
            KeyCode::Backspace => _ = self.filter.pop(),
            KeyCode::Char(letter) => self.filter.push(letter),
            _ => {}
        }
        self.arrange();
    }
}
