//! A bulk flow between two hosts that have Linux's own TCP.

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
use crate::tcp::linux::{Host, Socket, SynOptions};
use crate::tcp::{Config, OptionsPool, ReceiverStats, Segment, SenderStats};
use crate::units::{Bytes, Mtu, Time};
use account::Account;
use convert::{host, packet_of, segment_of};
use reader::SlowReader;

/// Two sockets and what is counted of them.
#[derive(Debug)]
pub(super) struct LinuxConnection {
    pub(super) sender: Socket,
    receiver: Socket,
    hosts: (Host, Host),
    start: Time,
    is_started: bool,
    is_writing: bool,
    /// Payload that is to be sent; `None` for no end.
    wanted: Option<u64>,
    is_finished: bool,
    /// What the last SYN of the sender and of the receiver said.
    syns: (Option<SynOptions>, Option<SynOptions>),
    /// What each end put on its own wire.
    pub(super) sent: Meter,
    pub(super) answered: Meter,
    pub(super) sizes: Sizes,
    round_trips: Histogram,
    account: Account,
    /// The receiver's application, where it does not read at once.
    reader: Option<SlowReader>,
}

impl LinuxConnection {
    /// The flow with this index.
    pub(super) fn new(scenario: &Scenario, flow: &Flow, index: u32) -> Self {
        let config = Config::one_way(scenario, flow);
        let (near, far) = scenario.first_links(flow);
        let draws = Stream::named(scenario.seed, &format!("flow.{index}"));
        let hosts = (
            Host { seed: draws.at(0), ..host(&config.sender, scenario.ip, near.mtu, config.mss()) },
            Host {
                seed: draws.at(1),
                ..host(&config.receiver, scenario.ip, far.mtu, config.mss())
            },
        );
        Self {
            sender: Socket::listen(hosts.0, flow.start),
            receiver: Socket::listen(hosts.1, flow.start),
            hosts,
            start: flow.start,
            is_started: false,
            is_writing: false,
            wanted: scenario.until.bytes.map(Bytes::get),
            is_finished: false,
            syns: (None, None),
            sent: Meter::new(near),
            answered: Meter::new(far),
            sizes: Sizes::new(scenario, flow, &config),
            round_trips: Histogram::default(),
            account: Account::new(flow.start),
            reader: config.receiver.read_rate.map(SlowReader::new),
        }
    }

    /// Payload that is acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.sender.acknowledged()
    }

    /// A segment has come to the sender, or to the receiver; gives whether the flow is complete now.
    pub(super) fn on_segment(&mut self, now: Time, to_sender: bool, segment: &Segment) -> bool {
        let syn = if to_sender { self.syns.1 } else { self.syns.0 };
        let packet = packet_of(segment, syn);
        if !to_sender {
            self.receiver.on_packet(now, &packet);
            self.read(now);
            return false;
        }
        // Nothing that comes to the receiver changes what is summed.
        self.account(now);
        self.sender.on_packet(now, &packet);
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

    /// The receiver's application reads what there is, or what it may by now.
    #[inline]
    fn read(&mut self, now: Time) {
        let readable = self.receiver.readable();
        if readable == 0 {
            return;
        }
        let most = match &mut self.reader {
            None => u64::MAX,
            Some(reader) => reader.read(now, readable),
        };
        if most > 0 {
            self.receiver.read(now, most);
        }
    }

    /// It begins, or timers expire.
    pub(super) fn on_timer(&mut self, now: Time) {
        if !self.is_started {
            self.is_started = true;
            self.sender = Socket::connect(self.hosts.0, now);
            return;
        }
        self.account(now);
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now);
        }
        if self.receiver.next_timer() <= now {
            self.receiver.on_timer(now);
        }
        if self.reader.is_some() {
            self.read(now);
        }
    }

    /// When something happens to it by itself.
    pub(super) fn deadline(&self) -> Time {
        if self.is_started {
            let timers = self.sender.next_timer().min(self.receiver.next_timer());
            match &self.reader {
                Some(reader) if self.receiver.readable() > 0 => timers.min(reader.next()),
                _ => timers,
            }
        } else {
            self.start
        }
    }

    /// A hop tells the sender that its packets do not fit.
    pub(super) fn on_path_mtu(&mut self, now: Time, mtu: Mtu) {
        self.sender.on_path_mtu(now, mtu.bytes().get());
    }

    /// The next segment that the sender, or the receiver, puts on its wire, and its packet.
    #[inline(always)]
    pub(super) fn poll_transmit(
        &mut self,
        of_sender: bool,
        options_pool: &mut OptionsPool,
    ) -> Option<(Segment, IpPacket)> {
        let (socket, syn, meter) = if of_sender {
            (&mut self.sender, &mut self.syns.0, &mut self.sent)
        } else {
            (&mut self.receiver, &mut self.syns.1, &mut self.answered)
        };
        let packet = socket.next_packet()?;
        if packet.syn.is_some() {
            *syn = packet.syn;
        }
        let segment = segment_of(packet, options_pool);
        let shape = self.sizes.packet(&segment);
        meter.count(shape);
        Some((segment, shape))
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

    /// Its state for those who watch.
    pub(super) fn sample(&self, at: Time, flow: usize, queue: Time) -> Sample {
        account::sample(&self.sender, at, flow, queue, Bytes::new(self.acknowledged()))
    }
}
