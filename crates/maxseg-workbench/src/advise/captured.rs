//! Advice about a captured connection: its path, run again where runs have what was observed.

use maxseg_core::advise::{Advice, Advised, Ends, Headline, NoGain, ends_of};

use super::{Known, PathAdvice, Question, SourceKind, Unknown};
use crate::error::Error;

/// Advice about the connection of a headline, of the capture `name`.
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
    let concluded = Advice::of_headline(headline, &ends, question.connections)
        .filter(|advice| !question.ignored.contains(&advice.id));
    let explained = match &headline.rerun {
        Some(rerun) => rerun.clone().explaining(case, name),
        None => Err(headline.no_gain().unwrap_or(NoGain::Unfit)),
    };
    let rerun = match (explained, &concluded) {
        (Ok(rerun), _) => rerun,
        // What is concluded from the capture itself needs no search.
        (Err(_), Some(_)) => {
            return Ok(by_conclusion(headline, concluded, &target, ends, question));
        }
        (Err(why), None) => {
            let why = why.to_string();
            let why = why.strip_prefix("no gain is given: ").unwrap_or(&why).to_owned();
            let unknown = Unknown { why, shown_by: shown_by(headline) };
            return Ok(PathAdvice::unknown(SourceKind::Capture, &target, ends, question, unknown));
        }
    };
    let known = Known {
        source: SourceKind::Capture,
        target: target.clone(),
        scenario: rerun.scenario().clone(),
        ends: ends.clone(),
        notes: vec![conclusion(headline)],
    };
    let mut advice = known.advise(question)?;
    if let Some(advised) = &mut advice.advised {
        if advised.advice.is_empty() && concluded.is_some() {
            return Ok(by_conclusion(headline, concluded, &target, ends, question));
        }
        if let Some(remedy) = &headline.remedy {
            let worded = advised.advice.drain(..).map(|advice| advice.worded_by(remedy)).collect();
            advised.advice = worded;
        }
    }
    Ok(advice)
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

/// What would show what the capture does not.
fn shown_by(headline: &Headline<'_>) -> String {
    let remedy = headline.remedy.as_ref();
    remedy.and_then(|remedy| remedy.wanted.clone()).unwrap_or_else(|| {
        "a capture at the sender, from the SYN on, of a transfer of at least ten round trips; or a scenario of the path".to_owned()
    })
}
