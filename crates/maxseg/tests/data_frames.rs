//! `docs/data-frames.md`: its commands and programs, as they stand there.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = include_str!("../../../docs/data-frames.md");
/// Where `cargo xtask test` puts the packages.
const ENVIRONMENT: &str = "../../target/python/bin/python3";
const PACKAGES: &str = "import pandas, pyarrow, polars, matplotlib";

/// The blocks of code in this language.
fn code(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    let blocks = PAGE.split(begin.as_str()).skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

/// A Python with the packages of the page.
fn python() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join(ENVIRONMENT);
    let has_packages = |python: &PathBuf| {
        let tried = Command::new(python).args(["-c", PACKAGES]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    [installed, PathBuf::from("python3")].into_iter().find(has_packages)
}

#[test]
#[expect(clippy::print_stdout, reason = "what cannot run here is said")]
fn the_programs_of_the_page_read_and_plot_what_its_command_leaves() {
    let Some(python) = python() else {
        println!("skipped: there is no Python with pandas, pyarrow, polars and matplotlib");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [command] = code("console")[..] else { panic!("one command") };
    let arguments = command.trim().strip_prefix("$ maxseg ").unwrap().split(' ');
    let run = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(arguments)
        .arg("--quiet")
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let programs = code("python");
    assert_eq!(programs.len(), 2);
    for program in programs {
        let ran = Command::new(&python)
            .args(["-c", program])
            .env("MPLBACKEND", "Agg")
            .env("MPLCONFIGDIR", folder.path())
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        // A row for each of the three error rates, at least.
        assert!(String::from_utf8_lossy(&ran.stdout).lines().count() > 3);
    }
    assert!(folder.path().join("results/goodput.png").metadata().unwrap().len() > 10_000);
}
