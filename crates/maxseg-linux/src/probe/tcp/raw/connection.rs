//! One connection: what was heard of it, and the probes that were sent on it.

use std::cell::OnceCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use maxseg_wire::EncodeError;
use maxseg_wire::options::SackBlock;
use maxseg_wire::path_probe::{HeardSegment, OldSegment, Quote, RouterMessage, header_len};
use maxseg_wire::tcp::Flags;
use socket2::Socket;

use super::RawProbe;
use crate::sys::ReceivedFrame;

/// Whether an error is what ICMP makes of a SYN that does not get there: unreachable, or prohibited (`icmp_err_convert` in the kernel's
/// `net/ipv4/icmp.c`, `icmpv6_err_convert` in `net/ipv6/icmp.c`, which has EACCES).
pub(in crate::probe::tcp) fn is_rejection(error: io::ErrorKind) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkUnreachable, PermissionDenied};
    matches!(error, HostUnreachable | NetworkUnreachable | PermissionDenied)
}

/// A connection of our own.
#[derive(Debug)]
pub(super) struct Connection {
    /// Keeps it open; when it is dropped, the far end gets a RST.
    socket: Option<Socket>,
    /// The error with which it failed.
    error: OnceCell<io::ErrorKind>,
    ends: (SocketAddr, SocketAddr),
    /// When this host's first SYN was seen, and how many there were.
    syn: Option<(Instant, u32)>,
    /// The MSS that it offers.
    sent_mss: Option<u16>,
    syn_ack: Option<HeardSegment>,
    handshake: Option<Duration>,
    /// Where its packets leave this host, and what is before their IP header there.
    pub(super) link: Option<LinkHeader>,
    /// Of the latest of this host's segments: acknowledgement, window, `TSval` and `TSecr`, flow label, TTL.
    latest: Option<HeardSegment>,
    probes: Vec<Sent>,
    /// Answers that name the bytes that came again, and those that name none.
    named: u32,
    unnamed: u32,
    is_over: bool,
}

/// What precedes the IP header, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkHeader {
    pub(super) interface: u32,
    pub(super) protocol: u16,
    pub(super) bytes: Vec<u8>,
}

/// A probe that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) probe: RawProbe,
    begin: u32,
    end: u32,
    at: Instant,
    /// Nothing else was on the way that could be answered.
    is_alone: bool,
    /// Proof of its arrival: from the destination, or from the router at which it was to end.
    pub(super) arrived: Option<Answered>,
    /// What a router said of its size.
    pub(super) refused: Option<(IpAddr, u32)>,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// Who.
    pub by: Answer,
    /// How long it took.
    pub rtt: Duration,
}

/// Who answered a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The destination.
    Destination,
    /// A router, at which its TTL ended.
    Router(IpAddr),
}

impl Connection {
    pub(super) fn new(socket: Socket, ends: (SocketAddr, SocketAddr)) -> Self {
        Self {
            socket: Some(socket),
            error: OnceCell::new(),
            ends,
            syn: None,
            sent_mss: None,
            syn_ack: None,
            handshake: None,
            link: None,
            latest: None,
            probes: Vec::new(),
            named: 0,
            unnamed: 0,
            is_over: false,
        }
    }

    pub(super) const fn port(&self) -> u16 {
        self.ends.0.port()
    }

    pub(super) fn flow_label(&self) -> u32 {
        self.latest.map_or(0, |segment| segment.flow_label)
    }

    pub(super) fn offered_mss(&self) -> Option<u16> {
        self.syn_ack.and_then(|segment| segment.mss)
    }

    pub(super) const fn sent_mss(&self) -> Option<u16> {
        self.sent_mss
    }

