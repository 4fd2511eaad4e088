//! Flows that run.

use super::datagrams::Datagrams;
use super::linux::LinuxConnection;
use super::losses::Losses;
use super::meter::Meter;
use super::request::{RequestFlow, Side};
use super::send_schedule::SendSchedule;
use super::sizes::Sizes;
use crate::framing::IpPacket;
use crate::link::HopSpan;
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::stats::Histogram;
use crate::tcp::linux;
use crate::tcp::{Config, Receiver, Segment, Sender};
use crate::units::{Bytes, Mtu, Time};

/// A packet on its way.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    pub(super) flow: u32,
    pub(super) cargo: Cargo,
    /// How many packets its sender had sent before; counted only where somebody looks.
    pub(super) number: u32,
}

impl Packet {
    pub(super) fn new(flow: u32, cargo: Cargo) -> Self {
        Self { flow, cargo, number: 0 }
    }

    /// Whether its loss is a flow's: an acknowledgement's is not.
    pub(super) fn counts(&self) -> bool {
        match &self.cargo {
            Cargo::Segment(segment) => segment.len > 0,
            Cargo::Linux(packet) => packet.len > 0,
            Cargo::Datagram { .. } | Cargo::EchoRequest { .. } | Cargo::EchoReply { .. } => true,
        }
    }
}

impl crate::link::Markable for Packet {
    fn mark(&mut self) {
        match &mut self.cargo {
            Cargo::Segment(segment) => segment.marked = true,
            Cargo::Linux(packet) => packet.flags = packet.flags.with(linux::Flags::CE, true),
            Cargo::Datagram { .. } | Cargo::EchoRequest { .. } | Cargo::EchoReply { .. } => {}
        }
    }
}

/// What a packet carries.
#[derive(Debug, Clone)]
pub(super) enum Cargo {
    Segment(Segment),
    /// Of a bulk flow between two hosts with Linux's own TCP.
    Linux(Box<linux::Packet>),
    Datagram {
        /// How many its sender had sent before.
        number: u64,
    },
    EchoRequest {
        sent: Time,
    },
    EchoReply {
        sent: Time,
    },
}

impl From<Segment> for Cargo {
    fn from(segment: Segment) -> Self {
        Self::Segment(segment)
    }
}

impl From<Box<linux::Packet>> for Cargo {
    fn from(packet: Box<linux::Packet>) -> Self {
        Self::Linux(packet)
    }
}

impl Cargo {
    /// Whether a queue may mark it instead of dropping it.
    pub(super) fn is_markable(&self) -> bool {
        match self {
            Self::Segment(segment) => segment.markable,
            Self::Linux(packet) => packet.flags.has(linux::Flags::ECT),
            Self::Datagram { .. } | Self::EchoRequest { .. } | Self::EchoReply { .. } => false,
        }
    }
}

/// How long links and hosts were busy up to a time.
#[derive(Debug, Clone, Default)]
pub(super) struct BusyTimes {
    /// Of each link, in the order in which packets cross them: towards the receiver, and towards the sender.
    pub(super) links: [Vec<Time>; 2],
    /// The busier of the flow's hosts.
    pub(super) host: Time,
}

/// A flow with its two ends.
#[derive(Debug)]
pub(super) struct RunningFlow {
    pub(super) from: End,
    pub(super) start: Time,
    /// How long everything on its way was busy before it started; `None` for not at all.
    pub(super) busy_before: Option<Box<BusyTimes>>,
    pub(super) traffic: Traffic,
    pub(super) losses: Losses,
    pub(super) hop_spans: HopSpans,
}

/// The effect of a delivered packet of any flow but a bulk one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// It is counted.
    Consumed,
    /// An echo request, to be answered.
    EchoRequest { sent: Time },
    /// With it the flow is complete: the last reply has come, or all is acknowledged.
    Complete,
}

/// How the packets of a flow cross the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct HopSpans {
    /// Which flow, counted from 0.
    pub(super) flow: u32,
    from_sender: HopSpan,
    from_receiver: HopSpan,
}

