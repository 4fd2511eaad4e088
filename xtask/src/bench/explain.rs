//! How fast captures are explained, and in how much memory, beside tcptrace, ndpiReader, softflowd and tshark in the same
//! run: docs/performance-explain.md.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use maxseg_wire::synthetic::{DialogueLoad, Load, LossyLoad};

use super::measure::{cpu_of, median_of};
use super::{Line, page, release_program, target};
use crate::{is_installed, root};

/// About a gigabyte: 25 connections that take turns.
const FEW: Load =
    Load { connections: 25, rounds: 110_000, at_once: 25, rounds_a_turn: 1, ends: true };
/// About a gigabyte: a million short connections.
const MANY: Load =
    Load { connections: 1_000_000, rounds: 2, at_once: 25, rounds_a_turn: 1, ends: true };
/// 25 connections, of whose segments one in a hundred is lost: SACK blocks and retransmissions.
const LOSSY: LossyLoad = LossyLoad { connections: 25, segments: 40_000, one_in: 100 };
/// Three million small packets: 4000 connections of requests and replies of about 100 bytes, all at once.
const TALK: DialogueLoad = DialogueLoad { connections: 4_000, turns: 250 };
/// Nothing is timed with fewer rounds than this: a start of the program would count.
const SIZES: [u32; 5] = [1_300, 4_000, 13_000, 40_000, 130_000];
/// tshark takes minutes for a gigabyte: it reads this part of it.
const TENTH: u32 = 10;

/// What the project has set itself.
const TCPTRACE_RATIO: f64 = 2.5;
/// Of packets of about 100 bytes, less 15%.
const NDPI_READER_RATIO: f64 = 0.85;
const TSHARK_RATIO: f64 = 100.0;
/// Of the time that all cores take, where there are two.
const CORES_RATIO: f64 = 1.5;
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

/// A program that reads the same captures.
struct Other {
    name: &'static str,
    program: &'static str,
    /// The capture follows.
    arguments: &'static [&'static str],
}

/// `NetFlow` goes to the discard port of this host.
const OTHERS: [Other; 4] = [
    Other { name: "cat, which only reads", program: "cat", arguments: &[] },
    Other { name: "tcptrace", program: "tcptrace", arguments: &["-l", "-r", "-W", "--csv"] },
    Other { name: "ndpiReader", program: "ndpiReader", arguments: &["-q", "-i"] },
    Other {
        name: "softflowd",
        program: "softflowd",
        arguments: &["-d", "-n", "127.0.0.1:9", "-r"],
    },
];

impl Other {
    /// Whether it is installed; says so where it is not.
    #[expect(clippy::print_stdout, reason = "a command-line program")]
    fn is_there(&self) -> bool {
        let is_there = is_installed(self.program);
        if !is_there {
            println!("{} is not installed, so nothing is compared with it", self.program);
        }
        is_there
    }
}

