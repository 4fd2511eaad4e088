//! A bulk flow between two hosts that have Linux's own TCP.

use super::meter::Meter;
use super::sizes::Sizes;
use crate::engine::Sample;
use crate::framing::IpPacket;
use crate::rng::Stream;
use crate::scenario::{Flow, Scenario};
use crate::settings::{CongestionName, LinuxRules, Settings};
use crate::stats::Histogram;
use crate::tcp::linux::{Algorithm, Blocks, Host, Packet, Socket, Stamps, SynOptions};
use crate::tcp::{Config, OptionsPool, SackBlocks, Segment, Timestamps};
use crate::units::{Bytes, Mtu, Time};

/// Two sockets and what is counted of them.
#[derive(Debug)]
pub(super) struct LinuxConnection {
    pub(super) sender: Socket,
    pub(super) receiver: Socket,
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
    pub(super) round_trips: Histogram,
    /// Time under each limit, in the order of `Limit::ALL`, up to `accounted`.
    pub(super) limited: [Time; 6],
    pub(super) flight_byte_nanos: u128,
    accounted: Time,
}

impl LinuxConnection {
    /// The flow with this index.
    pub(super) fn new(scenario: &Scenario, flow: &Flow, index: u32) -> Self {
        let config = Config::one_way(scenario, flow);
        let (near, far) = scenario.first_links(flow);
        let draws = Stream::named(scenario.seed, &format!("flow.{index}"));
        let hosts = (
            Host { seed: draws.at(0), ..host(&config.sender, near.mtu) },
            Host { seed: draws.at(1), ..host(&config.receiver, far.mtu) },
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
            limited: [Time::ZERO; 6],
            flight_byte_nanos: 0,
            accounted: flow.start,
        }
    }

    /// Payload that is acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.sender.acknowledged()
    }

    /// A segment has come to the sender, or to the receiver; gives whether the flow is complete now.
    pub(super) fn on_segment(&mut self, now: Time, to_sender: bool, segment: &Segment) -> bool {
        self.account(now);
        let syn = if to_sender { self.syns.1 } else { self.syns.0 };
        let packet = packet_of(segment, syn);
        if !to_sender {
            self.receiver.on_packet(now, &packet);
            if self.receiver.readable() > 0 {
                self.receiver.read(now, u64::MAX);
            }
            return false;
        }
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
    }

    /// When something happens to it by itself.
    pub(super) fn deadline(&self) -> Time {
        if self.is_started {
            self.sender.next_timer().min(self.receiver.next_timer())
        } else {
            self.start
        }
    }

    /// A hop tells the sender that its packets do not fit.
    pub(super) fn on_path_mtu(&mut self, now: Time, mtu: Mtu) {
        self.sender.on_path_mtu(now, mtu.bytes().get());
    }

    /// The next segment that the sender, or the receiver, puts on its wire, and its packet.
    #[inline]
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
        let packet = socket.poll_transmit()?;
        if packet.syn.is_some() {
            *syn = packet.syn;
        }
        let segment = segment_of(&packet, options_pool);
        let shape = self.sizes.packet(&segment);
        meter.count(shape);
        Some((segment, shape))
    }

    /// Brings what is summed over time up to `now`.
    #[inline]
    pub(super) fn account(&mut self, now: Time) {
        let span = now.since(self.accounted);
        if span == Time::ZERO {
            return;
        }
        self.accounted = now;
        let bytes = self.sender.flight() * self.sender.mss();
        self.flight_byte_nanos += u128::from(bytes) * u128::from(span.as_nanos());
        let (has_unsent, room) = self.sender.unsent();
        // In the order of `Limit::ALL`.
        let limit = if self.sender.is_in_loss() {
            5
        } else if !has_unsent && self.is_writing && self.wanted.is_some() {
            0
        } else if has_unsent && room < self.sender.mss() {
            2
        } else if self.sender.is_in_first_slow_start() {
            1
        } else {
            4
        };
        self.limited[limit] += span;
    }

    /// Its state for those who watch.
    pub(super) fn sample(&self, at: Time, flow: usize, queue: Time) -> Sample {
        let info = self.sender.info();
        let segments = |count: u64| Bytes::new(count * self.sender.mss());
        let micros = |micros: u64| Time::from_nanos(micros * 1000);
        Sample {
            at,
            flow,
            cwnd: segments(info.cwnd),
            window: Bytes::new(info.snd_wnd),
            in_flight: segments(
                (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost),
            ),
            srtt: (info.srtt > 0).then(|| micros(info.srtt)),
            rto: micros(info.rto),
            queue,
            acknowledged: Bytes::new(self.acknowledged()),
        }
    }
}

/// The host with these settings, whose first link takes packets of `mtu` bytes.
fn host(settings: &Settings, mtu: Mtu) -> Host {
    let base = Host::default();
    let Some(rules) = &settings.linux else { return base };
    let LinuxRules { hystart, .. } = *rules;
    Host {
        congestion: match settings.congestion {
            CongestionName::Reno | CongestionName::Ns2Reno => Algorithm::Reno,
            CongestionName::Cubic => Algorithm::Cubic { hystart },
            CongestionName::Bbr => Algorithm::Bbr,
        },
        tcp_sack: settings.sack,
        tcp_timestamps: settings.timestamps,
        tcp_recovery: rules.tcp_recovery,
        tcp_early_retrans: rules.tcp_early_retrans,
        tcp_frto: rules.tcp_frto,
        tcp_slow_start_after_idle: rules.tcp_slow_start_after_idle,
        tcp_rmem: rules.tcp_rmem,
        tcp_wmem: rules.tcp_wmem,
        maxseg: settings.mss.map(|mss| mss.bytes().get()),
        mtu: mtu.bytes().get(),
        hz: u64::from(rules.hz),
        ..base
    }
}

/// As links and captures know it.
#[inline]
fn segment_of(packet: &Packet, options_pool: &mut OptionsPool) -> Segment {
    let mut sack = SackBlocks::NONE;
    for &(start, end) in packet.sack.as_slice() {
        sack.push(packet.ack, start, end);
    }
    let timestamps = packet.stamps.map(|Stamps { value, echo }| Timestamps {
        value: Time::from_millis(value),
        echo: Time::from_millis(echo),
    });
    Segment {
        seq: packet.seq,
        ack: packet.ack,
        window: u32::try_from(packet.window).unwrap_or(u32::MAX),
        len: u16::try_from(packet.len).unwrap_or(u16::MAX),
        syn: packet.syn.is_some(),
        repeated: packet.repeated,
        push: packet.push,
        options: options_pool.fill(sack, timestamps),
        ..Segment::EMPTY
    }
}

/// As sockets know it; `syn` is what a SYN of its sender says.
#[inline]
fn packet_of(segment: &Segment, syn: Option<SynOptions>) -> Packet {
    let mut sack = Blocks::default();
    for block in segment.sack().iter(segment.ack) {
        sack.push(block);
    }
    let millis = |time: Time| time.as_nanos() / 1_000_000;
    Packet {
        seq: segment.seq,
        ack: segment.ack,
        len: u64::from(segment.len),
        window: u64::from(segment.window),
        push: segment.push,
        syn: syn.filter(|_| segment.syn),
        stamps: segment
            .timestamps()
            .map(|stamps| Stamps { value: millis(stamps.value), echo: millis(stamps.echo) }),
        sack,
        repeated: segment.repeated,
        alone: true,
    }
}
