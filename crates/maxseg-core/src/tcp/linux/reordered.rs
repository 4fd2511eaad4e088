//! What came out of order, and the SACK blocks that tell of it (`net/ipv4/tcp_input.c`).

use super::Socket;
use super::gap_buffer::GapBuffer;
use super::packet::{Blocks, Flags, Packet};
use super::settings::Memory;

/// `TCP_SACK_BLOCKS_EXPECTED`: more blocks than that and the peer is told at once.
const BLOCKS_EXPECTED: usize = 2;

/// A packet that came too early, or some in a row that were made one.
#[derive(Debug, Clone, Copy)]
struct Early {
    seq: u64,
    end: u64,
    truesize: u64,
    /// Room behind its data, in bytes.
    room: u64,
    /// Its last number is a FIN's.
    has_fin: bool,
}

impl Early {
    /// Payload bytes.
    const fn len(&self) -> u64 {
        self.end - self.seq - self.has_fin as u64
    }
}

/// The out-of-order queue.
#[derive(Debug, Default)]
pub(super) struct OutOfOrder {
    /// In order of numbers.
    packets: GapBuffer<Early>,
    /// The blocks, the newest first (`selective_acks`).
    pub(super) sacks: Vec<(u64, u64)>,
}

impl OutOfOrder {
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Payload bytes in it.
    pub(super) fn payload(&self) -> u64 {
        let packets = (0..self.packets.len()).filter_map(|index| self.packets.get(index));
        packets.map(Early::len).sum()
    }

    /// Drops the last packet if it lies above `seq`; gives what it counted.
    pub(super) fn drop_last_above(&mut self, seq: u64) -> Option<u64> {
        let last = *self.packets.back()?;
        if last.seq < seq {
            return None;
        }
        self.packets.pop_back();
        Some(last.truesize)
    }
}

/// Widens a block by a range that meets it (`tcp_sack_extend`).
fn extend(block: &mut (u64, u64), seq: u64, end: u64) -> bool {
    if seq > block.1 || block.0 > end {
        return false;
    }
    *block = (block.0.min(seq), block.1.max(end));
    true
}

impl Socket {
    /// What came beyond `seq` goes, an eighth of the receive buffer at a time, until that is no longer too full
    /// (`tcp_prune_ofo_queue`).
    pub(super) fn prune_out_of_order(&mut self, seq: u64) {
        let mut pruned = false;
        while self.buffer.overflows() {
            let mut goal = self.buffer.prune_goal();
            while goal > 0
                && let Some(freed) = self.out_of_order.drop_last_above(seq)
            {
                self.buffer.used -= freed;
                goal = goal.saturating_sub(freed);
                pruned = true;
            }
            if goal > 0 {
                break;
            }
        }
        if pruned {
            self.dsack = None;
            self.out_of_order.sacks.clear();
        }
    }

    /// Tells of a duplicate with the next acknowledgement (`tcp_dsack_set`).
    pub(super) fn set_dsack(&mut self, seq: u64, end: u64) {
        if self.sack_ok && self.host.tcp_dsack {
            self.dsack = Some((seq, end));
        }
    }

    /// `tcp_dsack_extend`.
    fn extend_dsack(&mut self, seq: u64, end: u64) {
        match &mut self.dsack {
            Some(block) => {
                extend(block, seq, end);
            }
            None => self.set_dsack(seq, end),
        }
    }

    /// A packet came too early (`tcp_data_queue_ofo`).
    pub(super) fn queue_out_of_order(&mut self, packet: &Packet, memory: Memory) {
        let (seq, end, len) = (packet.seq, packet.end(), packet.len);
        if !self.make_room(seq) {
            return;
        }
        self.measure_segment(len, false, memory.counted);
        self.ack.scheduled = true;
        let has_fin = packet.flags.has(Flags::FIN);
        if self.join_early(seq, end, has_fin) {
            if self.sack_ok {
                self.grow_window(len, memory.counted);
                self.tell_of(seq, end);
            }
            return;
        }
        let Memory { condensed: truesize, room, .. } = memory;
        let is_kept = self.insert_early(Early { seq, end, truesize, room, has_fin });
        if self.sack_ok {
            self.tell_of(seq, end);
        }
        if is_kept {
            if self.sack_ok {
                self.grow_window(len, memory.counted);
            }
            self.buffer.used += truesize;
        } else {
            self.note_duplicate(len, true);
        }
    }

