//! What the lab carries on this machine, beside a plain pair of interfaces in the same run, and how exact its
//! links are: docs/lab-performance.md.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Line, page, release_program};
use crate::root;

/// Runs every case `repeat` times and prints the best run that the lab itself calls valid, or the best if none
/// is: whatever else the machine does can only make it worse.
///
/// # Errors
/// The lab cannot run here.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(write: bool, repeat: usize) -> Result<()> {
    let bench = Bench { program: release_program()?, repeat: repeat.max(1) };
    println!("{}", page::WHOLE_HEAD);
    let mut parts: Vec<(&str, Vec<Line>)> = Vec::new();
    for (title, part) in [
        ("Carried", Bench::carried as fn(&Bench) -> Result<Vec<Line>>),
        ("Decided packet by packet", Bench::decided),
        ("How exact", Bench::exact),
    ] {
        let lines = part(&bench)?;
        for line in &lines {
            println!("{}", page::row(line));
        }
        parts.push((title, lines));
    }
    if write {
        fs::write(root().join("docs/lab-performance.md"), document(&parts, bench.repeat))?;
    }
    Ok(())
}

struct Bench {
    program: std::path::PathBuf,
    repeat: usize,
}

/// One run of the lab.
struct Run {
    outcome: Value,
    valid: bool,
}

impl Run {
    fn number(&self, key: &str) -> f64 {
        self.outcome[key].as_f64().unwrap_or(0.0)
    }

    fn link(&self, key: &str) -> f64 {
        self.outcome["lab"]["links"][0][key].as_f64().unwrap_or(0.0)
    }
}

const BOTH_MTUS: [u32; 2] = [1500, 9000];

