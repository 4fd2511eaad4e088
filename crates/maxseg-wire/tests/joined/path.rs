//! A transfer over a path that does what it is told, as the captures at both ends show it.
//!
//! It is no TCP: what is lost is sent again after a while, and every arrival is acknowledged.

mod files;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use maxseg_core::rng::{Rng, Stream};
use maxseg_wire::tcp::Flags;

/// What happens to packets of a direction, as shares of all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Way {
    pub(crate) lost: f64,
    pub(crate) delayed: f64,
    pub(crate) duplicated: f64,
    pub(crate) marked: f64,
    /// Segments that are sent again although they were not lost.
    pub(crate) needless: f64,
}

/// The receiver's clock against the sender's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    pub(crate) offset: i64,
    pub(crate) skew: f64,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a test")]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) there: Way,
    pub(crate) back: Way,
    pub(crate) clock: Clock,
    pub(crate) timestamps: bool,
    pub(crate) ids: bool,
    /// Whether the client has another address and port behind the path.
    pub(crate) translated: bool,
    /// Whether the sender's capture has nanoseconds.
    pub(crate) nanoseconds: bool,
    pub(crate) snap_len: u32,
    /// Packets that each capture misses, as a share.
    pub(crate) missed: f64,
    pub(crate) offload: bool,
    /// The part of the time in which the receiver's capture runs, as shares.
    pub(crate) receiver_from: f64,
    pub(crate) receiver_until: f64,
    /// What a firewall adds to the client's sequence numbers.
    pub(crate) renumbered: u32,
    pub(crate) clamp: Option<u16>,
    /// The longest time in a queue, there and back, in the middle of the transfer.
    pub(crate) queue_s: (f64, f64),
    /// By how much the receiver's clock is set in the middle.
    pub(crate) step_s: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            there: Way::default(),
            back: Way::default(),
            clock: Clock::default(),
            timestamps: true,
            ids: true,
            translated: false,
            nanoseconds: false,
            snap_len: 96,
            missed: 0.0,
            offload: false,
            receiver_from: 0.0,
            receiver_until: 1.0,
            renumbered: 0,
            clamp: None,
            queue_s: (0.0, 0.0),
            step_s: 0.0,
        }
    }
}

/// What was done, in packets of the wire.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    pub(crate) lost_bytes: u64,
    pub(crate) reordered: u64,
    pub(crate) duplicated: u64,
    pub(crate) retransmitted: u64,
    pub(crate) needless: u64,
    pub(crate) missed_at_sender: u64,
    pub(crate) missed_at_receiver: u64,
    pub(crate) marked: u64,
}

pub(crate) struct Made {
    pub(crate) sender: Vec<u8>,
    pub(crate) receiver: Vec<u8>,
    pub(crate) there: Truth,
    pub(crate) back: Truth,
    /// The receiver's clock less the sender's, in the middle of the transfer.
    pub(crate) offset_s: f64,
}

const SEGMENT: u32 = 1448;
const SEGMENTS: u32 = 1200;
const DELAY: i64 = 20_000_000;
/// Packets are sent four at once, so often.
const INTERVAL: i64 = 4_000_000;
const BURST: u32 = 4;
const BEGIN: i64 = 1_700_000_000_000_000_000;
const ISN: [u32; 2] = [4_294_000_000, 77_000];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    at: i64,
    /// Orders packets of the same time.
    number: u64,
    from_client: bool,
    flags: u16,
    seq: u32,
    ack: u32,
    len: u32,
    stamp: u32,
    id: u16,
    ce: bool,
}

/// A transfer, its captures, and what was done to it.
pub(crate) fn transfer(options: &Options) -> Made {
    let mut run = Run::new(options);
    run.go();
    let (there, back) = (run.truth(true), run.truth(false));
    let (sender, receiver) = run.captures();
    let middle = run.end / 2;
    let offset = options.clock.offset as f64 + options.clock.skew * middle as f64;
    Made { sender, receiver, there, back, offset_s: offset / 1e9 }
}

