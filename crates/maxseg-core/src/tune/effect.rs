//! Whether the connections that a change reaches do better or worse since: each against itself before.
//!
//! What a connection did before is told by its counters when the change was made, since it was opened; what it did after by how
//! much they have grown. Rates are of the time in which it had data to send (`tcpi_busy_time`), so that an application that
//! waits counts for nothing. A verdict says that something differs, not why: a path changes by itself too, and connections over
//! one link change together.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Step, Value};
use super::target::Target;
use crate::stats::{Summary, student_t};
use crate::tunables::Acts;

/// Fewer connections tell nothing.
pub const LEAST_CONNECTIONS: usize = 10;
/// A connection that has had data to send for less than this, before or after, tells nothing: seconds.
pub const LEAST_SENDING_S: f64 = 60.0;
/// When the connections of a plan that is undone where they do worse are compared, seconds after it was begun: a comparison needs
/// a minute of sending, and each may be wrong by chance, so that they are few. After the last one nobody compares any more.
pub const COMPARISONS_S: [f64; 7] = [90.0, 180.0, 360.0, 720.0, 1440.0, 2880.0, 5760.0];
/// Of each of the three intervals: together they miss less often than 1 in 20.
const CONFIDENCE: f64 = 0.99;
/// What is called a difference at all: 2% of goodput or round trips, as a logarithm of the ratio (ln 1.02).
const LEAST_LOG: f64 = 0.019_803;
/// And of the share of segments that were sent again.
const LEAST_SHARE: f64 = 0.002;
/// How narrow the interval of goodput has to be to say that there is no difference: 10% (ln 1.1).
const NARROW_LOG: f64 = 0.095_310;

/// What the kernel has counted of a connection since it was opened (`struct tcp_info`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// How long it had data to send, `tcpi_busy_time`.
    pub sending_s: f64,
    /// Payload acknowledged, `tcpi_bytes_acked`.
    pub acked_bytes: u64,
    /// Segments with payload, those sent again included, `tcpi_data_segs_out`.
    pub data_segments: u32,
    /// Segments sent again, `tcpi_total_retrans`.
    pub retransmitted: u32,
    /// The smoothed round-trip time of the moment, `tcpi_rtt`; `None` where none was measured.
    pub rtt_s: Option<f64>,
}

/// Connections by their cookies.
pub type Sample = BTreeMap<u64, Counters>;

/// What a connection did in a part of its life.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// How long it had data to send.
    pub sending_s: f64,
    /// Payload acknowledged in that time, bytes a second.
    pub goodput_bytes_per_s: f64,
    /// The smoothed round-trip time at the end.
    pub rtt_s: Option<f64>,
    /// Segments sent again, of those with payload; `None` where none was sent.
    pub retransmitted_share: Option<f64>,
}

/// The connections of two samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compared {
    /// Those that are in both: before and after.
    pub pairs: Vec<[Period; 2]>,
    /// How long those that are gone since had data to send.
    pub gone_sending_s: Vec<f64>,
    /// How many there are only since.
    pub new: usize,
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It cannot be told.
    Unknown,
    /// Nothing differs, and goodput by less than 10% with 99% confidence.
    NoDifference,
    /// Something is better, and nothing worse.
    Better,
    /// Something is worse, and nothing better.
    Worse,
    /// Something is better, and something worse.
    Mixed,
}

/// A number of which the ratio counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Ratio {
    /// Before: the geometric mean of the connections.
    pub before: f64,
    /// After.
    pub after: f64,
    /// How much more it is after, percent: the mean of the connections' own ratios.
    pub change_pct: f64,
    /// The 99% interval of that.
    pub change_pct_ci99: [f64; 2],
}

/// A number of which the difference counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Before: the mean of the connections.
    pub before: f64,
    /// After.
    pub after: f64,
    /// After less before.
    pub change: f64,
    /// The 99% interval of that.
    pub change_ci99: [f64; 2],
}

/// What came of a change, with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Effect {
    /// What came of it: `better` is more goodput, shorter round trips or fewer retransmissions.
    pub verdict: Verdict,
    /// Why it cannot be told; null where it can.
    pub unknown_because: Option<String>,
    /// Connections that are compared: they had data to send for a minute before the change, and for a minute since.
    pub connections: usize,
    /// Connections that are there from before, and had data to send for less than that.
    pub too_short: usize,
    /// Connections that ended since.
    pub gone: usize,
    /// Connections that were opened since.
    pub new: usize,
    /// Payload acknowledged in the time with data to send, bytes a second; null without a comparison.
    pub goodput_bytes_per_s: Option<Ratio>,
    /// Smoothed round-trip time, seconds; null without a comparison.
    pub rtt_s: Option<Ratio>,
    /// Share of the segments that were sent again; null without a comparison.
    pub retransmitted_share: Option<Difference>,
}

impl Verdict {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::NoDifference => "no difference",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Mixed => "partly better, partly worse",
        }
    }
}

