//! A window that is to be smaller than what the kernel offers by itself.

use super::advised;
use crate::advise::{Change, CommandKind, Form, Goal};

/// A route's `window` alone is forgotten with the first full segments.
#[test]
fn a_rule_goes_with_the_window_of_a_route() {
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"1 MB\"\n[until]\ntime = \"10 s\"";
    let advised = advised(text, Goal::Latency);
    let is_window = |change: Change| matches!(change, Change::Window(_));
    let piece = advised.advice.iter().find(|piece| is_window(piece.change)).expect("a window");
    let Change::Window(window) = piece.change else { panic!("{:?}", piece.change) };
    let rule = format!("tcp window > {0} tcp window set {0}", window.get());
    let ways = &piece.commands["linux"];
    let shell =
        ways.iter().filter(|way| (way.kind, way.form) == (CommandKind::Change, Form::Shell));
    let shell: Vec<&str> = shell.map(|way| way.line.as_str()).collect();
    assert_eq!(shell.len(), 2, "{shell:?}");
    let is_whole = |line: &&str| {
        let has_metric = [format!("window={}", window.get()), format!("window {}", window.get())];
        line.contains(&rule) && has_metric.iter().any(|metric| line.contains(metric))
    };
    assert!(shell.iter().all(is_whole), "{shell:?}");
    let undone =
        |way: &crate::advise::HowTo| way.undo.as_deref().unwrap_or("").contains("delete table");
    assert!(ways.iter().filter(|way| way.line.contains(&rule)).all(undone), "{ways:?}");
    let calls: Vec<&str> = ways.iter().map(|way| way.line.as_str()).collect();
    assert!(calls.iter().any(|call| call.contains("SO_RCVBUF")), "{calls:?}");
    assert!(piece.settings.is_empty(), "`tune apply ID` would set the route alone");
    assert!(
        piece.note.as_deref().unwrap_or("").contains("tcp_measure_rcv_mss"),
        "{:?}",
        piece.note
    );
}
