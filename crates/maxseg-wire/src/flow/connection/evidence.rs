//! The evidence of a connection, when its last packet has passed.

use maxseg_core::evidence::{
    CaptureFacts, Direction, DirectionStats, Ending, Evidence, FileInterface, Handshake, Marks,
    Requests, Silence,
};
use maxseg_core::framing::IpVersion;
use maxseg_core::units::Time;

use super::waits::WayTo;
use super::{Aside, Connection};
use crate::flow::half_connection::HalfConnection;
use crate::flow::pair::{Endpoint, Pair};

/// Packets from which on it is no chance that all times are multiples of a millisecond.
const ENOUGH: u32 = 8;

impl Connection {
    /// All that was seen of the connection, which gets this number.
    pub(in crate::flow) fn into_evidence(mut self, id: u32) -> Evidence {
        self.release_held();
        let mut aside = self.aside.take().map(|aside| *aside).unwrap_or_default();
        aside.path_mtu_events.iter_mut().for_each(|event| event.connection = Some(id));
        let client = self.client.unwrap_or_else(|| self.ends.likely_client());
        let (mut ending, end) = (self.ending(client), self.end);
        // Who probed without an answer may give up with a RST.
        let gave_up = |silence: &Silence| {
            let by = if silence.direction == Direction::Forward { client } else { client.other() };
            self.reset.is_some_and(|reset| !reset.is_closed && reset.by == by)
        };
        let mut silence =
            self.silence(client).filter(|silence| ending == Ending::GoneSilent || gave_up(silence));
        let requests = self.requests(client);
        let offered = Pair { low: self.halves.low.offered, high: self.halves.high.offered };
        let ip = IpVersion::from(self.ends.low.ip().to_canonical());
        let is_at = |half: &HalfConnection| half.stream.as_ref().is_none_or(|it| it.is_at_sender());
        let at_sender = Pair { low: is_at(&self.halves.low), high: is_at(&self.halves.high) };
        let mut forward = self.halves.of_mut(client).direction(offered.of(client.other()), ip, end);
        let mut reverse = self.halves.of_mut(client.other()).direction(offered.of(client), ip, end);
        if !at_sender.of(client) {
            cap_flight(&mut forward, &reverse);
        }
        if !at_sender.of(client.other()) {
            cap_flight(&mut reverse, &forward);
        }
        let is_by_chance = |silence: &mut Silence| {
            let way = if silence.direction == Direction::Forward { &forward } else { &reverse };
            way.loses_by_chance(silence, Time::from_nanos(self.begin))
        };
        if silence.take_if(is_by_chance).is_some() && ending == Ending::GoneSilent {
            ending = self.open_ending(client);
        }
        aside.add_to(client, &mut forward.trace);
        aside.add_to(client.other(), &mut reverse.trace);
        let way_to = |end: Endpoint| self.halves.of(end).way_to.found();
        for stats in [&mut forward, &mut reverse] {
            stats.goodput_bps = stats.goodput_bps.filter(|_| has_rate(stats, &self.handshake));
        }
        let begins_late = self.begins_late();
        if begins_late {
            // What the scale of windows is taken for may be too small.
            (forward.beyond_window, reverse.beyond_window) = (0, 0);
        }
        (forward.begins_late, reverse.begins_late) = (begins_late, begins_late);
        (forward.way_delay, reverse.way_delay) = (way_to(client.other()), way_to(client));
        if forward.is_missing_beside(&reverse) {
            reverse.duplicate_acks += self.halves.of(client.other()).repeated_acks();
        }
        if reverse.is_missing_beside(&forward) {
            forward.duplicate_acks += self.halves.of(client).repeated_acks();
        }
        if let Some(alone) =
            aside.alone.take().filter(|_| forward.packets == 0 || reverse.packets == 0)
        {
            let is_of_forward = alone.is_of_data() == (reverse.packets == 0);
            let stats = if is_of_forward { &mut forward } else { &mut reverse };
            stats.alone = alone.found().map(Box::new);
        }
        let capture = self.capture_facts(&aside, client);
        let marks = Marks {
            seen_elsewhere: capture.repeating_points > 0,
            one_way: forward.is_missing_beside(&reverse) || reverse.is_missing_beside(&forward),
            mid_stream: begins_late,
            offloaded: forward.offloaded_packets + reverse.offloaded_packets > 0,
            capture_lost: forward.lost_by_capture() + reverse.lost_by_capture() > 0
                && forward.packets > 0
                && reverse.packets > 0,
            ecn: forward.congestion_marks + reverse.congestion_marks > 0,
            ..self.marks
        };
        Evidence {
            id,
            client: *self.ends.of(client),
            server: *self.ends.of(client.other()),
            begin: Time::from_nanos(self.begin),
            end: Time::from_nanos(self.end),
            handshake: self.handshake,
            ending,
            reset_at: self.reset.map(|reset| Time::from_nanos(reset.at)),
            reset_is_other_path: self.reset.is_some_and(|reset| reset.is_other_path),
            silence,
            requests,
            forward,
            reverse,
            path_mtu_events: aside.path_mtu_events,
            unreachable: aside.unreachable,
            marks,
            capture,
            joined: None,
            beside: None,
        }
    }

