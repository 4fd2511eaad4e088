//! Pages used as a reader uses them: in a browser, that of `explain` with pointer and keys, every other at several widths. Chromium is
//! driven over its `DevTools` protocol; where it is not installed, that is said.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

#[path = "page/accessible.rs"]
mod accessible;
#[path = "page/browser.rs"]
mod browser;
#[path = "page/every.rs"]
mod every;
#[path = "page/keyboard.rs"]
mod keyboard;
#[path = "page/looks.rs"]
mod looks;
#[path = "page/pointer.rs"]
mod pointer;
#[path = "page/shown.rs"]
mod shown;
#[path = "page/wireshark.rs"]
mod wireshark;

use std::path::{Path, PathBuf};
use std::process::Command;

use browser::{Browser, Tab};

/// A transfer with losses, 2163 packets in seven seconds.
const LOSSY: &str = "lab_congestion_cubic_048.sender.pcapng.gz";
/// A connection that keep-alives find alive.
const KEEP_ALIVES: &str = "situations/keep-alives.client.pcap.gz";
/// Requests and replies.
const REQUESTS: &str = "lab_application_cubic_088.sender.pcapng.gz";

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures").join(name)
}

/// The page of a capture of the repository, in a folder that goes with it.
struct Report {
    folder: tempfile::TempDir,
}

impl Report {
    fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        let explain = Command::new(env!("CARGO_BIN_EXE_maxseg"))
            .args(["explain", "-q"])
            .arg(capture(name))
            .arg("--report")
            .arg(&file)
            .output()
            .unwrap();
        assert!(explain.status.success(), "{}", String::from_utf8_lossy(&explain.stderr));
        Self { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("page.html")
    }

    /// Its address with a fragment.
    fn url(&self, fragment: &str) -> String {
        format!("file://{}{fragment}", self.file().display())
    }
}

/// A page in a browser, as wide as a desk's screen; `None`, and it is said, without a browser.
fn open(name: &str, fragment: &str) -> Option<(Report, Tab)> {
    let browser = Browser::start()?;
    let report = Report::of(name);
    let mut tab = browser.open_tab();
    tab.set_screen(1100, 900, "light");
    tab.go_to(&report.url(fragment));
    assert_eq!(tab.count("svg.graph"), tab.count("figure[data-panel]"), "every graph is drawn");
    Some((report, tab))
}