struct Run<'a> {
    options: &'a Options,
    rng: Rng,
    agenda: BinaryHeap<Reverse<(i64, u64, Event)>>,
    /// Sent packets, in order, each with whether it was lost and whether its sender's capture missed it.
    sent: Vec<(Packet, bool, bool)>,
    /// Arrived ones, in order, by the places in `sent`; whether it is a copy, and whether the receiver's capture missed it.
    arrived: Vec<(Packet, usize, bool, bool)>,
    numbers: [u16; 2],
    received: BTreeMap<u32, u32>,
    next: u32,
    end: i64,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Send { from_client: bool, flags: u16, seq: u32, len: u32, again: u8 },
    Arrive { packet: Packet, place: usize, copy: bool },
}

impl<'a> Run<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            rng: Stream::named(options.seed, "path").reader(),
            agenda: BinaryHeap::new(),
            sent: Vec::new(),
            arrived: Vec::new(),
            numbers: [7, 9],
            received: BTreeMap::new(),
            next: 0,
            end: 0,
            count: 0,
        }
    }

    fn at(&mut self, at: i64, event: Event) {
        self.count += 1;
        self.agenda.push(Reverse((at, self.count, event)));
    }

    fn go(&mut self) {
        let syn = Flags::SYN.bits();
        let ack = Flags::ACK.bits();
        let send =
            |from_client, flags| Event::Send { from_client, flags, seq: 0, len: 0, again: 9 };
        self.at(0, send(true, syn));
        self.at(DELAY + 100_000, send(false, syn | ack));
        self.at(2 * DELAY + 200_000, send(true, ack));
        for n in 0..SEGMENTS {
            let at = 2 * DELAY + 300_000 + i64::from(n / BURST) * INTERVAL;
            let seq = n * SEGMENT;
            self.at(at, Event::Send { from_client: true, flags: ack, seq, len: SEGMENT, again: 0 });
        }
        self.end = 2 * DELAY + i64::from(SEGMENTS / BURST) * INTERVAL;
        while let Some(Reverse((at, _, event))) = self.agenda.pop() {
            match event {
                Event::Send { from_client, flags, seq, len, again } => {
                    self.send(at, from_client, flags, seq, len, again);
                }
                Event::Arrive { packet, place, copy } => self.arrive(at, packet, place, copy),
            }
        }
        // Both captures run until everything has arrived: a last packet of each end that is not lost, long after.
        for from_client in [true, false] {
            let at = self.last_time() + 300_000_000;
            self.pass(at, from_client);
        }
    }

    fn last_time(&self) -> i64 {
        let sent = self.sent.iter().map(|(packet, ..)| packet.at).max();
        let arrived = self.arrived.iter().map(|(packet, ..)| packet.at).max();
        sent.max(arrived).unwrap_or(0)
    }

    /// A bare acknowledgement that arrives.
    fn pass(&mut self, at: i64, from_client: bool) {
        let packet = self.packet(at, from_client, Flags::ACK.bits(), SEGMENTS * SEGMENT, 0);
        let packet = if from_client { packet } else { Packet { seq: ISN[1] + 1, ..packet } };
        self.sent.push((packet, false, false));
        let place = self.sent.len() - 1;
        self.arrived.push((Packet { at: at + DELAY, ..packet }, place, false, false));
    }

    fn packet(&mut self, at: i64, from_client: bool, flags: u16, seq: u32, len: u32) -> Packet {
        self.count += 1;
        let number = &mut self.numbers[usize::from(!from_client)];
        *number = number.wrapping_add(1).max(1);
        let id = if self.options.ids { *number } else { 0 };
        let is_syn = flags & Flags::SYN.bits() != 0;
        let isn = ISN[usize::from(!from_client)];
        let acked = if flags & Flags::ACK.bits() == 0 {
            0
        } else if from_client {
            ISN[1] + 1
        } else {
            ISN[0].wrapping_add(1).wrapping_add(self.next)
        };
        let seq = if is_syn { isn } else { isn.wrapping_add(1).wrapping_add(seq) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a clock that wraps"
        )]
        let stamp = (at / 1_000_000) as u32;
        Packet {
            at,
            number: self.count,
            from_client,
            flags,
            seq,
            ack: acked,
            len,
            stamp,
            id,
            ce: false,
        }
    }

    fn draw(&mut self, share: f64) -> bool {
        share > 0.0 && self.rng.uniform() < share
    }

    fn send(&mut self, at: i64, from_client: bool, flags: u16, seq: u32, len: u32, again: u8) {
        let way = if from_client { self.options.there } else { self.options.back };
        let packet = self.packet(at, from_client, flags, seq, len);
        let is_early = again == 9 || self.sent.len() < 8;
        let is_lost = !is_early && again < 3 && self.draw(way.lost);
        let is_missed = !is_early && self.draw(self.options.missed);
        self.sent.push((packet, is_lost, is_missed));
        let place = self.sent.len() - 1;
        let resend = Event::Send { from_client, flags, seq, len, again: again + 1 };
        if is_lost {
            if len > 0 {
                self.at(at + 61_700_000, resend);
            }
            return;
        }
        if len > 0 && again == 0 && self.draw(way.needless) {
            self.at(at + 52_300_000, resend);
        }
        let ce = !is_early && self.draw(way.marked);
        let extra = if !is_early && self.draw(way.delayed) { 9_100_000 } else { 0 };
        let queue = self.queue(at, from_client);
        let packet = Packet { ce, ..packet };
        // Segments of a burst leave one after the other.
        let spread = i64::from(seq / SEGMENT % BURST) * 11_000;
        let arrival = at + DELAY + extra + queue + spread;
        self.at(arrival, Event::Arrive { packet, place, copy: false });
        if !is_early && self.draw(way.duplicated) {
            self.at(arrival + 300_000, Event::Arrive { packet, place, copy: true });
        }
    }

    /// A queue that grows to the middle of the transfer and shrinks again.
    fn queue(&self, at: i64, from_client: bool) -> i64 {
        let (there, back) = self.options.queue_s;
        let most = if from_client { there } else { back };
        let phase = at as f64 / f64::from(SEGMENTS / BURST) / INTERVAL as f64;
        let share = (1.0 - (2.0 * phase - 1.0).abs()).max(0.0);
        #[expect(clippy::cast_possible_truncation, reason = "a short time")]
        let nanos = (most * share * 1e9) as i64;
        nanos
    }

    fn arrive(&mut self, at: i64, packet: Packet, place: usize, copy: bool) {
        let is_early = self.arrived.len() < 8;
        let is_missed = !is_early && !copy && self.draw(self.options.missed);
        let arrived = Packet { at, ..packet };
        self.arrived.push((arrived, place, copy, is_missed));
        if packet.len == 0 || copy {
            return;
        }
        let start = packet.seq.wrapping_sub(ISN[0] + 1);
        self.received.insert(start, start + packet.len);
        while let Some(end) = self.received.get(&self.next).copied() {
            self.next = end;
        }
        let ack = Flags::ACK.bits();
        self.at(
            at + 5_000,
            Event::Send { from_client: false, flags: ack, seq: 0, len: 0, again: 0 },
        );
    }

    fn truth(&self, from_client: bool) -> Truth {
        let mut truth = Truth::default();
        let (mut sent_to, mut latest) = (None, None);
        let mut known: Vec<u32> = Vec::new();
        let mut again = vec![false; self.sent.len()];
        let own = |packet: &Packet| packet.from_client == from_client;
        let begin = ISN[0] + 1;
        for (place, (packet, is_lost, is_missed)) in self.sent.iter().enumerate() {
            if !own(packet) || *is_missed {
                continue;
            }
            truth.sent += 1;
            if *is_lost {
                truth.lost += 1;
                truth.lost_bytes += u64::from(packet.len);
            }
            if packet.len > 0 {
                let start = packet.seq.wrapping_sub(begin);
                again[place] = sent_to.is_some_and(|sent_to| start < sent_to);
                truth.retransmitted += u64::from(again[place]);
                sent_to = sent_to.max(Some(start + packet.len));
            }
        }
        for (packet, place, copy, is_missed) in self.arrived.iter().filter(|it| own(&it.0)) {
            if *copy {
                truth.duplicated += 1;
                continue;
            }
            let was_missed = self.sent[*place].2;
            if *is_missed {
                truth.missed_at_receiver += u64::from(!was_missed);
                continue;
            }
            truth.missed_at_sender += u64::from(was_missed);
            if was_missed {
                continue;
            }
            truth.marked += u64::from(packet.ce);
            let order = self.sent[*place].0.number;
            if latest.is_some_and(|latest| order < latest) {
                truth.reordered += 1;
            }
            latest = latest.max(Some(order));
            if packet.len > 0 {
                truth.needless += u64::from(again[*place] && known.contains(&packet.seq));
                known.push(packet.seq);
            }
        }
        truth
    }
}
