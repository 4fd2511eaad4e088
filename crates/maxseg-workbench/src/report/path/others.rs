//! Segment size, bottleneck, load and RFC 6349 in the document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{Bottleneck, MssReport, SynAsReceived};

/// The MSS options of both ends.
#[derive(Serialize, JsonSchema)]
pub(super) struct MssEntry<'a> {
    /// What this host's SYN offers.
    offered_bytes: Option<u32>,
    /// What of it arrives at the far end; null without a responder there.
    received_bytes: Option<u32>,
    /// What the far side's SYN-ACK offers, as it arrives here.
    far_offered_bytes: Option<u32>,
    /// The port that was asked.
    port: Option<u16>,
    /// What lowers an option on the way.
    clamped_by: Option<&'a str>,
}

/// The narrowest link each way; nulls where no far end measured it.
#[derive(Serialize, JsonSchema)]
pub(super) struct BottleneckEntry<'a> {
    /// Towards the far end.
    forward_bps: Option<f64>,
    /// From the far end.
    reverse_bps: Option<f64>,
    /// How it was measured.
    method: Option<&'a str>,
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
            offered_bytes: report.offered_bytes,
            received_bytes: report.received_bytes,
            far_offered_bytes: report.far_offered_bytes,
            port: report.port,
            clamped_by: report.clamped_by.as_deref(),
        }
    }
}

impl BottleneckEntry<'_> {
    pub(super) fn of(bottleneck: Option<&Bottleneck>) -> Self {
        Self {
            forward_bps: bottleneck.and_then(|found| found.forward_bps),
            reverse_bps: bottleneck.and_then(|found| found.reverse_bps),
            method: bottleneck.map(|found| found.method),
        }
    }
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
