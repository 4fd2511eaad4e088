//! What flows on the same links leave each other.

use super::flow_path::FlowPath;
use crate::framing::{Headers, IpPacket};
use crate::outcome::Outcome;
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::units::{Probability, Time};

/// One direction of a hop, by the end from which packets come that cross it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Crossing {
    hop: usize,
    from: End,
}

impl Crossing {
    /// Those of a flow's packets in their order.
    pub(super) fn all(flow: &Flow) -> Vec<Self> {
        let hops = flow.hops;
        let crossing = |hop| Self { hop, from: flow.from };
        match flow.from {
            End::Sender => (hops.first..=hops.last).map(crossing).collect(),
            End::Receiver => (hops.first..=hops.last).rev().map(crossing).collect(),
        }
    }
}

/// Where requests take more than this of a link, what waits for them waits long.
pub(super) const MUCH_OF_REQUESTS: f64 = 0.1;

/// The links of a scenario as its flows share them.
pub(super) struct Shares<'a> {
    scenario: &'a Scenario,
    /// What requests take of each link, as shares of its time.
    requests: Vec<(Crossing, f64)>,
}

impl<'a> Shares<'a> {
    /// Among bulk flows and datagrams.
    pub(super) const fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, requests: Vec::new() }
    }

    /// The same where request flows do what these outcomes say, one for each flow of the scenario.
    pub(super) fn beside_requests(mut self, outcomes: &[(usize, Outcome)]) -> Self {
        for (index, outcome) in outcomes {
            let flow = &self.scenario.flows[*index];
            self.requests.extend(request_loads(self.scenario, flow, outcome));
        }
        self
    }

    /// What the requests of one flow with this outcome take of each link.
    pub(super) fn own_requests(&self, flow: &Flow, outcome: &Outcome) -> Vec<(Crossing, f64)> {
        request_loads(self.scenario, flow, outcome)
    }

    /// What requests take of a link.
    pub(super) fn of_requests(&self, crossing: Crossing) -> f64 {
        let here = self.requests.iter().filter(|(at, _)| *at == crossing);
        here.map(|(_, load)| load).sum()
    }

    /// What datagrams offer of a link's time at a moment; more than 1 where they do not fit.
    pub(super) fn datagrams(&self, crossing: Crossing, at: Time) -> f64 {
        self.offers(crossing, at).iter().map(|(_, load)| load).sum()
    }

    /// The same flow by flow. A link is offered what the links before it let through and do not damage.
    fn offers(&self, crossing: Crossing, at: Time) -> Vec<(&'a Flow, f64)> {
        let mut streams = self.streams(crossing.from, at);
        let hops = self.scenario.path.hops.len();
        let in_order: Box<dyn Iterator<Item = usize>> = match crossing.from {
            End::Sender => Box::new(0..hops),
            End::Receiver => Box::new((0..hops).rev()),
        };
        for hop in in_order {
            let here: Vec<(&Flow, f64)> = streams
                .iter()
                .filter_map(|stream| Some((stream.flow, stream.load(hop)?)))
                .collect();
            if hop == crossing.hop {
                return here;
            }
            let all: f64 = here.iter().map(|(_, load)| load).sum();
            for stream in &mut streams {
                stream.pass(hop, all);
            }
        }
        Vec::new()
    }

    /// The datagrams that are sent from one end at a moment.
    fn streams(&self, from: End, at: Time) -> Vec<Stream<'a>> {
        let sending = |flow: &&Flow| flow.from == from && is_active(flow, at);
        let flows = self.scenario.flows.iter().filter(sending);
        flows.filter_map(|flow| Stream::of(self.scenario, flow)).collect()
    }

    /// What is left of a link to each bulk flow from one end, on average from `flow`'s start to `until`, if all get the same.
    pub(super) fn of_bulk(&self, flow: &Flow, crossing: Crossing, until: Time) -> f64 {
        let from = flow.from;
        let shares = |at: Time| {
            // Their acknowledgements share the way back as they do the way there.
            let bulk = self.scenario.flows.iter().filter(|other| {
                other.kind == FlowKind::Bulk
                    && other.from == from
                    && other.hops.contains(crossing.hop)
                    && other.start <= at
            });
            let taken = self.datagrams(crossing, at) + self.of_requests(crossing);
            (1.0 - taken).max(0.0) / bulk.count().max(1) as f64
        };
        self.mean_over(flow.start, until, shares)
    }

    /// The share of a flow's datagrams or echoes that full queues let through, where all lose alike, while it sends.
    pub(super) fn carried(&self, flow: &Flow) -> f64 {
        // What one link lets through the next may still have no room for.
        let through = |at: Time| {
            let passes = |link| 1.0 / self.datagrams(link, at).max(1.0);
            Crossing::all(flow).into_iter().map(passes).product()
        };
        self.mean_over(flow.start, flow.stop.min(self.scenario.until.time), through)
    }

    /// Whether datagrams offer more than a link of this way carries while a flow is active.
    pub(super) fn is_overloaded(&self, flow: &Flow) -> bool {
        let end = flow.stop.min(self.scenario.until.time);
        let times = self.changes(flow.start, end);
        Crossing::all(flow)
            .into_iter()
            .any(|link| times.iter().any(|at| self.datagrams(link, *at) > 1.0))
    }

    /// Mean wait in queues that datagrams keep full, in seconds, on the way of a flow.
    pub(super) fn full_queues(&self, flow: &Flow) -> f64 {
        let wait = |at: Time| {
            Crossing::all(flow)
                .into_iter()
                .filter(|link| self.datagrams(*link, at) > 1.0)
                .map(|link| self.full_queue(link, at))
                .sum()
        };
        self.mean_over(flow.start, flow.stop.min(self.scenario.until.time), wait)
    }

    /// What a full queue of the datagrams that take most of a link takes there.
    fn full_queue(&self, crossing: Crossing, at: Time) -> f64 {
        let wait = |(flow, load): (&Flow, f64)| {
            let packet = datagram(flow)?;
            let index = Crossing::all(flow).iter().position(|link| *link == crossing)?;
            Some((load, FlowPath::of(self.scenario, flow).full_queue(packet, index)))
        };
        let offers = self.offers(crossing, at).into_iter();
        let most = offers.filter_map(wait).max_by(|a, b| a.0.total_cmp(&b.0));
        most.map_or(0.0, |(_, wait)| wait)
    }

    /// Whether what a flow shares with changes while it lasts, because others begin or end.
    pub(super) fn vary(&self, flow: &Flow, until: Time) -> bool {
        self.changes(flow.start, until).len() > 1
    }

    /// The moments from `start` on, and before `end`, at which some flow begins or ends.
    fn changes(&self, start: Time, end: Time) -> Vec<Time> {
        let counts = |flow: &&Flow| !matches!(flow.kind, FlowKind::Ping { .. });
        let flows = self.scenario.flows.iter().filter(counts);
        let mut times: Vec<Time> = flows
            .flat_map(|flow| [flow.start, flow.stop])
            .filter(|at| start < *at && *at < end)
            .collect();
        times.push(start);
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The mean from `start` to `end` of what changes only where some flow begins or ends.
    fn mean_over(&self, start: Time, end: Time, of: impl Fn(Time) -> f64) -> f64 {
        let times = self.changes(start, end);
        let whole = end.since(start).as_secs_f64();
        if times.len() == 1 || whole <= 0.0 {
            return of(start);
        }
        let ends = times.iter().skip(1).copied().chain([end]);
        let parts = times.iter().zip(ends);
        parts.map(|(at, end)| end.since(*at).as_secs_f64() * of(*at)).sum::<f64>() / whole
    }
}

