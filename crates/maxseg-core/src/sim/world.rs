//! The simulated world: two routes, two lanes, some flows, one clock.

use super::flow::{Cargo, Connection, Packet, RunningFlow, Traffic};
use super::tap::{CapturePoint, Eyes};
use crate::engine::{Continue, EngineError, Sample, Watch};
use crate::framing::IpPacket;
use crate::link::{Fate, Hop, Lane, Route};
use crate::scenario::{End, FlowKind, Scenario};
use crate::tcp::Segment;
use crate::units::Time;

/// Everything that a run consists of.
#[derive(Debug)]
pub(super) struct World<E> {
    pub(super) now: Time,
    pub(super) flows: Vec<RunningFlow>,
    pub(super) net: Net<E>,
    until: Time,
    /// No timer of any flow expires before this.
    wake: Time,
    /// Bulk flows with data left to send; `None` where they have no end.
    unfinished: Option<usize>,
    /// Events until the watcher is looked at.
    until_look: u32,
}

/// The two directions between the hosts.
#[derive(Debug)]
pub(super) struct Net<E> {
    pub(super) to_receiver: OneWay,
    pub(super) to_sender: OneWay,
    eyes: E,
}

/// One direction: links, and the packets on their way.
#[derive(Debug)]
pub(super) struct OneWay {
    pub(super) route: Route,
    lane: Lane<Packet>,
}

/// How many events pass between two looks at the watcher.
const EVENTS_PER_LOOK: u32 = 1 << 14;

impl<E: Eyes> World<E> {
    pub(super) fn new(scenario: &Scenario, eyes: E) -> Self {
        let (hops, end) = (&scenario.path.hops, scenario.until.time);
        let forward = hops.iter().map(|hop| {
            Hop::new(&hop.forward, scenario.seed, &format!("hop.{}", hop.name)).until(end)
        });
        let reverse = hops.iter().rev().map(|hop| {
            Hop::new(&hop.reverse, scenario.seed, &format!("hop.{}.reverse", hop.name)).until(end)
        });
        let one_way = |hops: Vec<Hop>| OneWay { route: Route::new(hops), lane: Lane::default() };
        let flows: Vec<_> =
            scenario.flows.iter().map(|flow| RunningFlow::new(scenario, flow)).collect();
        let bulk = scenario.flows.iter().filter(|flow| flow.kind == FlowKind::Bulk).count();
        Self {
            now: Time::ZERO,
            wake: flows.iter().map(RunningFlow::deadline).min().unwrap_or(Time::NEVER),
            flows,
            net: Net {
                to_receiver: one_way(forward.collect()),
                to_sender: one_way(reverse.collect()),
                eyes,
            },
            until: scenario.until.time,
            unfinished: scenario.until.bytes.map(|_| bulk),
            until_look: EVENTS_PER_LOOK,
        }
    }

    /// Runs to the end.
    pub(super) fn run(&mut self, watch: &mut dyn Watch) -> Result<(), EngineError> {
        self.run_until(self.until, watch)?;
        self.finish();
        Ok(())
    }

    /// Runs to the end, showing the watcher every flow in intervals of the run's time.
    pub(super) fn run_sampled(
        &mut self,
        watch: &mut dyn Watch,
        every: Time,
    ) -> Result<(), EngineError> {
        let mut next = Time::ZERO;
        while next <= self.until && self.unfinished != Some(0) {
            self.run_until(next, watch)?;
            // A sample costs as much as some events.
            self.until_look = self.until_look.saturating_sub(16);
            self.sample(next, watch);
            next = next.saturating_add(every.max(Time::from_nanos(1)));
        }
        self.run(watch)
    }

