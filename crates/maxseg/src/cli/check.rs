//! `maxseg check`

use clap::Args;
use maxseg_core::engine::{Engine, EngineName, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{Flow, MssDecision, Point, Scenario};
use maxseg_workbench::engines::engine;
use serde_json::{Value, json};

use super::input::InputArgs;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wrap::{hanging, labelled};
use maxseg_workbench::environment::cores;
use maxseg_workbench::experiment::{Experiment, MOST_RUNS};
use maxseg_workbench::report::{Gathered, Gathering, words};

/// Check a scenario without running it: points, run time, caveats
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg check cellular-mss --seeds 10
  maxseg check path.toml --axis sender.mss=88..1460..4
  maxseg check jumbo-frames --engine lab

Nothing is run. The estimate for the lab is real time, one run after the other; the formulas give the length of a \
transfer with a byte limit.

In a large sweep a sample of the points is checked, spread over all axes; the output says so.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a simulated data packet takes with its acknowledgement, and a run whatever it sends: a guess for
/// a machine nobody has measured, good for "seconds or hours?".
const SECONDS_PER_PACKET: f64 = 60e-9;
/// The same by the stack `linux`, which has more to do for each.
const SECONDS_PER_PACKET_OF_LINUX: f64 = 400e-9;
const SECONDS_PER_RUN: f64 = 50e-6;

/// What making hosts and links of a lab takes about, and taking them away.
const SECONDS_PER_LAB: f64 = 0.2;

/// So many points are looked at: enough for an estimate, and done while one waits.
const LOOKED_AT: usize = 1000;

/// More lines about segment sizes than anyone reads.
const MOST_MSS_LINES: usize = 8;

pub(crate) fn run(args: &CheckArgs, printer: Printer) -> Result<(), Failure> {
    let experiment = args.input.load()?;
    let check = Check::of(&experiment)?;
    let text = if args.json { check.to_json() } else { check.to_text(&experiment, printer) };
    if args.json {
        printer.data(&text)?;
    } else {
        printer.text(&text)?;
    }
    Ok(())
}

struct Check {
    points: usize,
    runs: u128,
    /// How many points the rest was taken from.
    looked_at: usize,
    /// Of all runs, from those of the points that were looked at.
    simulated_s: f64,
    packets: f64,
    cpu_s: f64,
    /// What the lab takes in real time; `None` where it is not asked for.
    lab_s: Option<f64>,
    /// How segment sizes come about, each way once, with how many points have it.
    mss: Vec<(MssDecision, usize)>,
    caveats: Vec<Gathered>,
}

impl Check {
    fn of(experiment: &Experiment) -> Result<Self, Failure> {
        let sample = experiment.sample(LOOKED_AT)?;
        let mut check = Self {
            points: experiment.point_count()?,
            runs: experiment.run_count()?,
            looked_at: sample.len(),
            simulated_s: 0.0,
            packets: 0.0,
            cpu_s: 0.0,
            lab_s: None,
            mss: Vec::new(),
            caveats: Vec::new(),
        };
        let mut caveats = Gathering::default();
        for (place, point) in sample.iter().enumerate() {
            check.note_mss(&point.scenario);
            let values = point.values.iter();
            let values = values.map(|(key, value)| (key.clone(), json!(value))).collect();
            for name in &experiment.engines {
                let of_engine = engine(*name)?.caveats(&point.scenario);
                caveats.add(*name, &place.to_string(), &values, &of_engine);
            }
        }
        check.caveats = caveats.gathered();
        if experiment.engines.contains(&EngineName::Sim) {
            check.estimate(&sample, experiment.seeds);
        }
        if experiment.engines.contains(&EngineName::Lab) {
            let seconds = sample.iter().map(|point| lab_seconds(&point.scenario));
            let in_sample: f64 = seconds.sum::<Result<f64, Failure>>()?;
            let each = experiment.seeds as f64 * check.points as f64 / sample.len().max(1) as f64;
            check.lab_s = Some(each * in_sample);
        }
        Ok(check)
    }

    /// What simulating all points takes, if they are like these.
    fn estimate(&mut self, sample: &[Point], seeds: u64) {
        let (mut simulated_s, mut sent, mut cpu_s) = (0.0, 0.0, 0.0);
        for Point { scenario, .. } in sample {
            let outcome = Model.run(scenario, &mut Unwatched).expect("nobody stops the model");
            simulated_s += outcome.elapsed_s.unwrap_or(0.0);
            let packets = packets(scenario, &outcome);
            sent += packets;
            let is_linux = scenario.sender.linux.is_some();
            let each = if is_linux { SECONDS_PER_PACKET_OF_LINUX } else { SECONDS_PER_PACKET };
            cpu_s += SECONDS_PER_RUN + packets * each;
        }
        let each = seeds as f64 * self.points as f64 / sample.len().max(1) as f64;
        self.simulated_s = each * simulated_s;
        self.packets = each * sent;
        self.cpu_s = each * cpu_s;
    }

    fn note_mss(&mut self, scenario: &Scenario) {
        let mut here: Vec<MssDecision> = Vec::new();
        for way in scenario.ways_of_data() {
            let decision = scenario.mss(&way);
            if !here.contains(&decision) {
                here.push(decision);
            }
        }
        for decision in here {
            match self.mss.iter_mut().find(|(known, _)| *known == decision) {
                Some((_, count)) => *count += 1,
                None => self.mss.push((decision, 1)),
            }
        }
    }

    fn is_sample(&self) -> bool {
        self.looked_at < self.points
    }

    fn to_text(&self, experiment: &Experiment, printer: Printer) -> String {
        let width = printer.width();
        let mut text = hanging(&format!("{} is valid", experiment.draft.file()), width, "  ");
        let mut say = |label: &str, what: &str| {
            text += &labelled(&format!("{label:10}"), what, width);
        };
        let axes = experiment.sweep.axes().iter();
        let axes: Vec<String> = axes
            .map(|axis| format!("{} ({})", axis.keys.join(" with "), axis.steps.len()))
            .collect();
        let sweep = if axes.is_empty() { String::new() } else { format!(": {}", axes.join(" x ")) };
        say("points", &format!("{}{sweep}", self.points));
        say("runs", &format!("{}{}", self.runs, self.refusal()));
        if self.is_sample() {
            let sample = format!(
                "{} of the points, spread over every axis; the rest is estimated",
                self.looked_at
            );
            say("examined", &sample);
        }
        if self.lab_s.is_none() || experiment.engines.len() > 1 {
            say("simulated", &words::long_time(self.simulated_s));
            say("packets", &format!("about {}", words::count(self.packets)));
            let wall = words::long_time(self.cpu_s / cores() as f64);
            say("takes", &format!("about {wall} on {} cores", cores()));
        }
        if let Some(seconds) = self.lab_s {
            let real = words::long_time(seconds);
            say("lab takes", &format!("about {real} of real time, one run after the other"));
        }
        let lowered = || self.mss.iter().filter(|(decision, _)| is_lowered(decision));
        for (decision, points) in lowered().take(MOST_MSS_LINES) {
            let points = if *points > 1 { format!(" ({points} points)") } else { String::new() };
            say("MSS", &format!("{}{points}", mss_line(decision)));
        }
        let more = lowered().count().saturating_sub(MOST_MSS_LINES);
        if more > 0 {
            say("MSS", &format!("{more} more are lowered; --json lists all"));
        }
        for caveat in &self.caveats {
            let lines = labelled("caveat    ", &caveat.line(), width);
            text += &lines.lines().map(|line| printer.dim(line) + "\n").collect::<String>();
        }
        text
    }

    fn refusal(&self) -> String {
        if self.runs <= MOST_RUNS {
            return String::new();
        }
        format!(", more than the {MOST_RUNS} of one `maxseg run`")
    }

    fn to_json(&self) -> String {
        let caveat = |caveat: &Gathered| {
            let engines: Vec<&str> = caveat.engines.iter().map(|engine| engine.word()).collect();
            json!({
                "engines": engines,
                "code": caveat.code,
                "text": caveat.text,
                "points": caveat.points,
                "at": caveat.at,
            })
        };
        let document = json!({
            "schema_version": 1,
            "points": self.points,
            "runs": u64::try_from(self.runs).map_or_else(|_| json!(self.runs as f64), Value::from),
            "runs_refused_above": u64::try_from(MOST_RUNS).unwrap_or(u64::MAX),
            "points_looked_at": self.looked_at,
            "simulated_s": self.simulated_s,
            "packets": self.packets,
            "cpu_s": self.cpu_s,
            "lab_s": self.lab_s,
            "mss": self.mss.iter().map(mss_json).collect::<Vec<_>>(),
            "caveats": self.caveats.iter().map(caveat).collect::<Vec<_>>(),
        });
        format!("{document}\n")
    }
}

/// How long a lab run takes: to the end of its time, or of its bytes and requests as the closed form has it.
/// What is beyond the lab takes none.
fn lab_seconds(scenario: &Scenario) -> Result<f64, Failure> {
    let lab = engine(EngineName::Lab)?;
    if lab.caveats(scenario).iter().any(|caveat| caveat.code == "beyond-the-lab") {
        return Ok(0.0);
    }
    let outcome = Model.run(scenario, &mut Unwatched).expect("nobody stops the model");
    let most = scenario.until.time.as_secs_f64();
    Ok(SECONDS_PER_LAB + outcome.elapsed_s.unwrap_or(most).min(most))
}

/// The option that counts: no end sends more than the other one offers. `None` where neither has one.
fn advertised(decision: &MssDecision) -> Option<u64> {
    decision.offered().map(|mss| mss.bytes().get())
}

/// Whether it is not what was asked for, or what the hosts offer where nothing was.
fn is_lowered(decision: &MssDecision) -> bool {
    let wanted = decision.asked.map(|mss| mss.bytes().get()).or_else(|| advertised(decision));
    wanted.is_some_and(|wanted| wanted != decision.effective.bytes().get())
}

fn mss_line(decision: &MssDecision) -> String {
    let advertised = advertised(decision).map_or_else(|| "none".to_owned(), |mss| mss.to_string());
    let effective = decision.effective;
    match decision.asked {
        Some(asked) => format!("asked {asked}, advertised {advertised}, effective {effective}"),
        None => format!("advertised {advertised}, effective {effective}"),
    }
}

fn mss_json((decision, points): &(MssDecision, usize)) -> Value {
    json!({
        "asked": decision.asked.map(|mss| mss.bytes().get()),
        "advertised": advertised(decision),
        "effective": decision.effective.bytes().get(),
        "points": points,
    })
}

/// About how many packets the flows of a run send, acknowledgements and replies not counted.
fn packets(scenario: &Scenario, outcome: &Outcome) -> f64 {
    let outcomes = match outcome.flows.as_slice() {
        [] => std::slice::from_ref(outcome),
        flows => flows,
    };
    let flows = scenario.flows.iter().zip(outcomes);
    flows.map(|(flow, outcome)| packets_of(scenario, flow, outcome)).sum()
}

fn packets_of(scenario: &Scenario, flow: &Flow, outcome: &Outcome) -> f64 {
    let Some(interval) = flow.kind.interval_s() else {
        let mss = scenario.mss(flow).effective.bytes().get().max(1) as f64;
        let arrives = 1.0 - outcome.segment_loss.unwrap_or(0.0).min(0.99);
        return outcome.payload_bytes.unwrap_or(0) as f64 / mss / arrives;
    };
    let end = flow.stop.min(scenario.until.time);
    (end.as_secs_f64() - flow.start.as_secs_f64()).max(0.0) / interval
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::FlowKind;

    use maxseg_core::sim::Sim;

    use super::*;

    const FLOWS: &str = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n\
                         [[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n\
                         [[flow]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nsize = 500\n\
                         start = \"5 s\"\nstop = \"15 s\"\n[until]\ntime = \"20 s\"\n";

    #[test]
    fn a_lab_takes_the_time_of_its_scenario_or_of_its_bytes() {
        let seconds = |more: &str| {
            let text = format!(
                "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n[until]\ntime = \"20 s\"\n{more}"
            );
            lab_seconds(&Scenario::from_toml("test", &text).unwrap()).unwrap()
        };
        assert!((seconds("") - 20.0 - SECONDS_PER_LAB).abs() < 1e-9);
        // 1.25 MB are a second at 10 Mbit/s, and 5% of headers more.
        let short = seconds("bytes = \"1250 kB\"") - SECONDS_PER_LAB;
        assert!((1.0..1.1).contains(&short), "{short}");
        assert!(seconds("[receiver]\nwindow = \"1 segments\"").abs() < 1e-9, "beyond Linux");
    }

    #[test]
    fn the_estimate_is_near_what_the_simulator_sends_flow_by_flow() {
        let scenario = Scenario::from_toml("test", FLOWS).unwrap();
        let model = Model.run(&scenario, &mut Unwatched).unwrap();
        let sim = Sim.run(&scenario, &mut Unwatched).unwrap();
        for ((flow, model), sim) in scenario.flows.iter().zip(&model.flows).zip(&sim.flows) {
            let sent = sim.data_packets.or(sim.packets).unwrap() as f64;
            // A ping's packets are its requests and as many replies.
            let replies = if matches!(flow.kind, FlowKind::Ping { .. }) { 2.0 } else { 1.0 };
            let ratio = replies * packets_of(&scenario, flow, model) / sent;
            assert!((0.8..1.25).contains(&ratio), "{:?}: {ratio}", flow.kind);
        }
    }
}
