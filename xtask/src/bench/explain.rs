//! How fast captures are explained, and in how much memory, beside tcptrace and tshark in the same run:
//! docs/performance-explain.md.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use maxseg_wire::synthetic::Load;

use super::measure::{cpu_of_children, median_of};
use super::{Line, page, release_program, target};
use crate::{is_installed, root};

/// About a gigabyte: 25 connections that take turns.
const FEW: Load =
    Load { connections: 25, rounds: 110_000, at_once: 25, rounds_a_turn: 1, ends: true };
/// About a gigabyte: a million short connections.
const MANY: Load =
    Load { connections: 1_000_000, rounds: 2, at_once: 25, rounds_a_turn: 1, ends: true };
/// Nothing is timed with fewer rounds than this: a start of the program would count.
const SIZES: [u32; 5] = [1_300, 4_000, 13_000, 40_000, 130_000];
/// tshark takes minutes for a gigabyte: it reads this part of it.
const TENTH: u32 = 10;

/// What the project has set itself.
const TCPTRACE_RATIO: f64 = 3.0;
const TSHARK_RATIO: f64 = 100.0;
const FEW_MIB: f64 = 64.0;
const MANY_MIB: f64 = 1000.0;

/// Makes the captures, measures, prints, and removes them.
///
/// # Errors
/// A capture cannot be written, or a program fails.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(write: bool, repeat: usize) -> Result<()> {
    let folder = target().join("bench-explain");
    fs::create_dir_all(&folder)?;
    let bench = Bench { program: release_program()?, folder, repeat: repeat.max(1) };
    let measured = bench.measure();
    fs::remove_dir_all(&bench.folder)?;
    let (lines, points) = measured?;
    println!("{}", page::WHOLE_HEAD);
    for line in &lines {
        println!("{}", page::row(line));
    }
    for Point { packets, cpu_s } in &points {
        println!("{packets} packets: {:.1} ns each", 1e9 * cpu_s / *packets as f64);
    }
    if write {
        fs::write(root().join("docs/performance-explain.md"), document(&bench, &lines, &points))?;
        let points: Vec<_> = points.iter().map(|it| (it.packets as f64, it.cpu_s)).collect();
        fs::write(root().join("docs/performance-explain.svg"), maxseg::cost_picture(&points))?;
    }
    Ok(())
}

struct Bench {
    program: PathBuf,
    folder: PathBuf,
    repeat: usize,
}

/// What a capture of some size takes.
struct Point {
    packets: u64,
    cpu_s: f64,
}

impl Bench {
    fn measure(&self) -> Result<(Vec<Line>, Vec<Point>)> {
        let mut lines = self.few()?;
        lines.push(self.many()?);
        let mut points = Vec::new();
        for rounds in SIZES {
            points.push(self.point(Load { rounds, ..FEW })?);
        }
        Ok((lines, points))
    }

    /// 25 connections: speed beside others, and memory.
    fn few(&self) -> Result<Vec<Line>> {
        let file = self.write("few", FEW)?;
        let bytes = fs::metadata(&file)?.len() as f64;
        let (mut ours, mut tcptrace, mut cat) = (Vec::new(), Vec::new(), Vec::new());
        let has_tcptrace = is_installed("tcptrace");
        for _ in 0..self.repeat {
            ours.push(self.explain(&file)?);
            if has_tcptrace {
                tcptrace.push(cpu("tcptrace", &["-l", "-r", "-W", "--csv"], &file)?);
            }
            cat.push(cpu("cat", &[], &file)?);
        }
        let own = median_of(&ours);
        let speed = |cpu_s: f64| format!("{:.3} s, {:.2} GB/s", cpu_s, bytes / cpu_s / 1e9);
        let name = format!("{} packets of 25 connections, {:.2} GB", FEW.packets(), bytes / 1e9);
        let mut lines = vec![
            said(format!("{name}: maxseg, CPU time"), speed(own)),
            said("the same: cat, which only reads".to_owned(), speed(median_of(&cat))),
        ];
        if has_tcptrace {
            let theirs = median_of(&tcptrace);
            lines.push(said("the same: tcptrace".to_owned(), speed(theirs)));
            // Of each pair, one behind the other: what else the machine did was nearly the same.
            let ratios: Vec<f64> = tcptrace.iter().zip(&ours).map(|(its, own)| its / own).collect();
            lines.push(times("tcptrace ÷ maxseg", median_of(&ratios), TCPTRACE_RATIO));
        }
        lines.push(self.memory("25 connections", &file, FEW_MIB)?);
        fs::remove_file(&file)?;
        if is_installed("tshark") {
            lines.push(self.tshark(own / FEW.packets() as f64)?);
        }
        Ok(lines)
    }

