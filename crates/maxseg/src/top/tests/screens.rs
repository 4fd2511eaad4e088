//! Whole screens, as they stand in `screens/`. `MAXSEG_WRITE_SCREENS=1` writes them anew, to be read before they are
//! committed.

use std::path::Path;

use maxseg_workbench::connections::Owner;
use ratatui::style::{Color, Modifier};

use super::super::app::{Position, Source};
use super::hosts::{app_after, at_second};
use super::{characters, live, press, screen, text};

fn is(name: &str, shown: &str) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/top/tests/screens/{name}.txt"));
    if std::env::var_os("MAXSEG_WRITE_SCREENS").is_some() {
        std::fs::write(&path, shown).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(shown == wanted, "{name} is\n{shown}\nand should be\n{wanted}");
}

#[test]
fn the_list_fits_80_columns() {
    is("list-80x24", &text(&mut app_after(20, live())));
}

#[test]
fn a_wide_screen_has_more_columns_and_the_detail_beside_them() {
    let mut app = app_after(20, live());
    is("list-200x30", &characters(&screen(&mut app, true, (200, 30))));
}

#[test]
fn a_number_is_whole_however_narrow_the_screen() {
    for width in 28..80 {
        let mut app = app_after(20, live());
        let shown = characters(&screen(&mut app, true, (width, 24)));
        for number in ["32.0 Mbit/s", "7.20 Mbit/s", "payload▼"] {
            assert!(shown.contains(number), "{width} columns\n{shown}");
        }
    }
}

/// The last digits of a port are another port's number.
#[test]
fn a_port_is_whole_however_narrow_the_screen() {
    let mut app = app_after(20, live());
    let wide = characters(&screen(&mut app, true, (200, 24)));
    let first = wide.lines().nth(3).unwrap();
    let ports = first.split_whitespace().take(2).map(|end| end.rsplit(':').next().unwrap());
    let ports: Vec<&str> = ports.collect();
    for width in 24..80 {
        let mut app = app_after(20, live());
        let shown = characters(&screen(&mut app, true, (width, 24)));
        let row = shown.lines().nth(3).unwrap();
        let ends = row.split_whitespace().take(2).map(|end| end.rsplit(':').next().unwrap());
        assert_eq!(ends.collect::<Vec<_>>(), ports, "{width} columns\n{shown}");
    }
}

#[test]
fn a_screen_without_room_says_how_much_it_takes() {
    let mut app = app_after(1, live());
    let shown = characters(&screen(&mut app, true, (20, 5)));
    assert!(shown.contains("24x6"), "{shown}");
}

#[test]
fn one_connection_has_the_whole_screen() {
    let mut app = app_after(20, live());
    press(&mut app, "↓\n");
    is("detail-80x30", &characters(&screen(&mut app, true, (80, 30))));
}

/// The list says 0 of a connection that rests, and so does the number beside its bars.
#[test]
fn the_number_beside_the_bars_is_of_now() {
    let mut app = app_after(20, live());
    let mut rests = at_second(20);
    if let Some(evidence) = &mut rests.connections[0].since_last {
        evidence.bin.acked_bytes = 0;
    }
    press(&mut app, "h");
    app.take(rests);
    press(&mut app, "↑↑\n");
    let shown = characters(&screen(&mut app, true, (80, 30)));
    let payload = shown.lines().find(|line| line.starts_with("payload")).unwrap();
    assert!(payload.ends_with(" 0"), "{shown}");
    assert!(shown.contains("max 32.0 Mbit/s"), "{shown}");
}

#[test]
fn findings_and_listening_sockets_have_pages() {
    let mut app = app_after(20, live());
    press(&mut app, "2");
    is("findings-80x24", &text(&mut app));
    press(&mut app, "3");
    is("listening-80x24", &text(&mut app));
}

#[test]
fn the_keys_are_explained() {
    let mut app = app_after(20, live());
    press(&mut app, "?");
    is("help-80x24", &text(&mut app));
}

#[test]
fn a_recording_shows_where_in_it_the_look_is() {
    let position = Position { frame: 19, frames: 60, from_s: 0.0, to_s: 59.0 };
    is("recording-80x24", &text(&mut app_after(20, Source::Recording(position))));
}

#[test]
fn colour_is_never_alone() {
    let mut app = app_after(20, live());
    press(&mut app, "↓");
    let colored = screen(&mut app, true, (80, 24));
    let plain = screen(&mut app, false, (80, 24));
    assert_eq!(characters(&colored), characters(&plain));
    let is_plain =
        |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
    assert!(plain.content().iter().all(is_plain));
    let resent = colored.content().iter().filter(|cell| cell.symbol() == "▒");
    let orange = resent.filter(|cell| cell.fg == Color::Indexed(208)).count();
    assert!(orange >= 19, "data that was sent again is orange in each look: {orange}");
    let is_reversed = |cell: &&ratatui::buffer::Cell| cell.modifier.contains(Modifier::REVERSED);
    assert!(plain.content().iter().filter(is_reversed).count() > 20, "the selection is seen");
    let has_background = colored.content().iter().any(|cell| cell.bg != Color::Reset);
    assert!(!has_background, "light and dark terminals keep their background");
}

#[test]
fn every_size_is_drawn_without_a_panic() {
    for source in
        [live(), Source::Recording(Position { frame: 0, frames: 1, from_s: 0.0, to_s: 0.0 })]
    {
        let mut app = app_after(5, source);
        for keys in ["1", "2", "3", "1\n", "?"] {
            press(&mut app, keys);
            for width in [1, 2, 5, 13, 23, 24, 25, 31, 44, 59, 80, 159, 160, 300] {
                for height in [1, 5, 6, 7, 8, 12, 17, 24, 60] {
                    screen(&mut app, true, (width, height));
                }
            }
        }
    }
}

#[test]
fn names_cannot_command_the_terminal() {
    let mut app = app_after(0, live());
    let mut snapshot = at_second(0);
    for connection in &mut snapshot.connections {
        connection.process = Some(Owner { pid: 1, name: "a\u{1b}[2Jb\u{202e}\nc".into() });
        connection.congestion = Some("\u{7}x".into());
        connection.netns = Some("n\u{1b}]0;t".into());
    }
    app.take(snapshot);
    for keys in ["1", "2", "3", "1\n"] {
        press(&mut app, keys);
        let shown = characters(&screen(&mut app, true, (200, 40)));
        assert!(
            !shown.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'),
            "{shown}"
        );
    }
}