fn is_active(flow: &Flow, at: Time) -> bool {
    flow.start <= at && at < flow.stop
}

/// The packet of a flow of datagrams.
fn datagram(flow: &Flow) -> Option<IpPacket> {
    match flow.kind {
        FlowKind::Cbr { size, header, .. } => Some(IpPacket::from(size + header)),
        FlowKind::Bulk | FlowKind::Request(_) | FlowKind::Ping { .. } => None,
    }
}

/// The datagrams of a flow on their way from link to link.
struct Stream<'a> {
    flow: &'a Flow,
    /// For each hop that they cross: its number, its share of time that all of them would take, and the part that errors leave.
    links: Vec<(usize, f64, f64)>,
    /// The part of them that has come so far.
    arriving: f64,
}

impl<'a> Stream<'a> {
    /// `None` of other flows.
    fn of(scenario: &Scenario, flow: &'a Flow) -> Option<Self> {
        let (packet, interval) = (datagram(flow)?, flow.kind.interval_s()?);
        let flow_path = FlowPath::of(scenario, flow);
        let on_links = flow_path.paces(packet).into_iter().zip(flow_path.losses(packet));
        let link = |(crossing, (seconds, loss)): (Crossing, (f64, Probability))| {
            (crossing.hop, seconds / interval, loss.complement())
        };
        let links = Crossing::all(flow).into_iter().zip(on_links).map(link);
        let links = links.take(flow_path.reach(packet)).collect();
        Some(Self { flow, links, arriving: 1.0 })
    }

    /// What they offer of the time of a hop's link; `None` where they do not cross it.
    fn load(&self, hop: usize) -> Option<f64> {
        let (_, load, _) = self.links.iter().find(|(at, ..)| *at == hop)?;
        Some(self.arriving * load)
    }

    /// Crosses a hop whose link is offered so much of its time by all.
    fn pass(&mut self, hop: usize, all: f64) {
        if let Some((_, _, undamaged)) = self.links.iter().find(|(at, ..)| *at == hop) {
            self.arriving *= undamaged / all.max(1.0);
        }
    }
}

/// What the requests and replies of a flow with this outcome take of each link.
fn request_loads(scenario: &Scenario, flow: &Flow, outcome: &Outcome) -> Vec<(Crossing, f64)> {
    let FlowKind::Request(plan) = flow.kind else { return Vec::new() };
    let (Some(requests), Some(elapsed)) = (outcome.requests, outcome.elapsed_s) else {
        return Vec::new();
    };
    let each = requests as f64 / elapsed;
    let ways = [(*flow, plan.request), (flow.reversed(), plan.reply)];
    let loads = ways.into_iter().flat_map(|(way, payload)| {
        let decision = scenario.mss(&way);
        let mss = decision.effective.bytes();
        let headers = Headers { ip: scenario.ip, tcp_options: decision.options };
        let segments = payload.get() as f64 / mss.min(payload).get().max(1) as f64;
        let paces = FlowPath::of(scenario, &way).paces(headers.packet(mss.min(payload)));
        let load = move |(link, seconds)| (link, each * segments * seconds);
        Crossing::all(&way).into_iter().zip(paces).map(load)
    });
    loads.collect()
}
