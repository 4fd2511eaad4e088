//! What keys make of a screen.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::app::{App, Position, Source};
use super::super::keys::Action;
use super::hosts::{app_after, at_second, connection};
use super::{characters, live, press, screen, text};

fn processes(shown: &str) -> Vec<&str> {
    let names = ["nginx", "rsync", "sshd", "curl"];
    let lines = shown.lines().skip(3);
    lines
        .filter_map(|line| names.into_iter().find(|name| line.contains(&format!("{name}/"))))
        .collect()
}

#[test]
fn rows_are_sorted_by_the_chosen_column() {
    let mut app = app_after(20, live());
    press(&mut app, ">>");
    let shown = text(&mut app);
    assert!(shown.contains("sent▼"), "{shown}");
    assert_eq!(processes(&shown), ["nginx", "rsync", "sshd"]);
    press(&mut app, "s");
    let shown = text(&mut app);
    assert!(shown.contains("sent▲"), "{shown}");
    assert_eq!(processes(&shown), ["sshd", "rsync", "nginx"]);
    press(&mut app, "<");
    assert!(text(&mut app).contains("received▼"), "another column begins with the largest");
}

#[test]
fn held_rows_keep_their_order() {
    let mut app = app_after(20, live());
    press(&mut app, ">>hs");
    assert_eq!(
        processes(&text(&mut app)),
        ["nginx", "rsync", "sshd"],
        "though sorted the other way"
    );
    assert!(text(&mut app).contains("order held"));
    press(&mut app, "h");
    assert_eq!(processes(&text(&mut app)), ["sshd", "rsync", "nginx"]);
}

#[test]
fn a_paused_screen_stands_still() {
    let mut app = app_after(5, live());
    press(&mut app, "p");
    let before = text(&mut app);
    assert!(before.contains("PAUSED"), "{before}");
    app.take(at_second(6));
    assert_eq!(text(&mut app), before);
    press(&mut app, "p");
    app.take(at_second(7));
    assert!(text(&mut app).contains("10:00:07"));
}

#[test]
fn a_filter_leaves_what_has_its_text() {
    let mut app = app_after(5, live());
    press(&mut app, "/receive-w\n");
    let shown = text(&mut app);
    assert_eq!(processes(&shown), ["nginx"], "{shown}");
    assert!(shown.contains("1 shown"));
    press(&mut app, "\u{1b}");
    assert_eq!(processes(&text(&mut app)).len(), 3);
    press(&mut app, "/nowhere\n");
    assert!(text(&mut app).contains("no connection matches the filter"));
    press(&mut app, "q"); // The filter is done, so this is the key to quit.
    assert_eq!(app.filter, "nowhere");
}

#[test]
fn a_filter_leaves_listening_sockets_that_have_its_text() {
    let mut app = app_after(5, live());
    press(&mut app, "/8080\n3");
    let shown = text(&mut app);
    assert!(shown.contains("0.0.0.0:8080") && shown.contains("1 shown"), "{shown}");
    assert!(!shown.contains("0.0.0.0:443"), "{shown}");
    press(&mut app, "/9\n");
    let shown = text(&mut app);
    assert!(shown.contains("no listening TCP socket has the filter's text"), "{shown}");
    press(&mut app, "2");
    assert!(!text(&mut app).contains("accept queue is full"), "{}", text(&mut app));
    press(&mut app, "\u{1b}3");
    assert!(text(&mut app).contains("2 shown"), "{}", text(&mut app));
}

/// What is paused is the screen: samples are recorded meanwhile.
#[test]
fn a_paused_screen_names_the_recording() {
    let recorded_to = Some("r.pcapng".to_owned());
    let mut app = app_after(5, Source::Live { interval_s: 1.0, recorded_to });
    press(&mut app, "p");
    assert!(text(&mut app).contains("PAUSED, recorded to r.pcapng"), "{}", text(&mut app));
}

#[test]
fn a_recording_that_has_ended_is_told_whatever_is_pressed() {
    let mut app = app_after(5, live());
    app.recording_ended = Some("No space left on device".to_owned());
    let is_told =
        |app: &mut App| text(app).contains("the recording has ended: No space left on device");
    for keys in ["", "h", "3", "1p", "/ng\n"] {
        press(&mut app, keys);
        assert!(is_told(&mut app), "after {keys:?}: {}", text(&mut app));
    }
    press(&mut app, "/");
    assert!(!is_told(&mut app), "the keys that end a filter");
}

#[test]
fn a_small_screen_has_all_of_the_help() {
    let mut app = app_after(5, live());
    press(&mut app, "?");
    let small = |app: &mut App| characters(&screen(app, true, (40, 12)));
    let mut seen = small(&mut app);
    assert!(seen.contains("↑ ↓ scroll"), "{seen}");
    for _ in 0..40 {
        press(&mut app, "↓");
        seen += &small(&mut app);
    }
    let ends = ["select a connection, or scroll", "forward", "the last", "this page", "quit"];
    for words in ends {
        assert!(seen.contains(words), "{words}: {}", small(&mut app));
    }
    app.on_key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE));
    assert!(small(&mut app).contains("select a connection"), "{}", small(&mut app));
    press(&mut app, "x");
    assert!(!app.shows_help);
    // All of it has room here, so that each key closes it.
    press(&mut app, "?");
    text(&mut app);
    press(&mut app, "↓");
    assert!(!app.shows_help);
}