    /// The inner loop: the earliest of two lane heads and the timers, until nothing is left before or
    /// at `end`. At one instant arrivals at the receiver go first, then timers, then arrivals at the
    /// sender: in ns-2 what was scheduled first goes first, and there a data packet's arrival is set
    /// when it leaves its last queue, a retransmission timeout a round trip or more before, and an
    /// acknowledgement's arrival last.
    fn run_until(&mut self, end: Time, watch: &mut dyn Watch) -> Result<(), EngineError> {
        loop {
            while self.until_look > 0 {
                let to_receiver = self.net.to_receiver.lane.next_arrival();
                let to_sender = self.net.to_sender.lane.next_arrival();
                let next = to_receiver.min(to_sender).min(self.wake);
                if next > end || self.unfinished == Some(0) {
                    return Ok(());
                }
                self.until_look -= 1;
                self.now = next;
                if to_receiver == next {
                    self.arrive(End::Receiver);
                } else if self.wake > next {
                    self.arrive(End::Sender);
                } else {
                    self.expire_timers();
                }
            }
            self.until_look = EVENTS_PER_LOOK;
            if watch.on_progress(self.now, self.until) == Continue::Stop {
                return Err(EngineError::Cancelled);
            }
        }
    }

    /// The next packet reaches the host at `end`.
    #[inline]
    fn arrive(&mut self, end: End) {
        let now = self.now;
        let lane = match end {
            End::Receiver => &mut self.net.to_receiver.lane,
            End::Sender => &mut self.net.to_sender.lane,
        };
        let Some((_, packet)) = lane.pop() else {
            return;
        };
        let flow = &mut self.flows[packet.flow as usize];
        match (&mut flow.traffic, packet.cargo) {
            (Traffic::Tcp(connection), Cargo::Segment(segment)) => {
                if end == flow.from {
                    let finished = connection.sender.is_done();
                    connection.sender.on_ack(now, &segment);
                    if connection.sender.is_done() && !finished {
                        self.unfinished = self.unfinished.map(|count| count - 1);
                    }
                } else {
                    connection.receiver.on_segment(now, &segment);
                }
                self.net.pump(now, packet.flow, flow, end);
                self.wake = self.wake.min(flow.deadline());
            }
            (Traffic::Datagrams(datagrams), Cargo::Datagram) => datagrams.delivered += 1,
            (Traffic::Echo(echo), Cargo::EchoRequest { sent }) => {
                echo.answered_at_far_end += 1;
                let reply = Packet { cargo: Cargo::EchoReply { sent }, ..packet };
                if let Some(at) = self.net.send(now, end, reply, echo.packet) {
                    flow.losses.push(now, at);
                }
            }
            (Traffic::Echo(echo), Cargo::EchoReply { sent }) => echo.round_trips.record(now - sent),
            (_, cargo) => unreachable!("a flow carries its own kind of packet, not {cargo:?}"),
        }
    }

    /// Lets every timer expire that is due, and finds when the next one is.
    fn expire_timers(&mut self) {
        let now = self.now;
        self.wake = Time::NEVER;
        for (index, flow) in (0_u32..).zip(&mut self.flows) {
            if flow.deadline() <= now {
                self.net.expire(now, index, flow);
            }
            self.wake = self.wake.min(flow.deadline());
        }
    }

    /// Brings what accumulates over time up to the end.
    fn finish(&mut self) {
        if self.unfinished != Some(0) {
            self.now = self.until;
        }
        for flow in &mut self.flows {
            if let Traffic::Tcp(connection) = &mut flow.traffic {
                connection.sender.account(self.now);
            }
        }
        self.net.eyes.close(self.now);
    }

    fn sample(&self, at: Time, watch: &mut dyn Watch) {
        for (index, flow) in self.flows.iter().enumerate() {
            if let Traffic::Tcp(connection) = &flow.traffic {
                let sender = &connection.sender;
                watch.on_sample(&Sample {
                    at,
                    flow: index,
                    cwnd: sender.cwnd(),
                    window: sender.peer_window(),
                    in_flight: sender.in_flight(),
                    srtt: sender.rto().srtt(),
                    rto: sender.rto().current(),
                    queue: self.net.towards(flow.from.other()).route.backlog(at),
                    acknowledged: sender.acknowledged(),
                });
            }
        }
    }
}

