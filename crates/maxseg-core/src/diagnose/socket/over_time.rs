//! The limit of a connection over a time that many samples divide: what each part of it was judged, weighted by how long it was.
//!
//! Two samples that are far apart show less than those between them: whether there was room in the congestion window, or a queue stood, is the
//! state at the end, which may be that of the last second alone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{EVEN, SocketDiagnosis, diagnose_socket, shares};
use crate::diagnose::verdict::{INFERRED, mixed, sureness};
use crate::evidence::SocketEvidence;
use crate::outcome::LimitedBy;
use crate::units::approx;

/// A share of the time above which a reason is said without it.
const NEARLY_ALL: f64 = 0.95;

/// What limited a connection, part by part of a time.
#[derive(Debug, Clone, Default)]
pub struct LimitsOverTime {
    /// Seconds of each limit.
    seconds: BTreeMap<LimitedBy, f64>,
    /// Seconds for which the limit was unknown, by the reason.
    unknown: Vec<(Cow<'static, str>, f64)>,
}

impl LimitsOverTime {
    /// Adds what was between two samples. What a socket counted since its beginning is no part of a time, and left out.
    pub fn add(&mut self, between: &SocketEvidence) {
        let all = between.bin.duration.as_secs_f64();
        if between.is_since_start || all <= 0.0 {
            return;
        }
        let found = diagnose_socket(between);
        for limit in &found.limits {
            *self.seconds.entry(limit.kind).or_default() += limit.share * all;
        }
        let Some(because) = found.unknown_because else { return };
        let unknown = found.limits.iter().find(|limit| limit.kind == LimitedBy::Unknown);
        // Of two limits that share the time each is known.
        let Some(unknown) = unknown.map(|limit| limit.share * all) else { return };
        match self.unknown.iter_mut().find(|(known, _)| *known == because) {
            Some((_, seconds)) => *seconds += unknown,
            None => self.unknown.push((because, unknown)),
        }
    }

    /// The limit of the whole time; `None` where nothing was added.
    pub fn diagnosis(self) -> Option<SocketDiagnosis> {
        let all: f64 = self.seconds.values().sum();
        if all <= 0.0 {
            return None;
        }
        let limits = shares(self.seconds.iter().map(|(kind, seconds)| (*kind, *seconds)));
        let unknown = |because: String, limits| SocketDiagnosis {
            limits,
            limited_by: LimitedBy::Unknown,
            unknown_because: Some(because.into()),
            confidence: 0.0,
        };
        if let Some(because) = mixed(&limits, "the list of each sample") {
            return Some(unknown(because, limits));
        }
        let first = *limits.first()?;
        if first.kind == LimitedBy::Unknown {
            return Some(unknown(self.why_unknown(all), limits));
        }
        let lead = first.share - limits.get(1).map_or(0.0, |second| second.share);
        let confidence = sureness(lead, EVEN) * INFERRED;
        Some(SocketDiagnosis { limits, limited_by: first.kind, unknown_because: None, confidence })
    }

    /// The reason of the longest time, and for how long it holds; a clause.
    fn why_unknown(&self, all: f64) -> String {
        let longest = self.unknown.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((because, seconds)) = longest else {
            return "the samples show no limit for most of the time".to_owned();
        };
        if *seconds >= NEARLY_ALL * all {
            return because.to_string();
        }
        let share = approx::whole_percent(seconds / all);
        format!("{because} (so for {share} of the time); the list of each sample shows when")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{still, transfer};
    use super::*;
    use crate::units::Time;

    /// A second as it is changed, and how many of them.
    type Part<'a> = (&'a dyn Fn(&mut SocketEvidence), u64);

    fn over_time(parts: &[Part<'_>]) -> SocketDiagnosis {
        let mut limits = LimitsOverTime::default();
        for (change, times) in parts {
            let mut evidence = transfer();
            change(&mut evidence);
            for _ in 0..*times {
                limits.add(&evidence);
            }
        }
        limits.diagnosis().unwrap()
    }

    fn windowed(e: &mut SocketEvidence) {
        e.bin.rwnd_limited = Time::from_secs(1);
    }

    #[test]
    fn the_limit_of_most_of_the_time_is_that_of_the_whole() {
        let mostly_still = over_time(&[(&still, 50), (&windowed, 10)]);
        assert_eq!(mostly_still.limited_by, LimitedBy::Application);
        let [still, window] = &mostly_still.limits[..] else { panic!("{mostly_still:?}") };
        assert!((still.share - 50.0 / 60.0).abs() < 1e-9, "{still:?}");
        assert_eq!(window.kind, LimitedBy::ReceiveWindow);
        let alone = over_time(&[(&windowed, 3)]);
        assert!(alone.confidence > mostly_still.confidence);
    }

    #[test]
    fn samples_that_differ_are_told_with_their_shares() {
        let half = over_time(&[(&still, 5), (&windowed, 5)]);
        assert_eq!(half.limited_by, LimitedBy::Unknown);
        let because = half.unknown_because.unwrap();
        assert!(because.contains("application 50% and receive-window 50%"), "{because}");
        assert!(because.ends_with("the list of each sample shows which lasts"), "{because}");
    }

    #[test]
    fn what_is_unknown_for_most_of_the_time_keeps_its_reason() {
        let unknown = |e: &mut SocketEvidence| e.state.ssthresh_segments = Some(43);
        let why = |parts: &[Part<'_>]| over_time(parts).unknown_because.unwrap().into_owned();
        let all = why(&[(&unknown, 4)]);
        assert!(all.contains("shows no queue") && !all.contains("so for"), "{all}");
        let most = why(&[(&unknown, 8), (&still, 2)]);
        assert!(most.contains("(so for 80% of the time)"), "{most}");
        let mut none = LimitsOverTime::default();
        none.add(&SocketEvidence { is_since_start: true, ..transfer() });
        assert!(none.diagnosis().is_none());
    }
}
