//! One end of a request flow's connection: of the stack that most hosts share, or of Linux's own.

use super::super::linux::LinuxEnd;
use super::super::sample::sample_of;
use super::Side;
use crate::engine::Sample;
use crate::evidence::SocketInfo;
use crate::mss::linux::PathMtu;
use crate::rng::Stream;
use crate::tcp::linux::{Host, SynOptions};
use crate::tcp::{Config, Endpoint, OptionsPool, ReceiverStats, Segment, SenderStats};
use crate::units::{Bytes, Mtu, Time};

/// What the two ends agree on, by which of them is set up.
#[derive(Debug)]
pub(super) enum Setup {
    /// For requests, and for replies.
    Shared(Box<(Config, Config)>),
    /// The client's host and the server's, what they remember of the path's MTU, and the stream from which connections draw.
    Linux { hosts: Box<[Host; 2]>, path_mtus: [Option<Remembered>; 2], draws: Stream },
}

/// A path MTU that a host has learned: all connections to the same peer go by it (`struct fib_nh_exception`,
/// `net/ipv4/route.c`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Remembered {
    mtu: Mtu,
    until: Time,
}

/// `net.ipv4.route.mtu_expires`.
const MTU_EXPIRES: Time = Time::from_secs(600);

/// One end.
#[derive(Debug)]
pub(in crate::sim) enum StackEndpoint {
    Shared(Box<Endpoint>),
    Linux(Box<LinuxEnd>),
}

impl Setup {
    /// The client's end of a new connection, whose SYN goes at once.
    pub(super) fn connect(&self, connection: u16, now: Time) -> StackEndpoint {
        match self {
            Self::Shared(configs) => StackEndpoint::Shared(Box::new(Endpoint::connect(
                &configs.0, &configs.1, connection, now,
            ))),
            Self::Linux { hosts, path_mtus, draws } => {
                let seed = draws.at(2 * u64::from(connection));
                let host = host_now(hosts[0], path_mtus[0], now);
                StackEndpoint::Linux(Box::new(LinuxEnd::connect(host, seed, connection, now)))
            }
        }
    }

    /// A router tells the host at `side` that packets may have `told` bytes at most, which connections to come go by as well. Gives
    /// whether packets go without DF from now on.
    pub(super) fn learn(&mut self, now: Time, side: Side, told: Mtu) -> bool {
        let Self::Linux { hosts, path_mtus, .. } = self else { return false };
        let index = match side {
            Side::Client => 0,
            Side::Server => 1,
        };
        let PathMtu { mtu, clears_df } = host_now(hosts[index], path_mtus[index], now).learn(told);
        // Where DF is cleared no router tells of anything again: that is kept to the end.
        let until = if clears_df { Time::NEVER } else { now.saturating_add(MTU_EXPIRES) };
        path_mtus[index] = Some(Remembered { mtu, until });
        clears_df
    }

    /// The server's end, by the client's SYN; `said` is what that said.
    pub(super) fn accept(
        &self,
        now: Time,
        syn: &Segment,
        said: Option<SynOptions>,
    ) -> StackEndpoint {
        match self {
            Self::Shared(configs) => {
                StackEndpoint::Shared(Box::new(Endpoint::accept(&configs.1, &configs.0, now, syn)))
            }
            Self::Linux { hosts, path_mtus, draws } => {
                let seed = draws.at(2 * u64::from(syn.connection) + 1);
                let host = host_now(hosts[1], path_mtus[1], now);
                let mut end = Box::new(LinuxEnd::listen(host, seed, syn.connection, now));
                end.on_segment(now, syn, said);
                StackEndpoint::Linux(end)
            }
        }
    }
}

/// The host as a connection finds it that begins now.
fn host_now(host: Host, path_mtu: Option<Remembered>, now: Time) -> Host {
    match path_mtu.filter(|path| now < path.until) {
        Some(Remembered { mtu, .. }) => Host { mtu: host.mtu.min(mtu.bytes().get()), ..host },
        None => host,
    }
}

macro_rules! each {
    ($self:ident, $end:ident => $do:expr) => {
        match $self {
            Self::Shared($end) => $do,
            Self::Linux($end) => $do,
        }
    };
}