    pub(super) const fn handshake(&self) -> Option<Duration> {
        self.handshake
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the handshake was seen as a whole: only then can probes be made.
    pub(super) fn is_seen(&self) -> bool {
        let is_acknowledged =
            self.latest.is_some_and(|segment| segment.tcp.flags.contains(Flags::ACK));
        is_acknowledged && self.syn_ack.is_some() && self.link.is_some() && !self.is_over
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        self.socket = None;
    }

    /// Whether there will be no connection.
    pub(super) fn has_failed(&self) -> bool {
        if let (None, Some(Ok(Some(error)))) =
            (self.error.get(), self.socket.as_ref().map(Socket::take_error))
        {
            let _ = self.error.set(error.kind());
        }
        self.error.get().is_some()
    }

    /// Whether the far end refuses it.
    pub(super) fn is_refused(&self) -> bool {
        self.has_failed() && self.error.get() == Some(&io::ErrorKind::ConnectionRefused)
    }

    /// Whether ICMP says that it does not get there.
    pub(super) fn is_rejected(&self) -> bool {
        self.has_failed() && self.error.get().copied().is_some_and(is_rejection)
    }

    /// Whether the kernel has the connection, seen or not.
    pub(super) fn is_connected(&self) -> bool {
        self.socket.as_ref().is_some_and(|socket| socket.peer_addr().is_ok())
    }

    /// Whether the far end names the bytes that came again: it has done so, or it permits SACK and has not yet answered.
    pub(super) fn names_bytes(&self) -> bool {
        let permits = self.syn_ack.is_some_and(|segment| segment.sack_permitted);
        self.named > 0 || (self.unnamed == 0 && permits)
    }

    /// How many answers named nothing.
    pub(super) const fn unnamed(&self) -> u32 {
        self.unnamed
    }

    /// The slowest answer so far: what to wait for.
    pub(super) fn slowest(&self) -> Option<Duration> {
        let answers =
            self.probes.iter().filter_map(|sent| sent.arrived.map(|answered| answered.rtt));
        answers.chain(self.handshake).max()
    }

    pub(super) fn least_size(&self) -> u32 {
        u32::try_from(header_len(self.ends.1.is_ipv6(), true) + 1).unwrap_or(u32::MAX)
    }

    pub(super) fn largest_arrived(&self) -> Option<u32> {
        let at_destination =
            |sent: &&Sent| sent.arrived.is_some_and(|answered| answered.by == Answer::Destination);
        self.probes.iter().filter(at_destination).map(|sent| sent.probe.size).max()
    }

    /// How many probes were sent: the number of the next.
    pub(super) const fn count(&self) -> usize {
        self.probes.len()
    }

    pub(super) fn probe(&self, number: usize) -> Option<&Sent> {
        self.probes.get(number)
    }

    pub(super) fn probes_from(&self, number: usize) -> &[Sent] {
        self.probes.get(number..).unwrap_or_default()
    }

    /// The packet of the next probe: each ends one byte before the last, so that no two have the same bytes.
    pub(super) fn packet(
        &self,
        probe: &RawProbe,
    ) -> Option<Result<(OldSegment, Vec<u8>), EncodeError>> {
        let (latest, syn_ack) = (self.latest?, self.syn_ack?);
        let number = u32::try_from(self.probes.len()).ok()?;
        let segment = OldSegment {
            ends: self.ends,
            end: syn_ack.tcp.ack.wrapping_sub(1).wrapping_sub(number),
            ack: latest.tcp.ack,
            window: latest.tcp.window,
            timestamps: latest.timestamps,
            hop_limit: probe.hop.unwrap_or(latest.hop_limit),
            flow_label: latest.flow_label,
            identification: u16::try_from(number % 0x1_0000).unwrap_or(0),
        };
        let size = usize::try_from(probe.size).ok()?;
        Some(segment.packet(size).map(|packet| (segment, packet)))
    }

    /// A probe leaves now.
    pub(super) fn on_sent(
        &mut self,
        probe: RawProbe,
        segment: &OldSegment,
        is_alone: bool,
        at: Instant,
    ) {
        let size = usize::try_from(probe.size).unwrap_or(0);
        let (begin, end) = (segment.begin(size), segment.end);
        self.probes.push(Sent { probe, begin, end, at, is_alone, arrived: None, refused: None });
    }

    /// A segment of this host's, which the kernel has sent.
    pub(super) fn on_ours(&mut self, segment: &HeardSegment, frame: &ReceivedFrame, header: &[u8]) {
        let at = frame.at;
        let flags = segment.tcp.flags;
        if flags.contains(Flags::RST) {
            self.is_over = true;
            return;
        }
        // A packet passes several interfaces: VLAN, bond, bridge. The first one has routed it.
        let link = self.link.get_or_insert_with(|| LinkHeader {
            interface: frame.interface,
            protocol: frame.protocol,
            bytes: header.to_vec(),
        });
        if link.interface != frame.interface {
            return;
        }
        if flags.contains(Flags::SYN) {
            let (first, count) = self.syn.unwrap_or((at, 0));
            self.syn = Some((first, count + 1));
            self.sent_mss = segment.mss;
        }
        // The flow label stays that of the handshake's end: the kernel may change its own after a timeout.
        let label = self.latest.filter(|latest| latest.tcp.flags.contains(Flags::ACK));
        let flow_label = label.map_or(segment.flow_label, |latest| latest.flow_label);
        self.latest = Some(HeardSegment { flow_label, ..*segment });
    }

    /// A segment of the far end's.
    pub(super) fn on_theirs(&mut self, segment: &HeardSegment, at: Instant) {
        let flags = segment.tcp.flags;
        if flags.contains(Flags::RST) {
            self.is_over = true;
        } else if flags.contains(Flags::SYN | Flags::ACK) {
            if self.syn_ack.is_none() {
                let once = self.syn.filter(|(_, count)| *count == 1);
                self.handshake = once.map(|(sent, _)| at.saturating_duration_since(sent));
            }
            self.syn_ack.get_or_insert(*segment);
        } else if flags.contains(Flags::FIN) {
            // It takes no more than its FIN says, and is soon gone.
            self.is_over = true;
        } else if let Some(block) = segment.first_sack {
            self.on_block(block, at);
        } else if segment.payload_len == 0 {
            self.on_unnamed(at);
        }
    }

    /// The far end names bytes that came again.
    fn on_block(&mut self, block: SackBlock, at: Instant) {
        let is_named = |sent: &&mut Sent| (sent.begin, sent.end) == (block.left, block.right);
        let named = self.probes.iter_mut().rev().find(is_named);
        // A firewall that renumbers a connection may leave SACK as it is: the length still tells the size.
        let length = block.right.wrapping_sub(block.left);
        self.named += 1;
        let found = match named {
            Some(sent) => Some(sent),
            None => self
                .probes
                .iter_mut()
                .find(|sent| sent.arrived.is_none() && sent.end.wrapping_sub(sent.begin) == length),
        };
        if let Some(sent) = found {
            sent.answer(Answer::Destination, at);
        }
    }

    /// The far end acknowledges, and names nothing: it knows no SACK, or has not yet the handshake's last segment. It is an answer to
    /// the latest probe if that was sent alone.
    fn on_unnamed(&mut self, at: Instant) {
        if self.probes.is_empty() {
            return;
        }
        self.unnamed += 1;
        if let Some(sent) = self.probes.last_mut().filter(|sent| sent.is_alone) {
            sent.answer(Answer::Destination, at);
        }
    }

    /// A router says something of a packet of this connection.
    pub(super) fn on_router(
        &mut self,
        from: IpAddr,
        message: RouterMessage,
        quote: Quote,
        at: Instant,
    ) {
        // Two packets of different sizes may begin with the same byte. Some routers do not quote the length as it was.
        let is_quoted = |sent: &Sent| sent.begin == quote.seq;
        let is_whole = |sent: &Sent| usize::try_from(sent.probe.size) == Ok(quote.size);
        let exact = self.probes.iter().position(|sent| is_quoted(sent) && is_whole(sent));
        let found = exact.or_else(|| self.probes.iter().position(is_quoted));
        let Some(sent) = found.and_then(|number| self.probes.get_mut(number)) else { return };
        match message {
            RouterMessage::TooBig { mtu } => sent.refused = sent.refused.or(Some((from, mtu))),
            RouterMessage::HopLimit if sent.probe.hop.is_some() => {
                sent.answer(Answer::Router(from), at);
            }
            RouterMessage::HopLimit | RouterMessage::Unreachable(_) => {}
        }
    }
}

impl Sent {
    pub(super) const fn at(&self) -> Instant {
        self.at
    }

    pub(super) fn answered_at(&self) -> Option<Instant> {
        self.arrived.map(|answered| self.at + answered.rtt)
    }

    fn answer(&mut self, by: Answer, at: Instant) {
        let rtt = at.saturating_duration_since(self.at);
        self.arrived.get_or_insert(Answered { by, rtt });
    }
}
