//! One end of a connection with data in both directions, for requests and replies.

use super::account::{Account, sample, seen as seen_by};
use super::convert::{host, packet_of, segment_of};
use crate::engine::Sample;
use crate::evidence::SocketInfo;
use crate::framing::IpVersion;
use crate::settings::Settings;
use crate::stats::Histogram;
use crate::tcp::linux::{Host, Socket, SynOptions};
use crate::tcp::{OptionsPool, ReceiverStats, Segment, SenderStats};
use crate::units::{Bytes, Mtu, Time};

/// A socket, its peer's view of it, and what is counted.
#[derive(Debug)]
pub(in crate::sim) struct LinuxEnd {
    socket: Socket,
    /// Which of the flow's connections it is an end of.
    connection: u16,
    /// What its last SYN said.
    said: Option<SynOptions>,
    account: Account,
    round_trips: Histogram,
}

impl LinuxEnd {
    /// The host of such an end: its program asks for no delay (`TCP_NODELAY`), as the lab's does.
    pub(in crate::sim) fn host(settings: &Settings, ip: IpVersion, mtu: Mtu, mss: Bytes) -> Host {
        Host { nodelay: true, is_watched: true, ..host(settings, ip, mtu, mss) }
    }

    /// The active open; `seed` is what the connection draws from.
    pub(in crate::sim) fn connect(host: Host, seed: u64, connection: u16, now: Time) -> Self {
        Self::of(Socket::connect(Host { seed, ..host }, now), connection, now)
    }

    /// The passive open, which waits for the SYN.
    pub(in crate::sim) fn listen(host: Host, seed: u64, connection: u16, now: Time) -> Self {
        Self::of(Socket::listen(Host { seed, ..host }, now), connection, now)
    }

    fn of(socket: Socket, connection: u16, now: Time) -> Self {
        let account = Account::new(now);
        Self { socket, connection, said: None, account, round_trips: Histogram::default() }
    }

    /// The application has so much more to send.
    pub(in crate::sim) fn write(&mut self, now: Time, payload: Bytes) {
        self.account(now);
        self.socket.write(now, payload.get());
    }

    /// A segment of this connection has come; `said` is what its sender's SYN said. What it brings is read at once.
    pub(in crate::sim) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        said: Option<SynOptions>,
    ) {
        self.account(now);
        self.socket.on_packet(now, &packet_of(segment, said));
        if let Some(micros) = self.socket.take_round_trip() {
            self.round_trips.record(Time::from_nanos(micros * 1000));
        }
        if self.socket.readable() > 0 {
            self.socket.read(now, u64::MAX);
        }
    }

    /// Timers that are due expire.
    pub(in crate::sim) fn on_timer(&mut self, now: Time) {
        if self.socket.next_timer() <= now {
            self.account(now);
            self.socket.on_timer(now);
        }
    }

    /// When a timer expires.
    pub(in crate::sim) fn next_timer(&self) -> Time {
        self.socket.next_timer()
    }

    /// The next segment to send, if any may go.
    pub(in crate::sim) fn poll_transmit(&mut self, pool: &mut OptionsPool) -> Option<Segment> {
        let packet = self.socket.poll_transmit()?;
        if packet.syn.is_some() {
            self.said = packet.syn;
        }
        Some(Segment { connection: self.connection, ..segment_of(&packet, pool) })
    }

    /// What its last SYN said, for its peer.
    pub(in crate::sim) const fn said(&self) -> Option<SynOptions> {
        self.said
    }

    /// A hop tells it that its packets do not fit.
    pub(in crate::sim) fn on_path_mtu(&mut self, now: Time, mtu: Mtu) {
        self.account(now);
        self.socket.on_path_mtu(now, mtu);
    }

    /// What has come is acknowledged now, as a FIN would.
    pub(in crate::sim) fn acknowledge_at_once(&mut self) {
        self.socket.acknowledge_at_once();
    }

    /// Brings what is summed over time up to `now`.
    pub(in crate::sim) fn account(&mut self, now: Time) {
        self.account.advance(now, &self.socket, true);
    }

    /// Whether the handshake is done as far as this end knows.
    pub(in crate::sim) fn is_open(&self) -> bool {
        self.socket.is_established()
    }

    /// Payload bytes that have come in order.
    pub(in crate::sim) fn delivered(&self) -> Bytes {
        Bytes::new(self.socket.received())
    }

    /// Payload bytes that are acknowledged.
    pub(in crate::sim) fn acknowledged(&self) -> Bytes {
        Bytes::new(self.socket.acknowledged())
    }

    /// Payload of a full segment.
    pub(in crate::sim) fn mss(&self) -> Bytes {
        Bytes::new(self.socket.mss())
    }

    /// Which of the flow's connections it is an end of.
    pub(in crate::sim) const fn connection(&self) -> u16 {
        self.connection
    }

    /// Its state for those who watch.
    pub(in crate::sim) fn sample(
        &self,
        at: Time,
        flow: usize,
        queue: Time,
        acknowledged: Bytes,
    ) -> Sample {
        sample(&self.socket, at, flow, queue, acknowledged)
    }

    /// What its socket tells of itself.
    pub(in crate::sim) fn socket_info(&self, at: Time) -> SocketInfo {
        self.socket.info_at(at)
    }

    /// Adds what it sent and what it saw.
    pub(in crate::sim) fn add_to(&self, sent: &mut SenderStats, seen: &mut ReceiverStats) {
        sent.add(&self.account.sent(&self.socket, &self.round_trips));
        seen.add(&seen_by(&self.socket));
    }
}
