//! A connection: two ends, and what passes between them.

mod alone;
mod arrival;
mod aside;
mod control;
mod evidence;
mod held;
mod holes;
mod message;
mod opening;
mod packing;
mod rests;
mod turns;
mod waits;

use std::net::SocketAddr;

use maxseg_core::evidence::{ControlKind, EventKind, Handshake, Marks};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::Seen;
use super::clock::Clock;
use super::half_connection::HalfConnection;
use super::pair::{Endpoint, Pair};
use super::seen_options::SeenOptions;
use super::segments::{AckSegment, DataSegment};
use super::send_history::is_nearer;
use super::sizes::JUMBO;
use crate::tcp::Flags;
pub(super) use aside::Aside;
use message::Part;
use turns::{Talk, Turns};

/// A connection. Its endpoints are the lower and the higher of its key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Connection {
    pub(super) ends: Pair<SocketAddr>,
    halves: Pair<HalfConnection>,
    begin: u64,
    end: u64,
    /// The least and the largest number of its packets in the capture, copies among them.
    frames: (u64, u64),
    /// Whether another connection of the source has its addresses and ports.
    shares_ports: bool,
    /// The endpoint that sent the SYN; `None` where no SYN was seen.
    client: Option<Endpoint>,
    /// When its SYN and its SYN-ACK were seen; `None` for one that was retransmitted (Karn).
    syn_at: Option<u64>,
    answer_at: Option<u64>,
    handshake: Handshake,
    reset: Option<Reset>,
    turns: Turns,
    marks: Marks,
    /// What most connections do not need.
    pub(super) aside: Option<Box<Aside>>,
    clock: Clock,
    /// Segments that wait for what they acknowledge.
    #[serde(skip)]
    held: Option<Box<held::Held>>,
    vain_waits: u8,
    acks_before_data: u32,
    /// Packets that were stored behind later ones.
    late_packets: u32,
    /// Whether the file has connections of these ports with the later one first.
    is_beside_later: bool,
    /// Of how many holes in the capture it knows, and behind how many of them it goes on.
    pub(super) holes_before: usize,
    holes_within: u32,
    /// Whether a packet came since the store last looked for connections to pack.
    #[serde(skip)]
    pub(super) was_used: bool,
}

/// The first RST.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Reset {
    by: Endpoint,
    at: u64,
    /// Whether the FINs of both ends had been acknowledged.
    is_closed: bool,
    /// Whether its TTL is another than that of the end's other packets.
    is_other_path: bool,
}

impl Connection {
    /// One that begins with this packet, sent by its lower end or not.
    pub(super) fn new(seen: &Seen<'_>, sender: Endpoint, traced: bool) -> Self {
        let mut ends = Pair { low: seen.source, high: seen.destination };
        if sender == Endpoint::High {
            ends = Pair { low: seen.destination, high: seen.source };
        }
        Self {
            ends,
            halves: Pair::default(),
            begin: seen.at_nanos,
            end: seen.at_nanos,
            frames: (seen.frame, seen.frame),
            shares_ports: false,
            client: None,
            syn_at: None,
            answer_at: None,
            handshake: Handshake::default(),
            reset: None,
            turns: Turns::default(),
            marks: Marks { mid_stream: !seen.flags.contains(Flags::SYN), ..Marks::default() },
            aside: traced.then(|| Box::new(Aside::traced())),
            clock: Clock::new(seen.at_nanos, seen.interface),
            held: None,
            vain_waits: 0,
            acks_before_data: 0,
            late_packets: 0,
            is_beside_later: false,
            holes_before: 0,
            holes_within: 0,
            was_used: true,
        }
    }