impl Counters {
    /// What the connection did since earlier counters of it; `None` where it had nothing to send.
    pub fn since(&self, earlier: &Self) -> Option<Period> {
        let sending_s = self.sending_s - earlier.sending_s;
        if !sending_s.is_finite() || sending_s <= 0.0 {
            return None;
        }
        let acked = self.acked_bytes.saturating_sub(earlier.acked_bytes);
        // The kernel's counters of segments have 32 bits and begin again.
        let segments = self.data_segments.wrapping_sub(earlier.data_segments);
        let again = self.retransmitted.wrapping_sub(earlier.retransmitted);
        Some(Period {
            sending_s,
            goodput_bytes_per_s: acked as f64 / sending_s,
            rtt_s: self.rtt_s,
            retransmitted_share: (segments > 0).then(|| f64::from(again) / f64::from(segments)),
        })
    }
}

impl Compared {
    /// Of the samples when the change was made, and now.
    pub fn of(before: &Sample, after: &Sample) -> Self {
        let mut compared = Self::default();
        for (cookie, first) in before {
            let Some(last) = after.get(cookie) else {
                compared.gone_sending_s.push(first.sending_s);
                continue;
            };
            let idle = Period {
                sending_s: 0.0,
                goodput_bytes_per_s: 0.0,
                rtt_s: None,
                retransmitted_share: None,
            };
            let periods = [first.since(&Counters::default()), last.since(first)];
            compared.pairs.push(periods.map(|period| period.unwrap_or(idle)));
        }
        compared.new = after.keys().filter(|cookie| !before.contains_key(cookie)).count();
        compared
    }
}

impl Effect {
    /// One that cannot be told.
    pub fn unknown(because: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Unknown,
            unknown_because: Some(because.into()),
            connections: 0,
            too_short: 0,
            gone: 0,
            new: 0,
            goodput_bytes_per_s: None,
            rtt_s: None,
            retransmitted_share: None,
        }
    }

    /// What is worse, in a line; `None` where nothing is, or that cannot be told. Something else may be better.
    pub fn worse(&self) -> Option<String> {
        if !matches!(self.verdict, Verdict::Worse | Verdict::Mixed) {
            return None;
        }
        let told = |what: &str, by: [f64; 2]| format!("{what} {:+.1}% to {:+.1}%", by[0], by[1]);
        let least_pct = libm::expm1(LEAST_LOG) * 100.0;
        let most_pct = libm::expm1(-LEAST_LOG) * 100.0;
        let goodput = self.goodput_bytes_per_s.map(|of| of.change_pct_ci99);
        let rtt = self.rtt_s.map(|of| of.change_pct_ci99);
        let again = self.retransmitted_share.map(|of| of.change_ci99);
        let goodput = goodput.filter(|[_, high]| *high < most_pct).map(|by| told("goodput", by));
        let rtt = rtt.filter(|[low, _]| *low > least_pct).map(|by| told("round-trip time", by));
        let again = again.filter(|[low, _]| *low > LEAST_SHARE).map(|by| {
            let [low, high] = by.map(|share| share * 100.0);
            format!("retransmitted {low:+.2} to {high:+.2} percentage points")
        });
        let parts: Vec<String> = [goodput, rtt, again].into_iter().flatten().collect();
        let connections = self.connections;
        (!parts.is_empty())
            .then(|| format!("{} ({connections} connections, 99% intervals)", parts.join(", ")))
    }
}

/// Why the connections that a change reaches cannot be compared with themselves before; `None` where they can.
pub fn incomparable(step: &Step) -> Option<&'static str> {
    match step.target {
        Target::Clamp(_) => return Some("it acts on new connections, which have no before"),
        Target::File(_) => return Some("a file acts when the system starts"),
        Target::Sysctl(_)
        | Target::Route { .. }
        | Target::InterfaceMtu(_)
        | Target::Socket { .. } => {}
    }
    let is_lower = match (step.before.number(), step.after.number()) {
        (Some(before), Some(after)) => after < before,
        _ => false,
    };
    match step.target.acts() {
        Some(Acts::Live) => None,
        Some(Acts::LiveDownward) if is_lower => None,
        Some(Acts::LiveUpward) if last_number_is_higher(step) => None,
        Some(Acts::LiveUpward) => Some(
            "existing connections keep the buffers that they have, but where one would grow: a higher limit alone acts on all of them",
        ),
        Some(Acts::LiveDownward | Acts::NewConnections) => {
            Some("it acts on new connections, which have no before")
        }
        Some(Acts::NewInterfaces) => Some("it acts on interfaces that come up afterwards"),
        Some(Acts::Never) => Some("acts on no connection"),
        None => Some("whether it acts on existing connections is not known"),
    }
}

/// Whether the last of several numbers, which is the limit of all, goes up.
fn last_number_is_higher(step: &Step) -> bool {
    let last = |value: &Value| value.text()?.rsplit(' ').next()?.parse::<u64>().ok();
    match (last(&step.before), last(&step.after)) {
        (Some(before), Some(after)) => after > before,
        _ => false,
    }
}

