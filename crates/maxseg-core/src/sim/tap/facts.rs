//! What headers say of a flow beyond what the simulation carries along.

use super::super::flow::Cargo;
use super::super::linux::segment_of;
use super::view::{Content, TcpView};
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::settings::{OfferedWindow, SocketMemory};
use crate::tcp::{Config, OptionsPool, SackBlocks, Segment};
use crate::units::{Mss, Time};

/// What the headers of a flow's packets say beyond what the simulation carries along.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct FlowFacts {
    from: End,
    /// Whether segments of the data's sender carry its window: where data go both ways, or hosts have sockets that could receive.
    has_two_windows: bool,
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

/// What one end of a connection says of itself.
#[derive(Debug)]
struct HostFacts {
    mss: Option<u16>,
    window: OfferedWindow,
}

impl FlowFacts {
    pub(super) fn new(scenario: &Scenario, flow: &Flow) -> Self {
        let decision = scenario.mss(flow);
        let is_two_way = matches!(flow.kind, FlowKind::Request(_));
        let (config, back) = if is_two_way {
            Config::both_ways(scenario, flow)
        } else {
            let config = Config::one_way(scenario, flow);
            (config.clone(), config)
        };
        let (sender, receiver) = (&config.sender, &config.receiver);
        let mut at_sender = sender.window_field(back.mss());
        let mut at_receiver = receiver.window_field(config.mss());
        // The option counts only when both ends send it (RFC 7323 §2.2); where data goes one way the
        // simulation goes by the receiver's, the only one whose window matters.
        at_sender.shift = at_receiver.shift.map(|_| at_sender.shift.unwrap_or(0));
        let runs_linux = scenario.runs_linux(flow);
        if runs_linux {
            let shift = |host, mss| Some(SocketMemory::of(host, mss).window_shift());
            at_sender.shift = at_sender.shift.and(shift(sender, back.mss()));
            at_receiver.shift = at_receiver.shift.and(shift(receiver, config.mss()));
        }
        // A simulator's stack without a window field has no options either.
        let speaks = config.has_options() && back.has_options();
        let option = |mss: Option<Mss>| mss.map(Mss::get).filter(|_| speaks);
        Self {
            from: flow.from,
            has_two_windows: is_two_way || runs_linux,
            start: flow.start,
            speaks,
            sack: config.uses_sack(),
            // Linux's packets carry their flags themselves.
            ecn: config.uses_ecn() && !runs_linux,
            df: [End::Sender, End::Receiver].map(|end| scenario.forbids_fragments_of(flow, end)),
            interval: match flow.kind {
                FlowKind::Ping { interval, .. } => interval,
                FlowKind::Bulk | FlowKind::Cbr { .. } | FlowKind::Request(_) => Time::NEVER,
            },
            sender: HostFacts { mss: option(decision.offered_by_sender), window: at_sender },
            receiver: HostFacts { mss: option(decision.offered_by_receiver), window: at_receiver },
        }
    }

    pub(super) fn content(&self, from: End, cargo: &Cargo) -> Content {
        match cargo {
            Cargo::Segment(segment) => Content::Tcp(self.tcp(from, segment)),
            Cargo::Linux(packet) => {
                Content::Tcp(self.tcp(from, &segment_of(packet, &mut OptionsPool::default())))
            }
            Cargo::Datagram { .. } => Content::Datagram,
            Cargo::EchoRequest { sent } => Content::EchoRequest { number: self.echo(*sent) },
            Cargo::EchoReply { sent } => Content::EchoReply { number: self.echo(*sent) },
        }
    }

    pub(super) const fn forbids_fragments(&self, from: End) -> bool {
        self.df[match from {
            End::Sender => 0,
            End::Receiver => 1,
        }]
    }

    /// The host at `end` sends without DF.
    pub(super) const fn allow_fragments(&mut self, end: End) {
        self.df[match end {
            End::Sender => 0,
            End::Receiver => 1,
        }] = false;
    }

    /// Which request was sent at `sent`: they go at whole intervals from the start on.
    const fn echo(&self, sent: Time) -> u64 {
        sent.since(self.start).as_nanos() / self.interval.as_nanos()
    }

    fn tcp(&self, from: End, segment: &Segment) -> TcpView {
        let sends_data = from == self.from;
        let host = if sends_data { &self.sender } else { &self.receiver };
        let window = match (sends_data && !self.has_two_windows, segment.syn) {
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
            push: segment.push,
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