impl<E> Net<E> {
    /// The direction that ends at this host.
    pub(super) fn towards(&self, end: End) -> &OneWay {
        match end {
            End::Receiver => &self.to_receiver,
            End::Sender => &self.to_sender,
        }
    }
}

impl<E: Eyes> Net<E> {
    /// The host at `from` sends `packet`. Gives when it is lost, if it is.
    #[inline]
    fn send(&mut self, now: Time, from: End, packet: Packet, shape: IpPacket) -> Option<Time> {
        let way = match from {
            End::Sender => &mut self.to_receiver,
            End::Receiver => &mut self.to_sender,
        };
        let eyes = &mut self.eyes;
        let view = eyes.look(now, from, &packet, shape);
        eyes.see(now, CapturePoint::Host(from), false, view);
        let last = way.route.hops().len() - 1;
        let fate = way.route.admit_seen(now, shape, |index, at, fate| {
            let hop = if from == End::Sender { index } else { last - index };
            if !matches!(fate, Fate::Refused(_)) {
                let damaged = matches!(fate, Fate::Damaged(_));
                eyes.see(at, CapturePoint::Hop(hop), damaged, view);
            }
        });
        match fate {
            Fate::Arrives(at) => {
                eyes.see(at, CapturePoint::Host(from.other()), false, view);
                way.lane.push(at, packet);
                None
            }
            Fate::Damaged(at) | Fate::Refused(at) => Some(at),
        }
    }

    /// Sends all that the connection's side at `end` has to send now.
    #[inline]
    fn pump(&mut self, now: Time, index: u32, flow: &mut RunningFlow, end: End) {
        let Traffic::Tcp(connection) = &mut flow.traffic else {
            return;
        };
        let packet = |segment: Segment| Packet { flow: index, cargo: Cargo::Segment(segment) };
        if end == flow.from {
            while let Some(segment) = connection.sender.poll_transmit(now) {
                let shape = connection.packet(&segment);
                connection.sent.count(shape);
                if let Some(at) = self.send(now, end, packet(segment), shape)
                    && segment.len > 0
                {
                    flow.losses.push(now, at);
                }
            }
        } else {
            while let Some(segment) = connection.receiver.poll_transmit(now) {
                let shape = connection.packet(&segment);
                connection.answered.count(shape);
                let _ = self.send(now, end, packet(segment), shape);
            }
        }
    }

    /// A flow's time has come: timers expire, the next packet is due.
    fn expire(&mut self, now: Time, index: u32, flow: &mut RunningFlow) {
        match &mut flow.traffic {
            Traffic::Tcp(connection) => {
                connection.expire(now);
                self.pump(now, index, flow, flow.from);
                self.pump(now, index, flow, flow.from.other());
            }
            Traffic::Datagrams(datagrams) => {
                datagrams.sent += 1;
                datagrams.beat.advance();
                let packet = Packet { flow: index, cargo: Cargo::Datagram };
                if let Some(at) = self.send(now, flow.from, packet, datagrams.packet) {
                    flow.losses.push(now, at);
                }
            }
            Traffic::Echo(echo) => {
                echo.sent += 1;
                echo.beat.advance();
                let packet = Packet { flow: index, cargo: Cargo::EchoRequest { sent: now } };
                if let Some(at) = self.send(now, flow.from, packet, echo.packet) {
                    flow.losses.push(now, at);
                }
            }
        }
    }
}

impl Connection {
    /// Lets the timers expire that are due; before the start, opens the connection.
    fn expire(&mut self, now: Time) {
        self.started = true;
        if self.sender.next_timeout() <= now {
            self.sender.on_timeout(now);
        }
        if self.receiver.next_timeout() <= now {
            self.receiver.on_timeout(now);
        }
    }
}
