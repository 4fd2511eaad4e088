//! Screens on a terminal in memory, and what keys make of them.

mod hosts;
mod keys;
mod screens;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::app::{App, Source};
use super::draw::draw;

/// A screen of so many columns and rows.
fn screen(app: &mut App, color: bool, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(app, color, frame)).unwrap();
    terminal.backend().buffer().clone()
}

/// Its characters, without blanks at the ends of lines.
fn characters(buffer: &Buffer) -> String {
    let line = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..buffer.area.height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

fn text(app: &mut App) -> String {
    characters(&screen(app, true, (80, 24)))
}

fn press(app: &mut App, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '↑' => KeyCode::Up,
            other => KeyCode::Char(other),
        };
        app.on_key(KeyEvent::new(code, KeyModifiers::NONE));
    }
}

fn live() -> Source {
    Source::Live { interval_s: 1.0, recorded_to: None }
}