impl HopSpans {
    fn new(scenario: &Scenario, flow: &Flow, index: u32) -> Self {
        Self {
            flow: index,
            from_sender: hop_span(scenario, flow, End::Sender),
            from_receiver: hop_span(scenario, flow, End::Receiver),
        }
    }

    /// The host at `end` sends without DF.
    const fn allow_fragments(&mut self, end: End) {
        match end {
            End::Sender => self.from_sender.df = false,
            End::Receiver => self.from_receiver.df = false,
        }
    }

    /// How a packet that knows ECN, or does not, crosses the path from the host at `end`.
    pub(super) fn from(&self, end: End, ect: bool) -> HopSpan {
        let hop_span = match end {
            End::Sender => self.from_sender,
            End::Receiver => self.from_receiver,
        };
        HopSpan { ect, ..hop_span }
    }
}

/// What a flow consists of.
#[derive(Debug)]
pub(super) enum Traffic {
    Tcp(Box<Connection>),
    Linux(Box<LinuxConnection>),
    Datagrams(Datagrams),
    Echo(Echo),
    Requests(Box<RequestFlow>),
}

/// A TCP connection with one-way data.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) started: bool,
    /// All that was to be sent is acknowledged.
    pub(super) finished: bool,
    /// What each end put on its own wire.
    pub(super) sent: Meter,
    pub(super) answered: Meter,
    pub(super) sizes: Sizes,
}

/// Echo requests.
#[derive(Debug)]
pub(super) struct Echo {
    pub(super) packet: IpPacket,
    pub(super) schedule: SendSchedule,
    pub(super) sent: u64,
    pub(super) answered_at_far_end: u64,
    pub(super) round_trips: Histogram,
}

impl RunningFlow {
    pub(super) fn new(scenario: &Scenario, flow: &Flow, index: u32) -> Self {
        let traffic = match flow.kind {
            FlowKind::Bulk if scenario.runs_linux(flow) => {
                Traffic::Linux(Box::new(LinuxConnection::new(scenario, flow, index)))
            }
            FlowKind::Bulk => Traffic::Tcp(Box::new(Connection::new(scenario, flow))),
            FlowKind::Cbr { size, header, rate, counted } => {
                let schedule = SendSchedule::at_rate(flow, rate, counted);
                Traffic::Datagrams(Datagrams::new(size, header, schedule))
            }
            FlowKind::Ping { size, header, interval } => Traffic::Echo(Echo {
                packet: IpPacket::from(size + header),
                schedule: SendSchedule::at_interval(flow, interval),
                sent: 0,
                answered_at_far_end: 0,
                round_trips: Histogram::default(),
            }),
            FlowKind::Request(requests) => {
                Traffic::Requests(Box::new(RequestFlow::new(scenario, flow, index, requests)))
            }
        };
        Self {
            from: flow.from,
            start: flow.start,
            busy_before: None,
            traffic,
            losses: Losses::default(),
            hop_spans: HopSpans::new(scenario, flow, index),
        }
    }

    /// A packet of this flow as links see it.
    pub(super) fn shape(&self, packet: &Packet) -> IpPacket {
        match (&self.traffic, &packet.cargo) {
            (Traffic::Tcp(connection), Cargo::Segment(segment)) => connection.sizes.packet(segment),
            (Traffic::Linux(connection), Cargo::Linux(packet)) => connection.sizes.of_linux(packet),
            (Traffic::Datagrams(datagrams), _) => datagrams.packet,
            (Traffic::Echo(echo), _) => echo.packet,
            (Traffic::Requests(requests), Cargo::Segment(segment)) => {
                requests.sizes().packet(segment)
            }
            (Traffic::Requests(_), _) => IpPacket::NONE,
            (Traffic::Tcp(connection), _) => connection.sizes.header(),
            (Traffic::Linux(connection), _) => connection.sizes.header(),
        }
    }

