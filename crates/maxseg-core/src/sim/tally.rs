//! From what the flows counted to an outcome.

use super::flow::{BusyTimes, RunningFlow, Traffic};
use super::meter::Meter;
use super::request::RequestFlow;
use super::world::World;
use crate::engine::name_flows;
use crate::outcome::{LimitShare, LimitedBy, Outcome, Usage};
use crate::path::LinkSpec;
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::stats::Histogram;
use crate::tcp::{Limit, ReceiverStats, SenderStats};
use crate::units::{Bytes, Time};

/// What the ends of a bulk flow counted.
struct BulkCounts<'a> {
    sent: &'a SenderStats,
    seen: &'a ReceiverStats,
    /// Acknowledged.
    payload: Bytes,
    /// What the receiver has, in order or not.
    arrived: u64,
    /// `None` before there is an answer to the SYN.
    mss: Option<Bytes>,
    /// What each end put on its own wire.
    wires: (&'a Meter, &'a Meter),
}

impl<E> World<E> {
    /// What came of the run.
    pub(super) fn outcome(&self, scenario: &Scenario) -> Outcome {
        let tallies: Vec<Tally> = self
            .flows
            .iter()
            .enumerate()
            .zip(&scenario.flows)
            .map(|(flow, spec)| self.tally(scenario, flow, spec))
            .collect();
        let flows: Vec<Outcome> = tallies.iter().map(|tally| self.describe(tally)).collect();
        let mut outcome = match flows.as_slice() {
            [only] => only.clone(),
            _ => Outcome::total(flows, self.describe(&Tally::of_samples(&tallies))),
        };
        name_flows(&mut outcome, scenario);
        outcome.links = self.net.link_outcomes(scenario);
        outcome
    }

    fn tally(
        &self,
        scenario: &Scenario,
        (index, flow): (usize, &RunningFlow),
        spec: &Flow,
    ) -> Tally {
        let (near, far) = scenario.first_links(spec);
        let mut tally = match &flow.traffic {
            Traffic::Tcp(connection) => {
                let counts = BulkCounts {
                    sent: connection.sender.stats(),
                    seen: connection.receiver.stats(),
                    payload: connection.sender.acknowledged(),
                    arrived: connection.receiver.arrived().get(),
                    mss: connection.sender.is_established().then(|| connection.sender.mss()),
                    wires: (&connection.sent, &connection.answered),
                };
                self.tally_bulk(scenario, &counts, (index, flow))
            }
            Traffic::Linux(connection) => {
                let (sent, seen) = connection.stats();
                let counts = BulkCounts {
                    sent: &sent,
                    seen: &seen,
                    payload: Bytes::new(connection.acknowledged()),
                    arrived: connection.arrived(),
                    mss: (connection.sender.is_established() || connection.acknowledged() > 0)
                        .then(|| Bytes::new(connection.sender.mss())),
                    wires: (&connection.sent, &connection.answered),
                };
                self.tally_bulk(scenario, &counts, (index, flow))
            }
            Traffic::Datagrams(datagrams) => Tally {
                payload: Some(datagrams.delivered * datagrams.size),
                data_packets: Some(datagrams.sent),
                duplicate_bytes: Some(datagrams.copies * datagrams.size),
                packets: datagrams.sent,
                wire_bytes: datagrams.sent * near.wire_bytes(datagrams.packet).get(),
                limited_by: Some(LimitedBy::of_datagrams(
                    scenario.is_too_big(spec, datagrams.packet.length()),
                    self.usage(scenario, (index, flow), [0; 2]).has_full_link(),
                )),
                ..Tally::default()
            },
            Traffic::Echo(echo) => Tally {
                packets: echo.sent + echo.answered_at_far_end,
                wire_bytes: echo.sent * near.wire_bytes(echo.packet).get()
                    + echo.answered_at_far_end * far.wire_bytes(echo.packet).get(),
                echoes: echo.sent,
                ping: echo.round_trips.clone(),
                ..Tally::default()
            },
            Traffic::Requests(requests) => self.tally_requests(scenario, requests, (index, flow)),
        };
        let from = sender_of_most(flow);
        tally.lost = flow.losses.by(self.now);
        tally.ping_floor_s = ping_floor(&tally, spec);
        tally.queue = self.net.links.towards(from.other()).mean_wait(hops(flow, from));
        tally
    }

