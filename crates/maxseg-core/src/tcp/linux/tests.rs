//! Two sockets with a wire between them: what one rule does, at the time that it does it.
//!
//! The times are the kernel's own on a path of 40 ms that costs no time to send on.

mod fair_queue;
mod held_back;
mod mtu_probing;
mod send_queue;
mod user_timeout;

use super::{Algorithm, CaState, Flags, Host, Packet, Socket, Stamps};
use crate::rng::Stream;
use crate::units::{Mss, Mtu, Time};

/// Payload of a segment.
const MSS: u64 = 1448;
const ONE_WAY: Time = Time::from_millis(20);

/// A packet of the sender's, when it went, and what it was.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    packet: Packet,
}

/// Two hosts, one of which sends data.
struct Pair {
    now: Time,
    sender: Socket,
    receiver: Socket,
    flying: Vec<(Time, bool, Packet)>,
    sent: Vec<Sent>,
    acks: Vec<Sent>,
    /// Packets of the sender that are lost, counted from 0 with the SYN.
    lost: Vec<usize>,
    /// Payload of the longest packets that pass.
    passes: u64,
    bytes: u64,
    is_writing: bool,
    /// The receiver's application reads what comes.
    reads: bool,
}

fn host() -> Host {
    // Two seconds after the start the wheel's second level turns just then.
    Host { up_before: Time::from_secs(2), ..Host::default() }
}

impl Pair {
    fn new(host: Host, bytes: u64, lost: &[usize]) -> Self {
        let mut pair = Self {
            now: Time::ZERO,
            sender: Socket::connect(host, Time::ZERO),
            receiver: Socket::listen(host, Time::ZERO),
            flying: Vec::new(),
            sent: Vec::new(),
            acks: Vec::new(),
            lost: lost.to_vec(),
            passes: u64::MAX,
            bytes,
            is_writing: false,
            reads: true,
        };
        pair.transmit();
        pair
    }

    fn transmit(&mut self) {
        let arrives = self.now.saturating_add(ONE_WAY);
        while let Some(packet) = self.sender.poll_transmit() {
            if !self.lost.contains(&self.sent.len()) && packet.len <= self.passes {
                self.flying.push((arrives, true, packet));
            }
            self.sent.push(Sent { at: self.now, packet });
        }
        while let Some(packet) = self.receiver.poll_transmit() {
            self.acks.push(Sent { at: self.now, packet });
            self.flying.push((arrives, false, packet));
        }
    }

    fn run(mut self, until: Time) -> Self {
        loop {
            let timer = self.sender.next_timer().min(self.receiver.next_timer());
            let arrival = self.flying.iter().map(|flying| flying.0).min().unwrap_or(Time::NEVER);
            let next = timer.min(arrival);
            if next > until {
                return self;
            }
            self.now = next;
            if arrival <= timer {
                let first = self.flying.iter().position(|flying| flying.0 == arrival).unwrap();
                let (_, to_receiver, packet) = self.flying.remove(first);
                self.deliver(to_receiver, &packet);
            } else {
                self.sender.on_timer(next);
                self.receiver.on_timer(next);
            }
            self.transmit();
        }
    }

    fn deliver(&mut self, to_receiver: bool, packet: &Packet) {
        if to_receiver {
            self.receiver.on_packet(self.now, packet);
            if self.reads && self.receiver.readable() > 0 {
                self.receiver.read(self.now, u64::MAX);
            }
            return;
        }
        self.sender.on_packet(self.now, packet);
        if !self.is_writing && self.sender.is_established() {
            self.is_writing = true;
            self.sender.write(self.now, self.bytes);
        }
    }

    /// When a byte went, and went again.
    fn times_of(&self, seq: u64) -> Vec<u64> {
        let has = |packet: &Packet| packet.seq <= seq && seq < packet.end() && packet.len > 0;
        let sent = self.sent.iter().filter(|sent| has(&sent.packet));
        sent.map(|sent| sent.at.as_nanos() / 1_000_000).collect()
    }
}