    /// Whether the connection is older than the capture, or the capture lacks one of its SYNs: windows have no scale then.
    pub(super) fn begins_late(&self) -> bool {
        let Handshake { syn, syn_ack, .. } = self.handshake;
        let passes = |half: &HalfConnection| half.counts.packets > 0;
        let is_both_ways = passes(&self.halves.low) && passes(&self.halves.high);
        self.marks.mid_stream || is_both_ways && syn != syn_ack
    }

    fn capture_facts(&self, aside: &Aside, client: Endpoint) -> CaptureFacts {
        let number = |end| self.halves.of(end).sequence.map(|it| it.number(0));
        let (low, high) = (&self.halves.low, &self.halves.high);
        let packets = low.counts.packets + high.counts.packets;
        CaptureFacts {
            repeating_points: low.points.repeating().max(high.points.repeating()) as u64,
            is_merged: low.points.are_two_places(&high.points)
                || [low, high].iter().any(|half| half.is_seen_twice()),
            is_split: low.points.are_apart(&high.points),
            late_packets: self.late_packets.into(),
            later_first: self.is_beside_later,
            acks_before_data: self.acks_before_data.into(),
            clock_steps: self.clock.steps.into(),
            clock_resolution: self
                .clock
                .resolution()
                .filter(|_| packets >= ENOUGH)
                .map(Time::from_nanos),
            // Of which section of the file it is, its reader knows.
            interface: low
                .points
                .counted_interface(&high.points)
                .map(|number| FileInterface { section: None, number }),
            frames: self.shares_ports.then(|| self.frames_with(aside)),
            cut_syn: low.offered.syn && low.offered.is_cut
                || high.offered.syn && high.offered.is_cut,
            numbers: number(client).zip(number(client.other())),
            // Whoever knows the other connections knows it.
            translated: None,
        }
    }

    /// Numbers of its first and last packet in the capture, those of ICMP messages about its packets among them.
    fn frames_with(&self, aside: &Aside) -> (u64, u64) {
        let too_big = aside.path_mtu_events.iter().map(|event| event.frame);
        let messages = too_big.chain(aside.unreachable.iter().map(|event| event.frame));
        messages.fold(self.frames, |(first, last), frame| (first.min(frame), last.max(frame)))
    }

