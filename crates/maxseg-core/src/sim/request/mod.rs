//! Requests and replies: a client and a server with a TCP connection between them, or one after the
//! other.
//!
//! ```text
//!             start          SYN-ACK           last byte of the reply        pause is over
//! client: Pausing ──→ Opening ──→ Waiting ─────────────────────→ Pausing ──→ Opening | Waiting …
//!                                 writes a request                           new     | kept
//! server:                                    last byte of the request ─ think ─→ writes the reply
//! ```
//! A request takes from when it is written to when the last byte of its reply has come in order; where
//! each opens a connection, from its SYN. Connections are not closed: a client that opens the next one
//! forgets the one before, as the server does when it hears of the next.

mod record;
mod stack_endpoint;

pub(super) use record::Record;
pub(super) use stack_endpoint::StackEndpoint;

use super::linux::LinuxEnd;
use super::meter::Meter;
use super::sizes::Sizes;
use crate::rng::Stream;
use crate::scenario::{ConnectionUse, End, Flow, RequestPlan, Scenario};
use crate::tcp::linux::SynOptions;
use crate::tcp::{Config, OptionsPool, Segment};
use crate::units::{Bytes, Mtu, Time};
use stack_endpoint::Setup;

/// A request flow that runs.
#[derive(Debug)]
pub(super) struct RequestFlow {
    plan: RequestPlan,
    stop: Time,
    setup: Setup,
    /// Payload of a full segment of a reply, before there is one.
    mss: Bytes,
    sizes: Sizes,
    /// The client's end of the connection; `None` before the first.
    client: Option<StackEndpoint>,
    server: Option<StackEndpoint>,
    phase: Phase,
    /// When the server has thought of its reply; never while there is nothing to think of.
    reply_at: Time,
    /// Requests written on this connection, and replies.
    asked: u64,
    answered: u64,
    record: Record,
    /// What each end put on its own wire.
    pub(super) sent_by_client: Meter,
    pub(super) sent_by_server: Meter,
}

/// What the client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The time for the next request.
    Pausing { until: Time },
    /// The handshake that began then.
    Opening { since: Time },
    /// The reply to what was asked then.
    Waiting { since: Time },
    /// Nothing: it has asked enough.
    Over,
}

/// One of the two who talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    /// The side at `end` of a flow that is asked from `from`.
    pub(super) fn of(end: End, from: End) -> Self {
        if end == from { Self::Client } else { Self::Server }
    }
}

impl RequestFlow {
    /// The flow with this index.
    pub(super) fn new(scenario: &Scenario, flow: &Flow, index: u32, plan: RequestPlan) -> Self {
        let (requests, replies) = Config::both_ways(scenario, flow);
        let (near, far) = scenario.first_links(flow);
        Self {
            plan,
            stop: flow.stop,
            // Where one end is a simulator's stack without options, there are none.
            sizes: Sizes::new(
                scenario,
                flow,
                if requests.has_options() { &replies } else { &requests },
            ),
            mss: replies.mss(),
            setup: if scenario.runs_linux(flow) {
                let (client, server) = scenario.endpoints(flow);
                Setup::Linux {
                    hosts: Box::new([
                        LinuxEnd::host(client, scenario.ip, near.mtu, replies.mss()),
                        LinuxEnd::host(server, scenario.ip, far.mtu, requests.mss()),
                    ]),
                    path_mtus: [None; 2],
                    draws: Stream::named(scenario.seed, &format!("flow.{index}")),
                }
            } else {
                Setup::Shared(Box::new((requests, replies)))
            },
            client: None,
            server: None,
            phase: Phase::Pausing { until: flow.start },
            reply_at: Time::NEVER,
            asked: 0,
            answered: 0,
            record: Record::default(),
            sent_by_client: Meter::new(near),
            sent_by_server: Meter::new(far),
        }
    }

    /// A segment has come to `side`. Gives whether that completed the last request there is.
    pub(super) fn on_segment(&mut self, now: Time, side: Side, segment: &Segment) -> bool {
        match side {
            Side::Client => {
                let said = said(self.server.as_ref());
                let Some(client) = self.client.as_mut().filter(|end| is_of(end, segment)) else {
                    return false;
                };
                client.on_segment(now, segment, said);
                self.advance_client(now)
            }
            Side::Server => {
                let said = said(self.client.as_ref());
                match self.server.as_mut().filter(|end| is_of(end, segment)) {
                    Some(server) => server.on_segment(now, segment, said),
                    None => self.accept(now, segment),
                }
                self.advance_server(now);
                false
            }
        }
    }

    /// Timers that are due expire, and the applications do what it is time for.
    pub(super) fn on_timeout(&mut self, now: Time) {
        for end in self.client.iter_mut().chain(&mut self.server) {
            end.on_timeout(now);
        }
        if let Phase::Pausing { until } = self.phase
            && until <= now
        {
            self.begin(now);
        }
        if self.reply_at <= now {
            self.reply_at = Time::NEVER;
            self.reply(now);
        }
    }

    /// The next segment that `side` has to send, if any may go.
    pub(super) fn poll_transmit(
        &mut self,
        now: Time,
        side: Side,
        options_pool: &mut OptionsPool,
    ) -> Option<Segment> {
        let (end, meter) = match side {
            Side::Client => (&mut self.client, &mut self.sent_by_client),
            Side::Server => (&mut self.server, &mut self.sent_by_server),
        };
        let segment = end.as_mut()?.poll_transmit(now, options_pool)?;
        meter.count(self.sizes.packet(&segment));
        Some(segment)
    }