    /// The tally of a bulk flow, by what its ends counted.
    fn tally_bulk(
        &self,
        scenario: &Scenario,
        counts: &BulkCounts<'_>,
        flow: (usize, &RunningFlow),
    ) -> Tally {
        let BulkCounts { sent, seen, payload, arrived, mss, wires } = *counts;
        let elapsed = self.now.as_secs_f64();
        let own = [wires.0.bytes, wires.1.bytes];
        let limits = limits_of(sent.limited, &self.usage(scenario, flow, own));
        Tally {
            payload: Some(payload.get()),
            arrived: Some(arrived.max(payload.get())),
            data_packets: Some(sent.data_packets),
            ack_packets: Some(seen.packets),
            duplicate_bytes: Some(seen.duplicate_bytes),
            packets: sent.packets + seen.packets,
            wire_bytes: wires.0.bytes + wires.1.bytes,
            tcp: Some(TcpTally {
                retransmitted_packets: sent.retransmitted_packets,
                retransmitted_bytes: sent.retransmitted_bytes,
                timeouts: sent.timeouts,
                fast_retransmits: sent.fast_retransmits,
                spurious_retransmissions: seen.spurious_retransmissions,
                in_flight: if elapsed > 0.0 {
                    sent.flight_byte_nanos as f64 / 1e9 / elapsed
                } else {
                    0.0
                },
                mss: mss.map(Bytes::get),
            }),
            rtt: sent.rtt.clone(),
            limited_by: Some(limits.first().map_or(LimitedBy::Unknown, |longest| longest.kind)),
            limits,
            ..Tally::default()
        }
    }

    fn tally_requests(
        &self,
        scenario: &Scenario,
        requests: &RequestFlow,
        flow: (usize, &RunningFlow),
    ) -> Tally {
        let record = requests.record();
        let (asked, answered, seen) = (&record.requests, &record.replies, &record.seen);
        let both = |of: fn(&SenderStats) -> u64| of(asked) + of(answered);
        let elapsed = self.now.as_secs_f64();
        let own = [requests.sent_by_server.bytes, requests.sent_by_client.bytes];
        let limits = limits_of(answered.limited, &self.usage(scenario, flow, own));
        let mut rtt = asked.rtt.clone();
        rtt.merge(&answered.rtt);
        Tally {
            payload: Some(record.delivered),
            data_packets: Some(both(|stats| stats.data_packets)),
            ack_packets: Some(seen.packets),
            duplicate_bytes: Some(seen.duplicate_bytes),
            packets: both(|stats| stats.packets) + seen.packets,
            wire_bytes: requests.sent_by_client.bytes + requests.sent_by_server.bytes,
            tcp: Some(TcpTally {
                retransmitted_packets: both(|stats| stats.retransmitted_packets),
                retransmitted_bytes: both(|stats| stats.retransmitted_bytes),
                timeouts: both(|stats| stats.timeouts),
                fast_retransmits: both(|stats| stats.fast_retransmits),
                spurious_retransmissions: seen.spurious_retransmissions,
                in_flight: if elapsed > 0.0 {
                    (asked.flight_byte_nanos + answered.flight_byte_nanos) as f64 / 1e9 / elapsed
                } else {
                    0.0
                },
                mss: requests.mss_of_replies().map(Bytes::get),
            }),
            rtt,
            requests: Some(record.times.clone()),
            limited_by: Some(limits.first().map_or(LimitedBy::Unknown, |longest| longest.kind)),
            limits,
            ..Tally::default()
        }
    }

