//! The narrowest link each way: by TCP, by trains of datagrams, and by both.

use maxseg_core::rfc6349::{TrainLimit, TrainsFound};
use maxseg_core::units::approx;
use maxseg_wire::responder::Towards;

use super::PathReport;
use super::bulk::Filled;
use super::far_end::direction_word;

/// The narrowest link each way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bottleneck {
    /// Towards the far end.
    pub forward: Option<BottleneckRate>,
    /// From the far end.
    pub reverse: Option<BottleneckRate>,
}

/// The narrowest link of a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BottleneckRate {
    /// Bits per second of IP packets.
    pub bps: f64,
    /// How it was measured.
    pub method: BottleneckMethod,
    /// How sure it is.
    pub confidence: BottleneckConfidence,
}

/// How a bottleneck is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BottleneckMethod {
    /// By TCP alone.
    Tcp,
    /// By TCP, and by trains of datagrams.
    Both,
    /// By trains of datagrams, since losses or hosts hold TCP.
    Trains,
    /// By TCP alone, as iperf3 counts.
    Iperf3,
}

/// How sure a bottleneck is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BottleneckConfidence {
    /// TCP and trains agree.
    Confirmed,
    /// One of them says so, and the other does not contradict it.
    OneMethod,
    /// The path carries this, and perhaps more.
    AtLeast,
}

/// What the limit of a queue counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueCounts {
    /// Packets of any size: small ones fill it with fewer bytes.
    Packets,
    /// Bytes.
    Bytes,
}

impl BottleneckMethod {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tcp => {
                "several TCP connections at once: payload acknowledged per second after slow start, with the headers of IP and TCP"
            }
            Self::Iperf3 => {
                "several TCP connections at once by iperf3: payload per second that the receiver read from its sockets, or, where its server's \
                 report has no intervals, the sender wrote to its own; with the headers of IP and TCP"
            }
            Self::Both => {
                "several TCP connections at once, and trains of UDP datagrams, which agree within 5%"
            }
            Self::Trains => {
                "trains of UDP datagrams: what arrives of one that is sent faster than the narrowest link, by the receiver's clock"
            }
        }
    }
}

impl BottleneckConfidence {
    /// As documents have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::OneMethod => "one-method",
            Self::AtLeast => "at-least",
        }
    }
}

/// What both methods show where neither shows what limits: that they are alike confirms nothing.
const BOTH_AT_LEAST: &str = "several TCP connections at once, and trains of UDP datagrams: both carry this much, and neither shows that a link is full";

/// Rates that differ by less agree.
const AGREE: f64 = 0.05;
/// A short train that was faster by more than this passed a token bucket, or other traffic came after it.
const BURST: f64 = 1.2;

/// A far end that holds transfers at a rate shows that rate: nearer to it than by this, a link is not told from it.
const HELD: f64 = 0.9;

fn is_held_at(bps: f64, most_bps: f64) -> bool {
    bps >= HELD * most_bps
}

/// What a short train and what lasts have in common where a link is all that holds them.
fn is_link(found: &TrainsFound) -> bool {
    found.limit == TrainLimit::Link && found.short_train_bps <= BURST * found.lasting_bps
}

impl BottleneckRate {
    /// From what TCP filled, and what trains have shown, where the far end holds both at `most_bps`; `None` where connections waited for
    /// their timers, and no trains were sent.
    pub(super) fn of(
        filled: &Filled,
        trains: Option<&TrainsFound>,
        most_bps: Option<f64>,
    ) -> Option<Self> {
        let is_stalled = filled.is_stalled();
        let is_known = !is_stalled || trains.is_some();
        let settled =
            || Self::settled(filled.packet_bps, filled.is_lower_bound || is_stalled, trains);
        let found = is_known.then(settled)?;
        let is_of_iperf3 = !filled.result.has_sockets && found.method == BottleneckMethod::Tcp;
        let method = if is_of_iperf3 { BottleneckMethod::Iperf3 } else { found.method };
        let is_held = most_bps.is_some_and(|most| is_held_at(found.bps, most));
        let confidence = if is_held { BottleneckConfidence::AtLeast } else { found.confidence };
        Some(Self { method, confidence, ..found })
    }

