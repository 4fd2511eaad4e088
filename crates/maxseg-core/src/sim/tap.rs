//! Every packet at every place where a capture could be taken.
//!
//! A run that nobody taps does not pay for it: the world is generic over its [`Eyes`], and those of an
//! untapped run ([`Blind`]) have empty bodies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow::{Cargo, Packet};
use crate::framing::IpPacket;
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::settings::OfferedWindow;
use crate::tcp::{Config, SackBlocks, Segment};
use crate::units::{Mss, Time};

/// Is shown every packet, wherever it passes.
pub trait Tap {
    /// A packet passes a capture point. Sightings come in order of time; of two at one instant that
    /// comes first which causes the other.
    fn on_packet(&mut self, sighting: &Sighting);
}

/// Where a packet can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturePoint {
    /// At a host: when it sends the packet, and when the packet has arrived there whole.
    Host(End),
    /// At the near end of a hop's link, in either direction: when the packet gets its place in the
    /// queue, having passed what comes before. Hops count from 0 at the sender.
    Hop(usize),
}

/// A packet at a capture point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// When, on the run's clock.
    pub at: Time,
    /// Where.
    pub point: CapturePoint,
    /// Whether the link that it enters here will damage it, so that it is seen nowhere else.
    pub damaged: bool,
    /// What is seen.
    pub packet: PacketView,
}

/// A packet as whoever looks at its headers sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketView {
    /// Which flow it belongs to, counted from 0.
    pub flow: usize,
    /// Which host sent it.
    pub from: End,
    /// How many packets that host had sent before, all flows together: it tells a packet from its
    /// repetition, and is the same at every capture point.
    pub number: u64,
    /// Length of the IP packet in bytes.
    pub ip_len: u32,
    /// Whether hops must not fragment it.
    pub dont_fragment: bool,
    /// The ECN field of its IP header (RFC 3168 §5).
    pub ecn: u8,
    /// What it carries.
    pub content: Content,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Tcp(TcpView),
    /// A datagram.
    Datagram,
    /// An echo request, the flow's `number`-th, counted from 0.
    EchoRequest {
        /// Which.
        number: u64,
    },
    /// The answer to that request.
    EchoReply {
        /// Which.
        number: u64,
    },
}

/// A TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a header")]
pub struct TcpView {
    /// Which of the flow's connections, counted from 0.
    pub connection: u16,
    /// Number of the first payload byte; 0 is the SYN. It does not wrap.
    pub seq: u64,
    /// The next byte expected from the other side; `None` while the ACK flag is off.
    pub ack: Option<u64>,
    /// The SYN flag.
    pub syn: bool,
    /// The window field: not scaled.
    pub window: u16,
    /// Payload bytes.
    pub payload: u16,
    /// The MSS option.
    pub mss: Option<u16>,
    /// The window scale option: its shift.
    pub window_scale: Option<u8>,
    /// The SACK-permitted option.
    pub sack_permitted: bool,
    /// The SACK option's blocks.
    pub sack: SackBlocks,
    /// The timestamps option: value and echo, in milliseconds of the run's clock.
    pub timestamps: Option<(u32, u32)>,
    /// The ECE flag.
    pub echoes_marks: bool,
    /// The CWR flag.
    pub reduced: bool,
    /// Bytes that the simulation charges for options which no header can carry: ns-2's SACK blocks,
    /// without what wraps them.
    pub unwrapped: u8,
    /// Whether any of it was sent before.
    pub repeated: bool,
}

/// What the world does with each packet besides carrying it.
pub(super) trait Eyes {
    /// What they keep of a packet.
    type View: Copy;
    /// Whether they see anything.
    const LOOK: bool;
    /// The host at `from` sends a packet now, which gets its number.
    fn look(&mut self, now: Time, from: End, packet: &mut Packet, shape: IpPacket) -> Self::View;
    /// The same packet somewhere else.
    fn look_again(&self, from: End, packet: &Packet, shape: IpPacket) -> Self::View;
    /// The packet will pass `point`, now or later.
    fn see(&mut self, at: Time, point: CapturePoint, damaged: bool, view: Self::View);
    /// The run ends.
    fn close(&mut self, end: Time);
}

/// Sees nothing, at no cost.
#[derive(Debug)]
pub(super) struct Blind;

