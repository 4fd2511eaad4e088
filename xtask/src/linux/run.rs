//! A cell, run with the simulator's sockets.

mod programs;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use maxseg_core::evidence::SocketInfo;
use maxseg_core::tcp::linux::{Packet, Socket};
use maxseg_core::units::Time;

use super::cell::{App, Cell};
use super::hrtimer::{reading, runs};
use super::path::Path;
use super::reference::{Sample, Seen};

/// What happened.
#[derive(Debug)]
pub struct Outcome {
    /// What passed the sender's interface, in order.
    pub seen: Vec<Seen>,
    /// The sender's state in intervals.
    pub samples: Vec<Sample>,
    /// Payload that the receiver's application read.
    pub received: u64,
    /// Packets dropped at the bottleneck.
    pub queue_drops: u64,
    /// When the first packet was dropped, wherever.
    pub first_drop: Option<Time>,
    /// When something was drawn first that decides on packets, other than losses: the phase of BBR's cycle.
    pub first_drawn: Option<Time>,
    /// Data segments sent, again or not.
    pub data_segments: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Recoveries.
    pub recoveries: u64,
    /// Probes of the tail.
    pub loss_probes: u64,
    /// From each request to the reading of its answer, in seconds.
    pub answers: Vec<f64>,
    /// The window when slow start ended without a loss, if it did.
    pub hystart_cwnd: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Write,
    Answer,
    Read,
    ToReceiver,
    ToSender,
}

/// What happens; at one instant programs go before packets.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    /// What a timer is set for, or when a running program gets here.
    at: Time,
    is_packet: bool,
    /// A running program gets here: no timer wakes it.
    is_running: bool,
    number: u64,
    kind: Kind,
    packet: usize,
}

struct World<'a> {
    cell: &'a Cell,
    now: Time,
    sender: Socket,
    receiver: Socket,
    path: Path,
    events: BinaryHeap<Reverse<Event>>,
    packets: Vec<Packet>,
    free: Vec<usize>,
    number: u64,
    is_writing: bool,
    /// Writes so far; requests complete at the receiver; answers complete at the sender.
    writes: u64,
    asked: u64,
    answered: u64,
    written_at: Vec<Time>,
    /// Writes in intervals are counted from here.
    writes_from: Time,
    /// When a slow reader reads next, and whether it then waits for data.
    next_read: Time,
    waits_for_data: bool,
    /// Whether the receiver's program thinks of an answer.
    is_thinking: bool,
    /// Packets that the receiver has sent, and which of them are dropped.
    receiver_packets: u64,
    ack_drops: Vec<u64>,
    outcome: Outcome,
}

/// Runs a cell with this seed of losses and phases, sampled in intervals of `step`.
///
/// # Errors
/// The cell is none that can be run.
pub fn run(cell: &Cell, seed: u64, step: Time) -> Result<Outcome> {
    let (sender, receiver) = cell.hosts(seed)?;
    let mut world = World {
        cell,
        now: Time::ZERO,
        sender: Socket::connect(sender, Time::ZERO),
        receiver: Socket::listen(receiver, Time::ZERO),
        path: Path::new(cell, seed)?,
        events: BinaryHeap::new(),
        packets: Vec::new(),
        free: Vec::new(),
        number: 0,
        is_writing: false,
        writes: 0,
        asked: 0,
        answered: 0,
        written_at: Vec::new(),
        writes_from: Time::ZERO,
        next_read: Time::NEVER,
        waits_for_data: false,
        is_thinking: false,
        receiver_packets: 0,
        ack_drops: cell.ack_drops()?,
        outcome: Outcome {
            seen: Vec::new(),
            samples: Vec::new(),
            received: 0,
            queue_drops: 0,
            first_drop: None,
            first_drawn: None,
            data_segments: 0,
            retransmitted: 0,
            timeouts: 0,
            recoveries: 0,
            loss_probes: 0,
            answers: Vec::new(),
            hystart_cwnd: None,
        },
    };
    if matches!(cell.app, App::OnOff { .. }) {
        world.sender.set_nonblocking();
    }
    if let Some(bytes) = cell.send_buffer()? {
        world.sender.set_send_buffer(bytes);
    }
    world.transmit();
    world.run(step);
    Ok(world.finish())
}

