//! `maxseg demo`.

use super::{maxseg, stderr, stdout};

#[test]
fn a_report_that_cannot_be_written_costs_the_report_alone() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no-such-folder/report.html");
    let output = maxseg(&["demo", "--report", nowhere.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("600 over 536: +12%"), "the demo is shown");
    let said = stderr(&output);
    assert!(said.contains("error: cannot write ") && said.contains("no-such-folder"), "{said}");
    assert!(said.contains("hint: ") && said.contains("--report"), "{said}");
}

#[test]
fn the_demo_computes_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, "x".repeat(1 << 20)).unwrap();
    let text = stdout(&maxseg(&["demo", "--report", page.to_str().unwrap()]));
    for wanted in [
        "one packet in 2000 lost",
        "95% confidence, 20 runs each",
        "the MSS, 1380, is already the largest that the MTU of 1420 lets through",
        "handshake and slow start take",
        "Why 600 and not 536, nor 601?",
        "600 over 536: +12%",
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let gains = text.lines().filter(|line| line.contains("600 over"));
    assert!(gains.clone().count() == 2 && gains.clone().all(|line| !line.contains("at 0%")));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "old content left");
}