#[test]
fn ten_segments_go_at_once_and_each_is_acknowledged_at_once() {
    let pair = Pair::new(host(), 10 * MSS, &[]).run(Time::from_secs(1));
    let data: Vec<_> = pair.sent.iter().filter(|sent| sent.packet.len > 0).collect();
    assert_eq!(data.len(), 10);
    assert!(data.iter().all(|sent| sent.at == Time::from_millis(40)));
    assert_eq!(pair.acks.len(), 1 + 10, "the SYN-ACK and one for each");
    assert_eq!(pair.receiver.received(), 10 * MSS);
}

#[test]
fn a_lost_syn_is_sent_again_a_second_later_on_the_next_slot_of_the_wheel() {
    let pair = Pair::new(host(), MSS, &[0]).run(Time::from_secs(2));
    let syns = pair.sent.iter().filter(|sent| sent.packet.syn.is_some());
    let times: Vec<_> = syns.map(|sent| sent.at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [0, 1008]);
}

#[test]
fn the_tail_is_probed_two_round_trips_and_two_ticks_later_or_200_ms_more_for_one_segment() {
    let data = 2; // behind SYN and handshake
    let last = |lost: &[usize]| {
        let pair = Pair::new(host(), 10 * MSS, lost).run(Time::from_secs(3));
        assert_eq!(pair.receiver.received(), 10 * MSS);
        pair.times_of(10 * MSS)
    };
    let all: Vec<usize> = (data..data + 10).collect();
    assert_eq!(last(&all)[..2], [40, 128]);
    // The tenth alone: its acknowledgements' round trip is the clock, from 80 ms on.
    let tenth = last(&[data + 9]);
    assert!(tenth[1] >= 80 + 80 + 200 - 40 && tenth[1] <= 80 + 80 + 200 + 8, "{tenth:?}");
}

#[test]
fn a_hole_is_filled_after_three_later_segments_whatever_the_algorithm() {
    for congestion in [Algorithm::Cubic { hystart: true }, Algorithm::Reno] {
        let pair = Pair::new(Host { congestion, ..host() }, 10 * MSS, &[2]).run(Time::from_secs(1));
        assert_eq!(pair.times_of(1), [40, 80], "{congestion:?}");
        let info = pair.sender.info();
        assert_eq!(info.ssthresh, Some(if congestion == Algorithm::Reno { 5 } else { 7 }));
        assert_eq!(pair.sender.counters().recoveries, 1);
    }
}

#[test]
fn without_sack_the_window_is_cut_and_all_arrives() {
    let host = Host { tcp_sack: false, ..host() };
    let pair = Pair::new(host, 60 * MSS, &[5, 20]).run(Time::from_secs(5));
    assert_eq!(pair.receiver.received(), 60 * MSS);
    assert!(pair.sent.iter().all(|sent| sent.packet.sack.is_empty()));
}

#[test]
fn whatever_is_lost_all_bytes_arrive() {
    for seed in 0..40_u64 {
        let stream = Stream::named(seed, "losses");
        let lost: Vec<usize> = (0..600_u64)
            .zip(0..)
            .filter(|(n, _)| stream.at(*n).is_multiple_of(7))
            .map(|(_, n)| n)
            .collect();
        for tcp_sack in [true, false] {
            let host = Host { tcp_sack, tcp_recovery: seed % 3 > 0, ..host() };
            let pair = Pair::new(host, 300 * MSS, &lost).run(Time::from_secs(400));
            assert_eq!(pair.receiver.received(), 300 * MSS, "seed {seed}, SACK {tcp_sack}");
        }
    }
}

/// Packets in order, early, old, pushed and small, at times between at once and what timers wait for.
fn arrivals(seed: u64, window: u64) -> impl Iterator<Item = (Time, Packet)> {
    let draws = Stream::named(seed, "arrivals");
    let (mut now, mut next) = (Time::from_secs(1), 1_u64);
    let waits = [1, 300_000, 9_000_000, 61_000_000].map(Time::from_nanos);
    (0..400).map(move |index| {
        let draw = |of: u64, below: u64| draws.at(8 * index + of) % below;
        now += waits[usize::try_from(draw(0, 4)).unwrap()];
        let len = if draw(1, 12) == 0 { 100 } else { 1000 };
        let seq = match draw(2, 12) {
            0 => next + 1000,
            1 => next.saturating_sub(1000).max(1),
            _ => next,
        };
        // What is behind one that came early arrives next, and what came early again.
        if seq <= next {
            next = next.max(seq + len);
        }
        let stamps = Some(Stamps { value: now.as_nanos() / 1_000_000, echo: 1 + index / 3 });
        let push = draw(3, 5) == 0;
        (now, Packet { seq, ack: 1, len, window, push, stamps, ..Packet::default() })
    })
}