    /// A packet that follows another at once is copied behind it, where there is room
    /// (`tcp_ooo_try_coalesce`, `skb_try_coalesce`).
    fn join_early(&mut self, seq: u64, end: u64, has_fin: bool) -> bool {
        let packets = &mut self.out_of_order.packets;
        // Most come behind all others.
        let next = match packets.back() {
            Some(last) if last.seq <= seq => packets.len(),
            _ => packets.partition_point(|packet| packet.seq <= seq),
        };
        let overlaps = packets.get(next).is_some_and(|packet| packet.seq < end);
        let Some(before) = next.checked_sub(1).and_then(|index| packets.get_mut(index)) else {
            return false;
        };
        if before.end != seq || overlaps || before.room < end - seq {
            return false;
        }
        before.end = end;
        before.room -= end - seq - u64::from(has_fin);
        before.has_fin |= has_fin;
        true
    }

    /// Gives whether the packet was kept: one that is there already is not.
    fn insert_early(&mut self, early: Early) -> bool {
        let Early { seq, end, .. } = early;
        let packets = &self.out_of_order.packets;
        if packets.back().is_none_or(|last| seq >= last.end) {
            self.out_of_order.packets.push_back(early);
            return true;
        }
        let mut at = packets.partition_point(|packet| packet.seq < seq);
        if let Some(before) = at.checked_sub(1).and_then(|index| packets.get(index))
            && before.end > seq
        {
            if end <= before.end {
                self.set_dsack(seq, end);
                return false;
            }
            self.set_dsack(seq, before.end);
        }
        if let Some(&same) = self.out_of_order.packets.get(at)
            && same.seq == seq
        {
            if end <= same.end {
                self.set_dsack(seq, end);
                return false;
            }
            self.out_of_order.packets.remove(at);
            self.buffer.used -= same.truesize;
            self.extend_dsack(same.seq, same.end);
        }
        self.out_of_order.packets.insert(at, early);
        at += 1;
        while let Some(&next) = self.out_of_order.packets.get(at) {
            if end <= next.seq {
                break;
            }
            if end < next.end {
                self.extend_dsack(next.seq, end);
                break;
            }
            self.out_of_order.packets.remove(at);
            self.buffer.used -= next.truesize;
            self.extend_dsack(next.seq, next.end);
        }
        true
    }

    /// The newest range comes first among the blocks (`tcp_sack_new_ofo_skb`).
    fn tell_of(&mut self, seq: u64, end: u64) {
        let known = self.out_of_order.sacks.iter_mut().position(|block| extend(block, seq, end));
        let place = known.unwrap_or(self.out_of_order.sacks.len());
        if place >= BLOCKS_EXPECTED {
            self.send_compressed_ack();
        }
        let sacks = &mut self.out_of_order.sacks;
        let Some(index) = known else {
            sacks.truncate(Blocks::MOST - 1);
            return sacks.insert(0, (seq, end));
        };
        sacks[..=index].rotate_right(1);
        // What it meets now is one with it (`tcp_sack_maybe_coalesce`).
        let mut first = sacks[0];
        let mut index = 1;
        while let Some(&block) = sacks.get(index) {
            if extend(&mut first, block.0, block.1) {
                sacks.remove(index);
            } else {
                index += 1;
            }
        }
        sacks[0] = first;
    }

    /// A gap is closed: what follows it in order is taken over (`tcp_ofo_queue`).
    pub(super) fn take_over_early(&mut self) {
        let duplicate_below = self.rcv_nxt;
        while let Some(&early) = self.out_of_order.packets.front() {
            if early.seq > self.rcv_nxt {
                break;
            }
            if early.seq < duplicate_below {
                self.extend_dsack(early.seq, early.end.min(duplicate_below));
            }
            self.out_of_order.packets.pop_front();
            if early.end <= self.rcv_nxt {
                self.buffer.used -= early.truesize;
                continue;
            }
            self.rcv_nxt = early.end;
            self.buffer.used -= early.truesize;
            let data_end = early.seq + early.len();
            if early.len() > 0 {
                self.buffer.queue(data_end, early.len(), early.truesize, early.room);
            }
            if early.has_fin {
                return self.on_fin(); // nothing lies behind it
            }
        }
    }

    /// Blocks below what is acknowledged go (`tcp_sack_remove`).
    pub(super) fn remove_sacks(&mut self) {
        if self.out_of_order.is_empty() {
            self.out_of_order.sacks.clear();
        } else {
            let next = self.rcv_nxt;
            self.out_of_order.sacks.retain(|block| block.0 > next);
        }
    }
}