impl StackEndpoint {
    /// The application has `payload` more to send.
    pub(super) fn write(&mut self, now: Time, payload: Bytes) {
        match self {
            Self::Shared(end) => end.write(payload),
            Self::Linux(end) => end.write(now, payload),
        }
    }

    /// A segment of this connection has come; `said` is what its sender's SYN said.
    pub(super) fn on_segment(&mut self, now: Time, segment: &Segment, said: Option<SynOptions>) {
        match self {
            Self::Shared(end) => end.on_segment(now, segment),
            Self::Linux(end) => end.on_segment(now, segment, said),
        }
    }

    /// What its last SYN said besides what segments carry.
    pub(super) fn said(&self) -> Option<SynOptions> {
        match self {
            Self::Shared(_) => None,
            Self::Linux(end) => end.said(),
        }
    }

    /// Timers that are due expire.
    pub(super) fn on_timeout(&mut self, now: Time) {
        match self {
            Self::Shared(end) => end.on_timeout(now),
            Self::Linux(end) => end.on_timer(now),
        }
    }

    /// When a timer expires.
    pub(super) fn next_timeout(&self) -> Time {
        match self {
            Self::Shared(end) => end.next_timeout(),
            Self::Linux(end) => end.next_timer(),
        }
    }

    /// The next segment to send, if any may go.
    pub(super) fn poll_transmit(&mut self, now: Time, pool: &mut OptionsPool) -> Option<Segment> {
        match self {
            Self::Shared(end) => end.poll_transmit(now, pool),
            Self::Linux(end) => end.poll_transmit(pool),
        }
    }

    /// The path takes packets of `mtu` at most, `overhead` of each without payload.
    pub(super) fn on_path_mtu(&mut self, now: Time, mtu: Mtu, overhead: Bytes) {
        match self {
            Self::Shared(end) => end.on_too_big(now, mtu.bytes().saturating_sub(overhead)),
            Self::Linux(end) => end.on_path_mtu(now, mtu),
        }
    }

    /// What has come is acknowledged now, as a FIN would.
    pub(super) fn acknowledge_at_once(&mut self) {
        each!(self, end => end.acknowledge_at_once());
    }

    /// Whether the handshake is done as far as this end knows.
    pub(super) fn is_open(&self) -> bool {
        each!(self, end => end.is_open())
    }

    /// Payload bytes that have come in order.
    pub(super) fn delivered(&self) -> Bytes {
        each!(self, end => end.delivered())
    }

    /// Payload bytes that are acknowledged.
    pub(super) fn acknowledged(&self) -> Bytes {
        match self {
            Self::Shared(end) => end.sender().acknowledged(),
            Self::Linux(end) => end.acknowledged(),
        }
    }

    /// Payload of a full segment.
    pub(super) fn mss(&self) -> Bytes {
        match self {
            Self::Shared(end) => end.sender().mss(),
            Self::Linux(end) => end.mss(),
        }
    }

    /// Which of the flow's connections it is an end of.
    pub(super) fn connection(&self) -> u16 {
        each!(self, end => end.connection())
    }

    /// Brings what is summed over time up to `now`, and adds what it sent and what it saw.
    pub(super) fn finish(&mut self, now: Time, sent: &mut SenderStats, seen: &mut ReceiverStats) {
        match self {
            Self::Shared(end) => {
                end.account(now);
                sent.add(end.sender().stats());
                seen.add(end.receiver().stats());
            }
            Self::Linux(end) => {
                end.account(now);
                end.add_to(sent, seen);
            }
        }
    }

    /// What its socket tells of itself, where it is Linux's.
    pub(in crate::sim) fn socket_info(&self, at: Time) -> Option<SocketInfo> {
        match self {
            Self::Shared(_) => None,
            Self::Linux(end) => Some(end.socket_info(at)),
        }
    }

    /// Its state for those who watch.
    pub(in crate::sim) fn sample(
        &self,
        at: Time,
        flow: usize,
        queue: Time,
        acknowledged: Bytes,
    ) -> Sample {
        match self {
            Self::Shared(end) => sample_of(end.sender(), at, flow, queue, acknowledged),
            Self::Linux(end) => end.sample(at, flow, queue, acknowledged),
        }
    }
}