#[test]
fn data_that_are_read_at_once_do_what_those_do_that_wait_to_be_read() {
    let mut at_once = 0;
    for seed in 0..20 {
        let open = || Pair::new(host(), 0, &[]).run(Time::from_millis(500));
        let (mut short, mut long) = (open(), open());
        let window = short.sent.last().unwrap().packet.window;
        for (now, packet) in arrivals(seed, window) {
            for pair in [&mut short, &mut long] {
                while pair.receiver.next_timer() <= now {
                    pair.now = pair.receiver.next_timer();
                    pair.receiver.on_timer(pair.now);
                    pair.transmit();
                }
                pair.now = now;
            }
            if short.receiver.take_and_read(now, &packet) {
                at_once += 1;
            } else {
                short.deliver(true, &packet);
            }
            long.deliver(true, &packet);
            assert_eq!(
                format!("{:?}", short.receiver),
                format!("{:?}", long.receiver),
                "{packet:?}"
            );
            short.transmit();
            long.transmit();
        }
        let packets =
            |pair: &Pair| pair.acks.iter().map(|ack| (ack.at, ack.packet)).collect::<Vec<_>>();
        assert_eq!(packets(&short), packets(&long));
    }
    assert!(at_once > 1000, "most are: {at_once}");
}

/// A passive end whose SYN-ACK expires so often, and which hears the answer to one of the copies.
fn opened_late(timeouts: usize, answered: usize) -> Socket {
    let syn = Socket::connect(host(), Time::ZERO).poll_transmit().unwrap();
    let mut socket = Socket::listen(host(), Time::ZERO);
    socket.on_packet(Time::from_millis(20), &syn);
    let mut copies = vec![socket.poll_transmit().unwrap()];
    for _ in 0..timeouts {
        let now = socket.next_timer();
        socket.on_timer(now);
        copies.push(socket.poll_transmit().unwrap());
    }
    assert!(copies[1..].iter().all(|copy| copy.repeated) && !copies[0].repeated);
    let echo = copies[answered].stamps.unwrap().value;
    let stamps = Some(Stamps { value: 9000, echo });
    let ack = Packet { seq: 1, ack: 1, window: 65_536, stamps, ..Packet::default() };
    socket.on_packet(Time::from_secs(9), &ack);
    assert!(socket.is_established());
    socket
}

/// `tcp_create_openreq_child`, `tcp_init_transfer`: RFC 5681 §3.1 with one repetition forgiven.
#[test]
fn a_syn_ack_that_expires_twice_leaves_a_window_of_one() {
    let opened = |timeouts, answered| {
        let socket = opened_late(timeouts, answered);
        (socket.info().cwnd, socket.counters().retransmitted_segments)
    };
    assert_eq!(opened(0, 0), (10, 0));
    assert_eq!(opened(1, 1), (10, 1));
    assert_eq!(opened(2, 2), (1, 2));
    // The first had arrived: the timeouts were too early.
    assert_eq!(opened(2, 0), (10, 2));
}

#[test]
fn a_fin_that_comes_early_is_heard_in_its_turn() {
    for len in [0, 100] {
        let mut end = Pair::new(host(), 0, &[]).run(Time::from_millis(500)).receiver;
        let window = end.snd_wnd;
        let data = Packet { seq: 1, ack: 1, len: 1000, window, ..Packet::default() };
        let fin = Packet { seq: 1001, len, flags: Flags::FIN, ..data };
        end.on_packet(Time::from_millis(501), &fin);
        assert!(!end.ending.is_heard);
        end.on_packet(Time::from_millis(502), &data);
        assert!(end.ending.is_heard);
        assert_eq!(end.readable(), 1000 + len);
        assert_eq!(end.read(Time::from_millis(503), u64::MAX), 1000 + len);
        assert_eq!(end.buffer.used, 0);
    }
}