    /// How busy links and hosts of a flow were in its time; `own` are the bytes of its own packets on the wire of the first link of its data, and
    /// of the first on the way back.
    fn usage(
        &self,
        scenario: &Scenario,
        (index, flow): (usize, &RunningFlow),
        own: [u64; 2],
    ) -> Usage {
        let from = sender_of_most(flow);
        let used = self.now.since(flow.start).as_secs_f64().max(1e-9);
        let (now, before) = (self.busy_times(index, self.now), flow.busy_before.as_deref());
        let busiest = |from: End| {
            let side = usize::from(from == End::Receiver);
            let busy = |hop: usize| {
                let earlier = before.map_or(Time::ZERO, |before| before.links[side][hop]);
                now.links[side][hop].since(earlier)
            };
            let links = hops(flow, from).map(|hop| (hop, busy(hop)));
            let (hop, busy) = links.max_by_key(|(_, busy)| *busy).unwrap_or_default();
            (hop, busy.as_secs_f64() / used)
        };
        let share_of = |from: End, hop: usize, bytes: u64| {
            bytes as f64 * 8.0 / link(scenario, from, hop).rate.get() as f64 / used
        };
        let host = now.host.since(before.map_or(Time::ZERO, |before| before.host));
        let ((busiest_link, link), (_, way_back)) = (busiest(from), busiest(from.other()));
        let first_back = *hops(flow, from.other()).start();
        Usage {
            link,
            own_link: share_of(from, busiest_link, own[0]),
            way_back,
            own_way_back: share_of(from.other(), first_back, own[1]),
            host: host.as_secs_f64() / used,
        }
    }

    /// How long everything was busy up to `at` that the flow with this index may use.
    fn busy_times(&self, index: usize, at: Time) -> BusyTimes {
        let links = &self.net.links;
        let host = self.net.hosts.as_ref().map(|hosts| hosts.busiest(at, index));
        BusyTimes {
            links: [End::Receiver, End::Sender].map(|to| links.towards(to).busy_until(at)),
            host: host.unwrap_or_default(),
        }
    }

    /// Notes for each flow that starts at `at` how long others kept its way busy before.
    pub(super) fn note_busy_before(&mut self, at: Time) {
        for index in 0..self.flows.len() {
            if self.flows[index].start == at {
                let busy = self.busy_times(index, at);
                self.flows[index].busy_before = Some(Box::new(busy));
            }
        }
    }

    fn describe(&self, tally: &Tally) -> Outcome {
        let elapsed = self.now.as_secs_f64();
        let tcp = tally.tcp.as_ref();
        let count = |of: fn(&TcpTally) -> u64| tcp.map(of);
        let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
        Outcome {
            goodput_bps: tally
                .payload
                .filter(|_| elapsed > 0.0)
                .map(|payload| payload as f64 * 8.0 / elapsed),
            elapsed_s: Some(elapsed),
            payload_bytes: tally.payload,
            arrived_bytes: tally.arrived,
            data_packets: tally.data_packets,
            ack_packets: tally.ack_packets,
            packets: Some(tally.packets),
            wire_bytes: Some(tally.wire_bytes),
            retransmitted_packets: count(|tcp| tcp.retransmitted_packets),
            retransmitted_bytes: count(|tcp| tcp.retransmitted_bytes),
            duplicate_bytes: tally.duplicate_bytes,
            timeouts: count(|tcp| tcp.timeouts),
            fast_retransmits: count(|tcp| tcp.fast_retransmits),
            spurious_retransmissions: count(|tcp| tcp.spurious_retransmissions),
            segment_loss: tally.loss(),
            rtt_min_s: seconds(tally.rtt.min()),
            rtt_mean_s: seconds(tally.rtt.mean()),
            rtt_p99_s: seconds(tally.rtt.quantile(0.99)),
            in_flight_mean_bytes: tcp.map(|tcp| tcp.in_flight),
            queue_mean_s: Some(tally.queue.as_secs_f64()),
            mss_used_bytes: tcp.and_then(|tcp| tcp.mss),
            limited_by: tally.limited_by,
            limits: tally.limits.clone(),
            ping_floor_s: tally.ping_floor_s,
            ..Outcome::of_times(&tally.ping, tally.requests.as_ref())
        }
    }
}

