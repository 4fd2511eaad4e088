//! Every kind of page, at three widths, light and dark: nothing is asked for or complained about, no text overlaps or is cut off, and
//! each can be read.

use std::path::{Path, PathBuf};
use std::process::Command;

use maxseg_testkit::sampled;

use super::accessible::{axe, violations};
use super::{Browser, LOSSY, Tab, capture};

/// What each page is looked at on: the width in pixels and the colour scheme. Of the sample, on one in so many.
const SCREENS: [(u32, &str); 6] =
    [(400, "light"), (400, "dark"), (800, "light"), (800, "dark"), (1280, "light"), (1280, "dark")];
const SAMPLED: u64 = 3;

/// Where axe-core looks at each page. Its rule `target-size` is left out: a column that stays in view hides a part of the title
/// that is scrolled below it.
const AXE_SCREENS: [(u32, &str); 2] = [(800, "light"), (400, "dark")];

/// What no page may run, or take for its own markup.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>]]>\"'&amp;";

/// A scenario of two flows and a ping, whose names want to be markup.
fn scenario(folder: &Path) -> PathBuf {
    let file = folder.join("two-flows.toml");
    let text = format!(
        "name = '''{HOSTILE}'''\nabout = '''{HOSTILE} and a long word: {}'''\n\n\
         [[hop]]\nname = \"<i>modem\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"20 packets\"\nerrors = {{ model = \"uniform\", per = \"packet\", rate = \"0.2%\" }}\n\n\
         [[flow]]\nkind = \"bulk\"\n\n[[flow]]\nkind = \"bulk\"\n\n[[flow]]\nkind = \"ping\"\n\n[until]\ntime = \"3 s\"\n",
        "x".repeat(120)
    );
    std::fs::write(&file, text).unwrap();
    file
}

/// Runs the program, which may keep its state in a folder.
fn maxseg(folder: &Path, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(arguments)
        .env("XDG_STATE_HOME", folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// A page of each kind with what it is called.
fn pages(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let scenario = scenario(folder).to_str().unwrap().to_owned();
    let run = |out: &str, more: &[&str]| {
        maxseg(folder, &[&["run", &scenario, "-q", "--out", &path(out)][..], more].concat());
        folder.join(out).join("report.html")
    };
    let grid = [
        "--axis",
        "sender.mss=200,536,1000,1460",
        "--axis",
        "receiver.window=4 KiB,16 KiB,64 KiB,256 KiB",
    ];
    let words =
        ["--axis", "sender.congestion=reno,cubic,bbr", "--engine", "model,sim", "--seeds", "3"];
    let stack = path("<i>.toml");
    std::fs::write(&stack, "base = \"linux\"\nsack = true\n").unwrap();
    let mut pages = vec![
        ("one point", run("one", &["--seeds", "3"])),
        ("a grid", run("grid", &grid)),
        ("words", run("words", &[&words[..], &["--stack", &stack]].concat())),
    ];
    // A folder's name is what a comparison is called.
    run("<i>slow", &["--set", "hop.0.delay=200 ms", "--seeds", "3"]);
    let file = |name: &str| folder.join(name);
    let mut page = |kind: &'static str, name: &str, arguments: &[&str]| {
        let report = path(name);
        maxseg(folder, &[arguments, &["-q", "--report", &report]].concat());
        pages.push((kind, file(name)));
    };
    page("runs compared", "runs.html", &["compare", &path("one"), &path("<i>slow")]);
    let hostile_capture = path("<img src=x>.pcapng.gz");
    std::fs::copy(capture(LOSSY), &hostile_capture).unwrap();
    page(
        "captures compared",
        "captures.html",
        &["compare", &hostile_capture, capture(super::REQUESTS).to_str().unwrap()],
    );
    page("a capture explained", "explain.html", &["explain", &hostile_capture]);
    page("advice", "advice.html", &["advise", &scenario]);
    page("demo", "demo.html", &["demo"]);
    pages.extend(path_page(folder).map(|page| ("a path", page)));
    pages.extend(lab_page(folder, &scenario).map(|page| ("the lab", page)));
    pages
}

/// The page of a path within a network namespace of its own; `None`, and it is said, for who may not have one.
fn path_page(folder: &Path) -> Option<PathBuf> {
    let page = folder.join("path.html");
    let program = env!("CARGO_BIN_EXE_maxseg");
    let line = "ip link set lo name '<i>lo' && ip link set '<i>lo' up && exec \"$0\" path 127.0.0.1 -q --report \"$1\"";
    let mut test = Command::new("unshare");
    test.args(["--map-root-user", "--net", "sh", "-c", line, program]).arg(&page);
    let tested = test.output();
    if page.is_file() {
        return Some(page);
    }
    println!("SKIPPED: the page of a path, which needs a network namespace: {tested:?}");
    None
}

/// The page of a run in the lab; `None`, and it is said, for who may not have one.
fn lab_page(folder: &Path, scenario: &str) -> Option<PathBuf> {
    let out = folder.join("lab");
    let lab = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["run", scenario, "--engine", "lab,sim", "--allow-invalid", "-q", "--out"])
        .arg(&out)
        .args(["--set", "until.time=1 s"])
        .output();
    let page = out.join("report.html");
    if page.is_file() {
        return Some(page);
    }
    println!("SKIPPED: the page of the lab: {lab:?}");
    None
}

