//! The path of the reference: a bottleneck, a list of losses, and delay (its README says how it is made).

use std::collections::VecDeque;

use maxseg_core::rng::{Rng, Stream};
use maxseg_core::tcp::linux::Packet;
use maxseg_core::units::Time;

use super::cell::Cell;
use super::hrtimer::reading;

/// The bucket holds one packet of an Ethernet.
const BURST: u64 = 1514;
/// IP and TCP without options; what the bottleneck counts besides.
const HEADERS: u64 = 40;
const ETHERNET: u64 = 14;
/// Packets of less are not counted where chosen ones are dropped.
const COUNTED_FROM: u64 = 200;

/// How the bottleneck sends.
#[derive(Debug)]
enum Shaper {
    /// A token bucket: what is left in it in nanoseconds of sending, and since when.
    Bucket { tokens: i64, since: u64 },
    /// A wire that takes its time for each packet, and when each that waits will be through (`netem_enqueue`,
    /// `net/sched/sch_netem.c`): known when it comes.
    Wire { through: VecDeque<Time> },
}

/// The way to the receiver. The way back is delay only.
#[derive(Debug)]
pub(super) struct Path {
    rate: u64,
    limit: usize,
    shaper: Shaper,
    waiting: VecDeque<Packet>,
    /// What the timer of the packet at the head is set for.
    pub(super) timer: Option<Time>,
    drops: Vec<u64>,
    counted: u64,
    /// Longer IP packets are dropped.
    mtu: u64,
    loss: f64,
    losses: Rng,
    delay: Time,
    /// What was dropped at the queue.
    pub(super) queue_drops: u64,
    /// When the first packet was dropped, wherever.
    pub(super) first_drop: Option<Time>,
}

fn frame(packet: &Packet) -> u64 {
    HEADERS + packet.option_bytes() + packet.len + ETHERNET
}

impl Path {
    pub(super) fn new(cell: &Cell, seed: u64) -> anyhow::Result<Self> {
        let full = i64::try_from(BURST * 8_000_000_000 / cell.rate)?;
        Ok(Self {
            rate: cell.rate,
            limit: cell.queue,
            shaper: if cell.qdisc.starts_with("netem") {
                Shaper::Wire { through: VecDeque::new() }
            } else {
                Shaper::Bucket { tokens: full, since: 0 }
            },
            waiting: VecDeque::new(),
            timer: None,
            drops: cell.drops()?,
            counted: 0,
            mtu: cell.path_mtu()?.unwrap_or(u64::MAX),
            loss: cell.loss,
            losses: Stream::named(seed, &cell.configuration()).reader(),
            delay: Time::from_nanos(cell.rtt.as_nanos() / 2),
            queue_drops: 0,
            first_drop: None,
        })
    }

    fn nanos(&self, bytes: u64) -> u64 {
        bytes * 8_000_000_000 / self.rate
    }

    /// What the timer is set for with which what leaves the bottleneck or the receiver now arrives.
    pub(super) fn arrives(&self, now: Time) -> Time {
        reading(now).saturating_add(self.delay)
    }

    /// A packet of the sender comes to the bottleneck; gives it back if it leaves at once.
    pub(super) fn offer(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        if self.waiting.len() >= self.limit {
            self.queue_drops += 1;
            self.first_drop.get_or_insert(now);
            return None;
        }
        let took = Time::from_nanos(self.nanos(frame(&packet)));
        if let Shaper::Wire { through } = &mut self.shaper {
            let begins = through.back().copied().unwrap_or(Time::ZERO).max(reading(now));
            through.push_back(begins.saturating_add(took));
        }
        self.waiting.push_back(packet);
        if self.timer.is_none() { self.poll(now) } else { None }
    }

    /// The packet that leaves the bottleneck now, if any; sets the timer for the next.
    pub(super) fn poll(&mut self, now: Time) -> Option<Packet> {
        self.timer = None;
        let bytes = frame(self.waiting.front()?);
        let cost = self.nanos(bytes).cast_signed();
        let full = self.nanos(BURST).cast_signed();
        let read = reading(now).as_nanos();
        match &mut self.shaper {
            Shaper::Bucket { tokens, since } => {
                let earned = (read - *since).cast_signed().min(full);
                let left = (*tokens + earned).min(full) - cost;
                if left < 0 {
                    let wait = Time::from_nanos(left.unsigned_abs());
                    self.timer = Some(reading(now).saturating_add(wait));
                    return None;
                }
                *tokens = left;
                *since = read;
            }
            Shaper::Wire { through } => {
                let done = *through.front()?;
                if reading(now) < done {
                    self.timer = Some(done);
                    return None;
                }
                through.pop_front();
            }
        }
        self.waiting.pop_front()
    }

    /// Whether more wait that might leave now.
    pub(super) fn has_more(&self) -> bool {
        self.timer.is_none() && !self.waiting.is_empty()
    }

    /// Whether a packet that has left the bottleneck gets further.
    pub(super) fn survives(&mut self, now: Time, packet: &Packet) -> bool {
        let survives = self.passes(packet);
        if !survives {
            self.first_drop.get_or_insert(now);
        }
        survives
    }

    fn passes(&mut self, packet: &Packet) -> bool {
        if packet.syn.is_some() {
            if self.drops.first() == Some(&0) {
                self.drops.remove(0);
                return false;
            }
        } else if frame(packet) - ETHERNET >= COUNTED_FROM {
            self.counted += 1;
            if self.drops.first() == Some(&self.counted) {
                self.drops.remove(0);
                return false;
            }
        }
        frame(packet) - ETHERNET <= self.mtu
            && (self.loss == 0.0 || self.losses.uniform() >= self.loss)
    }
}
