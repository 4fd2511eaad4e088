//! `maxseg demo`.

use maxseg_testkit::is_its_turn;

use super::{command, maxseg, stderr, stdout};

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_demo_begins() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no-such-folder/report.html");
    let output = maxseg(&["demo", "--report", nowhere.to_str().unwrap()]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()));
    let said = stderr(&output);
    assert!(said.contains("error: cannot write ") && said.contains("no-such-folder"), "{said}");
    assert!(said.contains("hint: ") && said.contains("--report"), "{said}");
}

#[test]
fn a_demo_where_nothing_can_be_written_is_shown_without_its_report() {
    if !is_its_turn(0) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A folder of the report's name: nobody can write there, root included.
    std::fs::create_dir(folder.path().join("maxseg-demo.html")).unwrap();
    let output = command(&["demo"]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("no report will be written"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("600 over 536: +12%") && !text.contains("Report with chart"), "{text}");
}

#[test]
fn the_demo_computes_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, "x".repeat(1 << 20)).unwrap();
    let text = stdout(&maxseg(&["demo", "--report", page.to_str().unwrap()]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "one packet in 2000 lost",
        "95% confidence, 20 runs each",
        "the MSS, 1380, is already the largest that an MTU of 1420 allows",
        "handshake and slow start take at most",
        "Why 600, not 536 or 601?",
        "600 over 536: +12%",
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let gains: Vec<&str> = text.split("600 over ").skip(1).collect();
    assert_eq!(gains.len(), 2, "{text}");
    assert!(gains.iter().all(|gains| !gains.contains("at 0%")), "{text}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "old content left");
    for part in [
        "1. Slow transfer through a tunnel",
        "2. Cellular link with 128-byte radio frames",
        "Why 600, not 536 or 601?",
    ] {
        assert!(html.contains(part), "no {part:?}");
    }
}
