//! What a list of live connections costs, beside `ss` in the same run, and what the screen of `maxseg top` costs:
//! docs/performance-connections.md.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::measure::{cpu_of, cpu_of_children, median_of};
use super::{Line, page, release_program};
use crate::{is_installed, root};

/// Pairs of sockets of a process: descriptors (20,000) and ports are limited.
const PAIRS: usize = 8_334;
const PROCESSES: usize = 3;
/// What the project has set itself: shares of the CPU time of `ss`, the most memory, and the screen's.
const WITHOUT_PROCESSES: f64 = 0.5;
const WITH_PROCESSES: f64 = 0.2;
const MOST_MIB: f64 = 60.0;
const REDRAW_S: f64 = 0.050;
const SAMPLE_S: f64 = 0.010;
/// Of the screen so many seconds are measured.
const SCREEN_S: u32 = 10;
const FILE: &str = "docs/performance-connections.md";

/// Measures, prints, and with `write` writes the page.
///
/// # Errors
/// This user may make no network namespace, `ss` is not there, or a program fails.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(write: bool, repeat: usize) -> Result<()> {
    ensure!(is_installed("ss"), "`ss` is not installed (iproute2)");
    let program = release_program()?;
    let mut lines = lists(&program, repeat.max(1))?;
    lines.push(screen(&program, 10_000, REDRAW_S)?);
    lines.push(screen(&program, 1_000, SAMPLE_S)?);
    println!("{}", page::WHOLE_HEAD);
    for line in &lines {
        println!("{}", page::row(line));
    }
    if write {
        fs::write(root().join(FILE), document(&lines, repeat))?;
    }
    Ok(())
}

/// Opens pairs of connected sockets on the loopback interface, says so, and holds them until its input ends.
///
/// # Errors
/// There are not as many descriptors or ports.
#[expect(clippy::print_stdout, reason = "it is waited for")]
pub fn hold(pairs: usize) -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).status()?;
    ensure!(up.success(), "the loopback interface cannot be set up");
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut held = Vec::new();
    for _ in 0..pairs {
        held.push(TcpStream::connect(listener.local_addr()?)?);
        held.push(listener.accept()?.0);
    }
    println!("open");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// A network namespace with many connections, which ends with this value.
struct Connections {
    holders: Vec<Child>,
}

