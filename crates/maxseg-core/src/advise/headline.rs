//! The conclusion about one connection: its limit, the change that removes it, and the gain.

mod contradictions;
mod next_limit;
mod queues;
mod without_gain;

use std::fmt::Write as _;

use super::case::Case;
use super::change::Change;
use super::gain::{Gain, NoGain, listed};
use super::remedy::{Remedy, Subject, remedy, subject};
use super::rerun::Rerun;
use crate::diagnose::{Finding, FindingKind, LossCause, Severity, System, counted};
use crate::evidence::Joined;
use crate::outcome::LimitedBy;
use crate::units::approx;
use contradictions::{at_least_the_stall, uncontradicted};
use next_limit::lifts_window;
use without_gain::{instead_of, with_prompt_reader};

/// The conclusion about one connection.
#[derive(Debug, Clone)]
pub struct Headline<'a> {
    /// The connection.
    pub case: Case<'a>,
    /// The limit or finding that it is about.
    pub subject: Option<Subject>,
    /// The change.
    pub remedy: Option<Remedy>,
    /// The observed path; `None` where the capture shows too little of it.
    pub rerun: Option<Rerun>,
    /// The gain of the change, or why none is given.
    pub gain: Result<Gain, NoGain>,
    /// Whether the capture shows enough of the path for its rate to be told.
    pub shows_path: bool,
}

impl<'a> Headline<'a> {
    /// Selects a remedy, and runs the path with and without it. `file` names the capture.
    pub fn of(case: Case<'a>, file: &str) -> Self {
        let subject = subject(&case);
        let rerun = Rerun::of(&case, file);
        let path = rerun.as_ref().ok().map(|rerun| &rerun.path);
        let remedy = subject.and_then(|subject| remedy(subject, &case, path));
        let changes = remedy.as_ref().map_or_else(Vec::new, |remedy| remedy.what_if.clone());
        let changes = changes.as_slice();
        let too_little = path.and_then(|path| path.too_little(case.data().segments()));
        let (rerun, gain) = match rerun {
            Err(error) => (None, Err(error.into())),
            Ok(_) if !case.diagnosis.quality.fit => (None, Err(NoGain::Unfit)),
            Ok(rerun) if too_little.is_some() && !changes.is_empty() => {
                (Some(rerun), Err(NoGain::TooLittle(too_little.clone().unwrap_or_default())))
            }
            // No run has such a stall: it is left out.
            Ok(rerun) if subject.and_then(stalls) == Some(LimitedBy::PathMtu) => {
                let gain = rerun.gain_without_stall(&case, LimitedBy::PathMtu, &[Change::NoErrors]);
                (Some(rerun), gain)
            }
            Ok(rerun) if !can_be_tried(&case, subject) => (Some(rerun), Err(NoGain::Unfit)),
            Ok(rerun) => {
                let told_queue = rerun.path.queue_bytes.value;
                let (rerun, gain) = rerun.gain(&case, file, changes);
                let gain = gain.and_then(|gain| at_least_the_stall(&case, subject, gain));
                let gain = gain
                    .and_then(|gain| uncontradicted(&case, &rerun.path, told_queue, changes, gain));
                (Some(rerun), gain)
            }
        };
        // Beside a link that a slow reader lets rest, the runs do not show what a prompt one brings.
        let is_readers = matches!(changes, [Change::ReadsAtOnce]) && case.waits_for_reader();
        let (rerun, gain) = match rerun {
            Some(rerun) if is_readers => with_prompt_reader(&case, file, rerun, gain),
            rerun => (rerun, gain),
        };
        let missing = gain.as_ref().ok().and_then(Gain::missing);
        let is_small = missing == Some(NoGain::TooSmall);
        let is_bound = gain.as_ref().is_ok_and(|gain| gain.is_bound);
        let gain = match missing {
            // Of a path whose rate is a lower bound no run says that nothing is gained.
            Some(NoGain::Uncertain { .. }) if is_bound && lifts_window(changes) => {
                Err(NoGain::RateUnknown { is_window: true })
            }
            Some(why @ (NoGain::TooSmall | NoGain::Uncertain { .. })) => Err(why),
            _ => gain,
        };
        // What a lower bound gains may be more.
        // What gains no goodput may still shorten delays.
        let is_of_queue = matches!(changes, [Change::FairQueue | Change::Queue(_)]);
        let is_worth_it = !is_small || is_bound || is_of_queue || is_readers;
        let remedy = if is_worth_it { remedy } else { instead_of(remedy, subject, &case) };
        Self { case, subject, remedy, rerun, gain, shows_path: too_little.is_none() }
    }

