//! What `explain` prints about a capture, as far as it is carried out and scored.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use maxseg_core::advise::{Case, Change, CommandKind, Headline, Known};
use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::{ReadOptions, read};
use serde::{Deserialize, Serialize};

use super::once::HostLine;

/// The advice, and what it promises.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The conclusion in a few sentences.
    pub text: String,
    /// The limit.
    pub limited_by: String,
    /// The cause of losses.
    pub cause: String,
    /// The commands that make the change, of the hosts that have an address, by that address.
    pub commands: Vec<HostLine>,
    /// The change as a scenario can express it.
    pub changes: Vec<Told>,
    /// Whether it is to be made only if `ss -ti` shows `sndbuf_limited` at the sender.
    #[serde(default)]
    pub only_if_buffered: bool,
    /// Goodput of the capture.
    pub observed_bps: f64,
    /// Its payload.
    pub bytes: u64,
    /// What is predicted, where anything is.
    pub gain: Option<Promise>,
    /// Why nothing is.
    pub no_gain: Option<String>,
    /// The path as it is told.
    pub path: Option<ToldPath>,
}

/// A prediction with its interval, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// The middle.
    pub expected_bps: f64,
    /// The lower end.
    pub low_bps: f64,
    /// The upper end.
    pub high_bps: f64,
    /// Whether there is no upper end.
    pub is_bound: bool,
}

/// A change that the text names.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// A receive window.
    Window(u64),
    /// A send buffer.
    SendBuffer(u64),
    /// A segment size.
    SegmentSize(u64),
    /// ICMP is let through.
    Icmp,
    /// A queue with so much room.
    Queue(u64),
    /// A fair queue.
    FairQueue,
    /// The hop that loses packets is mended.
    NoErrors,
    /// A program that reads at once.
    Reads,
}

/// The path as it is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToldPath {
    /// Rate of the line.
    pub rate_bps: f64,
    /// Round trip.
    pub rtt_s: f64,
    /// Queue.
    pub queue_bytes: u64,
    /// Lost share.
    pub loss: f64,
    /// Congestion control, and whether it is assumed.
    pub congestion: String,
}

impl Told {
    /// What a remedy promises; `None` of a change that no remedy is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no remedy promises any other")]
    fn of(change: Change) -> Option<Self> {
        Some(match change {
            Change::Window(bytes) => Self::Window(bytes.get()),
            Change::SendBuffer(bytes) => Self::SendBuffer(bytes.get()),
            Change::SegmentSize(mss) => Self::SegmentSize(mss.bytes().get()),
            Change::ReadsAtOnce => Self::Reads,
            Change::IcmpSent => Self::Icmp,
            Change::Queue(bytes) => Self::Queue(bytes.get()),
            Change::FairQueue => Self::FairQueue,
            Change::NoErrors => Self::NoErrors,
            _ => return None,
        })
    }
}

/// The port of the transfer.
const PORT: u16 = 5201;

/// Reads the evidence of the transfer from a capture.
///
/// # Errors
/// The capture cannot be read to its end, or does not hold the transfer.
pub(super) fn evidence(file: &Path) -> Result<Evidence> {
    let mut reading = read(File::open(file)?, &ReadOptions::default())?;
    if let Some(fault) = reading.summary.fault() {
        bail!("{}", fault.kind);
    }
    let is_it = |evidence: &Evidence| {
        [evidence.client, evidence.server].iter().any(|end| end.port() == PORT)
    };
    reading.connections.find(is_it).context("the transfer is not in it")
}

impl Advice {
    /// What is said of the transfer in a capture.
    ///
    /// # Errors
    /// The capture cannot be read to its end, or does not hold the transfer.
    pub fn of_capture(file: &Path) -> Result<Self> {
        let evidence = evidence(file)?;
        let case = Case::of(&evidence);
        let data = evidence.stats(evidence.data_direction());
        let (observed_bps, bytes) = (data.goodput_bps.unwrap_or(0.0), data.acked_bytes);
        let limited_by = case.diagnosis.limited_by.word().to_owned();
        let loss = format!("{:?}", case.diagnosis.loss.cause).to_lowercase();
        let headline = Headline::of(case, "capture.pcapng");
        let remedy = headline.remedy.as_ref();
        let only_if_buffered =
            remedy.is_some_and(|remedy| remedy.change.contains("shows `sndbuf_limited`"));
        let is_change = |kind| kind == CommandKind::Change;
        // A command for each host: what a role does, `the router before the narrow hop`, is known to its operator alone.
        let commands = remedy.map_or_else(Vec::new, |remedy| {
            let fitting = remedy.for_hosts().filter(|command| is_change(command.kind));
            // The BBR that only helps where errors cannot be mended is not what the gain is of.
            let fitting = fitting.filter(|command| !command.line.contains("congctl"));
            // The hosts of the lab have no journal of this program: its lines have others beside them.
            let fitting = fitting.filter(|command| !command.line.starts_with("maxseg "));
            fitting.map(|command| HostLine::new(&command.on, command.line.clone())).collect()
        });
        let gain = headline.gain.as_ref().ok().and_then(|gain| {
            let expected = gain.expected()?;
            Some(Promise {
                expected_bps: expected.goodput_bps,
                low_bps: expected.low_bps,
                high_bps: expected.high_bps,
                is_bound: gain.is_bound,
            })
        });
        let path = headline.rerun.as_ref().map(|rerun| {
            let path = &rerun.path;
            ToldPath {
                rate_bps: path.rate_bps.value,
                rtt_s: path.rtt_s.value,
                queue_bytes: path.queue_bytes.value,
                loss: path.loss.value,
                congestion: named(&path.congestion),
            }
        });
        Ok(Self {
            text: headline.text(),
            limited_by,
            cause: loss,
            commands,
            changes: remedy.map_or_else(Vec::new, |remedy| {
                remedy.what_if.iter().filter_map(|change| Told::of(*change)).collect()
            }),
            only_if_buffered,
            observed_bps,
            bytes,
            gain,
            no_gain: headline.no_gain().map(|why| why.to_string()),
            path,
        })
    }
}

impl Advice {
    /// What is left of it where a look shows that its condition does not hold: nothing to do, and nothing promised.
    pub(super) fn without_change(&mut self) {
        self.commands.clear();
        self.changes.clear();
        self.gain = None;
        self.no_gain = Some("`ss -ti` shows no `sndbuf_limited`".to_owned());
    }
}

fn named(congestion: &Known<maxseg_core::settings::CongestionName>) -> String {
    let assumed = if congestion.how.contains("assumed") { ", assumed" } else { "" };
    format!("{}{assumed}", congestion.value.word())
}
