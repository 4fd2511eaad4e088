//! Which packet on its way is the one that arrives.

use super::super::passing::{Passing, print};
use super::{Sent, Way, What};
use crate::tcp::Flags;

/// A packet on its way that could be the one that arrived, and how well it fits.
pub(super) struct Candidate {
    pub(super) serial: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    has_id: bool,
    /// How far its delay is from that of the last packet, in nanoseconds.
    off: u64,
}

/// A delay may seem less than nothing by so many nanoseconds.
const TOLERANCE: i64 = 1_000_000;

impl Way {
    /// A packet passes the receiver's capture; false where it was not on its way.
    pub(in crate::joined) fn on_received(&mut self, packet: &Passing) -> bool {
        if packet.len > 0 { self.on_payload(packet) } else { self.on_control(packet) }
    }

    fn on_control(&mut self, packet: &Passing) -> bool {
        // A window that is sent again is larger or less: with the same numbers it is another packet.
        let has_same = self.fitting(packet, true).next().is_some();
        let fitting = || self.fitting(packet, has_same);
        let Some(nearest) = best(fitting()) else { return false };
        let is_told = nearest.has_id && packet.ip_id > 0;
        let in_order = if is_told { None } else { self.next_in_order(fitting(), nearest.has_id) };
        let found = in_order.unwrap_or(nearest);
        let print = self.print(packet, false);
        let sent_window = self.get(found.serial).and_then(Sent::window);
        self.control.remove(&(print, found.serial));
        // That of a SYN is never scaled, and that of a reset means nothing.
        let has_window = !packet.flags.contains(Flags::SYN) && !packet.flags.contains(Flags::RST);
        if let Some(sent) = sent_window.filter(|_| has_window) {
            self.windows.note(sent, packet.window);
        }
        self.arrive(packet, &found, 1);
        true
    }

    /// The packets without payload on their way that have the numbers of one that arrived; with its window, or with any.
    fn fitting<'a>(
        &'a self,
        packet: &'a Passing,
        has_window: bool,
    ) -> impl Iterator<Item = Candidate> + 'a {
        let print = self.print(packet, false);
        let candidates = self.control.range((print, 0)..=(print, u64::MAX));
        candidates.filter_map(move |(_, serial)| {
            let sent = self.get(*serial)?;
            if has_window && sent.window() != Some(packet.window) {
                return None;
            }
            let candidate = self.candidate(packet, sent, *serial, (0, 1))?;
            // All numbers are equal: only the identification tells them apart.
            let is_other = self.facts.keeps_ids && !candidate.has_id && sent.ip_id > 0;
            (!is_other || packet.ip_id == 0).then_some(candidate)
        })
    }

    /// What the numbers of a packet without payload hash to: the same at both captures.
    pub(super) fn print(&self, packet: &Passing, as_sent: bool) -> u64 {
        let pick = |(sent, received): (u32, u32)| if as_sent { sent } else { received };
        let seq = packet.seq.wrapping_sub(pick(self.facts.bases));
        let ack = packet.ack.map(|ack| ack.wrapping_sub(pick(self.facts.acked_bases)));
        print(seq, ack, packet.flags)
    }

    /// Of packets that nothing tells apart, as resets or duplicate acknowledgements without identification, the oldest behind the last one that
    /// arrived, with a delay as delays are: that one of them overtook another does not show.
    fn next_in_order(
        &self,
        candidates: impl Iterator<Item = Candidate>,
        have_id: bool,
    ) -> Option<Candidate> {
        let most_off = self.delays.spread().saturating_add(TOLERANCE).unsigned_abs();
        let is_next = |serial: u64| self.last_serial.is_none_or(|last| serial > last);
        candidates
            .filter(|it| it.has_id == have_id && it.off <= most_off && is_next(it.serial))
            .min_by_key(|it| it.serial)
    }

    fn on_payload(&mut self, packet: &Passing) -> bool {
        let start = self.offset(packet.payload_seq(), false);
        let end = start + i64::from(packet.len);
        let is_known = self.arrived.has(start, end);
        let (mut at, mut unmatched) = (start, 0);
        while at < end {
            match self.payload_at(packet, at, end) {
                Ok(found) => {
                    let to = found.end.min(end);
                    self.take_payload(&found, at, to);
                    self.needless(&found, at, to, is_known);
                    self.arrive(packet, &found, to - at);
                    at = to;
                }
                Err(next) => {
                    unmatched += next - at;
                    at = next;
                }
            }
        }
        self.arrived.add(start, end);
        let is_of_sender = unmatched < end - start;
        if is_of_sender && unmatched > 0 {
            self.on_unknown(packet, unmatched);
        }
        is_of_sender
    }

    /// The payload on its way that has the byte at this offset, or where the next is that could.
    fn payload_at(&self, packet: &Passing, at: i64, end: i64) -> Result<Candidate, i64> {
        let from = at.saturating_sub(self.longest);
        let candidates = self.payload.range((from, 0)..=(at, u64::MAX));
        let fitting = candidates.filter_map(|((start, serial), to)| {
            let sent = self.get(*serial).filter(|_| *to > at)?;
            self.candidate(packet, sent, *serial, (*start, *to))
        });
        best(fitting).ok_or_else(|| {
            let mut later = self.payload.range((at + 1, 0)..(end, 0));
            let next = later.find(|((start, serial), to)| {
                let sent = self.get(*serial);
                sent.is_some_and(|sent| {
                    self.candidate(packet, sent, *serial, (*start, **to)).is_some()
                })
            });
            next.map_or(end, |((start, _), _)| *start)
        })
    }

    /// Whether a packet on its way could be the one that arrives.
    fn candidate(
        &self,
        packet: &Passing,
        sent: &Sent,
        serial: u64,
        (start, end): (i64, i64),
    ) -> Option<Candidate> {
        if let (Some(there), Some(here)) = (sent.timestamp, packet.timestamp)
            && there != here
        {
            return None;
        }
        let delay = packet.at - sent.at;
        if self.facts.base.is_some() && delay < -TOLERANCE {
            return None;
        }
        let has_id = self.has_id(packet, sent, start);
        let can_tell = self.facts.keeps_ids && sent.ip_id > 0 && packet.ip_id > 0;
        if can_tell && !has_id && (sent.timestamp.is_none() || packet.timestamp.is_none()) {
            return None;
        }
        let off = delay.abs_diff(self.delays.last);
        Some(Candidate { serial, start, end, has_id, off })
    }

    /// Whether the identification is that of the packet, or of the segments that it is cut to or joined with.
    fn has_id(&self, packet: &Passing, sent: &Sent, start: i64) -> bool {
        let cuts = match sent.what {
            What::Payload { start: first, end } => {
                let span = (end - first).max(i64::from(packet.len)).max(start - first);
                u16::try_from(span / i64::from(self.facts.segment.max(1)) + 1).unwrap_or(u16::MAX)
            }
            What::Control { .. } => 0,
        };
        let forward = packet.ip_id.wrapping_sub(sent.ip_id);
        let back = sent.ip_id.wrapping_sub(packet.ip_id);
        if self.is_single(sent, packet) { forward == 0 } else { forward <= cuts || back <= cuts }
    }

    /// Whether a packet was neither cut nor joined.
    fn is_single(&self, sent: &Sent, packet: &Passing) -> bool {
        match sent.what {
            What::Payload { start, end } => {
                end - start == i64::from(packet.len) && packet.len <= self.facts.segment
            }
            What::Control { .. } => true,
        }
    }
}