    /// Limit, share of the time, change and gain, in a few sentences.
    pub fn text(&self) -> String {
        let finding = self.finding().map(|finding| finding.text.trim_end_matches('.'));
        let mut text = match (self.subject, finding) {
            // The connection was never open.
            (
                Some(Subject::Finding(
                    FindingKind::Refused | FindingKind::NoAnswer | FindingKind::SynRetransmission,
                )),
                Some(finding),
            ) => finding.to_owned(),
            // The sender had data: its own stack held it.
            (Some(Subject::Limit(LimitedBy::Application)), Some(finding))
                if self.finding().is_some_and(|it| is_held(it.kind)) =>
            {
                finding.to_owned()
            }
            (_, _) => self.limit_text(),
        };
        let reset = self.case.diagnosis.findings.iter().find(|finding| {
            finding.kind == FindingKind::Reset && finding.severity > Severity::Note
        });
        if let Some(reset) = reset {
            let _ = write!(text, ". {}", reset.text);
        }
        // The change stands before the details: both are in the first lines.
        let details = finding.filter(|finding| !text.contains(*finding));
        if let Some(remedy) = &self.remedy {
            let _ = write!(text, ". {}", remedy.sentence());
        }
        if let Some(stalled) = self.stalled_text() {
            let _ = write!(text, ". {stalled}");
        }
        if let Ok(gain) = &self.gain
            && let (Some(expected), Some(relative)) = (gain.expected(), gain.relative())
        {
            let without = if self.is_without_loss() { " without any loss" } else { "" };
            let low = approx::rate(expected.low_bps);
            let bounds = if gain.is_bound {
                let why = listed(&gain.misses).map_or_else(String::new, |misses| {
                    format!(": the rerun of the observed path has {misses}")
                });
                format!("at least {low}{why}")
            } else {
                format!("{low} to {}", approx::rate(expected.high_bps))
            };
            let _ = write!(
                text,
                ". Predicted for as much data{without}: {} instead of {} ({}; {bounds})",
                approx::rate(expected.goodput_bps),
                approx::rate(gain.observed_whole_bps()),
                approx::gain(relative)
            );
            if let Some([now, then]) = gain.request_s() {
                let (now, then) = (approx::time(now), approx::time(then));
                let _ = write!(
                    text,
                    ", {then} instead of {now} from a request to the end of its reply"
                );
            }
            if let Some(unless) = self.unless() {
                let _ = write!(text, ", {unless}");
            }
        }
        if let Some(details) = details {
            let _ = write!(text, ". {details}");
        }
        text.push('.');
        text
    }

    /// `Stalled for 5.2 s of 6.4 s`, where the limit is a stall.
    fn stalled_text(&self) -> Option<String> {
        let share = self.case.share(stalls(self.subject?)?);
        let seconds = self.case.data_seconds();
        (share > 0.0).then(|| {
            format!("Stalled for {} of {}", approx::time(seconds * share), approx::time(seconds))
        })
    }

    /// Whether the prediction is of a path without loss, which no command achieves.
    pub fn is_without_loss(&self) -> bool {
        self.remedy.as_ref().is_some_and(|remedy| remedy.what_if.contains(&Change::NoErrors))
    }

    /// Whether a change could gain something.
    pub fn has_change(&self) -> bool {
        self.remedy.as_ref().is_some_and(|remedy| !remedy.what_if.is_empty())
    }

    /// Why no gain is given, where that is worth a sentence: a change could gain something, and it is not said already
    /// that it gains too little.
    pub fn no_gain_to_tell(&self) -> Option<NoGain> {
        self.no_gain().filter(|why| self.has_change() && *why != NoGain::TooSmall)
    }