    /// A segment of the connection, the first of its copies.
    #[inline(always)]
    fn on_arrived(&mut self, seen: &Seen<'_>, s: Endpoint) {
        let options = SeenOptions::of(seen.options);
        if seen.flags.bits() & (Flags::SYN | Flags::FIN | Flags::RST).bits() != 0
            || options.multipath
        {
            self.on_control(seen, &options, s);
        }
        self.halves.of_mut(s).on_later_ttl(seen);
        self.halves.of_mut(s.other()).unanswered.on_answer(seen.at_nanos);
        self.on_window(seen, &options, s);
        self.on_payload(seen, &options, s);
        if let Some(aside) = self.aside.as_deref_mut().filter(|_| seen.payload_len == 0) {
            let stream = self.halves.of(s.other()).stream.as_deref();
            aside.note_unnamed(seen, s, stream.and_then(|stream| stream.trace.as_deref()));
        }
    }

    /// The acknowledgement number and the window of a segment.
    #[inline(always)]
    fn on_window(&mut self, seen: &Seen<'_>, options: &SeenOptions, s: Endpoint) {
        if !seen.flags.contains(Flags::ACK) || seen.flags.contains(Flags::RST) {
            return;
        }
        self.on_handshake_done(seen, s);
        let shift = self.shift(s);
        let window = HalfConnection::window_of(seen, shift);
        let (own, peer) = self.halves.both_mut(s);
        let una = peer.offset(seen.ack);
        let outstanding = peer.nxt > peer.una;
        let is_duplicate = own.on_own_ack(seen, window, outstanding);
        let acked = una - peer.una;
        if una > peer.una {
            if let Some((stamp, echo)) = options.timestamps.filter(|_| seen.payload_len == 0) {
                own.way_to.on_answer(seen.at_nanos, stamp, echo);
            }
            // An acknowledgement 1 GiB above everything sent is broken.
            if una > peer.nxt + (1 << 30) {
                return;
            }
            peer.nxt = peer.nxt.max(una);
            peer.last_ack = seen.at_nanos;
            // Of a FIN alone it is an acknowledgement of no data.
            if peer.fin.is_none_or(|fin| peer.una < fin) || peer.last_data_ack == 0 {
                peer.last_data_ack = seen.at_nanos;
            }
            peer.una = una;
            self.reset = self.reset.filter(|reset| seen.at_nanos < reset.at + control::HEEDED);
        }
        if self.turns.awaits_ack(s.other(), peer.una) {
            let to_receiver = to_end(&self.handshake, self.client, s).unwrap_or(0);
            self.turns.on_ack(s.other(), seen.at_nanos, seen.payload_len == 0, to_receiver);
        }
        let in_flight = peer.nxt - peer.una;
        let Some(stream) = &mut peer.stream else {
            if peer.counts.packets == 0 {
                self.on_ack_alone(seen, options, s, (una, acked));
            }
            return;
        };
        let window = window.or_else(|| {
            if !stream.tells_scale(seen.window, own.windows.is_unscaled()) {
                return None;
            }
            let (mut window, times) = own.windows.least(seen.window, in_flight);
            stream.scale_windows(times);
            if stream.exceeds_window() && own.windows.double() {
                stream.scale_windows(2);
                window *= 2;
            }
            stream.tells_room(window).then_some(window)
        });
        if let Some(blocks) = &options.sack {
            let (sequence, near) = (peer.sequence, peer.una);
            let edge = |number| sequence.map_or(0, |it| it.offset(number, near));
            let blocks = blocks.iter().map(|block| (edge(block.left), edge(block.right)));
            let is_whole = own.offered.syn && peer.offered.syn;
            let is_dsack = stream.on_sack(blocks, una, is_whole, seen.packet());
            own.counts.dsack_acks += u32::from(is_dsack);
        }
        let of_payload = una.min(peer.fin.unwrap_or(i64::MAX));
        stream.on_ack(&AckSegment {
            at: seen.at_nanos,
            frame: seen.frame,
            una: of_payload,
            behind: una - of_payload,
            edge: window.map(|window| una + window),
            stamp: options.timestamps.map(|(value, _)| value),
            echo: options.timestamps.map(|(_, echo)| echo),
            is_duplicate,
            has_payload: seen.payload_len > 0,
        });
        if acked > 0 && seen.payload_len == 0 {
            let most = own.offered.mss.map_or_else(|| seen.usual_mss(), i64::from);
            let part = Part { at: seen.at_nanos, una, trip: stream.newest_trip, is_alone: false };
            self.turns.on_acked(s.other(), part, acked <= most);
        }
    }

