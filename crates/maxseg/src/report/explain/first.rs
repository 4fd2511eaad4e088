//! The connection that matters most, what limits it, what to change, and what that gains.

use std::fmt::Write as _;

use maxseg_core::advise::Change;
use maxseg_core::diagnose::{Finding, FindingKind};
use maxseg_core::outcome::LimitedBy;

use crate::explain::Case;
use crate::explain::gain::{CLOSE, Gain, Rerun};
use crate::explain::remedy::{Remedy, Subject, remedy, subject};
use maxseg_workbench::report::words;

/// A connection with what to do about it.
#[derive(Debug, Clone)]
pub(crate) struct Story<'a> {
    /// The connection.
    pub(crate) case: Case<'a>,
    /// What it is about.
    pub(crate) subject: Option<Subject>,
    /// What to change.
    pub(crate) remedy: Option<Remedy>,
    /// The path as it was seen; `None` where the capture shows too little of it.
    pub(crate) rerun: Option<Rerun>,
    /// What the change gains, or why none is given.
    pub(crate) gain: Result<Gain, String>,
}

impl<'a> Story<'a> {
    /// Looks for a remedy, and runs the path with and without it.
    pub(crate) fn of(case: Case<'a>, file: &str) -> Self {
        let subject = subject(&case);
        let (rerun, missing) = match Rerun::of(&case, file) {
            Ok(rerun) => (Some(rerun), None),
            Err(why) => (None, Some(format!("no gain is given: {why}"))),
        };
        let (path, covering) =
            (rerun.as_ref().map(|rerun| &rerun.path), rerun.as_ref().map(|rerun| rerun.covering));
        let remedy = subject.and_then(|subject| remedy(subject, &case, path, covering));
        let changes = remedy.as_ref().map_or(&[][..], |remedy| &remedy.what_if);
        let (rerun, gain) = match rerun {
            None => (None, Err(missing.unwrap_or_default())),
            // What stood still gains what it waited; a run of a path that never stood says nothing of that.
            Some(rerun) if subject.and_then(waits) == Some(LimitedBy::PathMtu) => (
                Some(rerun),
                Err("no run of the path: what there is to gain is the time that it waited"
                    .to_owned()),
            ),
            Some(rerun) => {
                let (rerun, gain) = rerun.gain(&case, file, changes);
                let gain = gain.and_then(|gain| agrees_with_waiting(&case, subject, gain));
                (Some(rerun), gain)
            }
        };
        Self { case, subject, remedy, rerun, gain }
    }

    /// Limit, share, change and gain.
    pub(crate) fn sentence(&self) -> String {
        let mut text = self.what_limits();
        if let Some(finding) = self.finding() {
            let _ = write!(text, ". {}", finding.text.trim_end_matches('.'));
        }
        if let Some(remedy) = &self.remedy {
            let _ = write!(text, ". {}", super::parts::capital(&remedy.change));
        }
        if let Some(waited) = self.waited() {
            let _ = write!(text, ". {waited}");
        }
        if let Ok(gain) = &self.gain
            && let (Some(expected), Some(relative)) = (gain.expected_bps(), gain.relative())
        {
            let at_least = if gain.is_bound { "at least " } else { "" };
            let without = if self.is_without_loss() { " without any loss" } else { "" };
            let _ = write!(
                text,
                ". Predicted{without}: {at_least}{} instead of {} ({})",
                words::rate(expected),
                words::rate(gain.observed_whole_bps()),
                words::gain(relative)
            );
        }
        text.push('.');
        text
    }

    /// `5.2 s of 6.4 s were waiting`, where the limit is nothing but waiting.
    fn waited(&self) -> Option<String> {
        let share = self.case.share(waits(self.subject?)?);
        let seconds = self.case.data_seconds();
        (share > 0.0).then(|| {
            format!("{} of {} were waiting", words::time(seconds * share), words::time(seconds))
        })
    }