impl Bench {
    /// 10 Gbit/s without losses, and a plain pair of interfaces.
    fn carried(&self) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        for (mtu, least, possible) in [(1500, 9.38, 9.415), (9000, 9.86, 9.90)] {
            let best = self.best(&fast(mtu, "", "cubic", 1, 5), |run| run.number("goodput_bps"))?;
            let gbit = best.number("goodput_bps") / 1e9;
            let cpu = best.number("cpu_s_per_gbit");
            lines.push(line(
                format!("shaped to 10 Gbit/s, MTU {mtu}, one cubic flow"),
                format!("{gbit:.2} Gbit/s of {possible} possible{}", mark(&best)),
                format!("at least {least}"),
                gbit >= least,
            ));
            lines.push(line(
                format!("CPU of relay, kernel and both hosts, MTU {mtu}"),
                format!("{cpu:.3} s per Gbit"),
                "at most 0.13".to_owned(),
                cpu <= 0.13,
            ));
            if let Some(plain) = self.plain_pair(mtu)? {
                lines.push(Line {
                    what: format!(
                        "the same against a plain veth pair, MTU {mtu} (iperf3, same minute)"
                    ),
                    figures: vec![format!(
                        "{gbit:.2} against {plain:.2} Gbit/s, {:.2} times",
                        gbit / plain
                    )],
                    asked: "reported".to_owned(),
                    reached: None,
                    fault: None,
                });
            }
        }
        Ok(lines)
    }

    /// 1% of all packets of the wire are lost, each decided alone.
    fn decided(&self) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        for (mtu, least) in BOTH_MTUS.into_iter().zip([5.0, 9.0]) {
            for (congestion, flows) in [("cubic", 1), ("cubic", 16), ("bbr", 16)] {
                let text = fast(mtu, LOSSY, congestion, flows, 5);
                let best = self.best(&text, |run| run.number("goodput_bps"))?;
                let gbit = best.number("goodput_bps") / 1e9;
                let packets = best.link("packets") / best.number("elapsed_s") / 1e3;
                let asked =
                    if flows > 1 { format!("aim {least:.1}") } else { "reported".to_owned() };
                lines.push(Line {
                    what: format!("10 Gbit/s, 1% per packet, MTU {mtu}, {flows} × {congestion}"),
                    figures: vec![format!(
                        "{gbit:.2} Gbit/s, {packets:.0} thousand packets a second, {:.3} CPU s per Gbit{}",
                        best.number("cpu_s_per_gbit"),
                        mark(&best)
                    )],
                    asked,
                    reached: (flows > 1).then_some(gbit >= least),
                    fault: None,
                });
            }
        }
        Ok(lines)
    }

    fn exact(&self) -> Result<Vec<Line>> {
        let mut lines = vec![self.loss_of_a_million(1500)?, self.loss_of_a_million(9000)?];
        lines.push(self.ping()?);
        for (rate, size, seconds) in [
            ("9.6 kbit/s", 20, 60),
            ("1 Mbit/s", 500, 10),
            ("100 Mbit/s", 1400, 5),
            ("1 Gbit/s", 1400, 5),
        ] {
            lines.push(self.rate(rate, size, seconds)?);
        }
        for window in ["16 KiB", "64 KiB", "128 KiB", "256 KiB", "512 KiB", "896 KiB"] {
            lines.push(self.window(window)?);
        }
        Ok(lines)
    }

    fn loss_of_a_million(&self, mtu: u32) -> Result<Line> {
        let seconds = if mtu > 1500 { 12 } else { 4 };
        let run = self.first_valid(&fast(mtu, LOSSY, "bbr", 16, seconds))?;
        let share = 100.0 * run.link("damaged") / run.link("packets");
        Ok(line(
            format!("1% configured, MTU {mtu}"),
            format!("{share:.3}% of {:.2} million packets", run.link("packets") / 1e6),
            "1% ± 0.05".to_owned(),
            (share - 1.0).abs() <= 0.05,
        ))
    }

    fn ping(&self) -> Result<Line> {
        let text = "[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                    [[flow]]\nkind = \"ping\"\ninterval = \"5 ms\"\n[until]\ntime = \"5 s\"\n";
        let run = self.first_valid(text)?;
        let (mean, p99) = (run.number("ping_mean_s") * 1e3, run.number("ping_p99_s") * 1e3);
        Ok(line(
            "2 × 1 ms: an echo".to_owned(),
            format!("mean {mean:.3} ms, p99 {p99:.3} ms{}", mark(&run)),
            "mean within 0.2 ms, p99 within 0.6 ms".to_owned(),
            (1.9..=2.2).contains(&mean) && p99 <= 2.6,
        ))
    }

    /// Twice what the link carries: how much comes through from the first to the last second.
    fn rate(&self, rate: &str, size: u32, seconds: u32) -> Result<Line> {
        let packet = f64::from(size + 28);
        let twice = 2.0 * bits(rate)?;
        let text = format!(
            "[[hop]]\nrate = \"{rate}\"\ndelay = \"1 ms\"\nqueue = \"1000 packets\"\n\
             [[flow]]\nkind = \"cbr\"\nsize = {size}\nrate = \"{twice:.0} bit/s\"\nrate_counts = \"packet\"\n\
             [until]\ntime = \"{seconds} s\"\n"
        );
        let run = self.first_valid(&text)?;
        // The first packet arrives after its own time and the delay; the last may be on the wire.
        let begun = packet * 8.0 / bits(rate)? + 0.001;
        let payload = run.number("payload_bytes");
        let arrived = (payload - f64::from(size)) * packet / f64::from(size) * 8.0;
        let ratio = arrived / (run.number("elapsed_s") - begun) / bits(rate)?;
        let grain = packet * 8.0 / bits(rate)? / f64::from(seconds);
        Ok(line(
            format!("a link of {rate}"),
            format!(
                "{:.3}% of its rate (a packet is {:.2}%){}",
                100.0 * ratio,
                100.0 * grain,
                mark(&run)
            ),
            "within 0.5%".to_owned(),
            (ratio - 1.0).abs() <= 0.005,
        ))
    }

    /// FDDI over 70 ms: window ÷ round trip, the beginning of the connection left out.
    fn window(&self, window: &str) -> Result<Line> {
        let text = |seconds: u32| {
            format!(
                "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"35 ms\"\nmtu = 4352\nqueue = \"10000 packets\"\n\
                 [sender]\nstack = \"rfc\"\nmss = 4108\ntimestamps = true\n\
                 [receiver]\nstack = \"rfc\"\ntimestamps = true\nwindow = \"{window}\"\n[until]\ntime = \"{seconds} s\"\n"
            )
        };
        let short = self.first_valid(&text(4))?;
        let long = self.first_valid(&text(10))?;
        let between = (long.number("payload_bytes") - short.number("payload_bytes")) * 8.0
            / (long.number("elapsed_s") - short.number("elapsed_s"));
        // A full packet's own time, and its acknowledgement's.
        let round_trip = 0.07 + (4148.0 + 52.0) * 8.0 / 100e6;
        let kib: f64 = window.split_whitespace().next().unwrap_or("0").parse()?;
        let bound = (kib * 1024.0 * 8.0 / round_trip).min(100e6 * 4096.0 / 4148.0);
        Ok(line(
            format!("FDDI, window {window}"),
            format!(
                "{:.2} Mbit/s, {:.1}% of window ÷ round trip or link{}",
                between / 1e6,
                100.0 * between / bound,
                mark(&long)
            ),
            "within 3%".to_owned(),
            (between / bound - 1.0).abs() <= 0.03,
        ))
    }

    /// The best of several runs: a valid one, if there is any.
    fn best(&self, text: &str, figure: impl Fn(&Run) -> f64) -> Result<Run> {
        let runs = (0..self.repeat).map(|_| self.once(text)).collect::<Result<Vec<_>>>()?;
        runs.into_iter()
            .max_by(|a, b| a.valid.cmp(&b.valid).then(figure(a).total_cmp(&figure(b))))
            .context("no run")
    }

    /// The first run that the lab calls valid, or the last.
    fn first_valid(&self, text: &str) -> Result<Run> {
        let mut run = self.once(text)?;
        for _ in 1..self.repeat {
            if run.valid {
                break;
            }
            run = self.once(text)?;
        }
        Ok(run)
    }

    fn once(&self, text: &str) -> Result<Run> {
        let file = super::target().join("lab-bench.toml");
        fs::write(&file, text)?;
        let output = Command::new(&self.program)
            .args(["-q", "run", "--engine", "lab", "--allow-invalid", "--json"])
            .arg(&file)
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "{} failed on\n{text}", self.program.display());
        let document: Value = serde_json::from_slice(&output.stdout)?;
        let outcome = document["rows"][0]["outcome"].clone();
        let valid = outcome["lab"]["invalid_because"].as_array().is_some_and(Vec::is_empty);
        Ok(Run { outcome, valid })
    }

    /// What iperf3 gets through a pair of interfaces between two namespaces; `None` without iperf3.
    fn plain_pair(&self, mtu: u32) -> Result<Option<f64>> {
        if !crate::is_installed("iperf3") || !Path::new("/usr/bin/unshare").exists() {
            return Ok(None);
        }
        let mut best: f64 = 0.0;
        for _ in 0..self.repeat {
            let output = Command::new("unshare")
                .args(["--net", "--fork", "--kill-child", "sh", "-euc", PLAIN_PAIR, "sh"])
                .arg(mtu.to_string())
                .output()?;
            let report: Value = serde_json::from_slice(&output.stdout)
                .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
            best =
                best.max(report["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or(0.0));
        }
        Ok(Some(best / 1e9))
    }
}

/// Two namespaces, a pair of interfaces, iperf3 between them.
const PLAIN_PAIR: &str = "
unshare --net sleep 30 & far=$!
until [ \"$(readlink /proc/$far/ns/net)\" != \"$(readlink /proc/self/ns/net)\" ]; do :; done
ip link add near mtu \"$1\" type veth peer name far mtu \"$1\" netns /proc/$far/ns/net
ip addr add 10.0.0.1/24 dev near; ip link set near up
nsenter -t $far -n sh -c 'ip addr add 10.0.0.2/24 dev far; ip link set far up; ip link set lo up'
nsenter -t $far -n iperf3 -s -1 > /dev/null & server=$!
until nsenter -t $far -n ss -tln | grep -q :5201; do :; done
iperf3 -c 10.0.0.2 -t 4 -C cubic -J
kill $far $server 2> /dev/null || true
";

const LOSSY: &str = "errors = { model = \"uniform\", per = \"packet\", rate = \"1%\" }\n";

/// One hop of 10 Gbit/s and no delay.
fn fast(mtu: u32, errors: &str, congestion: &str, flows: u32, seconds: u32) -> String {
    let mut text = format!(
        "[[hop]]\nrate = \"10 Gbit/s\"\ndelay = \"0 ms\"\nmtu = {mtu}\nframing = \"ethernet\"\nqueue = \"15 MB\"\n\
         {errors}[sender]\nstack = \"rfc\"\nsack = true\ntimestamps = true\ncongestion = \"{congestion}\"\n\
         [receiver]\nstack = \"rfc\"\nsack = true\ntimestamps = true\nwindow = \"{} MiB\"\n[until]\ntime = \"{seconds} s\"\n",
        if flows > 1 { 1 } else { 4 }
    );
    for _ in 0..flows {
        text += "[[flow]]\nkind = \"bulk\"\n";
    }
    text
}

fn bits(rate: &str) -> Result<f64> {
    let rate: maxseg_core::units::BitsPerSec = rate.parse()?;
    Ok(rate.get() as f64)
}

fn line(what: String, figure: String, asked: String, reached: bool) -> Line {
    Line { what, figures: vec![figure], asked, reached: Some(reached), fault: None }
}

fn mark(run: &Run) -> &'static str {
    if run.valid { "" } else { " (invalid by its own account)" }
}

fn document(parts: &[(&str, Vec<Line>)], repeat: usize) -> String {
    let cpu = maxseg::processor().unwrap_or_else(|| "an unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "# What the lab carries, and how exact it is\n\nWritten by\n\n```\ncargo xtask bench-lab --write --repeat {repeat}\n```\n\n\
         on {cpu}, {cores} cores. What is carried is the best of {repeat} runs that the lab itself calls valid, or the best of all where \
         none is: what else a machine does can only make it worse. How exact it is, the first valid run of {repeat} says. `asked` is what the project has set itself.\n"
    );
    for (title, lines) in parts {
        let rows: Vec<String> = lines.iter().map(page::row).collect();
        let _ = write!(text, "\n## {title}\n\n{}\n{}\n", page::WHOLE_HEAD, rows.join("\n"));
    }
    text
}