    /// Why there is no command to show: the systems of the hosts that have some are unknown, or others.
    pub fn no_command(&self) -> Option<String> {
        let remedy = self.remedy.as_ref()?;
        if remedy.commands.is_empty() || remedy.for_hosts().next().is_some() {
            return None;
        }
        let hosts = self.case.hosts();
        let ends = [
            (self.case.evidence.client, &hosts.client),
            (self.case.evidence.server, &hosts.server),
        ];
        let mut of_ends: Vec<String> = ends
            .into_iter()
            .map(|(end, host)| (end.ip().to_canonical().to_string(), host))
            .filter(|(address, _)| remedy.commands.iter().any(|command| command.on == *address))
            .map(|(address, host)| {
                if host.name == System::Unknown {
                    format!("The system of {address} is unknown: {}", host.evidence)
                } else {
                    format!(
                        "{address} is probably {}, for which there is no command",
                        host.name.word()
                    )
                }
            })
            .collect();
        // Both ends may be of one host.
        of_ends.dedup();
        (!of_ends.is_empty()).then(|| of_ends.join(". "))
    }

    /// Why no gain is given; `None` where one is.
    pub fn no_gain(&self) -> Option<NoGain> {
        match &self.gain {
            Ok(gain) => gain.missing(),
            Err(why) => Some(why.clone()),
        }
    }

    /// The finding with the details of the subject.
    pub fn finding(&self) -> Option<&Finding> {
        let mut findings = self.case.findings_of_data();
        match self.subject? {
            Subject::Finding(kind) => {
                let mut all = self.case.diagnosis.findings.iter();
                findings
                    .find(|finding| finding.kind == kind)
                    .or_else(|| all.find(|finding| finding.kind == kind))
            }
            Subject::Limit(limit) => self.case.finding_of(limit),
        }
    }

    /// Whether a second capture shows that the acknowledgements queue, and not the data.
    fn is_queued_back(&self) -> bool {
        let joined = self.case.evidence.joined.as_deref();
        let back = self.case.diagnosis.direction.other();
        joined.and_then(Joined::queued_direction) == Some(back)
    }

    /// What else limited, for longer than the limit that can be changed.
    fn beside(&self, limit: LimitedBy) -> String {
        let Some(longest) = self.case.diagnosis.limits.first().filter(|it| it.kind != limit) else {
            return String::new();
        };
        let (kind, share) = (longest.kind, approx::whole_percent(longest.share));
        if kind == LimitedBy::Unknown {
            format!(" (what limited {share} is unknown)")
        } else {
            format!(" ({kind} for {share})")
        }
    }

    /// What there is to say of a connection whose limits leave no time.
    fn without_limits(&self, ends: &str) -> String {
        let data = self.case.data();
        if let Some((sender, bytes)) = self.case.evidence.payload_that_never_came() {
            format!(
                "{} that {sender} sent never came here: it counts them as sent. They were lost on the way, as full segments are where \
                 a hop has a smaller MTU and is silent: `maxseg path` on that host, or with --far-end from here, or a capture there, \
                 shows it",
                counted(bytes, "byte")
            )
        } else if data.acked_bytes > 0 && data.data_packets == 0 {
            let bytes = counted(data.acked_bytes, "byte");
            format!(
                "The limit of {ends} is unknown: only acknowledgements were captured, of {bytes}"
            )
        } else if data.acked_bytes > 0 && data.goodput_bps.is_none() {
            let bytes = counted(data.acked_bytes, "byte");
            format!("{ends} carried {bytes}, too little for a limit to show")
        } else if data.acked_bytes > 0 {
            format!("The limit of {ends} is unknown")
        } else {
            format!("No payload of {ends} was acknowledged")
        }
    }