    /// A packet reaches the host at `end` that is of no bulk flow: apart, so that those pay nothing for it.
    #[cold]
    pub(super) fn on_packet(&mut self, now: Time, end: End, cargo: &Cargo) -> Delivery {
        match (&mut self.traffic, cargo) {
            (Traffic::Requests(requests), Cargo::Segment(segment)) => {
                if requests.on_segment(now, Side::of(end, self.from), segment) {
                    return Delivery::Complete;
                }
            }
            (Traffic::Datagrams(datagrams), Cargo::Datagram { number }) => {
                datagrams.on_arrival(*number);
            }
            (Traffic::Echo(echo), Cargo::EchoRequest { sent }) => {
                echo.answered_at_far_end += 1;
                return Delivery::EchoRequest { sent: *sent };
            }
            (Traffic::Echo(echo), Cargo::EchoReply { sent }) => {
                echo.round_trips.record(now - *sent);
            }
            (_, cargo) => unreachable!("a flow carries its own kind of packet, not {cargo:?}"),
        }
        Delivery::Consumed
    }

    /// A hop tells the end at `to` that a packet was larger than `mtu` and had DF set. Gives whether that end sends without DF
    /// from now on.
    pub(super) fn on_frag_needed(&mut self, now: Time, to: End, mtu: Mtu) -> bool {
        let clears_df = match &mut self.traffic {
            Traffic::Requests(requests) => {
                requests.on_frag_needed(now, Side::of(to, self.from), mtu)
            }
            Traffic::Linux(connection) => connection.on_path_mtu(now, to == self.from, mtu),
            Traffic::Tcp(connection) => {
                // Acknowledgements, of 80 bytes at most in IPv4, stay as they are: no smaller ones could be sent.
                if to == self.from {
                    connection.on_frag_needed(now, mtu);
                }
                false
            }
            // Datagrams and echo requests keep their size.
            Traffic::Datagrams(_) | Traffic::Echo(_) => false,
        };
        if clears_df {
            self.hop_spans.allow_fragments(to);
        }
        clears_df
    }

    /// When something happens to it by itself.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        match &self.traffic {
            Traffic::Tcp(connection) => connection.deadline(self.start),
            Traffic::Linux(connection) => connection.deadline(),
            Traffic::Datagrams(datagrams) => datagrams.schedule.next,
            Traffic::Echo(echo) => echo.schedule.next,
            Traffic::Requests(requests) => requests.deadline(),
        }
    }
}

impl Connection {
    fn new(scenario: &Scenario, flow: &Flow) -> Self {
        let config = Config::one_way(scenario, flow);
        let (near, far) = scenario.first_links(flow);
        let mut connection = Self {
            sender: Sender::new(&config, flow.start),
            receiver: Receiver::new(&config),
            started: false,
            finished: false,
            sent: Meter::new(near),
            answered: Meter::new(far),
            sizes: Sizes::new(scenario, flow, &config),
        };
        connection.sender.write(scenario.until.bytes.unwrap_or(Bytes::new(u64::MAX)));
        connection
    }

    #[inline]
    pub(super) fn deadline(&self, start: Time) -> Time {
        if self.started {
            self.sender.next_timeout().min(self.receiver.next_timeout())
        } else {
            start
        }
    }

    /// A hop tells the data's sender that its packets do not fit (RFC 1191 §3).
    pub(super) fn on_frag_needed(&mut self, now: Time, mtu: Mtu) {
        self.sender.on_too_big(now, mtu.bytes().saturating_sub(self.sizes.overhead()));
    }
}

fn hop_span(scenario: &Scenario, flow: &Flow, from: End) -> HopSpan {
    let hops = match from {
        End::Sender => flow.hops,
        End::Receiver => flow.hops.reversed(scenario.path.hops.len()),
    };
    let index = |hop: usize| u16::try_from(hop).expect("a path has fewer hops");
    HopSpan {
        first: index(hops.first),
        last: index(hops.last),
        df: scenario.forbids_fragments_of(flow, from),
        ect: false,
    }
}
