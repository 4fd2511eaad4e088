//! From what the flows counted to an outcome.

use super::flow::{Connection, RunningFlow, Traffic};
use super::world::World;
use crate::outcome::{LimitShare, LimitedBy, Outcome};
use crate::path::LinkSpec;
use crate::scenario::Scenario;
use crate::tcp::{Histogram, Limit};
use crate::units::{Bytes, Time};

impl World {
    /// What came of the run.
    pub(super) fn outcome(&self, scenario: &Scenario) -> Outcome {
        let tallies: Vec<Tally> =
            self.flows.iter().map(|flow| self.tally(scenario, flow)).collect();
        let mut outcome = self.describe(&Tally::sum(&tallies));
        if tallies.len() > 1 {
            outcome.flows = tallies.iter().map(|tally| self.describe(tally)).collect();
        }
        outcome
    }

    fn tally(&self, scenario: &Scenario, flow: &RunningFlow) -> Tally {
        let lost = flow.losses.by(self.now);
        let queue = self.net.towards(flow.from.other()).route.mean_wait();
        let (near, far) = scenario.first_links(flow.from);
        let mut tally = match &flow.traffic {
            Traffic::Tcp(connection) => self.tally_tcp(connection),
            Traffic::Datagrams(datagrams) => Tally {
                payload: datagrams.delivered * datagrams.size,
                data_packets: datagrams.sent,
                packets: datagrams.sent,
                wire_bytes: datagrams.sent * on_wire(near, datagrams.ip_len),
                limited_by: Some(LimitedBy::Application),
                ..Tally::default()
            },
            Traffic::Echo(echo) => Tally {
                data_packets: echo.sent,
                packets: echo.sent + echo.answered_at_far_end,
                wire_bytes: echo.sent * on_wire(near, echo.ip_len)
                    + echo.answered_at_far_end * on_wire(far, echo.ip_len),
                is_echo: true,
                ping: echo.round_trips.clone(),
                ..Tally::default()
            },
        };
        tally.lost = lost;
        tally.queue = queue;
        tally
    }

    fn tally_tcp(&self, connection: &Connection) -> Tally {
        let (sent, seen) = (connection.sender.stats(), connection.receiver.stats());
        let elapsed = self.now.as_secs_f64();
        let limits = Self::limits_of(connection);
        Tally {
            payload: connection.sender.acknowledged().get(),
            data_packets: sent.data_packets,
            ack_packets: seen.packets,
            packets: sent.packets + seen.packets,
            wire_bytes: connection.sent.bytes + connection.answered.bytes,
            tcp: Some(TcpTally {
                retransmitted_packets: sent.retransmitted_packets,
                retransmitted_bytes: sent.retransmitted_bytes,
                duplicate_bytes: seen.duplicate_bytes,
                timeouts: sent.timeouts,
                fast_retransmits: sent.fast_retransmits,
                spurious_retransmissions: seen.spurious_retransmissions,
                in_flight: if elapsed > 0.0 { sent.flight_byte_nanos / 1e9 / elapsed } else { 0.0 },
                mss: Some(connection.mss),
            }),
            rtt: sent.rtt.clone(),
            limited_by: Some(self.limit_of(&limits)),
            limits,
            ..Tally::default()
        }
    }

    /// A link that is busy nearly all the time is the limit, whatever held the sender back meanwhile:
    /// faster than full it cannot be. Otherwise it is what held the sender back longest.
    fn limit_of(&self, limits: &[LimitShare]) -> LimitedBy {
        let routes = [&self.net.to_receiver.route, &self.net.to_sender.route];
        let busiest = routes
            .iter()
            .flat_map(|route| route.hops())
            .map(|hop| hop.busy_until(self.now))
            .max()
            .unwrap_or_default();
        if busiest.as_secs_f64() > FULL * self.now.as_secs_f64() {
            return LimitedBy::Bandwidth;
        }
        limits.first().map_or(LimitedBy::Unknown, |longest| longest.kind)
    }

