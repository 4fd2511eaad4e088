//! The results of a scenario. `None` means that the source cannot know the number, never zero.

mod lab;
mod limits;
mod link;
mod total;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Histogram;
use crate::units::Time;
pub use lab::{LabFlow, LabLink, LabProof, Lateness, LatenessBucket};
pub(crate) use limits::NEARLY_FULL;
pub use limits::{LimitShare, LimitedBy, Usage};
pub use link::LinkOutcome;

/// The result of one run. SI units, named in the keys.
///
/// Packets and bytes are counted at the sender of each, lost and retransmitted ones included. With several
/// flows these are their sums, and means over all their samples, of formulas those of the flow that carries most; the queue is
/// the longest, the limits are those of the flow that carries most, and an MSS is that of all. `flows` has those of each flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Acknowledged payload (TCP) or delivered payload (datagrams, replies) ÷ elapsed time, in bits per
    /// second; handshake and slow start included.
    pub goodput_bps: Option<f64>,
    /// Time from the start of the run to its end.
    pub elapsed_s: Option<f64>,
    /// Payload acknowledged (TCP) or delivered (datagrams, replies to requests).
    pub payload_bytes: Option<u64>,
    /// Payload of a bulk flow that has arrived when the run ends, each byte once, with what waits behind a hole: what a full link has
    /// carried by then, whatever is acknowledged later. Simulator only, and no part of its results: advice is judged by it.
    #[serde(skip)]
    pub arrived_bytes: Option<u64>,
    /// Packets with payload, retransmissions included.
    pub data_packets: Option<u64>,
    /// Pure acknowledgements.
    pub ack_packets: Option<u64>,
    /// All packets, both directions.
    pub packets: Option<u64>,
    /// Bytes on each sender's first link, framing included, both directions.
    pub wire_bytes: Option<u64>,
    /// Retransmitted packets with payload.
    pub retransmitted_packets: Option<u64>,
    /// Retransmitted payload.
    pub retransmitted_bytes: Option<u64>,
    /// Payload that arrived more than once.
    pub duplicate_bytes: Option<u64>,
    /// Expiries of retransmission timers.
    pub timeouts: Option<u64>,
    /// Fast retransmits.
    pub fast_retransmits: Option<u64>,
    /// Retransmitted segments that arrived without new payload.
    pub spurious_retransmissions: Option<u64>,
    /// Share of the packets with payload that were lost on the path.
    pub segment_loss: Option<f64>,
    /// Least RTT of the timed segments.
    pub rtt_min_s: Option<f64>,
    /// Mean RTT of the timed segments.
    pub rtt_mean_s: Option<f64>,
    /// 99th percentile of the RTT of the timed segments.
    pub rtt_p99_s: Option<f64>,
    /// Mean RTT of the echo requests.
    pub ping_mean_s: Option<f64>,
    /// 99th percentile of the RTT of the echo requests.
    pub ping_p99_s: Option<f64>,
    /// The least that the mean RTT of the echo requests may be where those without an answer yet count with how long they have waited:
    /// the answers that came before a queue filled are all fast. Simulator only, and no part of its results: advice is judged by it.
    #[serde(skip)]
    pub ping_floor_s: Option<f64>,
    /// Requests whose reply is complete.
    pub requests: Option<u64>,
    /// Mean time from a request to its complete reply; from the SYN where each request opens a connection.
    pub request_mean_s: Option<f64>,
    /// Median time of the requests.
    pub request_p50_s: Option<f64>,
    /// 99th percentile of the time of the requests.
    pub request_p99_s: Option<f64>,
    /// Bytes in flight, averaged over time.
    pub in_flight_mean_bytes: Option<f64>,
    /// Mean queueing delay of packets towards the data's receiver.
    pub queue_mean_s: Option<f64>,
    /// Payload of a full segment.
    pub mss_used_bytes: Option<u64>,
    /// The limit that held longest, in the words of `explain`.
    pub limited_by: Option<LimitedBy>,
    /// Share of the time that each limit held, largest first; only where the limit is known at every moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitShare>,
    /// CPU time per gigabit; measured in the lab only.
    pub cpu_s_per_gbit: Option<f64>,
    /// The formula of the goodput; model only.
    #[serde(default)]
    pub formula: Option<String>,
    /// The measurements by which a lab run is judged valid; lab only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<Box<LabProof>>,
    /// What became of the packets on each link, in the order of the path; simulator only: `lab.links` has those of the lab.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkOutcome>,
    /// Of an outcome in `flows`: what kind of flow it is, as `kind` in the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Of an outcome in `flows`: the flow as keys and tables name it, `flow.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of an outcome in `flows`: whether it is a TCP flow between the hosts of the first one, from the same end: tables and charts show
    /// the goodput of these together. `None` for datagrams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_first_way: Option<bool>,
    /// The outcome of each flow, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Outcome>,
}

impl Outcome {
    /// Why a lab run is invalid; empty where it is valid, and for every other engine.
    pub fn invalid_because(&self) -> &[String] {
        self.lab.as_ref().map_or(&[], |lab| &lab.invalid_because)
    }

