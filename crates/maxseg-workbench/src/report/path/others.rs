//! Segment size, bottleneck, load and RFC 6349 in the document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{Bottleneck, MssReport, Rfc6349Report, UnderLoadRow};

/// The MSS options of both ends.
#[derive(Serialize, JsonSchema)]
pub(super) struct MssEntry<'a> {
    /// What this host's SYN offers.
    offered_bytes: Option<u32>,
    /// What the far side's SYN-ACK offers, as it arrives here.
    received_bytes: Option<u32>,
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

/// Round trips at one load.
#[derive(Serialize, JsonSchema)]
pub(super) struct UnderLoadEntry<'a> {
    /// What loads the path: `idle`, `download`, `upload`.
    load: &'a str,
    /// Median round trip.
    rtt_median_s: Option<f64>,
}

/// The test of RFC 6349.
#[derive(Serialize, JsonSchema)]
pub(super) struct Rfc6349Entry {}

impl<'a> MssEntry<'a> {
    pub(super) fn of(report: &'a MssReport) -> Self {
        Self {
            offered_bytes: report.offered_bytes,
            received_bytes: report.received_bytes,
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

impl<'a> UnderLoadEntry<'a> {
    pub(super) fn of(row: &'a UnderLoadRow) -> Self {
        Self { load: &row.load, rtt_median_s: row.rtt_median_s }
    }
}

impl Rfc6349Entry {
    pub(super) const fn of(_: &Rfc6349Report) -> Self {
        Self {}
    }
}
