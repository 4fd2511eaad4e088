use maxseg_core::advise::{Case, Headline};
use maxseg_core::evidence::Evidence;
use maxseg_testkit::{full_link, windowed};
use maxseg_wire::reading::{Problem, ProblemKind, ReadOptions, Reading, read};
use maxseg_wire::synthetic::Load;
use maxseg_workbench::explain::{Capture, Explanation};

use super::*;
use crate::printer::Printer;

/// The explanation of a capture of these connections, whatever its packets.
fn explanation(connections: Vec<Evidence>) -> Explanation {
    let load = Load { connections: 1, rounds: 1, at_once: 1, rounds_a_turn: 1, ends: true };
    let mut bytes = Vec::new();
    load.write(&mut bytes).unwrap();
    let summary = read(bytes.as_slice(), &ReadOptions::default()).unwrap().summary;
    Capture::new("made.pcap", Reading { summary, connections: connections.into_iter() }).explain()
}

fn two() -> Explanation {
    let mut full = full_link(1);
    full.client = "[2001:db8::1]:5000".parse().unwrap();
    full.server = "[2001:db8::2]:80".parse().unwrap();
    explanation(vec![windowed(0), full])
}

fn shown(explained: &Explanation, detail: Detail) -> String {
    explain_text(explained, explained.headline().as_ref(), detail, Printer::silent())
}

const PLAIN: Detail = Detail { one: false, verbosity: 0, width: 80, table_width: 80 };

#[test]
fn the_first_screen_names_limit_share_change_gain_and_command() {
    let text = shown(&two(), PLAIN);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "The receive window limited 10.0.0.1:40000 → 10.0.0.2:443 for 96% of 30.0 s",
        "so that 10.0.0.2 can offer a window of 512 KiB. Predicted for as much data: 1",
        "instead of 6.55 Mbit/s (x2.",
        "look first, on 10.0.0.1 (Linux): sysctl net.ipv4.tcp_window_scaling",
        "|| sysctl -w net.ipv4.tcp_window_scaling=1",
        "problem window-clamped",
        "limits receive-window 96%, start-up 4%",
        "largest advertised window 65 535 B (no scaling); filled 2 000 times",
        "bandwidth 100%",
        "in Wireshark: ip.addr == 10.0.0.1 && tcp.port == ",
    ] {
        assert!(flat.contains(wanted), "{wanted}\n{text}");
    }
    let (sentence, evidence) =
        (text.find("The receive window").unwrap(), text.find("Evidence").unwrap());
    assert!(sentence < evidence && evidence < text.find("Connections").unwrap(), "{text}");
}

#[test]
fn lines_fit_a_terminal() {
    for width in [40, 80, 120] {
        for (one, verbosity) in [(false, 0), (false, 2), (true, 0)] {
            let text = shown(&two(), Detail { one, verbosity, width, table_width: width });
            // A command is for copying: it stays on its line.
            let is_command = |line: &&str| {
                line.starts_with("    ")
                    && ["sysctl", "[ \"$(sysctl", "netsh", "ip ", "ip.addr", "ss ", "maxseg"]
                        .iter()
                        .any(|c| line.trim_start().starts_with(c))
            };
            for line in text.lines().filter(|line| !is_command(line) && !line.starts_with("More: "))
            {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

/// The table below the heading `Connections`.
fn list_of(text: &str) -> &str {
    let table = text.split("\nConnections\n").nth(1).unwrap();
    table.split("\nMore: ").next().unwrap()
}

#[test]
fn the_list_drops_nothing_however_narrow() {
    let wide = shown(&two(), Detail { table_width: usize::MAX, ..PLAIN });
    let wide = list_of(&wide);
    let header = wide.lines().next().unwrap();
    let titles = ["from", "to", "data", "time", "goodput", "MSS", "RTT", "retransmitted"];
    for title in titles.iter().chain(&["limited by", "worst finding"]) {
        assert!(header.contains(title), "no {title:?} in\n{wide}");
    }
    assert_eq!(wide.trim_end().lines().count(), 2 + 2, "header, rule, two rows:\n{wide}");
    let cells = |text: &str| -> Vec<String> {
        let cells = text.lines().flat_map(|line| line.split("  ")).map(str::trim);
        cells.filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    for width in [80, 40] {
        let text = shown(&two(), Detail { width, table_width: width, ..PLAIN });
        let narrow = list_of(&text);
        assert!(narrow.lines().all(|line| line.chars().count() <= width), "{narrow}");
        for row in wide.lines().skip(2) {
            for cell in cells(row) {
                assert!(narrow.contains(&cell), "{cell:?} was dropped:\n{narrow}");
            }
        }
    }
}

#[test]
fn a_stacked_list_repeats_the_number_of_each_connection() {
    let text = shown(&two(), Detail { width: 50, table_width: 50, ..PLAIN });
    let list = list_of(&text);
    let numbered = |number: &str| {
        list.lines().filter(|line| line.split_whitespace().next() == Some(number)).count()
    };
    let rules = list.lines().filter(|line| line.starts_with('─')).count();
    assert!(rules > 1, "{list}");
    assert_eq!((numbered("*0"), numbered("1")), (rules, rules), "{list}");
}

#[test]
fn a_long_list_says_how_much_is_missing() {
    let explained = explanation((0..30).map(windowed).collect());
    let text = shown(&explained, PLAIN);
    assert!(text.contains("and 10 more with less impact"), "{text}");
}

#[test]
fn an_empty_capture_is_said_to_be_empty() {
    let mut explained = explanation(Vec::new());
    explained.capture.problems.push(Problem {
        kind: ProblemKind::Truncated("the file ends within a packet".to_owned()),
        offset: Some(4711),
        count: 1,
        file: None,
    });
    let text = shown(&explained, PLAIN);
    assert!(text.contains("no TCP connection") && text.contains("at byte 4711"), "{text}");
}

#[test]
fn everything_of_one_connection() {
    let explained = two();
    let headline = Headline::of(Case::of(&explained.connections[0]), "made.pcap");
    let detail = Detail { one: true, ..PLAIN };
    let text = explain_text(&explained, Some(&headline), detail, Printer::silent());
    for wanted in
        ["WWWW", "RFC 7323 §2", "Directions", "in flight, max", "why", "Hosts", "10.0.0.2: Linux"]
    {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("2001:db8"), "{text}");
}
