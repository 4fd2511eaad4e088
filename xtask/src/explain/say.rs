//! What the shipped analysis says of a capture.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use maxseg_core::advise::{Case, Headline};
use maxseg_core::diagnose::FindingKind;
use maxseg_core::evidence::{Evidence, note_beside};
use maxseg_wire::reading::{ReadOptions, read};

use super::promise::Promise;
use super::score::Said;
use super::view;

/// What is said of the transfer.
///
/// # Errors
/// The capture cannot be read to its end, or does not hold the transfer.
pub(super) fn of_capture(file: &Path) -> Result<Said> {
    let reading = read(File::open(file)?, &ReadOptions::default())?;
    if let Some(fault) = reading.summary.fault() {
        bail!("{}", fault.kind);
    }
    let is_it = |evidence: &Evidence| view::is_judged([evidence.client, evidence.server]);
    let carried = |evidence: &Evidence| {
        let stats = evidence.stats(evidence.data_direction());
        stats.payload_bytes + stats.packets
    };
    let mut connections: Vec<Evidence> = reading.connections.collect();
    note_beside(&mut connections);
    let largest = connections.into_iter().filter(is_it).max_by_key(carried);
    let evidence = largest.context("the transfer is not in it")?;
    let headline = Headline::of(Case::of(&evidence), "capture.pcapng");
    let promise = Promise::of(&headline);
    let diagnosis = headline.case.diagnosis;
    let is_ack_path = |kind| kind == FindingKind::AckPath;
    Ok(Said {
        limited_by: diagnosis.limited_by,
        confidence: diagnosis.confidence,
        unknown_because: diagnosis.unknown_because,
        reasons: diagnosis.quality.reasons.iter().map(|reason| reason.code).collect(),
        is_ack_path: diagnosis.findings.iter().any(|finding| is_ack_path(finding.kind)),
        cause: diagnosis.loss.cause,
        limits: diagnosis.limits,
        congestion: diagnosis.congestion_control.name,
        promise,
    })
}