    /// Whether the prediction is of a path that loses nothing, which no command makes of it.
    pub(super) fn is_without_loss(&self) -> bool {
        self.remedy.as_ref().is_some_and(|remedy| remedy.what_if.contains(&Change::NoErrors))
    }

    /// Whether there is a change that could gain something.
    pub(crate) fn has_change(&self) -> bool {
        self.remedy.as_ref().is_some_and(|remedy| !remedy.what_if.is_empty())
    }

    /// Why no gain is given; `None` where one is.
    pub(crate) fn no_gain(&self) -> Option<String> {
        match &self.gain {
            Ok(gain) => gain.missing(),
            Err(why) => Some(why.clone()),
        }
    }

    /// The finding that says more about the subject.
    pub(crate) fn finding(&self) -> Option<&Finding> {
        let mut findings = self.case.findings_of_data();
        match self.subject? {
            Subject::Finding(kind) => findings.find(|finding| finding.kind == kind),
            Subject::Limit(limit) => {
                findings.find(|finding| super::parts::belongs(finding.kind, limit))
            }
        }
    }

    fn what_limits(&self) -> String {
        let way = self.case.diagnosis.way;
        let evidence = self.case.evidence;
        let ends = format!("{} → {}", evidence.sender(way), evidence.receiver(way));
        let limit = match self.subject {
            Some(Subject::Limit(limit)) => Some(limit),
            Some(Subject::Finding(_)) | None => self.case.diagnosis.limited_by,
        };
        let Some(limit) = limit else {
            return if self.case.data().acked_bytes > 0 {
                format!("Nothing shows what limited {ends}")
            } else {
                format!("No payload of {ends} was acknowledged")
            };
        };
        let of_time = format!(
            "{} of {}",
            super::parts::share(self.case.share(limit)),
            words::time(self.case.data_seconds())
        );
        match limit {
            LimitedBy::ReceiveWindow => format!("The receive window limited {ends} for {of_time}"),
            LimitedBy::SendBuffer => format!("The send buffer limited {ends} for {of_time}"),
            LimitedBy::Bandwidth => {
                format!("The line was full: bandwidth limited {ends} for {of_time}")
            }
            LimitedBy::Congestion => {
                format!("Losses kept {ends} slow (congestion) for {of_time}")
            }
            LimitedBy::PathMtu => {
                format!("Packets too large for the path (path-mtu) stopped {ends} for {of_time}")
            }
            LimitedBy::Rto => format!("{ends} waited for the retransmission timer for {of_time}"),
            LimitedBy::Application => {
                format!(
                    "The sending application limited {ends} for {of_time}: it had no more to send"
                )
            }
            LimitedBy::Opportunity => {
                format!("{ends} ended before it was up to speed (opportunity): {of_time}")
            }
            LimitedBy::Host => format!("A busy host limited {ends} for {of_time}"),
            LimitedBy::Unknown => format!("What limited {ends} cannot be told for {of_time}"),
        }
    }
}

/// The limit that is nothing but waiting, where a subject is about one.
fn waits(subject: Subject) -> Option<LimitedBy> {
    match subject {
        Subject::Limit(limit @ (LimitedBy::PathMtu | LimitedBy::Rto)) => Some(limit),
        Subject::Finding(FindingKind::BlackHole) => Some(LimitedBy::PathMtu),
        Subject::Limit(_) | Subject::Finding(_) => None,
    }
}

/// A gain that is less than that of the waiting alone contradicts what was seen.
fn agrees_with_waiting(
    case: &Case<'_>,
    subject: Option<Subject>,
    gain: Gain,
) -> Result<Gain, String> {
    let Some(limit) = subject.and_then(waits) else { return Ok(gain) };
    let without_waiting = gain.observed_whole_bps() / (1.0 - case.share(limit)).max(1e-6);
    match gain.expected_bps() {
        Some(expected) if expected < (1.0 - CLOSE) * without_waiting => {
            Err("no gain is given: the path rerun shows less than the waiting alone cost"
                .to_owned())
        }
        _ => Ok(gain),
    }
}
