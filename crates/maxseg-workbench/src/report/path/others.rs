//! Segment size, bottleneck, load and RFC 6349 in the document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{Bottleneck, BottleneckRate, MssReport, PortMss, SynAsReceived};

/// The MSS options of both ends.
#[derive(Serialize, JsonSchema)]
pub(super) struct MssEntry<'a> {
    /// What this host's SYN offers.
    sent_bytes: Option<u32>,
    /// That option as the far end received it: null without a far end that tells.
    received_bytes: Option<u32>,
    /// What the far side offers, as its SYN-ACK arrives here: of the port that was named, else of the first that is open.
    offered_bytes: Option<u32>,
    /// What lowers an option on the way.
    clamped_by: Option<&'a str>,
    /// What the far side's offer shows beside the path MTU.
    remark: Option<&'a str>,
    /// The ports that were asked.
    ports: &'a [PortMss],
}

/// The narrowest link each way; nulls where no far end measured it.
#[derive(Serialize, JsonSchema)]
pub(super) struct BottleneckEntry {
    /// Towards the far end.
    forward_bps: Option<f64>,
    /// From the far end.
    reverse_bps: Option<f64>,
    /// How it was measured.
    method: Option<String>,
    /// How sure it is towards the far end: `confirmed` (TCP and trains of datagrams agree), `one-method`, `at-least` (a lower bound).
    forward_confidence: Option<&'static str>,
    /// The same of the way from it.
    reverse_confidence: Option<&'static str>,
}

/// This host's SYN as it arrived at the far end.
#[derive(Serialize, JsonSchema)]
pub(super) struct SynEntry<'a> {
    /// The option's value.
    mss_bytes: Option<u16>,
    /// The window scale.
    window_scale: Option<u8>,
    /// Whether timestamps were offered.
    timestamps: bool,
    /// Whether selective acknowledgements were.
    sack: bool,
    /// The advertised window.
    window_bytes: u16,
    /// The TTL or hop limit that was left.
    ttl: u8,
    /// All options, in their order.
    options: &'a [String],
}

impl<'a> MssEntry<'a> {
    pub(super) fn of(report: &'a MssReport) -> Self {
        Self {
            sent_bytes: report.sent_bytes,
            received_bytes: report.received_bytes,
            offered_bytes: report.offered_bytes,
            clamped_by: report.clamped_by.as_deref(),
            remark: report.remark.as_deref(),
            ports: &report.ports,
        }
    }
}

impl BottleneckEntry {
    pub(super) fn of(bottleneck: Option<&Bottleneck>) -> Self {
        Self {
            forward_bps: bottleneck.and_then(Bottleneck::forward_bps),
            reverse_bps: bottleneck.and_then(Bottleneck::reverse_bps),
            method: bottleneck.and_then(Bottleneck::method),
            forward_confidence: confidence(bottleneck.and_then(|found| found.forward)),
            reverse_confidence: confidence(bottleneck.and_then(|found| found.reverse)),
        }
    }
}

fn confidence(found: Option<BottleneckRate>) -> Option<&'static str> {
    found.map(|found| found.confidence.word())
}

impl<'a> SynEntry<'a> {
    pub(super) fn of(syn: &'a SynAsReceived) -> Self {
        Self {
            mss_bytes: syn.mss,
            window_scale: syn.window_scale,
            timestamps: syn.timestamps,
            sack: syn.sack,
            window_bytes: syn.window,
            ttl: syn.ttl,
            options: &syn.options,
        }
    }
}
