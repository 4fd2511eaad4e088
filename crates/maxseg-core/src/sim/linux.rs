//! Flows between two hosts that have Linux's own TCP: bulk data here, an end of a connection with requests and replies in `end`.

mod account;
mod convert;
mod end;
mod reader;

pub(super) use end::LinuxEnd;

use super::meter::Meter;
use super::sizes::Sizes;
use crate::engine::Sample;
use crate::framing::IpPacket;
use crate::rng::Stream;
use crate::scenario::{Flow, Scenario};
use crate::stats::Histogram;
use crate::tcp::linux::{Host, Packet, Socket};
use crate::tcp::{Config, ReceiverStats, SenderStats};
use crate::units::{Bytes, Mtu, Time};
use account::Account;
use convert::host;
pub(super) use convert::segment_of;
use reader::PacedReader;

/// Two sockets and what is counted of them.
#[derive(Debug)]
pub(super) struct LinuxConnection {
    pub(super) sender: Socket,
    receiver: Socket,
    hosts: (Host, Host),
    is_started: bool,
    is_writing: bool,
    /// Payload that is to be sent; `None` for no end.
    wanted: Option<u64>,
    is_finished: bool,
    /// What each end put on its own wire.
    pub(super) sent: Meter,
    pub(super) answered: Meter,
    pub(super) sizes: Sizes,
    round_trips: Histogram,
    account: Account,
    /// When something happens to the sender, and to the receiver, by itself: every event of the run may ask.
    deadlines: [Time; 2],
    /// The receiver's application, where it does not read at once.
    reader: Option<PacedReader>,
}

/// The packets that one end puts on its wire now.
pub(super) struct Outgoing<'a> {
    socket: &'a mut Socket,
    meter: &'a mut Meter,
    sizes: &'a Sizes,
}

impl Outgoing<'_> {
    /// The next one, as itself and as links see it.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(Box<Packet>, IpPacket)> {
        let mut packet = self.socket.take_packet()?;
        // On a link of its own each segment is a packet of its own.
        packet.alone = true;
        let shape = self.sizes.of_linux(&packet);
        self.meter.count(shape);
        Some((packet, shape))
    }
}

impl LinuxConnection {
    /// The flow with this index.
    pub(super) fn new(scenario: &Scenario, flow: &Flow, index: u32) -> Self {
        let config = Config::one_way(scenario, flow);
        let (near, far) = scenario.first_links(flow);
        let draws = Stream::named(scenario.seed, &format!("flow.{index}"));
        let hosts = (
            Host {
                seed: draws.at(0),
                max_pacing_rate: scenario.lab.max_pacing_bytes().unwrap_or(u64::MAX),
                ..host(&config.sender, scenario.ip, near.mtu, config.mss())
            },
            Host {
                seed: draws.at(1),
                ..host(&config.receiver, scenario.ip, far.mtu, config.mss())
            },
        );
        Self {
            sender: Socket::listen(hosts.0, flow.start),
            receiver: Socket::listen(hosts.1, flow.start),
            hosts,
            is_started: false,
            is_writing: false,
            wanted: scenario.until.bytes.map(Bytes::get),
            is_finished: false,
            sent: Meter::new(near),
            answered: Meter::new(far),
            sizes: Sizes::new(scenario, flow, &config),
            round_trips: Histogram::default(),
            account: Account::new(flow.start),
            deadlines: [flow.start, Time::NEVER],
            reader: config.receiver.read_rate.map(PacedReader::new),
        }
    }

    /// Somebody will look at the sender's socket, which is not open yet.
    pub(super) const fn watch(&mut self) {
        self.hosts.0.is_watched = true;
    }