    /// The window scale of an endpoint, in bits; `None` while it is not known (RFC 7323 §2.2).
    fn shift(&self, s: Endpoint) -> Option<u8> {
        let (own, peer) = (&self.halves.of(s).offered, &self.halves.of(s.other()).offered);
        // A SYN without the option: neither side scales, whether the other SYN was seen or not.
        let is_unused = peer.syn && peer.window_scale.is_none() && !peer.is_cut;
        if is_unused { Some(0) } else { own.shift() }
    }

    /// The payload of a segment, and its FIN.
    #[inline(always)]
    fn on_payload(&mut self, seen: &Seen<'_>, options: &SeenOptions, s: Endpoint) {
        let is_shut = self.halves.of(s.other()).window_is_shut();
        let half = self.halves.of_mut(s);
        let start = half.offset(seen.seq);
        let is_syn = seen.flags.contains(Flags::SYN);
        if let Some((stamp, echo)) = options.timestamps {
            half.stamps.on_stamp(stamp, seen.at_nanos);
            if seen.payload_len > 0 && !is_syn {
                half.way_to.on_answer(seen.at_nanos, stamp, echo);
            }
            half.offered.uses_timestamps |= !is_syn;
            if let Some(stream) = &mut half.stream {
                stream.on_echo(seen.at_nanos, echo, start);
            }
        }
        let start = if is_syn { start + 1 } else { start };
        let payload = i64::from(seen.payload_len);
        let end = start + payload;
        if payload <= 1
            && start == half.nxt - 1
            && !is_syn
            && seen.flags.bits() & (Flags::FIN | Flags::RST).bits() == 0
            && half.counts.packets > 1
            && half.una >= start
        {
            // The zero window probe of Linux (tcp_xmit_probe_skb).
            if is_shut {
                Aside::note(self.aside.as_deref_mut(), seen, s, ControlKind::Probe);
                half.counts.zero_window_probes += 1;
                half.unanswered.on_probe(seen.at_nanos);
                half.last_ack = half.last_ack.max(seen.at_nanos);
            } else if half.una > start {
                Aside::note(self.aside.as_deref_mut(), seen, s, ControlKind::KeepAlive);
                half.counts.keep_alives += 1;
                half.unanswered.on_probe(seen.at_nanos);
                half.note(EventKind::KeepAlive, seen);
            }
            if half.una > start || payload == 0 {
                return;
            }
        }
        if seen.flags.contains(Flags::FIN) {
            match half.fin {
                Some(fin) if fin == end && payload == 0 => half.on_control_resent(seen.at_nanos),
                Some(fin) if fin == end => {}
                _ => half.fin = Some(end),
            }
        }
        if payload > 0 && !seen.flags.contains(Flags::RST) {
            if payload == 1 && is_shut && start >= half.una {
                Aside::note(self.aside.as_deref_mut(), seen, s, ControlKind::Probe);
                half.counts.zero_window_probes += 1;
                half.unanswered.on_probe(seen.at_nanos);
                if let Some(stream) = &mut half.stream {
                    stream.on_probe(end);
                }
                return;
            }
            self.on_data(seen, options, s, (start, end));
        }
        let half = self.halves.of_mut(s);
        // A reset occupies no sequence number, and may have any that the other end believes.
        if !seen.flags.contains(Flags::RST) {
            let fin = i64::from(half.fin == Some(end));
            half.nxt = half.nxt.max(end + fin);
        }
    }

