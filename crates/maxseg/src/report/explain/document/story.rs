//! The connection that matters most in the document: what to change, what that gains, and its path.

use maxseg_core::engine::EngineName;
use maxseg_core::outcome::LimitedBy;
use schemars::JsonSchema;
use serde::Serialize;

use crate::explain::path::{Confidence, Known, ObservedPath};
use crate::explain::remedy::Command;
use crate::report::explain::Story;

/// What to do about a connection.
#[derive(Serialize, JsonSchema)]
pub(super) struct StoryEntry<'a> {
    /// Which connection.
    connection: u32,
    /// All of it in a sentence.
    text: String,
    /// What to change.
    change: Option<&'a str>,
    /// How.
    commands: &'a [Command],
    /// What to know before doing it.
    note: Option<&'a str>,
    /// What the change gains.
    gain: Option<GainEntry>,
    /// Why no gain is given.
    no_gain: Option<String>,
    /// The path as the connection showed it, each value with how it is known.
    path: Option<PathEntry>,
}

/// What a change gains.
#[derive(Serialize, JsonSchema)]
struct GainEntry {
    /// Observed goodput, idle times included.
    observed_bps: f64,
    /// Whether the path may be faster than it was taken for: then the gain is a bound from below.
    is_bound: bool,
    /// Expected goodput after the change; null where no run of the path comes near enough to what was observed.
    expected_bps: Option<f64>,
    /// Expected ÷ observed − 1.
    gain: Option<f64>,
    /// What each engine says of the path while there was something to send.
    engines: Vec<PredictionEntry>,
    /// The payload of a run, where the transfer was too long to be run whole.
    shortened_to_bytes: Option<u64>,
}

/// What an engine says.
#[derive(Serialize, JsonSchema)]
struct PredictionEntry {
    engine: EngineName,
    /// As it is.
    baseline_bps: f64,
    /// Without the limit; null where the baseline is off by more than 15%.
    without_bps: Option<f64>,
    /// What limits it then.
    then_limited_by: Option<LimitedBy>,
}

/// The observed path.
#[derive(Serialize, JsonSchema)]
struct PathEntry {
    rate_bps: KnownEntry<f64>,
    rtt_s: KnownEntry<f64>,
    loss: KnownEntry<f64>,
    queue_bytes: KnownEntry<u64>,
    mtu_bytes: KnownEntry<u32>,
    mss_used_bytes: KnownEntry<u32>,
    window_bytes: KnownEntry<u64>,
    send_buffer_bytes: Option<KnownEntry<u64>>,
    initial_window_bytes: Option<KnownEntry<u64>>,
}

/// A value, and how it is known.
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

impl<'a> StoryEntry<'a> {
    pub(super) fn of(story: &'a Story<'_>) -> Self {
        let remedy = story.remedy.as_ref();
        Self {
            connection: story.case.evidence.id,
            text: story.sentence(),
            change: remedy.map(|remedy| remedy.change.as_str()),
            commands: remedy.map_or(&[], |remedy| &remedy.commands),
            note: remedy.and_then(|remedy| remedy.note.as_deref()),
            gain: story.gain.as_ref().ok().map(|gain| GainEntry {
                observed_bps: gain.observed_whole_bps(),
                is_bound: gain.is_bound,
                expected_bps: gain.expected_bps(),
                gain: gain.relative(),
                engines: gain
                    .predictions
                    .iter()
                    .map(|prediction| PredictionEntry {
                        engine: prediction.engine,
                        baseline_bps: prediction.baseline_bps,
                        without_bps: prediction.without_bps,
                        then_limited_by: prediction.then_limited_by,
                    })
                    .collect(),
                shortened_to_bytes: gain.shortened_to,
            }),
            no_gain: story.no_gain(),
            path: story.rerun.as_ref().map(|rerun| PathEntry::of(&rerun.path)),
        }
    }
}

impl PathEntry {
    fn of(path: &ObservedPath) -> Self {
        Self {
            rate_bps: KnownEntry::of(&path.rate_bps),
            rtt_s: KnownEntry::of(&path.rtt_s),
            loss: KnownEntry::of(&path.loss),
            queue_bytes: KnownEntry::of(&path.queue_bytes),
            mtu_bytes: KnownEntry::of(&path.mtu),
            mss_used_bytes: KnownEntry::of(&path.segment),
            window_bytes: KnownEntry::of(&path.window_bytes),
            send_buffer_bytes: path.send_buffer.as_ref().map(KnownEntry::of),
            initial_window_bytes: path.initial_window.as_ref().map(KnownEntry::of),
        }
    }
}