    pub(super) fn limit_text(&self) -> String {
        let direction = self.case.diagnosis.direction;
        let evidence = self.case.evidence;
        let ends = format!("{} → {}", evidence.sender(direction), evidence.receiver(direction));
        let limit = match self.subject {
            Some(Subject::Limit(limit)) => limit,
            Some(Subject::Finding(_)) | None => self.case.diagnosis.limited_by,
        };
        if self.case.diagnosis.limits.is_empty() {
            return self.without_limits(&ends);
        }
        let of_time = format!(
            "{} of {}{}",
            approx::whole_percent(self.case.share(limit)),
            approx::time(self.case.data_seconds()),
            self.beside(limit)
        );
        match limit {
            LimitedBy::ReceiveWindow => format!("The receive window limited {ends} for {of_time}"),
            LimitedBy::SendBuffer => format!("The send buffer limited {ends} for {of_time}"),
            LimitedBy::Bandwidth | LimitedBy::Congestion
                if self.case.diagnosis.loss.cause == LossCause::Policer =>
            {
                let shown = &self.case.diagnosis.loss.evidence;
                format!("A policer limited {ends} for {of_time}: {shown}")
            }
            LimitedBy::Bandwidth if self.is_queued_back() => {
                format!(
                    "A link of the reverse path was full: the acknowledgements queue there, and bandwidth limited {ends} for \
                     {of_time}"
                )
            }
            LimitedBy::Bandwidth => {
                let full = self.case.diagnosis.full_link();
                format!("{full}: bandwidth limited {ends} for {of_time}")
            }
            LimitedBy::Congestion if self.case.diagnosis.loss.cause == LossCause::Reordering => {
                format!("Reordering, taken for loss, limited {ends} for {of_time}")
            }
            LimitedBy::Congestion
                if self.case.data().congestion_marks > 0
                    && self.case.data().needed_retransmissions() == 0 =>
            {
                format!("Congestion marks (ECN) limited {ends} for {of_time}")
            }
            // One capture makes that likely, two show it.
            LimitedBy::Congestion
                if self.case.evidence.joined.is_some()
                    && self.case.diagnosis.loss.cause == LossCause::Needless =>
            {
                format!("Needless retransmissions, as if for loss, limited {ends} for {of_time}")
            }
            LimitedBy::Congestion => {
                format!("Loss (congestion) limited {ends} for {of_time}")
            }
            LimitedBy::PathMtu => {
                let unless = if evidence.is_silent_behind_hole(direction) {
                    format!(
                        ", unless {} has gone",
                        evidence.receiver(direction).ip().to_canonical()
                    )
                } else {
                    String::new()
                };
                format!("Packets larger than the path MTU stalled {ends} for {of_time}{unless}")
            }
            LimitedBy::Rto => {
                format!("The retransmission timeout stalled {ends} for {of_time}")
            }
            LimitedBy::Application => {
                let why = if self.finding().is_none() { ": no data to send" } else { "" };
                format!("The application limited {ends} for {of_time}{why}")
            }
            LimitedBy::StartUp => {
                format!("Start-up (handshake and slow start) took {of_time} of {ends}")
            }
            LimitedBy::Host => format!("A busy host limited {ends} for {of_time}"),
            LimitedBy::Paced => format!("The sender paced {ends} for {of_time}"),
            LimitedBy::Unknown => {
                let why = self.case.diagnosis.unknown_because.as_deref();
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                format!("The limit of {ends} is unknown{why}")
            }
        }
    }
}

/// Whether a change can be tried. Where the limit is unknown, the rerun has to explain what was observed by the limit that the
/// change removes: one of two that share the time, or a send buffer.
fn can_be_tried(case: &Case<'_>, subject: Option<Subject>) -> bool {
    let is_of_limit = matches!(subject, Some(Subject::Limit(limit)) if limit != LimitedBy::Unknown);
    case.diagnosis.limited_by != LimitedBy::Unknown
        || case.diagnosis.leaves_window_unused
        || case.diagnosis.waits_for_room
        || is_of_limit
}

/// The limit that consists of stalled time alone, where a subject is about one.
const fn stalls(subject: Subject) -> Option<LimitedBy> {
    match subject {
        Subject::Limit(limit @ (LimitedBy::PathMtu | LimitedBy::Rto)) => Some(limit),
        Subject::Finding(FindingKind::BlackHole) => Some(LimitedBy::PathMtu),
        Subject::Limit(_) | Subject::Finding(_) => None,
    }
}

/// Whether the sender had data that its own stack held.
const fn is_held(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::NagleDelayedAck | FindingKind::Corked)
}
