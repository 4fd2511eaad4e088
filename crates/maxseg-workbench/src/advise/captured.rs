//! Advice about a captured connection: its path, run again where runs have what was observed.

use maxseg_core::advise::{
    Advice, Advised, Change, Ends, Goal, Headline, NoGain, Subject, ends_of,
};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::approx;

use super::{Known, PathAdvice, Question, SourceKind, Unknown};
use crate::error::Error;

/// Advice about the connection of a headline, of the capture `name`: what `explain` concludes, as it is, and what goes with it.
///
/// # Errors
/// No engine can run its path.
pub fn of_capture(
    headline: &Headline<'_>,
    name: &str,
    question: &Question,
) -> Result<PathAdvice, Error> {
    let ends = ends_of(headline);
    let case = &headline.case;
    let target = format!("{name}, connection {}", case.evidence.id);
    let concluded = Advice::of_headline(headline, question.connections)
        .filter(|advice| !question.ignored.contains(&advice.id));
    let unknown = |why: String, ends: Ends| {
        let unknown = Unknown { why, shown_by: shown_by(headline) };
        PathAdvice::unknown(SourceKind::Capture, &target, ends, question, unknown)
    };
    if let Some(why) = beyond_settings(headline) {
        return Ok(unknown(why, ends));
    }
    let rerun = match (&headline.rerun, headline.no_gain()) {
        (_, Some(why)) if why.is_of_another_path() => Err(why),
        (Some(rerun), _) => rerun.clone().explaining(case, name),
        (None, why) => Err(why.unwrap_or(NoGain::Unfit)),
    };
    let rerun = match rerun {
        Ok(rerun) if !is_full(headline, question.goal) => rerun,
        Err(why) if concluded.is_none() => {
            let of_capture = why == NoGain::Unfit;
            let why = why.to_string();
            let why = why.strip_prefix("no gain is given: ").unwrap_or(&why).to_owned();
            let fault = of_capture.then(|| fault_of_capture(headline)).flatten();
            return Ok(unknown(fault.unwrap_or(why), ends));
        }
        // What is concluded from the capture itself needs no search; and no setting speeds up a full link.
        Ok(_) | Err(_) => return Ok(by_conclusion(headline, concluded, &target, ends, question)),
    };
    let rate_is_bound = !rerun.path.rate_is_seen;
    let mut notes = vec![conclusion(headline)];
    notes.extend(rate_is_bound.then(|| {
        format!(
            "The capture shows that the path carries {} at least, and no more of it: the runs have that rate, and a change may gain many \
             times as much as they show.",
            approx::rate(rerun.path.rate_bps.value)
        )
    }));
    let known = Known {
        source: SourceKind::Capture,
        target,
        scenario: rerun.scenario().clone(),
        ends,
        concluded: settings(concluded.as_ref()),
        rate_is_bound,
        notes,
    };
    let mut advice = known.advise(question)?;
    if let (Some(advised), Some(concluded)) = (&mut advice.advised, concluded) {
        merge(advised, concluded);
    }
    Ok(advice)
}

/// What is concluded stands among all that is advised: in the place of what a run shows of the same change.
pub(super) fn merge(advised: &mut Advised, mut concluded: Advice) {
    match advised.advice.iter_mut().find(|piece| piece.id == concluded.id) {
        Some(piece) => {
            if concluded.proof.is_empty() {
                concluded.gain = piece.gain.clone();
                concluded.proof.clone_from(&piece.proof);
            }
            *piece = concluded;
        }
        None => advised.advice.push(concluded),
    }
}

/// What is concluded as far as a host's setting makes it.
pub(super) fn settings(concluded: Option<&Advice>) -> Vec<Change> {
    concluded.map(|advice| advice.change).filter(|change| change.is_setting()).into_iter().collect()
}

/// Whether the path was full, and the most goodput is asked for.
fn is_full(headline: &Headline<'_>, goal: Goal) -> bool {
    goal == Goal::Throughput
        && headline.case.diagnosis.limited_by == LimitedBy::Bandwidth
        && !headline.has_change()
}

/// What holds the connection where that is neither a setting of the hosts nor the path.
fn beyond_settings(headline: &Headline<'_>) -> Option<String> {
    let remedy = headline.remedy.as_ref()?;
    let is_of_path = matches!(
        headline.subject,
        Some(Subject::Limit(LimitedBy::Bandwidth | LimitedBy::Congestion))
    );
    let asks_elsewhere = remedy.advises.is_none() && remedy.what_if.is_empty() && !is_of_path;
    asks_elsewhere.then(|| format!("no setting of the hosts changes it: {}", remedy.change))
}

/// What `explain` concludes, as it is.
fn by_conclusion(
    headline: &Headline<'_>,
    concluded: Option<Advice>,
    target: &str,
    ends: Ends,
    question: &Question,
) -> PathAdvice {
    PathAdvice {
        scenario: headline.rerun.as_ref().map(|rerun| rerun.scenario().clone()),
        advised: Some(Advised { advice: concluded.into_iter().collect(), ..Advised::default() }),
        notes: vec![conclusion(headline)],
        ..PathAdvice::unrun(SourceKind::Capture, target, ends, question)
    }
}

/// The conclusion with one full stop.
fn conclusion(headline: &Headline<'_>) -> String {
    format!("{}.", headline.text().trim_end_matches('.'))
}

/// What about the capture leaves the limit open, or else the connection.
fn fault_of_capture(headline: &Headline<'_>) -> Option<String> {
    let diagnosis = &headline.case.diagnosis;
    diagnosis.quality.fault().or_else(|| diagnosis.unknown_because.clone())
}

/// What would show what the capture does not.
fn shown_by(headline: &Headline<'_>) -> String {
    let remedy = headline.remedy.as_ref();
    let wanted = remedy.and_then(|remedy| remedy.wanted.as_ref());
    wanted.or(headline.case.diagnosis.quality.wanted.as_ref()).cloned().unwrap_or_else(|| {
        "a capture at the sender, from the SYN on, of a transfer of at least ten round trips; or a scenario of the path".to_owned()
    })
}
