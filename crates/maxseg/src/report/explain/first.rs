//! The connection that matters most, what limits it, what to change, and what that gains.

use std::fmt::Write as _;

use maxseg_core::diagnose::{Finding, FindingKind};
use maxseg_core::outcome::LimitedBy;

use crate::explain::Case;
use crate::explain::gain::{Gain, Rerun};
use crate::explain::remedy::{Remedy, Subject, remedy, subject};
use crate::report::words;

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
            Some(rerun) => {
                let (rerun, gain) = rerun.gain(&case, file, changes);
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
            let _ = write!(text, ". {}", capital(&remedy.change));
        }
        if let Ok(gain) = &self.gain
            && let (Some(expected), Some(relative)) = (gain.expected_bps(), gain.relative())
        {
            let at_least = if gain.is_bound { "at least " } else { "" };
            let _ = write!(
                text,
                ". Predicted: {at_least}{} instead of {} ({})",
                words::rate(expected),
                words::rate(gain.observed_whole_bps()),
                words::gain(relative)
            );
        }
        if let Some(left) = self.without_waiting() {
            let _ = write!(text, ". Without that wait the same takes {}", words::time(left));
        }
        text.push('.');
        text
    }

    /// What is left of the time without the wait, where the limit is nothing but waiting and no run says more.
    fn without_waiting(&self) -> Option<f64> {
        let waits = match self.subject? {
            Subject::Limit(limit @ (LimitedBy::PathMtu | LimitedBy::Rto)) => limit,
            Subject::Finding(FindingKind::BlackHole) => LimitedBy::PathMtu,
            Subject::Limit(_) | Subject::Finding(_) => return None,
        };
        let share = self.case.share(waits);
        let has_gain = self.gain.as_ref().is_ok_and(|gain| gain.relative().is_some());
        (!has_gain && share > 0.0).then(|| self.case.data_seconds() * (1.0 - share))
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

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