impl World<'_> {
    fn push(&mut self, at: Time, kind: Kind, packet: Option<Packet>) {
        let is_packet = packet.is_some();
        let packet = packet.map_or(0, |packet| {
            if let Some(free) = self.free.pop() {
                self.packets[free] = packet;
                free
            } else {
                self.packets.push(packet);
                self.packets.len() - 1
            }
        });
        self.push_event(at, kind, is_packet, false, packet);
    }

    /// A running program gets here then.
    fn push_running(&mut self, at: Time, kind: Kind) {
        self.push_event(at, kind, false, true, 0);
    }

    fn push_event(
        &mut self,
        at: Time,
        kind: Kind,
        is_packet: bool,
        is_running: bool,
        packet: usize,
    ) {
        self.number += 1;
        let number = self.number;
        self.events.push(Reverse(Event { at, is_packet, is_running, number, kind, packet }));
    }

    fn run(&mut self, step: Time) {
        let mut next_sample = Time::ZERO;
        loop {
            let event = self.events.peek().map_or(Time::NEVER, |event| event.0.at);
            let is_running = self.events.peek().is_some_and(|event| event.0.is_running);
            let timers = self.sender.next_timer().min(self.receiver.next_timer());
            let bottleneck = self.path.timer.unwrap_or(Time::NEVER);
            let next = event.min(timers).min(bottleneck);
            if next_sample < next && next_sample <= self.cell.time {
                // The program that samples is woken by a timer, too.
                self.now = runs(self.now, next_sample);
                self.expire_slack();
                self.transmit();
                let info = self.sender.info();
                self.note_hystart(&info);
                self.outcome.samples.push(Sample { at: next_sample, info });
                next_sample = next_sample.saturating_add(step);
                continue;
            }
            if next > self.cell.time {
                break;
            }
            let is_running = is_running && event == next;
            self.now = if is_running { next.max(self.now) } else { runs(self.now, next) };
            let read = reading(self.now);
            // Of what is due at one interrupt, packets leave queues first, before any arrives (`NET_TX_SOFTIRQ`).
            if bottleneck <= read {
                self.leave_bottleneck();
            } else if event <= timers {
                self.happen();
            } else {
                self.expire();
            }
            self.expire_slack();
            self.transmit();
            self.note_draw();
            self.note_writes();
        }
    }

    /// A request counts from when its write begins, which waits for the one before.
    fn note_writes(&mut self) {
        while (self.written_at.len() as u64) < self.sender.writes_begun() {
            self.written_at.push(self.now);
        }
    }

    /// BBR draws its phase once startup is over, which sets its threshold.
    fn note_draw(&mut self) {
        if self.cell.is_drawn()
            && self.outcome.first_drawn.is_none()
            && self.sender.info().ssthresh.is_some()
        {
            self.outcome.first_drawn = Some(self.now);
        }
    }

    fn note_hystart(&mut self, info: &SocketInfo) {
        if let (Some(ssthresh), 0) = (info.ssthresh, info.lost + info.retrans) {
            self.outcome.hystart_cwnd.get_or_insert(ssthresh);
        }
    }

    fn happen(&mut self) {
        let Some(Reverse(event)) = self.events.pop() else { return };
        let now = reading(self.now);
        match event.kind {
            Kind::ToReceiver => {
                let packet = self.packets[event.packet];
                self.free.push(event.packet);
                self.receiver.on_packet(now, &packet);
                self.serve();
            }
            Kind::ToSender => {
                let packet = self.packets[event.packet];
                self.free.push(event.packet);
                self.outcome.seen.push(Seen::new(self.now, false, &packet));
                self.sender.on_packet(now, &packet);
                self.use_sender();
            }
            Kind::Write => self.write(),
            Kind::Answer => self.end_thinking(),
            Kind::Read => self.read_slowly(),
        }
    }

    fn expire(&mut self) {
        let now = reading(self.now);
        // Both hosts share one processor.
        if self.receiver.next_soft().min(self.sender.next_soft()) <= now {
            self.receiver.on_soft_timers(now);
            self.sender.on_soft_timers(now);
        }
        if self.receiver.next_timer() <= now {
            self.receiver.on_timer(now);
        }
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now);
        }
    }

    /// Timers with slack run with any other.
    fn expire_slack(&mut self) {
        let now = reading(self.now);
        for socket in [&mut self.receiver, &mut self.sender] {
            if socket.next_slack() <= now {
                socket.on_timer(now);
            }
        }
    }

    fn transmit(&mut self) {
        while let Some(packet) = self.sender.poll_transmit() {
            self.outcome.seen.push(Seen::new(self.now, true, &packet));
            if let Some(packet) = self.path.offer(self.now, packet) {
                self.cross(packet);
            }
        }
        while let Some(packet) = self.receiver.poll_transmit() {
            self.receiver_packets += 1;
            if self.ack_drops.contains(&self.receiver_packets) {
                self.outcome.first_drop.get_or_insert(self.now);
                continue;
            }
            let at = self.path.arrives(self.now);
            self.push(at, Kind::ToSender, Some(packet));
        }
    }

    fn leave_bottleneck(&mut self) {
        loop {
            if let Some(packet) = self.path.poll(self.now) {
                self.cross(packet);
            }
            if !self.path.has_more() {
                break;
            }
        }
    }

    fn cross(&mut self, packet: Packet) {
        if self.path.survives(self.now, &packet) {
            let at = self.path.arrives(self.now);
            self.push(at, Kind::ToReceiver, Some(packet));
        }
    }

    fn finish(mut self) -> Outcome {
        let counters = self.sender.counters();
        self.outcome.queue_drops = self.path.queue_drops;
        self.outcome.first_drop =
            self.outcome.first_drop.into_iter().chain(self.path.first_drop).min();
        self.outcome.data_segments = counters.data_segments;
        self.outcome.retransmitted = counters.retransmitted_segments;
        self.outcome.timeouts = counters.timeouts;
        self.outcome.recoveries = counters.recoveries;
        self.outcome.loss_probes = counters.loss_probes;
        self.outcome
    }
}