impl Eyes for Blind {
    type View = ();
    const LOOK: bool = false;
    #[inline(always)]
    fn look(&mut self, _: Time, _: End, _: &mut Packet, _: IpPacket) {}
    #[inline(always)]
    fn look_again(&self, _: End, _: &Packet, _: IpPacket) {}
    #[inline(always)]
    fn see(&mut self, _: Time, _: CapturePoint, _: bool, (): ()) {}
    fn close(&mut self, _: Time) {}
}

/// Turns packets into views, and shows them in order of time: where a packet will pass is computed
/// when it is sent, before others that pass earlier.
pub(super) struct Onlooker<'a> {
    tap: &'a mut dyn Tap,
    flows: Vec<FlowFacts>,
    /// Packets sent by the sender's host and by the receiver's.
    sent: [u32; 2],
    ahead: BinaryHeap<Reverse<Ahead>>,
    seen: u64,
}

impl<'a> Onlooker<'a> {
    pub(super) fn new(scenario: &Scenario, tap: &'a mut dyn Tap) -> Self {
        let flows = scenario.flows.iter().map(|flow| FlowFacts::new(scenario, flow)).collect();
        Self { tap, flows, sent: [0; 2], ahead: BinaryHeap::new(), seen: 0 }
    }

    /// Shows everything up to `now`: what is still to be sent passes no point before.
    fn show_until(&mut self, now: Time) {
        while self.ahead.peek().is_some_and(|Reverse(next)| next.sighting.at <= now) {
            if let Some(Reverse(next)) = self.ahead.pop() {
                self.tap.on_packet(&next.sighting);
            }
        }
    }
}

impl Eyes for Onlooker<'_> {
    type View = PacketView;

    const LOOK: bool = true;

    fn look(&mut self, now: Time, from: End, packet: &mut Packet, shape: IpPacket) -> PacketView {
        self.show_until(now);
        let sent = match from {
            End::Sender => &mut self.sent[0],
            End::Receiver => &mut self.sent[1],
        };
        packet.number = *sent;
        *sent += 1;
        self.look_again(from, packet, shape)
    }

    fn look_again(&self, from: End, packet: &Packet, shape: IpPacket) -> PacketView {
        let facts = &self.flows[packet.flow as usize];
        let (is_markable, is_marked) = match &packet.cargo {
            Cargo::Segment(segment) => (segment.markable, segment.marked),
            Cargo::Datagram | Cargo::EchoRequest { .. } | Cargo::EchoReply { .. } => (false, false),
        };
        PacketView {
            flow: packet.flow as usize,
            from,
            number: u64::from(packet.number),
            ip_len: u32::try_from(shape.length().get()).unwrap_or(u32::MAX),
            dont_fragment: facts.forbids_fragments(from),
            ecn: match (is_marked, is_markable) {
                (true, _) => CONGESTION_EXPERIENCED,
                (false, true) => ECN_CAPABLE,
                (false, false) => 0,
            },
            content: facts.content(from, &packet.cargo),
        }
    }

    fn see(&mut self, at: Time, point: CapturePoint, damaged: bool, packet: PacketView) {
        let sighting = Sighting { at, point, damaged, packet };
        self.ahead.push(Reverse(Ahead { order: self.seen, sighting }));
        self.seen += 1;
    }

    fn close(&mut self, end: Time) {
        self.show_until(end);
    }
}

/// A sighting to come; in order of time, and then as they were computed.
#[derive(Debug)]
struct Ahead {
    order: u64,
    sighting: Sighting,
}

impl Ahead {
    const fn key(&self) -> (u64, u64) {
        (self.sighting.at.as_nanos(), self.order)
    }
}

