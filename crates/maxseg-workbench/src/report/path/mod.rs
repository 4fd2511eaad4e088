//! Tests of paths as JSON; the names are a contract.

mod far_end_page;
mod forget;
mod mtu;
mod others;
mod page;
mod verdict;

pub use crate::path::scenario;
pub use forget::ForgetDocument;
pub use page::page;
pub use verdict::{sentence, told_fault, untold};

use std::io;

use maxseg_core::path_mtu::Confidence;
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{
    GRADE_RULE, PathFindingKind, PathReport, Rfc6349Report, RttReport, SizeTable, UnderLoadRow,
};
use mtu::MtuEntry;
use others::{BottleneckEntry, MssEntry, SynEntry};

/// What `path HOST --json` prints.
#[derive(Serialize, JsonSchema)]
pub struct PathDocument<'a> {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// The path to the first address.
    #[serde(flatten)]
    path: PathEntry<'a>,
    /// The path to the address of the other IP version, where the host has one and it was tested.
    other_versions: Vec<PathEntry<'a>>,
}

/// The path to one address.
#[derive(Serialize, JsonSchema)]
struct PathEntry<'a> {
    /// The host as it was named.
    target: &'a str,
    /// The address that was tested.
    address: String,
    /// The port, where one was given.
    port: Option<u16>,
    /// Round trips of small packets.
    rtt: &'a RttReport,
    /// The path MTU.
    path_mtu: MtuEntry<'a>,
    /// The MSS options of both ends.
    mss: MssEntry<'a>,
    /// The narrowest link each way.
    bottleneck: BottleneckEntry,
    /// Round trips under load.
    under_load: &'a [UnderLoadRow],
    /// How the grades under load come about.
    under_load_grade: &'static str,
    /// Rates and pings for segment sizes and windows; null where it was not asked for.
    table: Option<&'a SizeTable>,
    /// This host's SYN as it arrived at the far end; null without a responder.
    syn_as_received: Option<SynEntry<'a>>,
    /// The test of RFC 6349; null where it was not asked for.
    rfc6349: Option<&'a Rfc6349Report>,
    /// Why the far end did not do its part; null where it did, or none was asked for.
    far_end_error: Option<&'a str>,
    /// What a reader should know, the gravest first.
    findings: Vec<FindingEntry<'a>>,
    /// Bytes of IP packets that this host sent for the test, without those of transfers with a far end.
    sent_bytes: u64,
    /// How long the test took.
    elapsed_s: f64,
    /// What a part could not do, and why.
    notes: &'a [String],
    /// Why the address could not be tested; null where it was. Of such an address nothing else is known.
    error: Option<&'a str>,
}

/// A fact about the path.
#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    /// What kind of fact.
    code: PathFindingKind,
    /// How sure it is; what is about sizes, as `path_mtu.confidence`.
    confidence: Confidence,
    /// The fact in a sentence.
    text: &'a str,
    /// What to do about it.
    remedy: Option<&'a str>,
}

impl<'a> PathDocument<'a> {
    /// The document of these reports, the first first; `None` of none.
    pub fn new(reports: &'a [PathReport]) -> Option<Self> {
        let (first, others) = reports.split_first()?;
        Some(Self {
            schema_version: 1,
            path: PathEntry::of(first),
            other_versions: others.iter().map(PathEntry::of).collect(),
        })
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

impl<'a> PathEntry<'a> {
    fn of(report: &'a PathReport) -> Self {
        let finding = |finding: &'a crate::path::PathFinding| FindingEntry {
            code: finding.kind,
            confidence: finding.confidence,
            text: &finding.text,
            remedy: finding.remedy.as_deref(),
        };
        Self {
            target: &report.target,
            address: report.address.to_string(),
            port: report.port,
            rtt: &report.rtt,
            path_mtu: MtuEntry::of(&report.path_mtu),
            mss: MssEntry::of(&report.mss),
            bottleneck: BottleneckEntry::of(report.bottleneck.as_ref()),
            under_load: &report.under_load,
            under_load_grade: GRADE_RULE,
            table: report.table.as_ref(),
            syn_as_received: report.syn_as_received.as_ref().map(SynEntry::of),
            rfc6349: report.rfc6349.as_ref(),
            far_end_error: report.far_end_fault.as_ref().map(|fault| fault.text.as_str()),
            findings: report.findings.iter().map(finding).collect(),
            sent_bytes: report.sent_bytes,
            elapsed_s: report.elapsed_s,
            notes: &report.notes,
            error: report.error.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::path::{MtuReport, RttMethod};

    use super::*;

    #[test]
    fn an_ip_version_that_failed_is_told() {
        let rtt = RttReport::of(RttMethod::IcmpEcho, &[Some(0.01); 3]);
        let four = "192.0.2.7".parse().unwrap();
        let first = PathReport::begun("host".to_owned(), four, rtt, MtuReport::default());
        let six = "2001:db8::7".parse().unwrap();
        let other = PathReport::failed("host".to_owned(), six, "no way".to_owned());
        let reports = [first, other];
        let document = serde_json::to_value(PathDocument::new(&reports)).unwrap();
        assert_eq!(document["error"], serde_json::Value::Null);
        let other = &document["other_versions"][0];
        assert_eq!((&other["address"], &other["error"]), (&"2001:db8::7".into(), &"no way".into()));
    }
}
