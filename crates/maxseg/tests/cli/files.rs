//! What commands leave on disk when they fail, are interrupted or are killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{command, maxseg, small, stderr};

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let names = std::fs::read_dir(folder).unwrap().map(name);
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

#[test]
fn a_full_disk_leaves_whole_rows_and_a_usable_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    // A file may have 8 blocks of 512 or 1024 bytes, by the shell, as if the disk were full then.
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_maxseg")])
        .args(small(&["--seeds", "20", "--out", out]))
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(1));
    assert!(stderr(&limited).contains("error: cannot write "), "{}", stderr(&limited));
    // It is of no use to know that a summary cannot be written either.
    assert!(stderr(&limited).contains("rows.jsonl"), "{}", stderr(&limited));
    assert!(stderr(&limited).contains(" of 84 runs "), "{}", stderr(&limited));
    let shown = String::from_utf8_lossy(&limited.stdout);
    assert!(shown.contains("by sim"), "{shown}");
    let rows = std::fs::read(Path::new(out).join("rows.jsonl")).unwrap();
    assert!(rows.ends_with(b"\n"), "the last row is torn");
    let again = maxseg(&small(&["--seeds", "20", "--out", out]));
    assert!(again.status.success(), "{}", stderr(&again));
    assert!(stderr(&again).contains(" runs are there already"), "{}", stderr(&again));
}

/// A run into `out` in this folder, with a picture beside it, once it has many rows. Its output goes to a pipe of 64 KiB that nobody reads:
/// with most of that taken, what is printed after an interrupt does not fit, and it cannot end by itself.
fn run_amid_its_rows(folder: &Path) -> Child {
    let (out, svg) = (folder.join("out"), folder.join("goodput.svg"));
    let mut child = command(&["run", "cellular-mss", "--seeds", "2000", "--json-stream"])
        .args(["--out".as_ref(), out.as_os_str(), "--svg".as_ref(), svg.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let rows = || std::fs::metadata(out.join("rows.jsonl")).map_or(0, |about| about.len());
    while rows() < 48 << 10 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it was interrupted");
        std::thread::yield_now();
    }
    child
}

#[test]
fn a_second_interrupt_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = run_amid_its_rows(folder.path());
    // Interrupts within a second of the first count as the same one.
    let status = loop {
        signal(&child, "-INT");
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::yield_now();
    };
    assert_eq!(status.code(), Some(130));
    assert_eq!(names(folder.path()), ["out"]);
}

/// The picture was begun before the first row, and has no name until it is whole.
#[test]
fn what_is_killed_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = run_amid_its_rows(folder.path());
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert_eq!(names(folder.path()), ["out"]);
}