    fn ending(&self, client: Endpoint) -> Ending {
        let (own, peer) = (self.halves.of(client), self.halves.of(client.other()));
        let is_answered = self.handshake.syn_ack || own.stream.is_some() || peer.stream.is_some();
        if let Some(reset) = self.reset.filter(|reset| !reset.is_closed) {
            return match (reset.by == client, is_answered) {
                (true, _) => Ending::ResetByClient,
                (false, false) if self.handshake.syn => Ending::Refused,
                (false, _) => Ending::ResetByServer,
            };
        }
        if self.handshake.syn
            && own.counts.packets - own.counts.duplicates_of_capture == self.handshake.syn_packets
            && peer.counts.packets == 0
        {
            return Ending::NoAnswer;
        }
        let ending = self.open_ending(client);
        let is_silent = ending != Ending::Closed && self.silence(client).is_some();
        if is_silent { Ending::GoneSilent } else { ending }
    }

    /// How far it was closed by FINs.
    fn open_ending(&self, client: Endpoint) -> Ending {
        let (own, peer) = (self.halves.of(client), self.halves.of(client.other()));
        match (own.fin.is_some(), peer.fin.is_some()) {
            (true, true) => Ending::Closed,
            (false, false) => Ending::StillOpen,
            (true, false) | (false, true) => Ending::HalfClosed,
        }
    }

    /// The end that stopped answering, in a capture that shows both.
    fn silence(&self, client: Endpoint) -> Option<Silence> {
        let directions = [(client, Direction::Forward), (client.other(), Direction::Reverse)];
        directions.into_iter().find_map(|(end, direction)| {
            let unanswered = self.halves.of(end).unanswered;
            let is_silent = unanswered.retransmissions >= SILENT_RETRANSMISSIONS
                || unanswered.probes >= SILENT_PROBES;
            (is_silent && unanswered.since > 0).then(|| Silence {
                direction,
                from: Time::from_nanos(unanswered.since),
                to: Time::from_nanos(unanswered.last),
                retransmissions: unanswered.retransmissions,
                probes: unanswered.probes,
            })
        })
    }

    fn requests(&mut self, client: Endpoint) -> Option<Requests> {
        // Without the handshake, the least time to an acknowledgement is taken for the round trip.
        let way_to = |end: Endpoint| {
            let asking = self.halves.of(end.other()).stream.as_ref();
            let least = asking.and_then(|stream| stream.round_trips.least);
            let answering = self.halves.of(end).stream.as_ref();
            WayTo {
                round_trip: self.to_end(end).or(least).unwrap_or(0),
                arrival_bps: answering.and_then(|stream| stream.arrival_bps()),
            }
        };
        let (to_client, to_server) = (way_to(client), way_to(client.other()));
        std::mem::take(&mut self.turns).requests(client, &to_client, &to_server)
    }
}

/// Nobody has more in flight than the other end ever offered: behind the sender it is reckoned by round trips, and is too much
/// where several segments pass in one packet. What a SYN offers is never scaled.
fn cap_flight(way: &mut DirectionStats, back: &DirectionStats) {
    let Some((syn, most)) = back.syn.zip(back.window_max_bytes).filter(|(syn, _)| !syn.is_cut)
    else {
        return;
    };
    way.in_flight_max_bytes = way.in_flight_max_bytes.min(most.max(syn.window.into()));
}

/// Whether what a direction carried has a rate: it is more than one segment, and took longer than a round trip.
fn has_rate(stats: &DirectionStats, handshake: &Handshake) -> bool {
    let of_handshake = handshake.rtt().map(Time::as_secs_f64);
    let round_trip = stats.path_rtt_min_s.or(of_handshake).unwrap_or(0.0);
    let seconds = stats.goodput_bps.map(|rate| stats.acked_bytes as f64 * 8.0 / rate);
    stats.data_packets > 1 && seconds.is_some_and(|seconds| seconds > round_trip)
}

/// Retransmissions of the first unacknowledged segment without an answer, after which the other end is silent: the answer
/// to one timeout may be behind the end of the capture.
const SILENT_RETRANSMISSIONS: u32 = 2;
/// Likewise, keep-alives and zero window probes.
const SILENT_PROBES: u32 = 3;
