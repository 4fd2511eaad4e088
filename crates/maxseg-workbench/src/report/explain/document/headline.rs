//! The headline in the document: the change, its gain, and the observed path.

use maxseg_core::advise::{Advice, Command, Confidence, Headline, Known, Measured, ObservedPath};
use maxseg_core::engine::EngineName;
use maxseg_core::outcome::LimitedBy;
use maxseg_core::settings::CongestionName;
use schemars::JsonSchema;
use serde::Serialize;

/// The conclusion about a connection.
#[derive(Serialize, JsonSchema)]
pub(super) struct HeadlineEntry<'a> {
    /// Its number.
    connection: u32,
    /// The conclusion in a few sentences.
    text: String,
    /// The change.
    change: Option<&'a str>,
    /// The change as `maxseg advise` gives it, for one connection; none where it is none of a host, a gateway or the path.
    advice: Vec<Advice>,
    /// The commands of every system: those that only look first, then those that make the change.
    commands: &'a [Command],
    /// What a capture shows where no command does.
    wanted: Option<&'a str>,
    /// What to consider first.
    note: Option<&'a str>,
    /// The gain of the change.
    gain: Option<GainEntry>,
    /// Why no gain is given.
    no_gain: Option<String>,
    /// The observed path, each value with its confidence and source.
    path: Option<PathEntry>,
}

/// The gain of a change.
#[derive(Serialize, JsonSchema)]
struct GainEntry {
    /// Observed goodput, idle times included.
    observed_bps: f64,
    /// Whether the gain is a lower bound: where the rate of the path is one, and where the rerun misses what was observed.
    is_bound: bool,
    /// Predicted goodput after the change; null where the rerun of the path as it is misses what was observed, and no bound follows.
    expected_bps: Option<f64>,
    /// The interval in which the goodput of another such transfer is expected in four cases of five, lower end.
    low_bps: Option<f64>,
    /// Its upper end.
    high_bps: Option<f64>,
    /// Expected ÷ observed − 1.
    gain: Option<f64>,
    /// What the simulator's rerun of the path as it is has otherwise than what was observed.
    misses: Vec<MissEntry>,
    /// The prediction of each engine for the time with data to send.
    engines: Vec<PredictionEntry>,
    /// Payload of a run, where the transfer was longer.
    shortened_to_bytes: Option<u64>,
}

/// A number of the rerun that misses the observed one.
#[derive(Serialize, JsonSchema)]
struct MissEntry {
    of: Measured,
    observed: f64,
    rerun: f64,
}

/// The prediction of an engine.
#[derive(Serialize, JsonSchema)]
struct PredictionEntry {
    engine: EngineName,
    /// Goodput of the path as it is.
    baseline_bps: f64,
    /// Goodput after the change; null where the baseline misses what was observed.
    without_bps: Option<f64>,
    /// Standard deviation of one run's goodput after the change, over its mean.
    spread: f64,
    /// Mean time from a request to the end of its reply; null of transfers.
    baseline_request_s: Option<f64>,
    /// The same after the change.
    then_request_s: Option<f64>,
    /// The limit after the change.
    then_limited_by: Option<LimitedBy>,
}

/// The observed path.
#[derive(Serialize, JsonSchema)]
struct PathEntry {
    rate_bps: KnownEntry<f64>,
    rtt_s: KnownEntry<f64>,
    loss: KnownEntry<f64>,
    congestion: KnownEntry<CongestionName>,
    queue_bytes: KnownEntry<u64>,
    mtu_bytes: KnownEntry<u32>,
    mss_used_bytes: KnownEntry<u32>,
    window_bytes: KnownEntry<u64>,
    send_buffer_bytes: Option<KnownEntry<u64>>,
    initial_window_bytes: Option<KnownEntry<u64>>,
}

/// A value with its confidence and source.
#[derive(Serialize, JsonSchema)]
struct KnownEntry<T> {
    value: T,
    confidence: Confidence,
    how: String,
}

impl<T: Copy> KnownEntry<T> {
    fn of(known: &Known<T>) -> Self {
        Self { value: known.value, confidence: known.confidence, how: known.how.clone() }
    }
}

impl<'a> HeadlineEntry<'a> {
    pub(super) fn of(headline: &'a Headline<'_>) -> Self {
        let remedy = headline.remedy.as_ref();
        Self {
            connection: headline.case.evidence.id,
            text: headline.text(),
            change: remedy.map(|remedy| remedy.change.as_str()),
            advice: Advice::of_headline(headline, 1).into_iter().collect(),
            commands: remedy.map_or(&[], |remedy| &remedy.commands),
            wanted: remedy.and_then(|remedy| remedy.wanted.as_deref()),
            note: remedy.and_then(|remedy| remedy.note.as_deref()),
            gain: headline.gain.as_ref().ok().map(|gain| GainEntry {
                observed_bps: gain.observed_whole_bps(),
                is_bound: gain.is_bound,
                expected_bps: gain.expected().map(|expected| expected.goodput_bps),
                low_bps: gain.expected().map(|expected| expected.low_bps),
                high_bps: gain
                    .expected()
                    .filter(|_| !gain.is_bound)
                    .map(|expected| expected.high_bps),
                gain: gain.relative(),
                misses: gain
                    .misses
                    .iter()
                    .map(|miss| MissEntry {
                        of: miss.of,
                        observed: miss.observed,
                        rerun: miss.rerun,
                    })
                    .collect(),
                engines: gain
                    .predictions
                    .iter()
                    .map(|prediction| PredictionEntry {
                        engine: prediction.engine,
                        baseline_bps: prediction.baseline_bps,
                        without_bps: prediction.without_bps,
                        spread: prediction.spread,
                        baseline_request_s: prediction.request_s[0],
                        then_request_s: prediction.request_s[1],
                        then_limited_by: prediction.then_limited_by,
                    })
                    .collect(),
                shortened_to_bytes: gain.shortened_to,
            }),
            no_gain: headline.no_gain().map(|why| why.to_string()),
            path: headline.rerun.as_ref().map(|rerun| PathEntry::of(&rerun.path)),
        }
    }
}

impl PathEntry {
    fn of(path: &ObservedPath) -> Self {
        Self {
            rate_bps: KnownEntry::of(&path.rate_bps),
            rtt_s: KnownEntry::of(&path.rtt_s),
            loss: KnownEntry::of(&path.loss),
            congestion: KnownEntry::of(&path.congestion),
            queue_bytes: KnownEntry::of(&path.queue_bytes),
            mtu_bytes: KnownEntry::of(&path.mtu),
            mss_used_bytes: KnownEntry::of(&path.segment),
            window_bytes: KnownEntry::of(&path.window_bytes),
            send_buffer_bytes: path.send_buffer.as_ref().map(KnownEntry::of),
            initial_window_bytes: path.initial_window.as_ref().map(KnownEntry::of),
        }
    }
}
