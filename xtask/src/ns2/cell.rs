//! One row of a reference table: the configuration in its columns, and what ns-2 gave.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail, ensure};
use maxseg_core::scenario::Scenario;
use maxseg_core::stats::{Summary, student_t};

use crate::tables::Row;

/// A configuration with ns-2's results.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What kind of traffic, with the columns of its own.
    pub kind: Kind,
    /// Payload of a segment or datagram in bytes.
    pub s: u32,
    /// Frame error rate in percent, as written.
    pub e_pct: String,
    /// Simulated seconds.
    pub t_s: f64,
    /// ns-2's goodput in bits per second over its runs.
    pub goodput: Summary,
    /// ns-2's mean counts, for TCP.
    pub retransmits: f64,
    /// ns-2's mean count of timeouts, for TCP.
    pub timeouts: f64,
}

/// What kind of traffic a cell has.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A bulk transfer.
    Tcp {
        /// ns-2's agent: Reno, Newreno, Tahoe, Sack1.
        tcp: String,
        /// Whether the sink delays acknowledgements.
        delayed_ack: bool,
        /// Whether the acknowledgements' direction errs too.
        ack_errors: bool,
        /// Gilbert chain clocked by frames: mean bad run; 0 for none.
        ge_frames: f64,
        /// Gilbert chain clocked by time: mean bad period in seconds; 0 for none.
        ge_seconds: f64,
        /// `window_` in packets.
        window: u32,
        /// Queue limit in packets, the one on the wire included.
        qlim: u32,
        /// Timer defaults of the 2.27 era.
        old227: bool,
    },
    /// Datagrams at a constant rate.
    Udp {
        /// In bits per second.
        rate: u64,
        /// Whether the rate counts headers too.
        counts_headers: bool,
    },
}

const TCP_COLUMNS: [&str; 20] = [
    "tcp",
    "sink",
    "s",
    "e_pct",
    "ack_errors",
    "ge_L_frames",
    "ge_T_s",
    "window",
    "qlim",
    "old227",
    "T_s",
    "runs",
    "goodput_mean_bps",
    "goodput_ci95_bps",
    "retransmits_mean",
    "timeouts_mean",
    "packets_sent_mean",
    "data_err_drops_mean",
    "data_q_drops_mean",
    "ack_err_drops_mean",
];
const UDP_COLUMNS: [&str; 14] = [
    "rate_bps",
    "basis",
    "s",
    "e_pct",
    "frames",
    "p_formula",
    "T_s",
    "runs",
    "goodput_mean_bps",
    "goodput_ci95_bps",
    "received_mean",
    "lost_error_mean",
    "lost_queue_mean",
    "loss_measured_mean",
];

impl Row for Cell {
    fn from_row(row: &[(&str, &str)]) -> Result<Self> {
        let is_tcp = row.iter().any(|(column, _)| *column == "tcp");
        let known: &[&str] = if is_tcp { &TCP_COLUMNS } else { &UDP_COLUMNS };
        if let Some((column, _)) = row.iter().find(|(column, _)| !known.contains(column)) {
            bail!("unknown column `{column}`");
        }
        let text = |column: &str| {
            let found = row.iter().find(|(name, _)| *name == column);
            found.map(|(_, value)| *value).with_context(|| format!("no column `{column}`"))
        };
        let number = |column: &str| -> Result<f64> {
            text(column)?.parse().with_context(|| format!("`{column}` is not a number"))
        };
        let whole = |column: &str| -> Result<u32> {
            text(column)?.parse().with_context(|| format!("`{column}` is not a whole number"))
        };
        let flag = |column: &str| match text(column)? {
            "0" => Ok(false),
            "1" => Ok(true),
            other => bail!("`{column}` is neither 0 nor 1 but {other}"),
        };
        let kind = if is_tcp {
            Kind::Tcp {
                tcp: text("tcp")?.to_owned(),
                delayed_ack: match text("sink")? {
                    "plain" => false,
                    "delack" => true,
                    other => bail!("unknown sink `{other}`"),
                },
                ack_errors: flag("ack_errors")?,
                ge_frames: number("ge_L_frames")?,
                ge_seconds: number("ge_T_s")?,
                window: whole("window")?,
                qlim: whole("qlim")?,
                old227: flag("old227")?,
            }
        } else {
            Kind::Udp {
                rate: u64::from(whole("rate_bps")?),
                counts_headers: match text("basis")? {
                    "payload" => false,
                    "wire" => true,
                    other => bail!("unknown basis `{other}`"),
                },
            }
        };
        let (retransmits, timeouts) = if is_tcp {
            (number("retransmits_mean")?, number("timeouts_mean")?)
        } else {
            (0.0, 0.0)
        };
        let runs = whole("runs")? as usize;
        ensure!(runs > 0, "`runs` is 0");
        Ok(Self {
            kind,
            s: whole("s")?,
            e_pct: text("e_pct")?.to_owned(),
            t_s: number("T_s")?,
            goodput: Summary {
                n: runs,
                mean: number("goodput_mean_bps")?,
                sd: match text("goodput_ci95_bps")? {
                    "" => 0.0,
                    ci95 => {
                        ensure!(runs > 1, "an interval from a single run");
                        let half: f64 = ci95.parse().context("`goodput_ci95_bps`")?;
                        half * (runs as f64).sqrt() / student_t(0.975, (runs - 1) as f64)
                    }
                },
            },
            retransmits,
            timeouts,
        })
    }