    fn settled(tcp: f64, is_tcp_held: bool, trains: Option<&TrainsFound>) -> Self {
        use BottleneckConfidence::{AtLeast, Confirmed, OneMethod};
        let by_tcp = if is_tcp_held { AtLeast } else { OneMethod };
        let Some(found) = trains else {
            return Self { bps: tcp, method: BottleneckMethod::Tcp, confidence: by_tcp };
        };
        let (lasting, is_certain) = (found.lasting_bps, found.limit != TrainLimit::AtLeast);
        if (tcp / lasting - 1.0).abs() <= AGREE {
            let confidence = if is_certain || !is_tcp_held { Confirmed } else { AtLeast };
            // What TCP has more at a policer is a burst: of what the trains are judged by, it has passed before.
            let is_policed = found.limit == TrainLimit::Policer;
            let bps = if is_policed { lasting } else { tcp.max(lasting) };
            return Self { bps, method: BottleneckMethod::Both, confidence };
        }
        if tcp > lasting {
            return Self { bps: tcp, method: BottleneckMethod::Tcp, confidence: by_tcp };
        }
        let is_one = found.limit == TrainLimit::Policer || is_link(found);
        let confidence = if is_one { OneMethod } else { AtLeast };
        Self { bps: lasting, method: BottleneckMethod::Trains, confidence }
    }

    /// Bits a second without what a policer lets pass besides its rate; `None` where TCP alone tells, whose step may have that in it.
    pub(super) fn without_burst(&self, trains: Option<&TrainsFound>) -> Option<f64> {
        let has_trains = matches!(self.method, BottleneckMethod::Both | BottleneckMethod::Trains);
        trains.filter(|_| has_trains).map(|found| found.lasting_bps)
    }

    /// How it was measured, in words.
    pub const fn method_words(&self) -> &'static str {
        match (self.method, self.confidence) {
            (BottleneckMethod::Both, BottleneckConfidence::AtLeast) => BOTH_AT_LEAST,
            (method, _) => method.words(),
        }
    }

    /// Whether the path may carry more.
    pub fn is_lower_bound(&self) -> bool {
        self.confidence == BottleneckConfidence::AtLeast
    }
}

impl Bottleneck {
    pub(super) const fn set(&mut self, towards: Towards, found: BottleneckRate) {
        match towards {
            Towards::Responder => self.forward = Some(found),
            Towards::Client => self.reverse = Some(found),
        }
    }

    /// Towards the far end, bits per second of IP packets.
    pub fn forward_bps(&self) -> Option<f64> {
        self.forward.map(|found| found.bps)
    }

    /// From the far end, bits per second of IP packets.
    pub fn reverse_bps(&self) -> Option<f64> {
        self.reverse.map(|found| found.bps)
    }

    /// How it was measured, of each direction where they differ.
    pub fn method(&self) -> Option<String> {
        let words = |way: Option<BottleneckRate>| way.map(|way| way.method_words());
        match [self.forward, self.reverse].map(words) {
            [Some(forward), Some(reverse)] if forward != reverse => {
                Some(format!("upload: {forward}; download: {reverse}"))
            }
            [forward, reverse] => forward.or(reverse).map(str::to_owned),
        }
    }
}

