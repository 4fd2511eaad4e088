//! The pages about shipped scenarios: every command on them is run, and what it prints is what stands there. A number that
//! changed is red; `MAXSEG_WRITE_PAGES=1` (`cargo xtask experiments`) writes the new ones instead.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pages whose commands take seconds.
const PAGES: [&str; 11] = [
    "browse-while-downloading",
    "cable-modem",
    "cellular-requests",
    "fddi-long-delay",
    "fragmenting-router",
    "freebsd-route-pipe",
    "jumbo-wan",
    "open-transport-modem",
    "requests",
    "slow-link-tune-up",
    "stcp-ftp",
];
/// Pages whose commands take longer: ten seeds of a link of 10 Gbit/s, and a sweep of hours.
const SLOW_PAGES: [&str; 2] = ["jumbo-frames", "cellular-arq"];

/// What separates the outputs of two blocks.
const MARK: &str = "=== the next block ===";

/// The lines of a page: text, and blocks of commands with what they print.
struct Page {
    file: PathBuf,
    text: String,
}

/// A block of commands.
struct Block<'a> {
    commands: String,
    printed: Vec<&'a str>,
}

impl Page {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let file = folder.join(format!("{name}.md"));
        let text = std::fs::read_to_string(&file).unwrap();
        Self { file, text }
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut lines = self.text.lines();
        while lines.any(|line| line == "```console") {
            let mut block = Block { commands: String::new(), printed: Vec::new() };
            for line in lines.by_ref().take_while(|line| *line != "```") {
                match line.strip_prefix("$ ").or_else(|| line.strip_prefix("> ")) {
                    Some(command) => writeln!(block.commands, "{command}").unwrap(),
                    None => block.printed.push(line),
                }
            }
            without_end(&mut block.printed);
            blocks.push(block);
        }
        blocks
    }

    /// What the blocks print now, one after the other in one shell: later ones use the variables of earlier ones.
    fn run(&self) -> Vec<Vec<String>> {
        let blocks = self.blocks();
        let mut script = String::new();
        for block in &blocks {
            write!(script, "{}\necho '{MARK}'\n", block.commands).unwrap();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_maxseg")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .args(["-c", &script])
            .env("PATH", format!("{}:{path}", program.display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let mut parts: Vec<&str> = printed.split(&format!("{MARK}\n")).collect();
        parts.pop();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(parts.len(), blocks.len(), "{}: {told}", self.file.display());
        let lines = |part: &&str| -> Vec<String> {
            let mut lines = part.lines().map(|line| line.trim_end().to_owned()).collect();
            without_end(&mut lines);
            lines
        };
        parts.iter().map(lines).collect()
    }

    /// The page with these outputs.
    fn with(&self, outputs: &[Vec<String>]) -> String {
        let (mut text, mut outputs) = (String::new(), outputs.iter());
        let mut output: Option<&Vec<String>> = None;
        for line in self.text.lines() {
            match (line, &mut output) {
                ("```console", _) => output = outputs.next(),
                ("```", Some(printed)) => {
                    printed.iter().for_each(|line| writeln!(text, "{line}").unwrap());
                    output = None;
                }
                (_, Some(_)) if !line.starts_with("$ ") && !line.starts_with("> ") => continue,
                _ => {}
            }
            writeln!(text, "{line}").unwrap();
        }
        text
    }
}

/// Takes off the empty lines with which an output ends.
fn without_end<T: AsRef<str>>(lines: &mut Vec<T>) {
    while lines.last().is_some_and(|line| line.as_ref().is_empty()) {
        lines.pop();
    }
}

/// Whether there is what the commands need besides this program.
#[expect(clippy::print_stdout, reason = "what cannot run here is said")]
fn has_tools() -> bool {
    let lacks = |tool: &&str| Command::new(tool).arg("--help").output().is_err();
    let missing: Vec<&str> = ["bash", "awk", "python3"].into_iter().filter(lacks).collect();
    if !missing.is_empty() {
        println!("skipped: there is no {}", missing.join(", "));
    }
    missing.is_empty()
}

fn check(names: &[&str]) {
    if !has_tools() {
        return;
    }
    let writes = std::env::var_os("MAXSEG_WRITE_PAGES").is_some();
    let mut faults = String::new();
    for name in names {
        let page = Page::read(name);
        let outputs = page.run();
        if writes {
            std::fs::write(&page.file, page.with(&outputs)).unwrap();
            continue;
        }
        for (block, output) in page.blocks().iter().zip(&outputs) {
            let printed: Vec<String> =
                block.printed.iter().map(|line| line.trim_end().to_owned()).collect();
            if printed != *output {
                let first = block.commands.lines().next().unwrap_or_default();
                write!(
                    faults,
                    "\n{name}: {first}\nthe page:\n{}\nnow:\n{}\n",
                    printed.join("\n"),
                    output.join("\n")
                )
                .unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{faults}\n`cargo xtask experiments` writes the pages anew");
}

#[test]
fn pages_print_what_their_commands_print() {
    check(&PAGES);
}

#[test]
#[ignore = "a minute and more: ten seeds of 10 Gbit/s, and a sweep of hours"]
fn slow_pages_print_what_their_commands_print() {
    check(&SLOW_PAGES);
}

/// Every shipped scenario's page is checked.
#[test]
fn every_page_with_grades_is_checked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_page = file.extension().is_some_and(|ending| ending == "md");
        let text = if is_page { std::fs::read_to_string(&file).unwrap() } else { String::new() };
        let is_graded = text.lines().any(|line| {
            line.starts_with('|') && line.split('|').any(|cell| cell.trim() == "grade")
        });
        if is_graded && name != "experiments" {
            let checked = PAGES.iter().chain(&SLOW_PAGES).any(|page| *page == name);
            assert!(checked, "{name} has grades and is not checked");
        }
    }
}