    /// Whether the run is valid.
    pub fn is_valid(&self) -> bool {
        self.invalid_because().is_empty()
    }

    /// The goodput by which results are shown and compared, in bits per second: that of the [asked flows](Self::asked_flows) together
    /// where others carry data beside them, and else [`goodput_bps`](Self::goodput_bps). What one of several flows on a way takes from
    /// another is no gain. `None` where it is unknown.
    pub fn headline_goodput_bps(&self) -> Option<f64> {
        let asked = self.asked_flows();
        if asked.is_empty() {
            return self.goodput_bps;
        }
        let goodputs = asked.into_iter().filter_map(|flow| self.flows[flow].goodput_bps);
        goodputs.reduce(|sum, one| sum + one)
    }

    /// A number by which results are shown beside [that goodput](Self::headline_goodput_bps): of the
    /// [asked flows](Self::asked_flows) where they know it, and else of the whole run, as the time of another flow's pings.
    pub fn headline<T>(&self, number: impl Fn(&Self) -> Option<T>) -> Option<T> {
        let asked = match self.asked_flows().as_slice() {
            [] => None,
            [only] => number(&self.flows[*only]),
            several => {
                let flows = several.iter().map(|flow| self.flows[*flow].clone()).collect();
                number(&Self::total(flows, self.clone()))
            }
        };
        asked.or_else(|| number(self))
    }

    /// Mean RTT of the echo requests, in seconds: of those that were answered, or with those that wait for an answer where that is more.
    pub fn ping_with_waiting_s(&self) -> Option<f64> {
        let floors = self.flows.iter().filter_map(|flow| flow.ping_floor_s);
        self.ping_mean_s.into_iter().chain(floors).reduce(f64::max)
    }

    /// The places of the flows that are asked about, the first TCP flow and those on its way, where others carry data beside them:
    /// `goodput_bps` is a sum with theirs then. Empty where all is asked about.
    pub fn asked_flows(&self) -> Vec<usize> {
        let Some(first) = self.flows.iter().position(Self::is_of_tcp) else { return Vec::new() };
        let is_asked = |place: usize, flow: &Self| {
            place == first || flow.is_of_tcp() && flow.on_first_way == Some(true)
        };
        let all = || self.flows.iter().enumerate();
        let has_others =
            all().any(|(place, flow)| !is_asked(place, flow) && flow.goodput_bps.is_some());
        let asked = all().filter(|(place, flow)| has_others && is_asked(*place, flow));
        asked.map(|(place, _)| place).collect()
    }

    /// Whether this is the outcome of a TCP flow: only these have segments or retransmissions.
    fn is_of_tcp(&self) -> bool {
        self.mss_used_bytes.is_some() || self.retransmitted_packets.is_some()
    }
}

impl Outcome {
    /// The first of several runs, limited as all of them are in the mean: one run's losses may be its luck.
    pub fn first_of<'a>(runs: impl IntoIterator<Item = &'a Self> + Clone) -> Option<Self> {
        let first = runs.clone().into_iter().next()?.clone();
        let limits = LimitShare::mean(runs);
        let limited_by = limits.first().map_or(first.limited_by, |longest| Some(longest.kind));
        Some(Self { limited_by, limits, ..first })
    }

    /// An outcome of which only the times of echoes and requests are known.
    pub fn of_times(pings: &Histogram, requests: Option<&Histogram>) -> Self {
        let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
        Self {
            ping_mean_s: seconds(pings.mean()),
            ping_p99_s: seconds(pings.quantile(0.99)),
            requests: requests.map(Histogram::count),
            request_mean_s: seconds(requests.and_then(Histogram::mean)),
            request_p50_s: seconds(requests.and_then(|times| times.quantile(0.5))),
            request_p99_s: seconds(requests.and_then(|times| times.quantile(0.99))),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_several_runs_are_their_mean() {
        let run = |limits: &[(LimitedBy, f64)]| Outcome {
            limited_by: limits.first().map(|(kind, _)| *kind),
            limits: limits
                .iter()
                .map(|(kind, share)| LimitShare { kind: *kind, share: *share })
                .collect(),
            ..Outcome::default()
        };
        let (losses, timer) = (LimitedBy::Congestion, LimitedBy::Rto);
        let runs = [
            run(&[(losses, 0.75), (timer, 0.25)]),
            run(&[(timer, 1.0)]),
            run(&[(timer, 0.5), (losses, 0.5)]),
            run(&[]),
        ];
        let of_all = Outcome::first_of(&runs).unwrap();
        let shares: Vec<_> = of_all.limits.iter().map(|limit| (limit.kind, limit.share)).collect();
        assert_eq!(shares, [(timer, 1.75 / 3.0), (losses, 1.25 / 3.0)]);
        assert_eq!(of_all.limited_by, Some(timer), "the first run alone was limited by losses");
        assert_eq!(Outcome::first_of([]), None);
        assert_eq!(Outcome::first_of(&runs[3..]).unwrap().limited_by, None);
    }
}