    /// A hop tells `side` that its packets do not fit (RFC 1191 §3). Gives whether they go without DF from now on.
    pub(super) fn on_frag_needed(&mut self, now: Time, side: Side, mtu: Mtu) -> bool {
        let end = match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        if let Some(end) = end {
            end.on_path_mtu(now, mtu, self.sizes.overhead());
        }
        self.setup.learn(now, side, mtu)
    }

    /// When something happens to it by itself.
    pub(super) fn deadline(&self) -> Time {
        let application = match self.phase {
            Phase::Pausing { until } => until.min(self.reply_at),
            Phase::Opening { .. } | Phase::Waiting { .. } | Phase::Over => self.reply_at,
        };
        let ends = self.client.iter().chain(&self.server);
        ends.fold(application, |least, end| least.min(end.next_timeout()))
    }

    /// The packets' sizes.
    pub(super) const fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The server's end, whose window the replies fill; `None` before the first connection.
    pub(super) const fn server(&self) -> Option<&StackEndpoint> {
        self.server.as_ref()
    }

    /// The run is over: both ends' counts go into the record.
    pub(super) fn finish(&mut self, now: Time) {
        self.record.add_client(now, self.client.take());
        self.record.add_server(now, self.server.take());
    }

    /// What was counted on connections that are over.
    pub(super) const fn record(&self) -> &Record {
        &self.record
    }

    /// Payload of a full segment of a reply, as the path allowed it last; `None` where no SYN has arrived.
    pub(super) fn mss_of_replies(&self) -> Option<Bytes> {
        self.record.mss.or_else(|| self.server.as_ref().map(|_| self.mss))
    }

    /// Payload of replies that has been acknowledged.
    pub(super) fn acknowledged(&self) -> Bytes {
        let here = self.server.as_ref().map_or(Bytes::ZERO, StackEndpoint::acknowledged);
        Bytes::new(self.record.acknowledged) + here
    }

    /// The next request: on the connection there is, or with one of its own.
    fn begin(&mut self, now: Time) {
        if now >= self.stop {
            self.phase = Phase::Over;
        } else if self.client.is_some() && self.plan.connection == ConnectionUse::Kept {
            self.ask(now, now);
        } else {
            self.open(now);
        }
    }

    fn open(&mut self, now: Time) {
        let next = self.client.as_ref().map_or(0, |end| end.connection().wrapping_add(1));
        self.record.add_client(now, self.client.take());
        self.client = Some(self.setup.connect(next, now));
        self.asked = 0;
        self.phase = Phase::Opening { since: now };
    }

    /// Writes a request, whose time counts from `since`.
    fn ask(&mut self, now: Time, since: Time) {
        debug_assert!(since <= now, "a request is written after it begins");
        if let Some(client) = &mut self.client {
            client.write(now, self.plan.request);
            self.asked += 1;
            self.phase = Phase::Waiting { since };
        }
    }

    /// What the client does with what has come. Gives whether it is over now, its requests counted.
    fn advance_client(&mut self, now: Time) -> bool {
        let Some(client) = &self.client else { return false };
        match self.phase {
            Phase::Opening { since } if client.is_open() => {
                let kept = self.plan.connection == ConnectionUse::Kept;
                self.ask(now, if kept { now } else { since });
            }
            Phase::Waiting { since }
                if client.delivered().get() >= self.asked * self.plan.reply.get() =>
            {
                self.record.times.record(now.since(since));
                return self.complete(now);
            }
            Phase::Pausing { .. } | Phase::Opening { .. } | Phase::Waiting { .. } | Phase::Over => {
            }
        }
        false
    }

    /// A whole reply has come. Where there is no pause the next request goes at once, so that it carries
    /// the acknowledgement.
    fn complete(&mut self, now: Time) -> bool {
        let kept = self.plan.connection == ConnectionUse::Kept;
        if self.plan.count == Some(self.record.times.count()) {
            self.phase = Phase::Over;
        } else {
            self.phase = Phase::Pausing { until: now.saturating_add(self.plan.pause) };
            if kept && self.plan.pause == Time::ZERO {
                self.begin(now);
            }
        }
        if let Some(client) = self.client.as_mut().filter(|_| !kept) {
            client.acknowledge_at_once();
        }
        self.plan.count == Some(self.record.times.count())
    }

    /// A segment of no connection that the server knows: the SYN of the client's next one, or late.
    fn accept(&mut self, now: Time, segment: &Segment) {
        if segment.syn && self.client.as_ref().is_some_and(|client| is_of(client, segment)) {
            self.record.add_server(now, self.server.take());
            let said = said(self.client.as_ref());
            self.server = Some(self.setup.accept(now, segment, said));
            self.answered = 0;
            self.reply_at = Time::NEVER;
        }
    }

    /// What the server does with what has come.
    fn advance_server(&mut self, now: Time) {
        let whole = (self.answered + 1) * self.plan.request.get();
        let is_asked = self.server.as_ref().is_some_and(|end| end.delivered().get() >= whole);
        if !is_asked || self.reply_at != Time::NEVER {
            return;
        }
        if self.plan.think == Time::ZERO {
            self.reply(now);
        } else {
            self.reply_at = now.saturating_add(self.plan.think);
        }
    }

    fn reply(&mut self, now: Time) {
        if let Some(server) = &mut self.server {
            server.write(now, self.plan.reply);
            self.answered += 1;
        }
    }
}

/// What the SYN of an end said.
fn said(end: Option<&StackEndpoint>) -> Option<SynOptions> {
    end.and_then(StackEndpoint::said)
}

fn is_of(end: &StackEndpoint, segment: &Segment) -> bool {
    end.connection() == segment.connection
}