    fn is_usable(&self) -> bool {
        self.not_yet().is_none()
    }
}

impl Cell {
    /// Why this cell cannot be run, if it cannot.
    pub fn not_yet(&self) -> Option<String> {
        match &self.kind {
            Kind::Tcp { tcp, .. } if stack(tcp).is_none() => {
                Some(format!("there is no stack ns2-{} yet", tcp.to_lowercase()))
            }
            Kind::Tcp { .. } | Kind::Udp { .. } => None,
        }
    }

    /// The same configuration as a scenario of ours.
    ///
    /// # Errors
    /// The configuration is impossible.
    pub fn scenario(&self) -> Result<Scenario> {
        let text = self.scenario_text()?;
        Scenario::from_toml("cell", &text).map_err(|error| anyhow::anyhow!("{error}\n{text}"))
    }

    fn scenario_text(&self) -> Result<String> {
        let mut text = String::new();
        let (s, e) = (self.s, format!("\"{}%\"", self.e_pct));
        let (queue, errors, ack_errors) = match &self.kind {
            Kind::Tcp { ge_frames, ge_seconds, qlim, ack_errors, .. } => {
                let errors = if *ge_frames > 0.0 {
                    format!(
                        "{{ model = \"gilbert-elliott\", per = \"frame\", rate = {e}, burst = {ge_frames} }}"
                    )
                } else if *ge_seconds > 0.0 {
                    format!(
                        "{{ model = \"gilbert-elliott\", per = \"time\", rate = {e}, burst = \"{} ms\" }}",
                        ge_seconds * 1000.0
                    )
                } else {
                    format!("{{ model = \"uniform\", per = \"frame\", rate = {e} }}")
                };
                (qlim.checked_sub(1).context("a queue limit of 0")?, errors, *ack_errors)
            }
            Kind::Udp { .. } => {
                (49, format!("{{ model = \"uniform\", per = \"frame\", rate = {e} }}"), false)
            }
        };
        write!(
            text,
            "[[hop]]\nname = \"wired\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"{queue} packets\"\n\
             [[hop]]\nname = \"radio\"\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\nqueue = \"{queue} packets\"\n\
             frame = 128\nerrors = {errors}\n"
        )?;
        if ack_errors {
            writeln!(text, "reverse = {{ errors = {errors} }}")?;
        }
        match &self.kind {
            Kind::Tcp { tcp, delayed_ack, window, old227, .. } => {
                let stack = stack(tcp).context("no such stack")?;
                writeln!(text, "[sender]\nstack = \"{stack}\"\nmss = {s}")?;
                if *old227 {
                    // What `old=1` of the reference script puts back.
                    text += "ns2 = { exact_halves = false, first_loss = \"never\" }\n\
                             rto = { initial = \"6 s\", min = \"1 s\", max = \"100000 s\" }\n";
                }
                writeln!(
                    text,
                    "[receiver]\nstack = \"{stack}\"\nmss = {s}\nwindow = \"{window} segments\""
                )?;
                if *delayed_ack {
                    text += "delayed_ack = { timeout = \"100 ms\", every = 2 }\n";
                }
                writeln!(text, "[until]\ntime = \"{} s\"", self.t_s)?;
            }
            Kind::Udp { rate, counts_headers } => {
                let counts = if *counts_headers { "packet" } else { "payload" };
                writeln!(
                    text,
                    "[[flow]]\nkind = \"cbr\"\nrate = \"{rate} bit/s\"\nrate_counts = \"{counts}\"\n\
                     size = {s}\nheader = 40\nstop = \"{} s\"\n[until]\ntime = \"{} s\"",
                    self.t_s,
                    self.t_s + 2.0, // the reference script lets what is in flight arrive
                )?;
            }
        }
        Ok(text)
    }

    /// The configuration in a few words.
    pub fn title(&self) -> String {
        let Self { s, e_pct, t_s, .. } = self;
        match &self.kind {
            Kind::Udp { rate, .. } => format!("cbr {rate} bit/s, {s} B, e {e_pct}%"),
            Kind::Tcp { tcp, delayed_ack, ge_frames, ge_seconds, .. } => {
                let sink = if *delayed_ack { ", delayed ACKs" } else { "" };
                let burst = match (*ge_frames, *ge_seconds) {
                    (frames, _) if frames > 0.0 => format!(", bursts of {frames} frames"),
                    (_, seconds) if seconds > 0.0 => format!(", bursts of {seconds} s"),
                    _ => String::new(),
                };
                format!("{tcp}{sink}, {s} B, e {e_pct}%{burst}, {t_s} s")
            }
        }
    }

    /// Whether nothing in it is random.
    pub fn is_deterministic(&self) -> bool {
        self.e_pct.parse() == Ok(0.0)
    }
}

/// Our stack for an agent of ns-2.
fn stack(tcp: &str) -> Option<&'static str> {
    match tcp {
        "Tahoe" => Some("ns2-tahoe"),
        "Reno" => Some("ns2-reno"),
        "Newreno" => Some("ns2-newreno"),
        "Sack1" => Some("ns2-sack"),
        _ => None,
    }
}