    #[inline(always)]
    fn on_data(
        &mut self,
        seen: &Seen<'_>,
        options: &SeenOptions,
        s: Endpoint,
        (start, end): (i64, i64),
    ) {
        if self.halves.of(s).stream.is_none() {
            self.begin_stream(seen, s, start);
        }
        let is_alone = self.halves.of(s.other()).counts.packets == 0;
        let missing = if is_alone { self.missing(s, (start, end)) } else { None };
        let (half, peer) = self.halves.both_mut(s);
        half.counts.offloaded += u32::from(is_offloaded(seen, peer.offered.mss));
        half.unanswered.on_payload(seen.at_nanos, half.nxt <= half.una.max(0));
        let Some(stream) = &mut half.stream else { return };
        let is_reply = peer.una >= peer.nxt;
        let asked_end = peer.nxt;
        let peer_least = peer.stream.as_ref().and_then(|stream| stream.round_trips.least);
        let is_first_unacked = start <= half.una;
        let mss = peer.offered.mss.map_or_else(|| seen.usual_mss(), i64::from);
        let is_resent = stream.on_data(&DataSegment {
            at: seen.at_nanos,
            frame: seen.frame,
            start,
            end,
            stamp: options.timestamps.map(|(value, _)| value),
            ip_id: seen.ip_id,
            is_pushed: seen.flags.contains(Flags::PSH) || seen.flags.contains(Flags::FIN),
        });
        if is_resent {
            half.unanswered.on_retransmission(seen.at_nanos, is_first_unacked);
            self.turns.on_resent(s, seen.at_nanos);
            self.on_repeated(seen, s);
        } else {
            let is_small_alone = is_first_unacked && end - start < mss / 2;
            let is_rest = is_small_alone && stream.sender.is_behind_full();
            if !self.turns.goes_on(s, seen.at_nanos, is_small_alone) {
                let to_sender = self.to_end(s);
                let is_at_sender = is_nearer(to_sender, self.to_end(s.other()));
                self.turns.on_turn(&Talk {
                    by: s,
                    at: seen.at_nanos,
                    end,
                    payload: seen.payload_len,
                    is_reply,
                    asked_end,
                    least: to_sender.or(peer_least).unwrap_or(0),
                    is_at_sender,
                    is_small_alone,
                    is_rest,
                    to_sender: to_sender.unwrap_or(0),
                    to_receiver: self.to_end(s.other()).unwrap_or(0),
                    since_answer: self.answer_at.filter(|_| self.client == Some(s)),
                });
            }
        }
        if is_alone {
            let missing = missing.filter(|_| is_resent);
            self.on_data_alone(seen, s, (start, end), missing);
        }
    }

    /// Round trip between capture point and an end in the handshake, in nanoseconds.
    fn to_end(&self, s: Endpoint) -> Option<u64> {
        to_end(&self.handshake, self.client, s)
    }

    /// One of the packets came in fragments.
    pub(super) fn on_fragmented(&mut self, seen: &Seen<'_>, sender: Endpoint) {
        self.halves.of_mut(sender).counts.fragmented += 1;
        self.halves.of_mut(sender).note(EventKind::Fragmented, seen);
    }
}

fn to_end(handshake: &Handshake, client: Option<Endpoint>, s: Endpoint) -> Option<u64> {
    let is_client = client == Some(s);
    let rtt = if is_client { handshake.client_rtt } else { handshake.server_rtt };
    rtt.map(Time::as_nanos)
}

/// Whether a segment is larger than the peer's MSS, or than any frame: segmentation or receive offload.
fn is_offloaded(seen: &Seen<'_>, peer_mss: Option<u16>) -> bool {
    seen.payload_len > peer_mss.map_or(JUMBO, u32::from)
}

fn since(then: u64, now: u64) -> Time {
    Time::from_nanos(now.saturating_sub(then))
}

#[cfg(test)]
mod tests;
