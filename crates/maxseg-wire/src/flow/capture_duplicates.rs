//! Packets that a capture holds twice: a mirror port that copies both directions, or two interfaces of one host. They
//! are no retransmissions: both copies have the same IP identification.

use serde::{Deserialize, Serialize};

use super::Seen;
use super::seen_options::SeenOptions;
use crate::tcp::Flags;

/// The last packets of an end, as fingerprints. Packed, it takes a byte where there are none.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Option<Packets>", into = "Option<Packets>")]
pub(super) struct RecentPackets(Packets);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Packets {
    last: Prints,
    /// More of them, where the capture is known to make copies; none while they are forgotten.
    more: Option<Box<[Known]>>,
}

/// A packet of the point that counts.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Known {
    print: u32,
    /// When it was seen, in microseconds.
    time: u32,
    checksum: u8,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Prints {
    hashes: [u32; LENGTH],
    checksums: [u8; LENGTH],
    /// Which of them were captured elsewhere than where packets count; a bit each.
    elsewhere: u8,
    /// Where those were captured, of each that was.
    points: [u8; LENGTH],
    /// When each was seen, in microseconds.
    times: [u32; LENGTH],
    next: u8,
}

/// Most packets of one endpoint between two copies of a packet, while no copy was seen.
const LENGTH: usize = u8::BITS as usize;
/// The same later, of a sender that counts its packets: bursts are longer than [`LENGTH`]. A packet's place among them is its
/// identification modulo this number, so where all identifications are the same only the last packet is kept.
const MORE: u16 = 512;
/// Longest time between two copies, in microseconds. A later packet with the same identification was duplicated by the
/// network, and reached the receiver twice.
const AT_ONCE: u32 = 50_000;
/// The same between two points of capture with a path between them.
const ELSEWHERE: u32 = 1_000_000;
/// Longest time between two copies without an IP identification (IPv6, or identification 0), in microseconds: only within a data center
/// does a sender retransmit so soon, and the other end has asked for it then.
const WITHOUT_ID: u32 = 500;
/// Longest time between two copies of a SYN or SYN-ACK, in microseconds: less than any host waits before it sends the first one again
/// (RFC 6298 §2.1). Linux answers a SYN with identification 0.
const OF_SYN: u32 = 200_000;

impl RecentPackets {
    /// Whether this very packet is among the last ones.
    pub(super) fn knows(&self, seen: &Seen<'_>) -> bool {
        self.0.last.hashes.contains(&fingerprint(seen))
    }

    /// The time between a packet and the last one that it is a copy of, in microseconds.
    pub(super) fn apart(&self, seen: &Seen<'_>) -> Option<u32> {
        let print = fingerprint(seen);
        let last = self.0.last.hashes.iter().copied().zip(self.0.last.times);
        let more = self.0.more.iter().flatten().map(|known| (known.print, known.time));
        last.chain(more)
            .filter(|(known, _)| *known == print)
            .map(|(_, when)| apart(micros(seen.at_nanos), when))
            .min()
    }

    /// Whether the last packet that was remembered came within so many microseconds before this one.
    pub(super) fn came_within(&self, micros_before: u32, seen: &Seen<'_>) -> bool {
        let prints = &self.0.last;
        let last = usize::from(prints.next.wrapping_sub(1)) % LENGTH;
        let is_known = prints.hashes.get(last).is_some_and(|print| *print != 0);
        let when = prints.times.get(last).copied().unwrap_or(0);
        is_known && micros(seen.at_nanos).wrapping_sub(when) < micros_before
    }

    /// Forgets the packets after `quiet` nanoseconds without one, if no copy of them can come any more: but of a SYN, which every connection
    /// that waits for its answer would have to keep.
    pub(super) fn forget_old(&mut self, quiet: u64) {
        let longest = if self.0.last.elsewhere == 0 { AT_ONCE } else { ELSEWHERE };
        if quiet > u64::from(longest) * 1000 {
            self.0.last = Prints::default();
        }
        if quiet > u64::from(AT_ONCE) * 1000 {
            self.0.more = self.0.more.take().map(|_| Box::default());
        }
    }

    /// The capture makes copies: from now on more packets are remembered.
    pub(super) fn expect_copies(&mut self) {
        self.0.more.get_or_insert_default();
    }

    /// What the packets that are remembered beyond the last few take of memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.more.as_deref().map_or(0, size_of_val)
    }

    /// Whether a packet is a copy of one of the last ones, captured at the same point or elsewhere; remembers it
    /// otherwise.
    #[inline(always)]
    pub(super) fn is_copy(&mut self, seen: &Seen<'_>, is_elsewhere: bool) -> bool {
        let print = fingerprint(seen);
        let Packets { last, more } = &mut self.0;
        if last.hashes.contains(&print) && last.has_copy_of(seen, print, is_elsewhere) {
            return true;
        }
        if let Some(more) = more.as_mut().filter(|_| !is_elsewhere)
            && is_late_copy(more, seen, print)
        {
            return true;
        }
        last.remember(seen, print, is_elsewhere);
        false
    }
}