/// Judges the connections of two samples.
pub fn judge(compared: &Compared) -> Effect {
    let is_long = |period: &Period| period.sending_s >= LEAST_SENDING_S;
    let pairs: Vec<[Period; 2]> =
        compared.pairs.iter().filter(|pair| pair.iter().all(is_long)).copied().collect();
    let gone_long = compared.gone_sending_s.iter().filter(|sent| **sent >= LEAST_SENDING_S).count();
    let counted = Effect {
        connections: pairs.len(),
        too_short: compared.pairs.len() - pairs.len(),
        gone: compared.gone_sending_s.len(),
        new: compared.new,
        ..Effect::unknown("")
    };
    if pairs.len() < LEAST_CONNECTIONS {
        let because = format!(
            "{} of the connections there had data to send for {LEAST_SENDING_S:.0} s before the change \
             and for {LEAST_SENDING_S:.0} s since, and it takes {LEAST_CONNECTIONS}",
            pairs.len()
        );
        return Effect { unknown_because: Some(because), ..counted };
    }
    if gone_long > pairs.len() {
        // Those that are left may be left because they do well.
        let because = format!(
            "{gone_long} connections that could be compared have ended, and {} are left",
            pairs.len()
        );
        return Effect { unknown_because: Some(because), ..counted };
    }
    with_numbers(&pairs, counted)
}

fn with_numbers(pairs: &[[Period; 2]], mut counted: Effect) -> Effect {
    // A connection that got nothing through counts as one byte: a logarithm needs something.
    let goodput =
        Spread::of(pairs, |one| Some(libm::log(one.goodput_bytes_per_s.max(1.0 / one.sending_s))));
    let rtt = Spread::of(pairs, |one| one.rtt_s.filter(|rtt| *rtt > 0.0).map(libm::log));
    let again = Spread::of(pairs, |one| one.retransmitted_share);
    // Of goodput more is better, of the others less.
    let signs = [
        goodput.map_or(0, |spread| spread.sign(LEAST_LOG)),
        rtt.map_or(0, |spread| -spread.sign(LEAST_LOG)),
        again.map_or(0, |spread| -spread.sign(LEAST_SHARE)),
    ];
    let is_narrow =
        goodput.is_some_and(|spread| spread.ends.iter().all(|end| end.abs() <= NARROW_LOG));
    let verdict = match (signs.contains(&1), signs.contains(&-1)) {
        (true, true) => Verdict::Mixed,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (false, false) if is_narrow => Verdict::NoDifference,
        (false, false) => Verdict::Unknown,
    };
    let because = "the connections differ too much from each other to see a change of 10%";
    counted.verdict = verdict;
    counted.unknown_because = (verdict == Verdict::Unknown).then(|| because.to_owned());
    counted.goodput_bytes_per_s = goodput.map(Spread::ratio);
    counted.rtt_s = rtt.map(Spread::ratio);
    counted.retransmitted_share = again.map(Spread::difference);
    counted
}

/// Means of a number of pairs, and the interval of the mean of their differences.
#[derive(Debug, Clone, Copy)]
struct Spread {
    means: [f64; 2],
    mean: f64,
    ends: [f64; 2],
}

impl Spread {
    /// `None` where too few pairs have the number on both sides.
    fn of(pairs: &[[Period; 2]], number: impl Fn(&Period) -> Option<f64>) -> Option<Self> {
        let both = |[before, after]: &[Period; 2]| Some([number(before)?, number(after)?]);
        let is_finite = |numbers: &[f64; 2]| numbers.iter().all(|number| number.is_finite());
        let numbers: Vec<[f64; 2]> = pairs.iter().filter_map(both).filter(is_finite).collect();
        if numbers.len() < LEAST_CONNECTIONS {
            return None;
        }
        let differences: Vec<f64> = numbers.iter().map(|[before, after]| after - before).collect();
        let summary = Summary::of(&differences);
        let half =
            summary.interval(|freedom| student_t(f64::midpoint(1.0, CONFIDENCE), freedom))?;
        let side =
            |at: usize| Summary::of(&numbers.iter().map(|pair| pair[at]).collect::<Vec<_>>()).mean;
        let ends = [summary.mean - half, summary.mean + half];
        Some(Self { means: [side(0), side(1)], mean: summary.mean, ends })
    }

    /// 1 where it is more by at least this with confidence, -1 where it is less, 0 otherwise.
    fn sign(&self, least: f64) -> i32 {
        let [low, high] = self.ends;
        i32::from(low > least) - i32::from(high < -least)
    }

    fn ratio(self) -> Ratio {
        let percent = |log: f64| (libm::exp(log) - 1.0) * 100.0;
        Ratio {
            before: libm::exp(self.means[0]),
            after: libm::exp(self.means[1]),
            change_pct: percent(self.mean),
            change_pct_ci99: self.ends.map(percent),
        }
    }

    const fn difference(self) -> Difference {
        let [before, after] = self.means;
        Difference { before, after, change: self.mean, change_ci99: self.ends }
    }
}