/// What one flow counted. `None` where the kind of flow has no such thing.
#[derive(Debug, Clone, Default)]
struct Tally {
    payload: Option<u64>,
    /// Of a bulk flow, what its receiver has, in order or not.
    arrived: Option<u64>,
    data_packets: Option<u64>,
    ack_packets: Option<u64>,
    /// Payload that arrived once more.
    duplicate_bytes: Option<u64>,
    packets: u64,
    wire_bytes: u64,
    /// Echo requests.
    echoes: u64,
    /// Packets with payload that were lost; of an echo flow, requests and answers.
    lost: u64,
    queue: Time,
    tcp: Option<TcpTally>,
    rtt: Histogram,
    ping: Histogram,
    ping_floor_s: Option<f64>,
    /// From request to whole reply.
    requests: Option<Histogram>,
    limited_by: Option<LimitedBy>,
    limits: Vec<LimitShare>,
}

#[derive(Debug, Clone)]
struct TcpTally {
    retransmitted_packets: u64,
    retransmitted_bytes: u64,
    timeouts: u64,
    fast_retransmits: u64,
    spurious_retransmissions: u64,
    in_flight: f64,
    mss: Option<u64>,
}

impl Tally {
    /// The samples of several flows, and their echo requests.
    fn of_samples(tallies: &[Self]) -> Self {
        let mut all = Self::default();
        for tally in tallies {
            if tally.data_packets.is_none() {
                all.echoes += tally.echoes;
                all.lost += tally.lost;
            }
            all.rtt.merge(&tally.rtt);
            all.ping.merge(&tally.ping);
            if let Some(times) = &tally.requests {
                all.requests.get_or_insert_default().merge(times);
            }
        }
        all
    }

    /// The share of packets with payload, or else of echo requests, that was lost.
    fn loss(&self) -> Option<f64> {
        let sent = self.data_packets.unwrap_or(self.echoes);
        (sent > 0).then(|| self.lost as f64 / sent as f64)
    }
}

/// The mean round trip of a flow's echo requests where those that wait for an answer, the last ones at best, have waited since they were
/// sent.
fn ping_floor(tally: &Tally, spec: &Flow) -> Option<f64> {
    let FlowKind::Ping { interval, .. } = spec.kind else { return None };
    let answered = tally.ping.count();
    let waiting = tally.echoes.saturating_sub(answered + tally.lost);
    let waited = interval.as_secs_f64() * (waiting * waiting.saturating_sub(1)) as f64 / 2.0;
    let took = tally.ping.mean().map_or(0.0, |mean| mean.as_secs_f64() * answered as f64);
    (answered + waiting > 0).then(|| (took + waited) / (answered + waiting) as f64)
}

/// The end that sends what the flow is about: data, or the replies to requests.
fn sender_of_most(flow: &RunningFlow) -> End {
    match flow.traffic {
        Traffic::Requests(_) => flow.from.other(),
        Traffic::Tcp(_) | Traffic::Linux(_) | Traffic::Datagrams(_) | Traffic::Echo(_) => flow.from,
    }
}

/// How long each limit held, longest first.
fn limits_of(times: [Time; Limit::ALL.len()], usage: &Usage) -> Vec<LimitShare> {
    let held = Limit::ALL.into_iter().zip(times);
    let held = held.map(|(limit, time)| (limit.into(), time.as_secs_f64()));
    LimitShare::of_times(held, usage)
}

/// The link that packets from this end cross as this one of theirs, from 0.
fn link(scenario: &Scenario, from: End, hop: usize) -> &LinkSpec {
    let hops = &scenario.path.hops;
    match from {
        End::Sender => &hops[hop].forward,
        End::Receiver => &hops[hops.len() - 1 - hop].reverse,
    }
}

/// The hops that the flow's packets from this end cross, in their order.
fn hops(flow: &RunningFlow, from: End) -> std::ops::RangeInclusive<usize> {
    let hop_span = flow.hop_spans.from(from, false);
    usize::from(hop_span.first)..=usize::from(hop_span.last)
}
