//! The queueing discipline `fq` at the sender: packets leave at the times that TCP gave them
//! (`net/sched/sch_fq.c`), and TCP puts few there at a time (`tcp_small_queue_check`, `net/ipv4/tcp_output.c`).

use std::collections::VecDeque;

use super::Socket;
use super::constants::PACING_SHIFT;
use super::packet::Packet;
use super::skb::Skb;
use crate::units::Time;

/// A packet may leave so much later, in nanoseconds, together with another timer (`timer_slack`).
const SLACK: u64 = 10_000;

/// What a socket counts while it sends nothing: `sk_wmem_alloc` begins with it (`sk_alloc`, `net/core/sock.c`).
const BIAS: u64 = 1;

/// One packet that waits.
#[derive(Debug)]
struct Held {
    /// When it may leave (`time_to_send`), on the kernel's clock.
    departs: u64,
    packet: Box<Packet>,
    /// Bytes of memory that the socket has back then.
    frees: u64,
}

/// Packets of one socket that wait, in order.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    held: VecDeque<Held>,
    /// What they count (`sk_wmem_alloc`).
    pub(super) bytes: u64,
    /// TCP waits for the next to leave (`TSQ_THROTTLED`).
    is_throttled: bool,
}

impl FairQueue {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

impl Socket {
    /// The packet goes, or waits at the first link.
    #[inline]
    pub(super) fn put(&mut self, packet: Packet) {
        let mut written = self.out.blank();
        *written = packet;
        self.put_written(written);
    }

    #[inline(always)]
    pub(super) fn put_written(&mut self, packet: Box<Packet>) {
        self.counters.packets += 1;
        if self.host.fq {
            if let Some(leaves) = self.hold(packet) {
                self.out.push(leaves);
            }
            return;
        }
        self.out.push(packet);
    }

    /// Holds a packet that may not leave yet, or comes behind one; else gives it back.
    pub(super) fn hold(&mut self, packet: Box<Packet>) -> Option<Box<Packet>> {
        let departs = self.last_sent_nanos;
        if departs <= self.clock.nanos && self.fair_queue.is_empty() {
            return Some(packet);
        }
        self.fair_queue.held.push_back(Held { departs, packet, frees: 0 });
        self.watch();
        None
    }

    /// The timer is for the first packet that waits (`qdisc_watchdog_schedule_range_ns`).
    fn watch(&mut self) {
        let first = self.fair_queue.held.front();
        let at = |slack| {
            first.map_or(Time::NEVER, |held| self.clock.time_of_nanos(held.departs + slack))
        };
        (self.timers.pace_from, self.timers.pace_at) = (at(0), at(SLACK));
    }

    /// What was just sent of this packet counts as memory of the socket until it leaves.
    pub(super) fn charge(&mut self, skb: &Skb) {
        let queue = &mut self.fair_queue;
        if let Some(last) = queue.held.back_mut().filter(|last| last.packet.end() == skb.end_seq) {
            last.frees = skb.truesize;
            queue.bytes += skb.truesize;
        }
    }

    /// Packets whose time has come leave, which may let TCP go on.
    pub(super) fn release(&mut self) {
        let now = self.clock.nanos;
        let queue = &mut self.fair_queue;
        let mut has_freed = false;
        while queue.held.front().is_some_and(|held| held.departs <= now)
            && let Some(held) = queue.held.pop_front()
        {
            queue.bytes -= held.frees;
            has_freed |= held.frees > 0;
            self.out.push(held.packet);
        }
        self.watch();
        let queue = &mut self.fair_queue;
        if has_freed && queue.is_throttled {
            queue.is_throttled = false;
            self.go_on_sending();
        }
    }

    /// Whether so much waits that a packet with this memory has to wait for it; twice as much may wait where it is sent
    /// again.
    pub(super) fn is_queue_full(&mut self, truesize: u64, again: bool) -> bool {
        let most = (2 * truesize).max(self.pacing_rate >> PACING_SHIFT) << u32::from(again);
        if self.fair_queue.bytes + BIAS <= most || self.rtx_queue.len() <= 1 {
            return false;
        }
        self.fair_queue.is_throttled = true;
        true
    }

    /// Whether a packet has not left since it was sent last, so that it is not sent again
    /// (`skb_still_in_host_queue`).
    pub(super) fn is_held(&mut self, skb: &Skb) -> bool {
        let queue = &mut self.fair_queue;
        let is_held = queue.held.iter().any(|held| held.packet.end() == skb.end_seq);
        queue.is_throttled |= is_held;
        is_held
    }
}
