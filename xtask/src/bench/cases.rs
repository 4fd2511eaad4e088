//! What is measured: scenarios of ours, and how ns-2 is asked for the same.

use std::fs;

use anyhow::{Context, Result};
use maxseg_core::scenario::{Draft, Scenario};

use crate::root;

/// A run that both simulators make.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) scenario: Scenario,
    pub(super) ns2: Ns2Run,
    pub(super) bar: Bar,
    /// One of those that differ by their window alone.
    pub(super) is_clean: bool,
}

/// What the project has set itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bar {
    /// At least so many times faster than ns-2.
    pub(super) ratio: Option<f64>,
    /// At most so many microseconds for a delivered packet.
    pub(super) micros: Option<f64>,
    /// At most so many microseconds for the whole run.
    pub(super) run_micros: Option<f64>,
    /// Below this ratio a change has broken something.
    pub(super) floor: f64,
}

/// The script and its arguments.
pub(super) struct Ns2Run {
    pub(super) script: Script,
    pub(super) arguments: Vec<String>,
}

/// How a script tells what was delivered.
pub(super) enum Script {
    /// The reference's `tcp.tcl`: goodput of segments of `s` bytes over `t_s` seconds.
    Cellular { s: u32, t_s: u32 },
    /// `flows.tcl`: their number.
    Flows,
}

/// Every case, in the order of the page.
pub(super) fn all() -> Result<Vec<Case>> {
    let mut cases = vec![
        Cellular::NEW.case(
            "no errors",
            Bar { ratio: Some(16.0), micros: Some(0.05), floor: 12.0, ..Bar::default() },
        )?,
        Cellular { e: 0.01, ..Cellular::NEW }
            .case("1% of frames lost", Bar { ratio: Some(20.0), floor: 15.0, ..Bar::default() })?,
        Cellular { e: 0.01, sack: true, ..Cellular::NEW }
            .case("1% of frames lost, SACK", Bar { floor: 8.0, ..Bar::default() })?,
        Cellular { e: 0.2, t_s: 500, ..Cellular::NEW }.case(
            "20% of frames lost, a short run",
            Bar { run_micros: Some(20.0), floor: 100.0, ..Bar::default() },
        )?,
        Clean { flows: 16, rate: "10Mb", window: 10_000, queue: 50, t_s: 500 }
            .case("16 flows on one bottleneck", Bar { floor: 4.0, ..Bar::default() })?,
    ];
    for window in [340, 1000, 3400, 10_000] {
        let bar = Bar { micros: Some(0.045), floor: 5.0, ..Bar::default() };
        let clean = Clean { flows: 1, rate: "1Gb", window, queue: 20_001, t_s: 20 };
        cases.push(clean.case(&format!("clean 1 Gbit/s, window {window}"), bar)?);
    }
    Ok(cases)
}

/// The cellular path of the shipped scenario.
struct Cellular {
    e: f64,
    s: u32,
    t_s: u32,
    sack: bool,
}

impl Cellular {
    const NEW: Self = Self { e: 0.0, s: 536, t_s: 2000, sack: false };

    fn case(&self, name: &str, bar: Bar) -> Result<Case> {
        let text = fs::read_to_string(root().join("scenarios/cellular-mss.toml"))?;
        let mut draft = Draft::parse("cellular-mss.toml", &text)?;
        let stack = if self.sack { "ns2-sack" } else { "ns2-reno" };
        for set in [
            format!("sender.mss={}", self.s),
            format!("sender.stack={stack}"),
            format!("receiver.stack={stack}"),
            format!("hop.radio.errors.rate={}", self.e),
            format!("until.time={} s", self.t_s),
        ] {
            draft.set_argument(&set)?;
        }
        let tcp = if self.sack { "Sack1" } else { "Reno" };
        Ok(Case {
            name: format!("{name} (s={}, {} s)", self.s, self.t_s),
            scenario: draft.scenario()?,
            ns2: Ns2Run {
                script: Script::Cellular { s: self.s, t_s: self.t_s },
                arguments: vec![
                    format!("s={}", self.s),
                    format!("e={}", self.e),
                    format!("T={}", self.t_s),
                    format!("tcp={tcp}"),
                    "head=1".to_owned(),
                ],
            },
            bar,
            is_clean: false,
        })
    }
}

/// Flows over one link without errors, 20 ms each way.
struct Clean {
    flows: u32,
    /// In ns-2's words.
    rate: &'static str,
    /// In segments of 1460 bytes.
    window: u32,
    /// In packets, the one on the wire included, as ns-2 counts.
    queue: u32,
    t_s: u32,
}

impl Clean {
    fn case(&self, name: &str, bar: Bar) -> Result<Case> {
        let Self { flows, rate, window, queue, t_s } = self;
        let starts = (0..*flows)
            .map(|flow| format!("[[flow]]\nkind = \"bulk\"\nstart = \"{} ms\"\n", 100 * flow));
        let text = format!(
            "[[hop]]\nrate = \"{rate}it/s\"\ndelay = \"20 ms\"\nqueue = \"{} packets\"\n\
             [sender]\nstack = \"ns2-reno\"\nmss = 1460\n\
             [receiver]\nstack = \"ns2-reno\"\nwindow = \"{window} segments\"\n\
             [until]\ntime = \"{t_s} s\"\n",
            queue - 1
        )
        .replace("Mbit", " Mbit")
        .replace("Gbit", " Gbit")
            + &starts.collect::<String>();
        let arguments = [
            format!("n={flows}"),
            format!("rate={rate}"),
            format!("win={window}"),
            format!("qlim={queue}"),
            format!("T={t_s}"),
        ];
        Ok(Case {
            name: format!("{name} (s=1460, {t_s} s)"),
            scenario: Scenario::from_toml("bench", &text).context("the clean link")?,
            ns2: Ns2Run { script: Script::Flows, arguments: arguments.to_vec() },
            bar,
            is_clean: *flows == 1,
        })
    }
}