impl Ord for Ahead {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Ahead {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ahead {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Ahead {}

/// What the headers of a flow's packets say beyond what the simulation carries along.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct FlowFacts {
    from: End,
    /// Whether both ends send data.
    is_two_way: bool,
    start: Time,
    /// From one echo request to the next.
    interval: Time,
    /// Whether headers have options; a simulator's stack without a window field has none.
    speaks: bool,
    sack: bool,
    ecn: bool,
    /// Whether the sender's host sets DF, and the receiver's.
    df: [bool; 2],
    /// The data's sender and its receiver.
    sender: HostFacts,
    receiver: HostFacts,
}

/// The codepoints CE and ECT(0) (RFC 3168 §5).
const CONGESTION_EXPERIENCED: u8 = 0b11;
const ECN_CAPABLE: u8 = 0b10;

/// What one end of a connection says of itself.
#[derive(Debug)]
struct HostFacts {
    mss: Option<u16>,
    window: OfferedWindow,
}

impl FlowFacts {
    fn new(scenario: &Scenario, flow: &Flow) -> Self {
        let decision = scenario.mss(flow);
        let is_two_way = matches!(flow.kind, FlowKind::Request(_));
        let (config, back) = if is_two_way {
            Config::both_ways(scenario, flow)
        } else {
            let (sender, receiver) = scenario.endpoints(flow);
            let config = Config {
                sender: sender.clone(),
                receiver: receiver.clone(),
                mss: decision.initial,
            };
            (config.clone(), config)
        };
        let (sender, receiver) = (&config.sender, &config.receiver);
        let mut at_sender = sender.window_field(back.mss());
        let at_receiver = receiver.window_field(config.mss());
        // The option counts only when both ends send it (RFC 7323 §2.2); where data goes one way the
        // simulation goes by the receiver's, the only one whose window matters.
        at_sender.shift = at_receiver.shift.map(|_| at_sender.shift.unwrap_or(0));
        // A simulator's stack without a window field has no options either.
        let speaks = config.has_options() && back.has_options();
        let option = |mss: Mss| u16::try_from(mss.bytes().get()).ok().filter(|_| speaks);
        Self {
            from: flow.from,
            is_two_way,
            start: flow.start,
            speaks,
            sack: config.uses_sack(),
            ecn: config.uses_ecn(),
            df: [End::Sender, End::Receiver].map(|end| scenario.forbids_fragments(end)),
            interval: match flow.kind {
                FlowKind::Ping { interval, .. } => interval,
                FlowKind::Bulk | FlowKind::Cbr { .. } | FlowKind::Request(_) => Time::NEVER,
            },
            sender: HostFacts { mss: option(decision.offered_by_sender), window: at_sender },
            receiver: HostFacts { mss: option(decision.offered_by_receiver), window: at_receiver },
        }
    }

    fn content(&self, from: End, cargo: &Cargo) -> Content {
        match cargo {
            Cargo::Segment(segment) => Content::Tcp(self.tcp(from, segment)),
            Cargo::Datagram => Content::Datagram,
            Cargo::EchoRequest { sent } => Content::EchoRequest { number: self.echo(*sent) },
            Cargo::EchoReply { sent } => Content::EchoReply { number: self.echo(*sent) },
        }
    }

    const fn forbids_fragments(&self, from: End) -> bool {
        self.df[match from {
            End::Sender => 0,
            End::Receiver => 1,
        }]
    }

    /// Which request was sent at `sent`: they go at whole intervals from the start on.
    const fn echo(&self, sent: Time) -> u64 {
        sent.since(self.start).as_nanos() / self.interval.as_nanos()
    }

    fn tcp(&self, from: End, segment: &Segment) -> TcpView {
        let sends_data = from == self.from;
        let host = if sends_data { &self.sender } else { &self.receiver };
        let window = match (sends_data && !self.is_two_way, segment.syn) {
            (false, _) => segment.window,
            // The data's sender receives nothing, so its segments carry no window of its own.
            (true, true) => host.window.in_syn,
            (true, false) => host.window.afterwards,
        };
        let shift = host.window.shift.filter(|_| !segment.syn).unwrap_or(0);
        TcpView {
            connection: segment.connection,
            seq: segment.seq,
            ack: (segment.ack > 0).then_some(segment.ack),
            syn: segment.syn,
            window: u16::try_from(window >> shift).unwrap_or(u16::MAX),
            payload: segment.len,
            mss: host.mss.filter(|_| segment.syn),
            window_scale: host.window.shift.filter(|_| segment.syn && self.speaks),
            sack_permitted: self.sack && self.speaks && segment.syn,
            sack: if self.speaks { segment.sack() } else { SackBlocks::NONE },
            timestamps: segment
                .timestamps()
                .filter(|_| self.speaks)
                .map(|timestamps| (clock(timestamps.value), clock(timestamps.echo))),
            // RFC 3168 §6.1.1: both flags in a SYN ask for ECN, one in its answer agrees.
            echoes_marks: segment.echoes_marks || (self.ecn && segment.syn),
            reduced: segment.reduced || (self.ecn && segment.syn && sends_data),
            unwrapped: if self.speaks {
                0
            } else {
                u8::try_from(segment.sack().bytes().get()).unwrap_or(0)
            },
            repeated: segment.repeated,
        }
    }
}

/// A clock that ticks in milliseconds, as most stacks' does, and wraps.
#[expect(clippy::cast_possible_truncation, reason = "the field wraps")]
const fn clock(at: Time) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}