impl Prints {
    /// Whether a packet with this fingerprint is a copy of one of those that have it as well.
    #[cold]
    #[inline(never)]
    fn has_copy_of(&self, seen: &Seen<'_>, print: u32, is_elsewhere: bool) -> bool {
        let at = micros(seen.at_nanos);
        let has_id = seen.ip_id.is_some_and(|id| id != 0);
        let known = self.hashes.iter().zip(&self.checksums).zip(&self.times).enumerate();
        for (place, ((known, checksum), when)) in known {
            let was_elsewhere = self.elsewhere >> place & 1 == 1;
            let is_between = is_elsewhere != was_elsewhere
                || is_elsewhere && self.points.get(place) != Some(&point(seen));
            let within = match (has_id, is_between) {
                (_, false) if seen.flags.contains(Flags::SYN) => OF_SYN,
                (true, true) => ELSEWHERE,
                (true, false) | (false, true) => AT_ONCE,
                (false, false) if seen.seq_len() > 0 => WITHOUT_ID,
                // Duplicate ACKs are identical, and are no copies at the same point of capture.
                (false, false) => continue,
            };
            // Between two points the network card may fill in the checksum.
            let is_same = *known == print && (is_between || *checksum == folded(seen.checksum));
            if is_same && apart(at, *when) <= within {
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn remember(&mut self, seen: &Seen<'_>, print: u32, is_elsewhere: bool) {
        let next = usize::from(self.next) % LENGTH;
        if let (Some(known), Some(when)) = (self.hashes.get_mut(next), self.times.get_mut(next)) {
            (*known, *when) = (print, micros(seen.at_nanos));
        }
        if let Some(checksum) = self.checksums.get_mut(next) {
            *checksum = folded(seen.checksum);
        }
        if is_elsewhere || self.elsewhere != 0 {
            self.elsewhere = self.elsewhere & !(1 << next) | u8::from(is_elsewhere) << next;
            if let Some(known) = self.points.get_mut(next) {
                *known = point(seen);
            }
        }
        self.next = self.next.wrapping_add(1);
    }
}

/// Whether a packet of the point that counts is a copy of an earlier one with its identification; remembers it otherwise.
#[inline(never)]
fn is_late_copy(more: &mut Box<[Known]>, seen: &Seen<'_>, print: u32) -> bool {
    let Some(id) = seen.ip_id.filter(|id| *id != 0) else { return false };
    if more.is_empty() {
        *more = vec![Known::default(); MORE.into()].into_boxed_slice();
    }
    let Some(known) = more.get_mut(usize::from(id % MORE)) else { return false };
    let (time, checksum) = (micros(seen.at_nanos), folded(seen.checksum));
    let is_same = (known.print, known.checksum) == (print, checksum);
    if is_same && apart(time, known.time) <= AT_ONCE {
        return true;
    }
    *known = Known { print, time, checksum };
    false
}

impl From<Option<Packets>> for RecentPackets {
    fn from(packets: Option<Packets>) -> Self {
        Self(packets.unwrap_or_default())
    }
}

impl From<RecentPackets> for Option<Packets> {
    fn from(RecentPackets(packets): RecentPackets) -> Self {
        let are_known = packets.last.hashes.iter().any(|print| *print != 0);
        (are_known || packets.more.is_some()).then_some(packets)
    }
}

/// The time between two times: clocks of captures run back now and then.
fn apart(at: u32, when: u32) -> u32 {
    at.wrapping_sub(when).min(when.wrapping_sub(at))
}

/// Microseconds; they wrap after 71 minutes, and only differences are used.
#[expect(clippy::cast_possible_truncation, reason = "compared modulo 2³²")]
const fn micros(nanos: u64) -> u32 {
    (nanos / 1000) as u32
}

/// Numbers and identification, mixed; never 0. A SYN that is sent again has another timestamp, by which alone it differs where its host does
/// not count its packets, and leaves checksums to the network card.
fn fingerprint(seen: &Seen<'_>) -> u32 {
    let is_syn = seen.flags.contains(Flags::SYN);
    let stamp = if is_syn { SeenOptions::of(seen.options).timestamps } else { None };
    let stamp = stamp.map_or(0, |(value, _)| u64::from(value));
    let numbers = (u64::from(seen.seq) << 32 | u64::from(seen.ack)) ^ stamp;
    let id = u64::from(seen.ip_id.unwrap_or(0));
    let rest = id << 48
        | u64::from(seen.payload_len & 0xffff) << 32
        | u64::from(seen.window) << 16
        | u64::from(seen.flags.bits());
    let mixed = (numbers ^ rest.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u32::try_from((mixed ^ rest) >> 32).unwrap_or(0) | 1
}

/// Eight bits of where a packet was captured.
fn point(seen: &Seen<'_>) -> u8 {
    let place = seen.interface ^ seen.link.rotate_left(8) ^ u32::from(seen.ttl).rotate_left(16);
    let [.., mixed] = place.wrapping_mul(0x9e37_79b9).rotate_left(8).to_be_bytes();
    mixed
}

/// Eight bits of a checksum.
const fn folded(checksum: u16) -> u8 {
    let [high, low] = checksum.to_be_bytes();
    high.wrapping_mul(31) ^ low
}