    /// tshark, on a part of it; `own` is what a packet costs us.
    fn tshark(&self, own: f64) -> Result<Line> {
        let load = Load { rounds: FEW.rounds / TENTH, ..FEW };
        let file = self.write("tenth", load)?;
        let path = file.to_str().context("a path in Unicode")?;
        let theirs = cpu("tshark", &["-q", "-z", "conv,tcp", "-r", path], Path::new(""))?;
        fs::remove_file(&file)?;
        let a_packet = theirs / load.packets() as f64;
        let what = format!("tshark ÷ maxseg, by packet ({} packets, once)", load.packets());
        Ok(times(&what, a_packet / own, TSHARK_RATIO))
    }

    /// A million connections: memory.
    fn many(&self) -> Result<Line> {
        let file = self.write("many", MANY)?;
        let line = self.memory("a million connections", &file, MANY_MIB);
        fs::remove_file(&file)?;
        line
    }

    fn point(&self, load: Load) -> Result<Point> {
        let file = self.write("size", load)?;
        let runs: Result<Vec<f64>> = (0..self.repeat).map(|_| self.explain(&file)).collect();
        fs::remove_file(&file)?;
        Ok(Point { packets: load.packets(), cpu_s: median_of(&runs?) })
    }

    fn write(&self, name: &str, load: Load) -> Result<PathBuf> {
        let path = self.folder.join(name).with_extension("pcap");
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        load.write(&mut out)?;
        out.into_inner()?;
        Ok(path)
    }

    fn explain(&self, file: &Path) -> Result<f64> {
        let program = self.program.to_str().context("a path in Unicode")?;
        cpu(program, &["explain", "--json"], file)
    }

    fn memory(&self, what: &str, file: &Path, most: f64) -> Result<Line> {
        let output = Command::new(std::env::current_exe()?)
            .arg("peak-memory")
            .arg(&self.program)
            .args(["explain", "--json"])
            .arg(file)
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mib: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
        Ok(Line {
            what: format!("{what}: most memory, MiB"),
            figures: vec![format!("{mib:.0}")],
            asked: format!("{most:.0}"),
            reached: Some(mib <= most),
            fault: None,
        })
    }
}

/// CPU seconds of a program that reads a file; its output goes nowhere.
fn cpu(program: &str, arguments: &[&str], file: &Path) -> Result<f64> {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    if !file.as_os_str().is_empty() {
        command.arg(file);
    }
    let before = cpu_of_children()?;
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    ensure!(status.success(), "{program} failed");
    Ok(cpu_of_children()? - before)
}

fn said(what: String, figure: String) -> Line {
    Line { what, figures: vec![figure], asked: String::new(), reached: None, fault: None }
}

fn times(what: &str, ratio: f64, least: f64) -> Line {
    Line {
        what: what.to_owned(),
        figures: vec![format!("{ratio:.2} ×")],
        asked: format!("{least:.0} ×"),
        reached: Some(ratio >= least),
        fault: None,
    }
}

fn document(bench: &Bench, lines: &[Line], points: &[Point]) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let repeat = bench.repeat;
    let rows: Vec<String> = lines.iter().map(page::row).collect();
    let mut text = format!(
        "# How fast captures are explained\n\nWritten by\n\n```\ncargo xtask bench-explain --write --repeat {repeat}\n```\n\n\
         on {cpu}, {cores} cores. Captures are made for it (`maxseg_wire::synthetic`): packets of 1448 bytes of payload, of\n\
         which 128 bytes are kept, in turn of 25 connections; two segments, then an acknowledgement. Times are CPU times,\n\
         those of the system included, medians of {repeat} runs, ours and the others' in turn; ratios are medians over pairs.\n\
         What else the machine does at that time makes all of them longer: the ratios are what carries over. `maxseg\n\
         explain FILE --json` writes to /dev/null; so do `tcptrace -l -r -W --csv` and `tshark -q -z conv,tcp`. `asked` is what\n\
         the project has set itself.\n\n{}\n{}\n\n\
         ## The number of packets\n\n![CPU time by packets](performance-explain.svg)\n\n\
         | packets | CPU time, s | a packet, ns |\n|---|---|---|\n",
        page::WHOLE_HEAD,
        rows.join("\n"),
    );
    for Point { packets, cpu_s } in points {
        let nanos = 1e9 * cpu_s / *packets as f64;
        let _ = writeln!(text, "| {packets} | {cpu_s:.3} | {nanos:.1} |");
    }
    text += "\nThe smallest sizes contain the start of the program.\n";
    text
}