    /// Payload that is acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.sender.acknowledged()
    }

    /// A packet has come to the sender, or to the receiver; gives whether the flow is complete now.
    #[inline(always)]
    pub(super) fn on_packet(&mut self, now: Time, to_sender: bool, packet: Box<Packet>) -> bool {
        if !to_sender {
            self.on_data(now, packet);
            return false;
        }
        self.account(now);
        self.sender.on_packet(now, &packet);
        // A box goes back to where it came from.
        self.receiver.reuse(packet);
        if let Some(micros) = self.sender.take_round_trip() {
            self.round_trips.record(Time::from_nanos(micros * 1000));
        }
        if !self.is_writing && self.sender.is_established() {
            self.is_writing = true;
            self.sender.write(now, self.wanted.unwrap_or(u64::MAX));
        }
        let is_complete = self.wanted.is_some_and(|wanted| self.acknowledged() >= wanted);
        let completes = is_complete && !self.is_finished;
        self.is_finished |= is_complete;
        completes
    }

    /// A packet has come to the receiver: nothing that is summed changes.
    #[inline(always)]
    fn on_data(&mut self, now: Time, packet: Box<Packet>) {
        if self.reader.is_some() || !self.receiver.take_and_read(now, &packet) {
            self.receiver.on_packet(now, &packet);
            self.read(now);
        }
        self.sender.reuse(packet);
    }

    /// The receiver's application reads what there is, or what it may by now.
    #[inline(always)]
    fn read(&mut self, now: Time) {
        let readable = self.receiver.readable();
        if readable == 0 {
            return;
        }
        let Some(reader) = &mut self.reader else {
            self.receiver.read(now, u64::MAX);
            return;
        };
        let most = reader.read(now, readable);
        if most > 0 {
            self.receiver.read(now, most);
        }
    }

    /// It begins, or timers expire. Gives whether they were the sender's, and the receiver's: [`Self::refresh_deadline`] is
    /// to be called for each that has them.
    #[inline]
    pub(super) fn on_timer(&mut self, now: Time) -> [bool; 2] {
        if !self.is_started {
            self.is_started = true;
            self.sender = Socket::connect(self.hosts.0, now);
            return [true, false];
        }
        self.account(now);
        let is_due = self.deadlines.map(|deadline| deadline <= now);
        if is_due[0] {
            self.sender.on_timer(now);
        }
        if is_due[1] {
            if self.receiver.next_timer() <= now {
                self.receiver.on_timer(now);
            }
            if self.reader.is_some() {
                self.read(now);
            }
        }
        is_due
    }

    /// When something happens to it by itself.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadlines[0].min(self.deadlines[1])
    }

    /// Something has happened to its sender, or to its receiver; gives when more will by itself.
    #[inline]
    pub(super) fn refresh_deadline(&mut self, of_sender: bool) -> Time {
        if of_sender {
            self.deadlines[0] = self.sender.next_timer();
            return self.deadlines[0];
        }
        let mut deadline = self.receiver.next_timer();
        if let Some(reader) = &self.reader
            && self.receiver.readable() > 0
        {
            deadline = deadline.min(reader.next());
        }
        self.deadlines[1] = deadline;
        deadline
    }

    /// A hop tells the sender, or the receiver, that its packets do not fit; gives whether they go without DF from now on.
    pub(super) fn on_path_mtu(&mut self, now: Time, to_sender: bool, mtu: Mtu) -> bool {
        self.account(now);
        let socket = if to_sender { &mut self.sender } else { &mut self.receiver };
        socket.on_path_mtu(now, mtu)
    }

    /// What the sender, or the receiver, has to put on its wire.
    #[inline(always)]
    pub(super) fn outgoing(&mut self, of_sender: bool) -> Outgoing<'_> {
        let (socket, meter) = if of_sender {
            (&mut self.sender, &mut self.sent)
        } else {
            (&mut self.receiver, &mut self.answered)
        };
        Outgoing { socket, meter, sizes: &self.sizes }
    }

    /// Brings what is summed over time up to `now`.
    #[inline]
    pub(super) fn account(&mut self, now: Time) {
        let may_rest = self.is_writing && self.wanted.is_some();
        self.account.advance(now, &self.sender, may_rest);
    }

    /// What the two ends counted: all packets of the sender are of the data's direction.
    pub(super) fn stats(&self) -> (SenderStats, ReceiverStats) {
        let sent = self.account.sent(&self.sender, &self.round_trips);
        let packets = self.sender.counters().packets;
        (SenderStats { packets, ..sent }, account::seen(&self.receiver))
    }

    /// Payload that the receiver has, in order or not.
    pub(super) fn arrived(&self) -> u64 {
        self.receiver.arrived()
    }

    /// Its state for those who watch.
    pub(super) fn sample(&self, at: Time, flow: usize, queue: Time) -> Sample {
        account::sample(&self.sender, at, flow, queue, Bytes::new(self.acknowledged()))
    }
}
