//! Two captures, before and after a change: what differs between them, and nothing about why.

use maxseg_core::advise::{Case, Subject, subject};
use maxseg_core::diagnose::FindingKind;
use maxseg_core::evidence::Ending;
use maxseg_core::outcome::LimitedBy;
use maxseg_wire::reading::CaptureSummary;

use super::super::words::{self, gain, rounded, whole_percent};
use super::chance::{Alike, first_of_the_largest, is_same_service};
use crate::error::{CompareError, Error};
use crate::explain::Explanation;

/// Connections of a capture that are looked through for a counterpart, by impact.
const CANDIDATES: usize = 100;
/// Less than a hundredth of a point is no difference to read.
const LEAST_SHARE: f64 = 1e-4;
/// Of these, only those with this share of the highest impact.
const MATTERS: f64 = 0.1;

/// A connection of each of two captures.
#[derive(Debug)]
pub struct CapturePairing<'a> {
    /// The captures.
    pub names: [&'a str; 2],
    /// The connections.
    pub cases: [Case<'a>; 2],
    /// Transfers like each, in its own capture.
    pub(super) alike: [Alike; 2],
    /// Whether nothing that matters in A is of a service that B has as well: then what matters most in each was taken.
    pub(super) has_no_counterpart: bool,
    pub(super) summaries: [&'a CaptureSummary; 2],
}

/// A number of both captures.
#[derive(Debug)]
pub struct CaptureLine {
    /// Its key in JSON.
    pub key: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Its value in each; `None` where a capture does not show it.
    pub values: [Option<f64>; 2],
    write: fn(f64) -> String,
    is_share: bool,
}

impl CaptureLine {
    /// Each value in words.
    pub fn texts(&self) -> [String; 2] {
        self.values.map(|value| value.map_or_else(|| "unknown".to_owned(), self.write))
    }

    /// B ÷ A − 1; `None` where either is unknown, or A zero.
    pub fn relative(&self) -> Option<f64> {
        let [a, b] = self.values;
        let a = a.filter(|a| a.abs() > 0.0)?;
        Some(b? / a - 1.0)
    }

    /// The change in words: of a share in points, of all else relative to A.
    pub fn change(&self) -> String {
        if let (true, [Some(a), Some(b)]) = (self.is_share, self.values) {
            return if a.total_cmp(&b).is_eq() { "equal".to_owned() } else { points(b - a) };
        }
        match (self.relative(), self.values) {
            (Some(relative), _) => gain(relative),
            (None, [Some(_), Some(b)]) if b.abs() <= 0.0 => "equal".to_owned(),
            (None, [Some(_), Some(b)]) => format!("+{}", (self.write)(b)),
            (None, _) => "unknown".to_owned(),
        }
    }
}

/// What the conclusion of `explain` about a connection names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Limit(LimitedBy),
    /// The connection was never open, or hardly: nothing limited it.
    Finding(FindingKind),
    Unknown,
}

pub(super) fn named(case: &Case<'_>) -> Named {
    let limit = match subject(case) {
        Some(Subject::Finding(
            kind @ (FindingKind::Refused | FindingKind::NoAnswer | FindingKind::SynRetransmission),
        )) => return Named::Finding(kind),
        Some(Subject::Limit(limit)) => Some(limit).filter(|_| !case.diagnosis.limits.is_empty()),
        Some(Subject::Finding(_)) | None => case.limit(),
    };
    match limit {
        Some(LimitedBy::Unknown) | None => Named::Unknown,
        Some(limit) => Named::Limit(limit),
    }
}

struct CaptureNumber {
    key: &'static str,
    title: &'static str,
    of: fn(&Case<'_>) -> Option<f64>,
    write: fn(f64) -> String,
}

/// A difference of shares: `+1.21 points`.
pub(super) fn points(difference: f64) -> String {
    if difference.abs() < LEAST_SHARE {
        return "less than 0.01 points".to_owned();
    }
    let sign = if difference < 0.0 { "-" } else { "+" };
    format!("{sign}{} points", words::percent(difference.abs()).trim_end_matches('%'))
}

pub(super) fn bytes(count: f64) -> String {
    words::size(rounded(count))
}

fn resent(case: &Case<'_>) -> Option<f64> {
    case.diagnosis.retransmitted_packets(case.evidence, case.diagnosis.direction).map(|n| n as f64)
}

const NUMBERS: [CaptureNumber; 9] = [
    CaptureNumber {
        key: "goodput_bps",
        title: "goodput",
        of: |case| case.data().goodput_bps,
        write: words::rate,
    },
    CaptureNumber {
        key: "rtt_min_s",
        title: "round trip, least",
        of: |case| case.data().path_rtt_min_s,
        write: words::time,
    },
    CaptureNumber {
        key: "rtt_mean_s",
        title: "round trip, mean",
        of: |case| case.data().path_rtt_mean_s,
        write: words::time,
    },
    CaptureNumber {
        key: "retransmitted_packets",
        title: "retransmitted packets",
        of: resent,
        write: words::digits_whole,
    },
    CaptureNumber {
        key: "retransmitted_share",
        title: "retransmitted share of the data",
        of: |case| {
            let segments = case.data().segments();
            let resent = resent(case).map(|_| case.data().repeated_segments());
            resent.filter(|_| segments > 0).map(|resent| resent as f64 / segments as f64)
        },
        write: words::percent,
    },
    CaptureNumber {
        key: "timeouts",
        title: "timeouts of data",
        of: |case| {
            let timeouts = case.diagnosis.timeouts(case.evidence, case.diagnosis.direction);
            timeouts.map(|timeouts| timeouts as f64)
        },
        write: words::digits_whole,
    },
    CaptureNumber {
        key: "window_max_bytes",
        title: "receive window, largest",
        of: |case| case.acks().window_max_bytes.map(|bytes| bytes as f64),
        write: bytes,
    },
    CaptureNumber {
        key: "in_flight_max_bytes",
        title: "in flight, most",
        of: |case| {
            let direction = case.diagnosis.direction;
            let most = case.diagnosis.in_flight_max_bytes(case.evidence, direction);
            most.map(|bytes| bytes as f64)
        },
        write: bytes,
    },
    CaptureNumber {
        key: "mss_used_bytes",
        title: "payload of a full segment",
        of: |case| case.data().mss_used_bytes.map(f64::from),
        write: |bytes| format!("{} B", rounded(bytes)),
    },
];

/// The first of these whose fix would matter, that has a counterpart among those, and of its largest counterparts the first: transfers
/// from or to the same address and port of a server, or the same port at least.
fn counterparts(before: &[Case<'_>], after: &[Case<'_>]) -> Option<[usize; 2]> {
    let is_same_server = |a: &Case<'_>, b: &Case<'_>| {
        is_same_service(a.evidence, b.evidence) && a.evidence.server == b.evidence.server
    };
    let least = MATTERS * before.first()?.impact();
    let first = |are_like: &dyn Fn(&Case<'_>, &Case<'_>) -> bool| {
        let mut that_matter = before.iter().enumerate().filter(|(_, a)| a.impact() >= least);
        that_matter.find_map(|(place, a)| {
            let like = after.iter().enumerate().filter(|(_, b)| are_like(a, b));
            Some([place, first_of_the_largest(like)?])
        })
    };
    first(&is_same_server).or_else(|| first(&|a, b| is_same_service(a.evidence, b.evidence)))
}

impl<'a> CapturePairing<'a> {
    /// The connections of these numbers of two captures. Where a number is missing, that of the highest impact which has a counterpart
    /// in the other capture, a transfer of the same service; without any, that of the highest impact.
    ///
    /// # Errors
    /// A capture does not have it.
    pub fn of(
        explanations: [&'a Explanation; 2],
        connections: [Option<u32>; 2],
    ) -> Result<Self, Error> {
        let candidates = |side: usize| {
            let explanation = explanations[side];
            let found: Vec<Case<'a>> = match connections[side] {
                None => explanation.by_impact(CANDIDATES),
                Some(id) => {
                    let numbered = explanation.connections.iter().find(|one| one.id == id);
                    numbered.map(Case::of).into_iter().collect()
                }
            };
            if found.is_empty() {
                let of = connections[side].map_or_else(String::new, |id| format!(" {id}"));
                let capture = explanation.name.clone();
                return Err(Error::from(CompareError::NoConnection { capture, of }));
            }
            Ok(found)
        };
        let names = [explanations[0].name.as_str(), &explanations[1].name];
        let [mut before, mut after] = [candidates(0)?, candidates(1)?];
        let counterparts = counterparts(&before, &after);
        let [a, b] = counterparts.unwrap_or_default();
        let cases = [before.swap_remove(a), after.swap_remove(b)];
        let alike =
            [0, 1].map(|side| Alike::of(cases[side].evidence, &explanations[side].connections));
        let has_no_counterpart = counterparts.is_none() && connections == [None; 2];
        let summaries = [0, 1].map(|side| &explanations[side].capture);
        Ok(Self { names, cases, alike, has_no_counterpart, summaries })
    }

    /// Each connection in words: number and ends, the sender of the data first.
    pub fn ends(&self) -> [String; 2] {
        [0, 1].map(|side| {
            let case = &self.cases[side];
            let direction = case.diagnosis.direction;
            format!(
                "{}, connection {}: {} → {}",
                self.names[side],
                case.evidence.id,
                case.evidence.sender(direction),
                case.evidence.receiver(direction)
            )
        })
    }

    /// The numbers of both.
    pub fn lines(&self) -> Vec<CaptureLine> {
        let line = |number: &CaptureNumber| CaptureLine {
            key: number.key,
            title: number.title,
            values: [0, 1].map(|side| (number.of)(&self.cases[side])),
            write: number.write,
            is_share: number.key.ends_with("_share"),
        };
        let lines = NUMBERS.iter().map(line);
        lines.filter(|line| line.values.iter().any(Option::is_some)).collect()
    }

    /// The limit of each with its share of the time, in words.
    pub fn limits(&self) -> [String; 2] {
        [0, 1].map(|side| {
            let case = &self.cases[side];
            match named(case) {
                Named::Limit(limit) => format!("{limit} {}", whole_percent(case.share(limit))),
                Named::Finding(kind) => kind.word().to_owned(),
                Named::Unknown => "unknown".to_owned(),
            }
        })
    }

    /// What became of the limit.
    pub fn limit_change(&self) -> &'static str {
        match [0, 1].map(|side| named(&self.cases[side])) {
            [Named::Unknown, _] | [_, Named::Unknown] => "unknown",
            [a, b] if a == b => "the same",
            [..] => "another",
        }
    }

    /// How each connection ended, and the longest time in which nothing passed.
    pub fn endings(&self) -> [String; 2] {
        [0, 1].map(|side| {
            let case = &self.cases[side];
            let ended = match case.evidence.ending {
                Ending::Refused => "refused",
                Ending::NoAnswer => "no answer",
                Ending::ResetByClient => "reset by the client",
                Ending::ResetByServer => "reset by the server",
                Ending::GoneSilent => "gone silent",
                Ending::Closed => "closed",
                Ending::HalfClosed => "half closed",
                Ending::StillOpen => "still open",
            };
            match case.data().interruption() {
                Some(outage) => {
                    format!("{ended}, interrupted for {}", words::time(outage.seconds()))
                }
                None => ended.to_owned(),
            }
        })
    }

    /// What became of the ending.
    pub fn ending_change(&self) -> &'static str {
        let [a, b] = self.endings();
        if a == b { "the same" } else { "another" }
    }
}
