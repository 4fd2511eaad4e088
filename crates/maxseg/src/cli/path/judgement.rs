//! What the end of `maxseg path` says of the tests: done, a fault, or a failure.

use maxseg_workbench::path::{PathReport, Rfc6349Report};

use crate::failure::Failure;

/// The end of tests that were carried out: the first of what went wrong.
pub(super) fn judge(reports: &[PathReport], has_thresholds: bool) -> Result<(), Failure> {
    far_end_fault(reports)?;
    untested(has_thresholds, reports)?;
    verdict(reports)?;
    unmeasured(reports)
}

/// The end of a test of which one IP version failed, perhaps as a fault; and a failure that is noted only.
pub(super) fn with_other_version(
    judged: Result<(), Failure>,
    failed: Option<(Failure, bool)>,
) -> (Result<(), Failure>, Option<Failure>) {
    match (judged, failed) {
        (Ok(()), Some((failure, true))) => (Err(failure), None),
        (judged, failed) => (judged, failed.map(|(failure, _)| failure)),
    }
}

/// A far end that did not do its part, when all else is printed.
fn far_end_fault(reports: &[PathReport]) -> Result<(), Failure> {
    let fault = reports.iter().find_map(|report| report.far_end_fault.as_ref());
    fault.map_or(Ok(()), |fault| {
        Err(Failure::Other { what: fault.text.clone(), hint: fault.hint.clone() })
    })
}

/// Thresholds that nothing was held against are not met.
fn untested(has_thresholds: bool, reports: &[PathReport]) -> Result<(), Failure> {
    let is_untested = |report: &&PathReport| has_thresholds && report.rfc6349.is_none();
    let Some(report) = reports.iter().find(is_untested) else {
        return Ok(());
    };
    Err(Failure::NotMet {
        what: format!(
            "the thresholds were not tested at {}: without a round trip there is no baseline for a test of RFC 6349",
            report.address
        ),
        hint: "name a TCP port that is open, as HOST:443, or use `maxseg responder` as the far end"
            .to_owned(),
    })
}

/// The exit code.
fn verdict(reports: &[PathReport]) -> Result<(), Failure> {
    let is_fault = |report: &PathReport| report.findings.iter().any(|found| found.kind.is_fault());
    let has_failed =
        |report: &PathReport| report.rfc6349.as_ref().is_some_and(Rfc6349Report::has_failed);
    if reports.iter().any(|report| is_fault(report) || has_failed(report)) {
        return Err(Failure::Found);
    }
    if reports.iter().any(PathReport::is_answered) {
        return Ok(());
    }
    let addresses: Vec<String> = reports.iter().map(|report| report.address.to_string()).collect();
    Err(Failure::with_hint(
        format!("nothing answered: neither {} nor a router on the way", addresses.join(" nor ")),
        "name a TCP port that is open, as HOST:443; a firewall of this host may drop ICMP as well",
    ))
}

/// A direction that was asked for and not measured, where no fault of the path is known that explains it.
fn unmeasured(reports: &[PathReport]) -> Result<(), Failure> {
    let all: Vec<&str> =
        reports.iter().flat_map(|report| &report.unmeasured).map(String::as_str).collect();
    if all.is_empty() {
        return Ok(());
    }
    Err(Failure::with_hint(
        format!("not measured: {}", all.join("; ")),
        "all else is as printed; transfers are longer with --duration \"12 s\" and more",
    ))
}

#[cfg(test)]
mod tests {
    use maxseg_workbench::path::{MtuReport, RttMethod, RttReport};

    use super::*;

    #[test]
    fn an_ip_version_that_failed_is_a_failure_where_there_is_a_route() {
        let failure = || Failure::with_hint("no way", "another way");
        let (judged, noted) = with_other_version(Ok(()), Some((failure(), true)));
        assert_eq!((judged.unwrap_err().exit_code(), noted.is_some()), (1, false));
        let (judged, noted) = with_other_version(Ok(()), Some((failure(), false)));
        assert!(judged.is_ok() && noted.is_some(), "no route is said, and no fault");
        let (judged, noted) = with_other_version(Err(Failure::Found), Some((failure(), true)));
        assert_eq!((judged.unwrap_err().exit_code(), noted.is_some()), (3, true));
    }

    #[test]
    fn a_direction_that_was_not_measured_is_a_failure() {
        let rtt = RttReport::of(RttMethod::IcmpEcho, &[]);
        let address = "192.0.2.7".parse().unwrap();
        let mut report = PathReport::begun("host".to_owned(), address, rtt, MtuReport::default());
        assert!(unmeasured(std::slice::from_ref(&report)).is_ok());
        report.unmeasured = vec!["upload: nothing was transferred".to_owned()];
        let failure = unmeasured(&[report]).unwrap_err();
        assert_eq!(failure.exit_code(), 1);
        assert!(failure.render().contains("not measured: upload: nothing was transferred"));
    }

    #[test]
    fn thresholds_that_nothing_was_held_against_are_not_met() {
        let rtt = RttReport::of(RttMethod::IcmpEcho, &[]);
        let address = "192.0.2.7".parse().unwrap();
        let report = PathReport::begun("host".to_owned(), address, rtt, MtuReport::default());
        let failure = untested(true, std::slice::from_ref(&report)).unwrap_err();
        assert_eq!(failure.exit_code(), 3);
        assert!(failure.render().contains("were not tested at 192.0.2.7"), "{}", failure.render());
        assert!(untested(false, &[report]).is_ok());
    }
}