/// Says where a path was not filled, and nothing else tells what it carries.
pub(super) fn note_bound(
    towards: Towards,
    (filled, found): (&Filled, Option<&BottleneckRate>),
    most_bps: Option<f64>,
    report: &mut PathReport,
) {
    let connections = filled.run.connections;
    if filled.is_stalled() {
        report.notes.push(format!(
            "{}: the path was not filled, as {connections} connections waited for retransmission timers for {} of the time",
            direction_word(towards),
            approx::whole_percent(filled.timers_share)
        ));
        return;
    }
    if !filled.result.has_sockets {
        report.notes.push(format!(
            "{}: iperf3 counts a byte when it is written to a socket or read from one, so that what repairs of losses held back counts all at once: \
             the {connections} connections may show up to {} more than the path carried in {:.1} s",
            direction_word(towards),
            approx::whole_percent(filled.held_share()),
            filled.run.counted_s
        ));
    }
    if !found.is_some_and(BottleneckRate::is_lower_bound) {
        return;
    }
    let held = most_bps.filter(|most| found.is_some_and(|found| is_held_at(found.bps, *most)));
    let why = match (held, filled.limits.first()) {
        (Some(most), _) => format!(
            "the far end holds transfers at {} (`maxseg responder --max-rate`)",
            approx::rate(most)
        ),
        (None, Some(_)) if !filled.is_lower_bound => format!(
            "trains of datagrams carried more than {connections} connections, and not evenly"
        ),
        (None, Some(limit)) => format!(
            "{connections} connections were limited by {} for {} of the time",
            limit.kind,
            approx::whole_percent(limit.share)
        ),
        (None, None) => format!("losses without a queue held {connections} connections"),
    };
    report.notes.push(format!(
        "{}: the path may carry more than was measured, as {why}",
        direction_word(towards)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_more_than_a_bound_agrees_with_nothing() {
        use BottleneckConfidence::{AtLeast, Confirmed};
        let rate =
            |confidence| BottleneckRate { bps: 2e7, method: BottleneckMethod::Both, confidence };
        let method = |forward, reverse| {
            let (forward, reverse) = (Some(rate(forward)), Some(rate(reverse)));
            Bottleneck { forward, reverse }.method().unwrap()
        };
        assert!(method(Confirmed, Confirmed).ends_with("which agree within 5%"));
        assert!(!method(AtLeast, AtLeast).contains("agree"));
        let words = method(AtLeast, Confirmed);
        assert!(words.contains("neither shows that a link is full; download: "), "{words}");
    }

    fn settled(tcp: f64, is_held: bool, trains: Option<(f64, TrainLimit, f64)>) -> (f64, String) {
        let trains = trains.map(|(lasting_bps, limit, short_train_bps)| TrainsFound {
            lasting_bps,
            limit,
            short_train_bps,
            lost_share: 0.0,
        });
        let found = BottleneckRate::settled(tcp, is_held, trains.as_ref());
        (found.bps, format!("{:?} {}", found.method, found.confidence.word()))
    }

    #[test]
    fn two_methods_agree_or_one_says_less() {
        use TrainLimit::{AtLeast, Link, Policer};
        let cases = [
            (30.0, false, None, 30.0, "Tcp one-method"),
            (24.0, true, None, 24.0, "Tcp at-least"),
            (24.0, true, Some((30.0, Link, 30.0)), 30.0, "Trains one-method"),
            (29.0, true, Some((30.0, Link, 30.0)), 30.0, "Both confirmed"),
            (31.0, false, Some((30.0, Link, 30.0)), 31.0, "Both confirmed"),
            // A token bucket's burst, or other traffic.
            (24.0, true, Some((30.0, Link, 90.0)), 30.0, "Trains at-least"),
            (19.8, true, Some((20.0, Policer, 100.0)), 20.0, "Both confirmed"),
            // The burst is in TCP's step.
            (20.9, true, Some((20.0, Policer, 100.0)), 20.0, "Both confirmed"),
            (15.0, true, Some((20.0, Policer, 100.0)), 20.0, "Trains one-method"),
            // A host that sends no faster train.
            (90.0, false, Some((30.0, AtLeast, 30.0)), 90.0, "Tcp one-method"),
            (10.0, true, Some((30.0, AtLeast, 30.0)), 30.0, "Trains at-least"),
            (29.5, true, Some((30.0, AtLeast, 30.0)), 30.0, "Both at-least"),
        ];
        for (tcp, is_held, trains, bps, words) in cases {
            assert_eq!(settled(tcp, is_held, trains), (bps, words.to_owned()));
        }
    }
}