#[test]
fn letters_of_a_filter_are_no_commands() {
    let mut app = app_after(5, live());
    press(&mut app, "/q");
    assert_eq!(app.filter, "q");
    let quit = app.on_key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert_eq!(quit, Action::Quit, "Ctrl-C quits from everywhere");
}

#[test]
fn a_closed_connection_stays_a_minute_with_its_verdict() {
    let mut app = app_after(5, live());
    let mut snapshot = at_second(5);
    snapshot.connections[0].is_closed = true;
    app.take(snapshot);
    let is_there = |shown: &str| shown.contains("nginx/") && shown.contains("×receive-window");
    assert!(is_there(&text(&mut app)), "{}", text(&mut app));
    for second in [6, 30, 65] {
        let mut snapshot = at_second(second);
        snapshot.connections.remove(0);
        app.take(snapshot);
        assert!(is_there(&text(&mut app)), "second {second}: {}", text(&mut app));
    }
    let mut snapshot = at_second(66);
    snapshot.connections.remove(0);
    app.take(snapshot);
    assert!(!text(&mut app).contains("nginx/"));
}

#[test]
fn a_connection_that_is_listed_no_more_is_closed() {
    let mut app = app_after(3, live());
    let mut snapshot = at_second(3);
    snapshot.connections.truncate(1);
    snapshot.connections.push(connection(9, "curl", [5000, 80]));
    app.take(snapshot);
    let shown = text(&mut app);
    let rsync = shown.lines().find(|line| line.contains("rsync")).unwrap();
    assert!(rsync.contains('×'), "{shown}");
    assert!(shown.lines().any(|line| line.contains("curl/109")), "{shown}");
}

#[test]
fn the_selection_goes_with_its_connection() {
    let mut app = app_after(5, live());
    press(&mut app, ">>↓");
    let selected = app.selected.clone();
    assert!(text(&mut app).contains("192.0.2.1:873 → 198.51.100.7:40002"));
    press(&mut app, "s");
    app.take(at_second(5));
    assert_eq!(app.selected, selected);
    press(&mut app, "↑↑↑↑");
    assert_eq!(app.selected_row(), Some(0));
}

#[test]
fn steps_are_for_recordings() {
    let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let position = Position { frame: 3, frames: 9, from_s: 0.0, to_s: 8.0 };
    let mut app = app_after(2, Source::Recording(position));
    assert_eq!(app.on_key(key(KeyCode::Left)), Action::Step(-1));
    assert_eq!(app.on_key(key(KeyCode::Char(']'))), Action::Step(60));
    assert_eq!(app.on_key(key(KeyCode::Char('}'))), Action::Last);
    assert_eq!(app_after(2, live()).on_key(key(KeyCode::Left)), Action::Draw);
}

/// The last line is the lowest then, and above it are as many others as there is room for.
#[test]
fn end_goes_to_the_last_line_of_every_page() {
    let page = |app: &mut App, height: u16| -> Vec<String> {
        let screen = characters(&screen(app, true, (80, height)));
        let lines = screen.lines().skip(2).take(usize::from(height) - 3);
        lines.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    for tab in ["2", "3"] {
        let mut app = app_after(5, live());
        let mut more = at_second(5);
        more.listeners.extend(more.listeners.clone());
        app.take(more);
        press(&mut app, tab);
        let (whole, first) = (page(&mut app, 24), page(&mut app, 6));
        assert_eq!(first, whole[..3], "page {tab}");
        app.on_key(KeyEvent::new(KeyCode::End, KeyModifiers::NONE));
        let last = page(&mut app, 6);
        assert!(last.len() == 3 && last.last() == whole.last(), "page {tab}: {last:?}");
        app.on_key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE));
        assert_eq!(page(&mut app, 6), first, "page {tab}");
    }
}

#[test]
fn a_recording_over_midnight_has_dates() {
    let position = Position { frame: 3, frames: 9, from_s: 86_390.0, to_s: 86_410.0 };
    let shown = text(&mut app_after(2, Source::Recording(position)));
    assert!(
        shown.contains("1970-01-01 23:59:50 ") && shown.contains(" 1970-01-02 00:00:10"),
        "{shown}"
    );
}

/// As in htop, from which many hands know them.
#[test]
fn function_keys_do_what_they_do_elsewhere() {
    let key = |number| KeyEvent::new(KeyCode::F(number), KeyModifiers::NONE);
    let mut app = app_after(2, live());
    assert_eq!(app.on_key(key(1)), Action::Draw);
    assert!(app.shows_help);
    assert_eq!(app.on_key(key(10)), Action::Quit);
    let mut app = app_after(2, live());
    let metric = app.metric;
    app.on_key(key(6));
    assert_ne!(app.metric, metric);
    app.on_key(key(4));
    assert!(app.types_filter);
}