/// What is wrong with how the page in the tab looks: text that overlaps, is cut off, too small or without contrast.
const FAULTS: &str = include_str!("faults.js");

fn faults(tab: &mut Tab) -> Vec<String> {
    let found = tab.value(FAULTS);
    found.as_array().unwrap().iter().map(|fault| fault.as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_text_of_any_page_overlaps_or_is_cut_off_and_all_can_be_read() {
    let Some(browser) = Browser::start() else { return };
    let mut tab = browser.open_tab();
    let folder = tempfile::tempdir().unwrap();
    let axe = axe();
    let screens = sampled("screens", SCREENS.to_vec(), SAMPLED);
    let mut wrong: Vec<String> = Vec::new();
    for (kind, page) in pages(folder.path()) {
        let url = url_of(&page);
        for &(width, scheme) in &screens {
            tab.set_screen(width, 900, scheme);
            tab.go_to(&url);
            let mut found = faults(&mut tab);
            // Its rules look at colours and roles, which the width does not change.
            if let Some(axe) = axe.as_ref().filter(|_| AXE_SCREENS.contains(&(width, scheme))) {
                // The rows of a table are alike, and many take it seconds.
                tab.value("document.querySelectorAll('tbody').forEach((b) => [...b.rows].slice(6).forEach((r) => r.remove())), 0");
                found.extend(violations(&mut tab, axe, &["target-size"]));
            }
            found.extend(tab.complaints(&url));
            wrong
                .extend(found.iter().map(|fault| format!("{kind}, {width} px, {scheme}: {fault}")));
        }
        assert_eq!(
            tab.count("img, i, iframe, script[src]"),
            0,
            "{kind}: nothing of a name becomes an element"
        );
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// A file's address.
fn url_of(page: &Path) -> String {
    let path = page.to_str().unwrap().replace('%', "%25").replace('<', "%3C").replace('>', "%3E");
    format!("file://{path}")
}

#[test]
fn tables_are_sorted_by_click_and_by_key_and_keep_what_limits_in_view() {
    let Some(browser) = Browser::start() else { return };
    let mut tab = browser.open_tab();
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path()).to_str().unwrap().to_owned();
    let out = folder.path().join("out");
    let axis = ["--axis", "sender.mss=1460,200,536", "--axis", "hop.0.delay=1 ms,900 us"];
    maxseg(
        folder.path(),
        &[&["run", &scenario, "-q", "--out", out.to_str().unwrap()][..], &axis].concat(),
    );
    let url = url_of(&out.join("report.html"));
    tab.set_screen(400, 900, "light");
    tab.go_to(&url);
    let column = |tab: &mut Tab, index: usize| -> Vec<String> {
        let cells = tab.value(&format!(
            "[...document.querySelector('table.sortable').tBodies[0].rows].map((r) => r.cells[{index}].textContent)"
        ));
        cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
    };
    let as_it_was = column(&mut tab, 0);
    tab.value("document.querySelectorAll('table.sortable button.sort')[0].click(), 0");
    let sizes: Vec<String> = column(&mut tab, 0);
    let sizes: Vec<&str> = sizes.iter().filter_map(|size| size.split(' ').next()).collect();
    assert_eq!(sizes, [["200"; 4], ["536"; 4], ["1460"; 4]].concat());
    let height = tab.number("document.querySelector('button.sort').getBoundingClientRect().height");
    assert!(height >= 24.0, "WCAG 2.2, target size: {height} px");
    tab.value("document.querySelectorAll('table.sortable button.sort')[1].focus(), 0");
    tab.press_enter();
    assert_eq!(column(&mut tab, 1)[0], "900 us", "by value, not by letters");
    tab.press_enter();
    assert_eq!(column(&mut tab, 1)[0], "1 ms");
    let order =
        tab.text("document.querySelectorAll('table.sortable th')[1].getAttribute('aria-sort')");
    assert_eq!(order, "descending");
    tab.press_enter();
    assert_eq!(column(&mut tab, 0), as_it_was);
    // Wherever the table is scrolled to, the last column is within its frame.
    for share in ["0", "0.5", "1"] {
        let hidden = tab.number(&format!(
            "(() => {{ const w = document.querySelector('.wide'); w.scrollLeft = {share} * w.scrollWidth; const f = w.getBoundingClientRect();
               return [...w.querySelectorAll('td.limit')].filter((c) => {{ const r = c.getBoundingClientRect(); return r.left < f.left || r.right > f.right + 1; }}).length; }})()"
        ));
        assert!(hidden.abs() < 0.5, "{hidden} cells are out of view");
    }
    // Without its script the page says as much.
    let words = tab.text("document.querySelector('main').innerText");
    tab.call("Emulation.setScriptExecutionDisabled", &serde_json::json!({ "value": true }));
    tab.go_to(&url);
    assert_eq!(tab.text("document.querySelector('main').innerText"), words);
    assert_eq!(tab.count("button"), 0);
}