impl Sent {
    /// The window of a packet without payload, as it was sent.
    const fn window(&self) -> Option<u16> {
        match self.what {
            What::Payload { .. } => None,
            What::Control { window, .. } => Some(window),
        }
    }
}

/// The one with the packet's identification, and of several the one whose delay is nearest to that of the last packet.
fn best(candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
    candidates.min_by_key(|candidate| (!candidate.has_id, candidate.off, candidate.serial))
}

#[cfg(test)]
mod tests {
    use super::super::{Coverages, WayFacts};
    use super::*;
    use crate::flow::Endpoint;

    const DELAY: i64 = 40_000_000;

    fn packet(at: i64, seq: u32, flags: Flags) -> Passing {
        Passing {
            at,
            pair: 0,
            sender: Endpoint::Low,
            seq,
            ack: None,
            window: 0,
            flags,
            len: 0,
            timestamp: None,
            ip_id: 0,
            ttl: 64,
            ecn: 0,
            point: 0,
            is_copy: false,
        }
    }

    fn way() -> Way {
        let all = (0, 1_000_000_000);
        Way::new(WayFacts {
            bases: (0, 0),
            acked_bases: (0, 0),
            segment: 1448,
            keeps_ids: true,
            covered: Coverages { sender: all, receiver: all },
            base: Some(0),
        })
    }

    /// A reset for each segment that was under way, all alike; `lost` of them do not arrive.
    fn resets(lost: &[i64]) -> (u64, u64) {
        let mut way = way();
        // An acknowledgement that waited for 30 us more.
        way.on_sent(&packet(0, 1, Flags::ACK));
        way.on_received(&packet(DELAY + 30_000, 1, Flags::ACK));
        let passed = |n: i64| 100_000 + n * 7_000;
        for n in 0..50 {
            way.on_sent(&packet(passed(n), 9, Flags::RST));
        }
        for n in (0..50).filter(|n| !lost.contains(n)) {
            assert!(way.on_received(&packet(passed(n) + DELAY + n % 3 * 5_000, 9, Flags::RST)));
        }
        let passage = way.finish(true);
        (passage.reordered_packets, passage.lost_packets)
    }

    /// A bandwidth manager caps the window at 156 units; a window update follows the last acknowledgement.
    #[test]
    fn acknowledgements_whose_window_is_rewritten_are_not_lost() {
        let mut way = way();
        let windowed =
            |at, ack, window| Passing { ack: Some(ack), window, ..packet(at, 1, Flags::ACK) };
        for (n, window) in [(1, 509), (2, 700), (3, 900), (4, 150)] {
            let at = i64::from(n) * 1_000_000;
            way.on_sent(&windowed(at, 1448 * n, window));
            assert!(way.on_received(&windowed(at + DELAY, 1448 * n, window.min(156))));
        }
        // Both windows are as they were sent: each is its own packet.
        way.on_sent(&windowed(50_000_000, 9_000, 10));
        way.on_sent(&windowed(50_100_000, 9_000, 20));
        assert!(way.on_received(&windowed(50_100_000 + DELAY, 9_000, 20)));
        assert_eq!(way.windows.rewritten(), Some((900, 156)));
        assert_eq!(way.finish(true).lost_packets, 1);
    }

    #[test]
    fn packets_that_are_all_alike_come_in_their_order() {
        assert_eq!(resets(&[]), (0, 0));
        assert_eq!(resets(&[7, 20]), (0, 2));
    }
}