impl Connections {
    fn open(processes: usize, pairs: usize) -> Result<Self> {
        let mut all = Self { holders: Vec::new() };
        for _ in 0..processes {
            let own = std::env::current_exe()?;
            let mut command = match all.holders.first() {
                None => Command::new("unshare"),
                Some(_) => Command::new("nsenter"),
            };
            match all.holders.first() {
                None => command.args(["--net", "--"]),
                Some(first) => command.args(["-t", &first.id().to_string(), "-n", "--"]),
            };
            let holder = command
                .arg(own)
                .args(["hold-connections", &pairs.to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            all.holders.push(holder);
            let output = all.holders.last_mut().and_then(|holder| holder.stdout.take());
            let mut line = String::new();
            BufReader::new(output.context("its output")?).read_line(&mut line)?;
            ensure!(line.trim() == "open", "no {pairs} connections could be opened");
        }
        Ok(all)
    }

    /// A command in the namespace.
    fn within(&self) -> Command {
        let mut command = Command::new("nsenter");
        let first = self.holders.first().map_or(0, Child::id);
        command.args(["-t", &first.to_string(), "-n", "--"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        command
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        for holder in &mut self.holders {
            drop(holder.stdin.take());
            // It ends with its input.
            let _ = holder.wait();
        }
    }
}

/// A list of all connections, by this program and `ss` in turn, with processes and without.
fn lists(program: &Path, repeat: usize) -> Result<Vec<Line>> {
    let connections = Connections::open(PROCESSES, PAIRS)?;
    let count = 2 * PROCESSES * PAIRS;
    let ours = |words: &[&str]| cpu_of(connections.within().arg(program).args(words));
    let ss = |words: &str| cpu_of(connections.within().args(["ss", words]));
    let kinds: [(&str, &[&str], &str, f64); 2] = [
        ("", &["connections", "--json", "--no-processes"], "-tinO", WITHOUT_PROCESSES),
        (" with processes", &["connections", "--json"], "-tinpO", WITH_PROCESSES),
    ];
    let mut lines = Vec::new();
    for (what, own, theirs, most) in kinds {
        let (mut times, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..repeat {
            let pair = (ours(own)?, ss(theirs)?);
            times.push(pair.0);
            ratios.push(pair.0 / pair.1);
        }
        let time = median_of(&times);
        lines.push(line(format!("{count} connections{what}: CPU"), format!("{time:.3} s"), None));
        let ratio = median_of(&ratios);
        lines.push(line(
            format!("the same: maxseg ÷ ss {theirs}"),
            format!("{ratio:.2}"),
            Some((most.to_string(), ratio <= most)),
        ));
    }
    let output = Command::new("nsenter")
        .args(["-t", &connections.holders[0].id().to_string(), "-n", "--"])
        .arg(std::env::current_exe()?)
        .arg("peak-memory")
        .arg(program)
        .args(["connections", "--json"])
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mib: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    lines.push(line(
        "the same: most memory, MiB".to_owned(),
        format!("{mib:.0}"),
        Some((MOST_MIB.to_string(), mib <= MOST_MIB)),
    ));
    Ok(lines)
}

/// The screen on a terminal of 200 by 50, a sample and a redraw each second: CPU time of one of them.
fn screen(program: &Path, count: usize, most: f64) -> Result<Line> {
    let pairs = count / 2;
    let processes = pairs.div_ceil(PAIRS);
    let connections = Connections::open(processes, pairs / processes)?;
    let shown = format!(
        "stty cols 200 rows 50; exec timeout {SCREEN_S} {} top --interval '1 s'",
        program.display()
    );
    let mut command = connections.within();
    // `timeout` ends it, which `script` reports as its own failure.
    command.env("TERM", "xterm-256color").args(["script", "-qc", &shown, "/dev/null"]);
    let before = cpu_of_children()?;
    // Keys that never come: at the end of its input the screen would end at once.
    let began = Instant::now();
    let mut screen = command.stdin(Stdio::piped()).spawn().context("script (bsdutils)")?;
    let keys = screen.stdin.take();
    screen.wait()?;
    drop(keys);
    ensure!(
        began.elapsed().as_secs() + 1 >= u64::from(SCREEN_S),
        "the screen ended after {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let each = (cpu_of_children()? - before) / f64::from(SCREEN_S);
    Ok(line(
        format!("`top` with {count} connections: CPU of a sample and its redraw"),
        format!("{:.1} ms", 1e3 * each),
        Some((format!("{:.0} ms", 1e3 * most), each <= most)),
    ))
}

fn line(what: String, figure: String, asked: Option<(String, bool)>) -> Line {
    let (asked, reached) = asked.map_or((String::new(), None), |(asked, is)| (asked, Some(is)));
    Line { what, figures: vec![figure], asked, reached, fault: None }
}

fn document(lines: &[Line], repeat: usize) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "# What a list of connections costs\n\nWritten by\n\n```\ncargo xtask bench-live --write --repeat {repeat}\n```\n\n\
         on {cpu}, {cores} cores, in a network namespace with connections over its loopback interface, opened by {PROCESSES} \
         processes. Times are CPU times, those of the kernel and of `nsenter` included, medians of {repeat} runs, `ss` in turn; \
         ratios are medians over pairs. Output goes to /dev/null, but that of `top` to a terminal of 200 columns and 50 lines.\n\n{}\n",
        page::WHOLE_HEAD
    );
    for line in lines {
        let _ = writeln!(text, "{}", page::row(line));
    }
    text
}