    /// How long each limit held the sender back, longest first.
    fn limits_of(connection: &Connection) -> Vec<LimitShare> {
        let times = connection.sender.stats().limited;
        let total: f64 = times.iter().map(|time| time.as_secs_f64()).sum();
        let mut shares: Vec<LimitShare> = Limit::ALL
            .into_iter()
            .zip(times)
            .filter(|(_, time)| *time > Time::ZERO)
            .map(|(limit, time)| LimitShare {
                kind: limit.into(),
                share: time.as_secs_f64() / total,
            })
            .collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share));
        shares
    }

    fn describe(&self, tally: &Tally) -> Outcome {
        let elapsed = self.now.as_secs_f64();
        let tcp = tally.tcp.as_ref();
        let count = |of: fn(&TcpTally) -> u64| tcp.map(of);
        let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
        Outcome {
            goodput_bps: (!tally.is_echo && elapsed > 0.0)
                .then(|| tally.payload as f64 * 8.0 / elapsed),
            elapsed_s: Some(elapsed),
            payload_bytes: (!tally.is_echo).then_some(tally.payload),
            data_packets: Some(tally.data_packets),
            ack_packets: Some(tally.ack_packets),
            packets: Some(tally.packets),
            wire_bytes: Some(tally.wire_bytes),
            retransmitted_packets: count(|tcp| tcp.retransmitted_packets),
            retransmitted_bytes: count(|tcp| tcp.retransmitted_bytes),
            duplicate_bytes: count(|tcp| tcp.duplicate_bytes),
            timeouts: count(|tcp| tcp.timeouts),
            fast_retransmits: count(|tcp| tcp.fast_retransmits),
            spurious_retransmissions: count(|tcp| tcp.spurious_retransmissions),
            segment_loss: (tally.data_packets > 0)
                .then(|| tally.lost as f64 / tally.data_packets as f64),
            rtt_min_s: seconds(tally.rtt.min()),
            rtt_mean_s: seconds(tally.rtt.mean()),
            rtt_p99_s: seconds(tally.rtt.quantile(0.99)),
            ping_mean_s: seconds(tally.ping.mean()),
            ping_p99_s: seconds(tally.ping.quantile(0.99)),
            in_flight_mean_bytes: tcp.map(|tcp| tcp.in_flight),
            queue_mean_s: Some(tally.queue.as_secs_f64()),
            mss_used_bytes: tcp.and_then(|tcp| tcp.mss),
            limited_by: tally.limited_by,
            limits: tally.limits.clone(),
            cpu_s_per_gbit: None,
            formula: None,
            flows: Vec::new(),
        }
    }
}

/// From this share of the time on, a link counts as full.
const FULL: f64 = 0.95;

/// What one flow, or all of them together, counted.
#[derive(Debug, Clone, Default)]
struct Tally {
    payload: u64,
    data_packets: u64,
    ack_packets: u64,
    packets: u64,
    wire_bytes: u64,
    lost: u64,
    queue: Time,
    /// Echo requests only: they carry no payload to anyone.
    is_echo: bool,
    tcp: Option<TcpTally>,
    rtt: Histogram,
    ping: Histogram,
    limited_by: Option<LimitedBy>,
    limits: Vec<LimitShare>,
}

#[derive(Debug, Clone)]
struct TcpTally {
    retransmitted_packets: u64,
    retransmitted_bytes: u64,
    duplicate_bytes: u64,
    timeouts: u64,
    fast_retransmits: u64,
    spurious_retransmissions: u64,
    in_flight: f64,
    /// `None` for flows that use different ones.
    mss: Option<u64>,
}

impl Tally {
    fn sum(tallies: &[Self]) -> Self {
        let mut total = Self { is_echo: true, ..Self::default() };
        for tally in tallies {
            total.payload += tally.payload;
            total.data_packets += tally.data_packets;
            total.ack_packets += tally.ack_packets;
            total.packets += tally.packets;
            total.wire_bytes += tally.wire_bytes;
            total.lost += tally.lost;
            total.queue = total.queue.max(tally.queue);
            total.is_echo &= tally.is_echo;
            total.rtt.merge(&tally.rtt);
            total.ping.merge(&tally.ping);
            total.tcp = match (total.tcp.take(), &tally.tcp) {
                (Some(sum), Some(one)) => Some(sum.plus(one)),
                (sum, one) => sum.or_else(|| one.clone()),
            };
        }
        // What limits the flow that carries most is what the reader asks about.
        let limited = tallies.iter().filter(|tally| tally.limited_by.is_some());
        if let Some(leader) = limited.max_by_key(|tally| tally.payload) {
            total.limited_by = leader.limited_by;
            total.limits.clone_from(&leader.limits);
        }
        total
    }
}

impl TcpTally {
    fn plus(self, other: &Self) -> Self {
        Self {
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            retransmitted_bytes: self.retransmitted_bytes + other.retransmitted_bytes,
            duplicate_bytes: self.duplicate_bytes + other.duplicate_bytes,
            timeouts: self.timeouts + other.timeouts,
            fast_retransmits: self.fast_retransmits + other.fast_retransmits,
            spurious_retransmissions: self.spurious_retransmissions
                + other.spurious_retransmissions,
            in_flight: self.in_flight + other.in_flight,
            mss: self.mss.filter(|_| self.mss == other.mss),
        }
    }
}

impl From<Limit> for LimitedBy {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Application => Self::Application,
            Limit::Opportunity => Self::Opportunity,
            Limit::ReceiveWindow => Self::ReceiveWindow,
            Limit::SendBuffer => Self::SendBuffer,
            Limit::Congestion => Self::Congestion,
            Limit::Rto => Self::Rto,
        }
    }
}

fn on_wire(link: &LinkSpec, ip_len: u32) -> u64 {
    link.wire_bytes(Bytes::new(u64::from(ip_len))).get()
}