/// Ours. Threads cost CPU time, and save time: the first is measured on one core.
const ONE_CORE: [&str; 4] = ["explain", "--json", "--jobs", "1"];
const ALL_CORES: [&str; 2] = ["explain", "--json"];

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
        lines.extend(self.lossy()?);
        lines.extend(self.talk()?);
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
        let name = format!("{} packets of 25 connections", FEW.packets());
        let (own, mut lines) = self.beside(&name, &file, None)?;
        lines.push(self.cores(&file)?);
        lines.push(self.memory("25 connections", &file, FEW_MIB)?);
        fs::remove_file(&file)?;
        if is_installed("tshark") {
            lines.push(self.tshark(own / FEW.packets() as f64)?);
        }
        Ok(lines)
    }

    /// 1% of the segments are lost.
    fn lossy(&self) -> Result<Vec<Line>> {
        let (mut out, file) = self.create("lossy")?;
        let counts = LOSSY.write(&mut out)?;
        finish(out)?;
        let name = format!(
            "{} packets of 25 connections, {} retransmissions by SACK",
            counts.packets, counts.retransmissions
        );
        let (_, mut lines) = self.beside(&name, &file, None)?;
        lines.push(self.cores(&file)?);
        fs::remove_file(&file)?;
        Ok(lines)
    }

    /// Requests and replies.
    fn talk(&self) -> Result<Vec<Line>> {
        let (mut out, file) = self.create("talk")?;
        TALK.write(&mut out)?;
        finish(out)?;
        let name = format!("{} small packets of {} connections", TALK.packets(), TALK.connections);
        let (_, mut lines) = self.beside(&name, &file, Some(NDPI_READER_RATIO))?;
        lines.push(self.cores(&file)?);
        lines.push(self.memory("the same", &file, MANY_MIB)?);
        fs::remove_file(&file)?;
        Ok(lines)
    }

    /// The CPU time of a capture beside that of the others that are installed, ours first; `ndpi_reader` is what the ratio of
    /// that one is to be.
    fn beside(
        &self,
        name: &str,
        file: &Path,
        ndpi_reader: Option<f64>,
    ) -> Result<(f64, Vec<Line>)> {
        let bytes = fs::metadata(file)?.len() as f64;
        let others: Vec<&Other> = OTHERS.iter().filter(|other| other.is_there()).collect();
        let mut ours = Vec::new();
        let mut theirs = vec![Vec::new(); others.len()];
        for _ in 0..self.repeat {
            ours.push(self.explain(file)?);
            for (other, times) in others.iter().zip(&mut theirs) {
                times.push(cpu(other.program, other.arguments, file)?);
            }
        }
        let own = median_of(&ours);
        let speed = |cpu_s: f64| format!("{:.3} s, {:.2} GB/s", cpu_s, bytes / cpu_s / 1e9);
        let mut lines =
            vec![said(format!("{name}, {:.2} GB: maxseg, CPU time", bytes / 1e9), speed(own))];
        for (other, times) in others.iter().zip(&theirs) {
            lines.push(said(format!("the same: {}", other.name), speed(median_of(times))));
            // Of each pair, one behind the other: what else the machine did was nearly the same.
            let ratios: Vec<f64> = times.iter().zip(&ours).map(|(its, own)| its / own).collect();
            let (what, ratio) = (format!("{} ÷ maxseg", other.program), median_of(&ratios));
            let least = match other.program {
                "tcptrace" => Some(TCPTRACE_RATIO),
                "ndpiReader" => ndpi_reader,
                _ => None,
            };
            match least {
                Some(least) => lines.push(times_asked(&what, ratio, least)),
                None if other.program != "cat" => lines.push(said(what, format!("{ratio:.2} ×"))),
                None => {}
            }
        }
        Ok((own, lines))
    }

    /// How much sooner it is done on all cores than on one.
    fn cores(&self, file: &Path) -> Result<Line> {
        let wall_s = |arguments: &[&str]| {
            let begin = Instant::now();
            cpu(self.program()?, arguments, file)?;
            anyhow::Ok(begin.elapsed().as_secs_f64())
        };
        let mut ratios = Vec::new();
        for _ in 0..self.repeat {
            ratios.push(wall_s(&ONE_CORE)? / wall_s(&ALL_CORES)?);
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let what = format!("the same: wall time, one core ÷ {cores}");
        Ok(times_asked(&what, median_of(&ratios), CORES_RATIO))
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
        Ok(times_asked(&what, a_packet / own, TSHARK_RATIO))
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
        let (mut out, path) = self.create(name)?;
        load.write(&mut out)?;
        finish(out)?;
        Ok(path)
    }

    fn create(&self, name: &str) -> Result<(BufWriter<File>, PathBuf)> {
        let path = self.folder.join(name).with_extension("pcap");
        Ok((BufWriter::with_capacity(1 << 20, File::create(&path)?), path))
    }

    fn explain(&self, file: &Path) -> Result<f64> {
        cpu(self.program()?, &ONE_CORE, file)
    }

    fn program(&self) -> Result<&str> {
        self.program.to_str().context("a path in Unicode")
    }

    fn memory(&self, what: &str, file: &Path, most: f64) -> Result<Line> {
        let output = Command::new(std::env::current_exe()?)
            .arg("peak-memory")
            .arg(&self.program)
            .args(ALL_CORES)
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

/// Ends a file, on the disk too: the kernel would write it there while it is read, on one of the cores that are measured.
fn finish(out: BufWriter<File>) -> Result<()> {
    Ok(out.into_inner()?.sync_all()?)
}

/// CPU seconds of a program that reads a file; its output goes nowhere.
fn cpu(program: &str, arguments: &[&str], file: &Path) -> Result<f64> {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    if !file.as_os_str().is_empty() {
        command.arg(file);
    }
    cpu_of(&mut command)
}

fn said(what: String, figure: String) -> Line {
    Line { what, figures: vec![figure], asked: String::new(), reached: None, fault: None }
}

fn times_asked(what: &str, ratio: f64, least: f64) -> Line {
    Line {
        what: what.to_owned(),
        figures: vec![format!("{ratio:.2} ×")],
        asked: format!("{least} ×"),
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
         on {cpu}, {cores} cores. Captures are made for it (`maxseg_wire::synthetic`), with 128 bytes kept of each packet:\n\
         25 connections in turn, packets of 1448 bytes of payload, two segments, then an acknowledgement; the same with one\n\
         segment in a hundred lost, SACK blocks and retransmissions; and requests and replies of 100 and 120 bytes, each with\n\
         its acknowledgement, of 4000 connections at once. Times are CPU times, those of the system included, medians of\n\
         {repeat} runs, ours and the others' in turn; ratios are medians over pairs. What else the machine does at that time\n\
         makes all of them longer: the ratios are what carries over. `maxseg explain FILE --json --jobs 1` writes to\n\
         /dev/null; on all cores, as it runs by default, it takes a little more CPU time, and less time, which has rows of its\n\
         own. So do `tcptrace -l -r -W --csv`, `ndpiReader -q -i`, `softflowd -d -n 127.0.0.1:9 -r` and `tshark -q -z conv,tcp`. Only\n\
         tcptrace looks for as much: ndpiReader names the application of each flow, softflowd and tshark count its packets\n\
         and bytes. `asked` is what the project has set itself.\n\n{}\n{}\n\n\
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