#[test]
fn of_what_begins_before_a_closed_window_nothing_is_taken() {
    let mut end = Pair::new(host(), 0, &[]).run(Time::from_millis(500)).receiver;
    let data = Packet { seq: 1, ack: 1, len: 1000, window: end.snd_wnd, ..Packet::default() };
    end.on_packet(Time::from_millis(501), &data);
    (end.buffer.rcv_wnd, end.rcv_wup) = (0, end.rcv_nxt);
    end.on_packet(Time::from_millis(502), &Packet { seq: 501, ..data });
    assert_eq!(end.received(), 1000);
}

#[test]
fn without_room_an_eighth_of_the_buffer_goes_at_a_time() {
    let host = Host { rcvbuf: Some(20_000), ..host() };
    let mut end = Pair::new(host, 0, &[]).run(Time::from_millis(500)).receiver;
    let of = |seq| Packet { seq, ack: 1, len: 100, window: end.snd_wnd, ..Packet::default() };
    let early: Vec<_> = (0..41).map(|n| of(1001 + 100 * n)).collect();
    let late = of(1);
    for packet in early {
        end.on_packet(Time::from_millis(501), &packet);
    }
    // Each counts 996 bytes, of 40,000.
    assert_eq!(end.buffer.used, 41 * 996);
    end.on_packet(Time::from_millis(502), &late);
    assert_eq!(end.buffer.used, (41 - 6 + 1) * 996);
}

#[test]
fn a_timeout_is_told_to_the_receiver_unless_it_was_too_early() {
    let host = Host { tcp_ecn: 1, tcp_early_retrans: false, ..host() };
    let all: Vec<usize> = (2..12).collect();
    let pair = Pair::new(host, 60 * MSS, &all).run(Time::from_secs(3));
    let tells = |sent: &&Sent| sent.packet.len > 0 && sent.packet.flags.has(Flags::CWR);
    let told: Vec<_> = pair.sent.iter().filter(tells).collect();
    assert!(told.len() == 1 && told[0].packet.seq > 10 * MSS, "{told:?}");
    let mut sender = Pair::new(host, 60 * MSS, &[]).run(Time::from_millis(50)).sender;
    sender.enter_loss();
    assert!(sender.ecn.tells_of_cut);
    sender.try_undo_timeout(true);
    assert!(!sender.ecn.tells_of_cut);
}

#[test]
fn a_mark_is_answered_at_once_and_so_is_the_next_packet() {
    let host = Host { tcp_ecn: 1, ..host() };
    let mut end = Pair::new(host, 0, &[]).run(Time::from_millis(500)).receiver;
    end.ack.quick = 0;
    end.take_marks(&Packet { flags: Flags::CE, ..Packet::default() });
    assert_eq!(end.ack.quick, 2);
}

#[test]
fn both_parts_of_what_a_probe_of_the_window_cuts_are_pushed() {
    let mut sender = Pair::new(host(), 0, &[]).run(Time::from_millis(500)).sender;
    sender.snd_wnd = 0;
    sender.write(Time::from_millis(501), 1000);
    assert_eq!(sender.poll_transmit(), None);
    sender.snd_wnd = 300;
    sender.write_wakeup();
    let probe = sender.poll_transmit().unwrap();
    assert_eq!((probe.len, probe.push), (300, true));
    assert!(sender.write_queue[0].push);
}

#[test]
fn the_option_is_no_smaller_than_the_sysctl_says_and_no_size_is_below_zero() {
    let option = |host| Socket::connect(host, Time::ZERO).poll_transmit().unwrap().syn.unwrap().mss;
    assert_eq!(option(Host { mtu: 200, ..host() }), Some(256));
    assert_eq!(option(Host { mtu: 200, headers: 60, ..host() }), Some(1220));
    let tiny = Host { maxseg: Some(Mss::new(5).unwrap()), ..host() };
    assert_eq!(option(tiny), Some(5));
    let pair = Pair::new(tiny, 1000, &[]).run(Time::from_secs(60));
    assert_eq!(pair.receiver.received(), 1000);
}

#[test]
fn a_router_s_word_is_no_timeout() {
    let mut pair = Pair::new(host(), 10 * MSS, &[]).run(Time::from_millis(50));
    assert!(!pair.sender.on_path_mtu(Time::from_millis(51), Mtu::new(1400).unwrap()));
    assert_eq!((pair.sender.ca_state, pair.sender.is_in_loss()), (CaState::Loss, false));
    pair.sender.enter_loss();
    assert!(pair.sender.is_in_loss());
}
