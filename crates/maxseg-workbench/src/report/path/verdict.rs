//! The first sentence about a path.

use maxseg_core::path_mtu::Confidence;

use crate::path::{PathFinding, PathFindingKind, PathReport};
use crate::report::words;

/// What limits the path, in a sentence.
pub fn sentence(report: &PathReport) -> String {
    let grave = report.findings.iter().find(|finding| {
        finding.kind.is_fault() || matches!(finding.kind, PathFindingKind::SmallMtu)
    });
    let mtu = &report.path_mtu;
    let sentence = match (grave, mtu.forward_bytes, mtu.confidence) {
        (Some(finding), ..) if finding.kind.is_fault() => words::capital(&finding.text),
        (_, None, _) if !report.is_answered() => {
            format!("Nothing answers: neither {} nor a router on the way", report.address)
        }
        (_, None, _) => {
            let reason = mtu.reason.as_deref().unwrap_or("nothing shows it");
            format!("The path MTU to {} is unknown: {reason}", report.address)
        }
        (_, Some(size), Confidence::AtLeast) => {
            let reason = mtu.reason.as_deref().unwrap_or("nothing shows more");
            format!(
                "Packets of {size} bytes arrive at {}, larger ones perhaps: {reason}",
                report.address
            )
        }
        (_, Some(size), Confidence::IcmpOnly) => format!(
            "The path to {} takes packets of {size} bytes, as {} says; that larger ones are too big, nothing else shows",
            report.address,
            narrow_router(report).unwrap_or_else(|| "a router".to_owned())
        ),
        (Some(finding), ..) => {
            let router = narrow_router(report);
            let who =
                router.map_or_else(String::new, |router| format!("; {router} says so to senders"));
            format!("No fault: {}{who}", finding.text)
        }
        (None, Some(size), _) if has(report, PathFindingKind::RouteMtu) => format!(
            "No fault: packets of {size} bytes arrive at {}, and this host's route has a smaller MTU",
            report.address
        ),
        (None, Some(size), _) => {
            format!(
                "No fault: packets of {size} bytes, all that this host sends, arrive at {}",
                report.address
            )
        }
    };
    format!("{sentence}.")
}

fn has(report: &PathReport, kind: PathFindingKind) -> bool {
    report.findings.iter().any(|finding| finding.kind == kind)
}

/// The fault that the sentence tells: the first.
pub fn told_fault(report: &PathReport) -> Option<&PathFinding> {
    report.findings.iter().find(|finding| finding.kind.is_fault())
}

/// The findings that neither the sentence nor the line of the path MTU tells.
pub fn untold(report: &PathReport) -> impl Iterator<Item = &PathFinding> {
    let told = told_fault(report);
    let is_told = move |finding: &PathFinding| {
        told.is_some_and(|told| std::ptr::eq(told, finding))
            || finding.kind == PathFindingKind::SmallMtu
    };
    report.findings.iter().filter(move |finding| !is_told(finding))
}

/// The last router that states an MTU.
fn narrow_router(report: &PathReport) -> Option<String> {
    let hop = report.path_mtu.hops.iter().rev().find(|hop| hop.stated_mtu_bytes.is_some())?;
    Some(format!("{} (hop {})", hop.address?, hop.hop))
}
