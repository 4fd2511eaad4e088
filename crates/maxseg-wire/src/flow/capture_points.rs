//! The points at which one end's packets were captured.
//!
//! A router captured with `-i any`, a bridge or a mirror of several ports shows a packet once at every point that it
//! passes: with the same IP identification and numbers, at another interface or link, or with fewer hops left. The
//! point of the first packet counts, and packets at the others are copies, however late they are: a queue between two
//! points holds a packet back for as long as it is full.
//!
//! A file that was merged from the captures of two places holds every packet twice as well, with a path between: what was
//! sent and what answers it may then be counted at different places, and no round trip can be read from them. Where the file
//! does not say at which place a packet was captured (`mergecap` makes one interface of two), the identification does: a
//! retransmission has a new one.

use serde::{Deserialize, Serialize};

use super::Seen;
use super::seen_options::SeenOptions;
use crate::tcp::Flags;

/// Where a packet was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CapturePoint {
    interface: u32,
    link: u32,
    ttl: u8,
}

/// The points at which one end's packets were captured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CapturePoints {
    /// The one whose packets count.
    counted: Option<CapturePoint>,
    others: Vec<OtherPoint>,
    /// The newest IP identification at the point that counts.
    last_id: u16,
    /// Segments there that were sent before, with an identification from before the newest, and with a new one.
    repeated: u32,
    resent: u32,
    /// Packets with news at other points since the last at the point that counts: nothing passes there any more, as behind a change of
    /// the route, or in the next file of a ring buffer.
    news_elsewhere: u8,
    /// Whether the point that counts was another one before.
    has_moved: bool,
}

/// A point other than the one that counts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct OtherPoint {
    point: CapturePoint,
    /// Packets that were seen at another point shortly before, and packets that were not.
    matched: u16,
    unmatched: u16,
    /// Packets without a match that had passed the point that counts, by their identification.
    passed: u16,
    /// The least time between a packet here and its match, in microseconds.
    nearest: u32,
    /// Whether its packets are copies, matched or not.
    repeats: bool,
    /// The MSS option of the SYN as it passed there.
    mss: Option<u16>,
}

/// A packet at a point that does not count, beside those that were seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside {
    /// The time from the packet among the last ones that it is a copy of, in microseconds.
    pub(super) matched: Option<u32>,
    /// Whether it has a number beyond all that was seen.
    pub(super) has_news: bool,
    /// Whether all its bytes were seen.
    pub(super) is_known: bool,
}

/// Other points that are kept: beyond that the packets count unless they match.
const MOST: usize = 6;
/// Matched packets from which on a point is known to repeat another.
const PROOF: u16 = 2;
/// Packets from which on a point that others had passed long before is another place.
const MANY: u16 = 16;
/// All is seen twice where it is a third of the segments at least, for a file may hold one place for longer; and where so many
/// segments are repeated for one that is sent again or overtaken: identifications may be random (RFC 6864 §3), and then half are, and
/// where the network reorders packets, those that are overtaken are.
const THIRD: u32 = 3;
const FOR_ONE_RESENT: u32 = 4;
/// Between two interfaces of one host a packet takes less, in microseconds, when no queue holds it.
const WITHIN_A_HOST: u32 = 1000;
/// After so many packets with news at other points and none at the point that counts, one of them counts.
const SILENT: u8 = 32;

impl CapturePoint {
    const fn of(seen: &Seen<'_>) -> Self {
        Self { interface: seen.interface, link: seen.link, ttl: seen.ttl }
    }
}

impl OtherPoint {
    const fn new(point: CapturePoint) -> Self {
        Self {
            point,
            matched: 0,
            unmatched: 0,
            passed: 0,
            nearest: u32::MAX,
            repeats: false,
            mss: None,
        }
    }
}

impl CapturePoints {
    /// Whether a packet was captured at the point that counts; that of the first packet is.
    #[inline]
    pub(super) fn is_counted(&mut self, seen: &Seen<'_>) -> bool {
        let point = CapturePoint::of(seen);
        let is_counted = *self.counted.get_or_insert(point) == point;
        if is_counted {
            if !self.is_older(seen) {
                self.last_id = seen.ip_id.unwrap_or(0);
            }
            // Behind the look at `last_id`, its neighbour: both are loaded at once, which would wait for a store of one of them.
            self.news_elsewhere = 0;
        }
        is_counted
    }

    /// A packet at a point that does not count. Gives whether it is a copy.
    #[cold]
    pub(super) fn is_copy(&mut self, seen: &Seen<'_>, beside: Beside) -> bool {
        let point = CapturePoint::of(seen);
        let known = self.others.iter().position(|other| other.point == point);
        let place = known.unwrap_or(self.others.len());
        if known.is_none() && place < MOST {
            self.others.push(OtherPoint::new(point));
        }
        let has_passed = beside.is_known && self.has_passed(seen);
        let Some(other) = self.others.get_mut(place) else { return beside.matched.is_some() };
        if let Some(apart) = beside.matched {
            other.nearest = other.nearest.min(apart);
            other.matched = other.matched.saturating_add(1);
            other.repeats |= other.matched >= PROOF && other.matched >= other.unmatched;
            return true;
        }
        if !other.repeats {
            other.unmatched = other.unmatched.saturating_add(1);
        }
        other.passed = other.passed.saturating_add(u16::from(has_passed));
        let is_copy = has_passed || other.repeats && !beside.has_news;
        self.news_elsewhere = self.news_elsewhere.saturating_add(beside.has_news.into());
        if self.news_elsewhere >= SILENT {
            self.count_at(place, seen);
        }
        is_copy
    }

    /// A packet is a copy. What a host changes of a SYN that it forwards shows at another of its interfaces.
    #[inline]
    pub(super) fn on_copied(&mut self, seen: &Seen<'_>) {
        if seen.flags.contains(Flags::SYN) {
            self.on_copied_syn(seen);
        }
    }

    #[cold]
    fn on_copied_syn(&mut self, seen: &Seen<'_>) {
        let point = CapturePoint::of(seen);
        if let Some(other) = self.others.iter_mut().find(|other| other.point == point) {
            other.mss = SeenOptions::of(seen.options).mss;
        }
    }

    /// The least MSS option that the SYN has elsewhere, where that is less than at the point that counts.
    pub(super) fn lowered_mss(&self, counted: Option<u16>) -> Option<u16> {
        let least = self.others.iter().filter_map(|other| other.mss).min()?;
        counted.filter(|counted| least < *counted).map(|_| least)
    }

    /// Another point counts from this packet on.
    fn count_at(&mut self, place: usize, seen: &Seen<'_>) {
        self.others.swap_remove(place);
        self.has_moved = true;
        let before = self.counted.replace(CapturePoint::of(seen));
        self.others.extend(before.map(OtherPoint::new));
        self.last_id = seen.ip_id.unwrap_or(0);
        self.news_elsewhere = 0;
    }

    /// A segment of the point that counts that was sent before, as far as its numbers say. Gives whether its identification is from before
    /// the newest, as a copy's is.
    #[cold]
    pub(super) fn on_resent(&mut self, seen: &Seen<'_>) -> bool {
        let is_older = self.is_older(seen);
        let count = if is_older { &mut self.repeated } else { &mut self.resent };
        *count = count.saturating_add(1);
        is_older
    }

    /// A segment of the point that counts, where all are captured at another place before: whether this one was.
    pub(super) fn is_repeat(&mut self, seen: &Seen<'_>) -> bool {
        let is_repeat = self.is_older(seen);
        self.repeated = self.repeated.saturating_add(u32::from(is_repeat));
        is_repeat
    }

    /// A segment of the point that counts that is a copy of one of the last, so many microseconds behind it.
    pub(super) fn on_near_copy(&mut self, apart: u32) {
        self.repeated = self.repeated.saturating_add(u32::from(apart > WITHIN_A_HOST));
    }

    /// Whether so many segments may all have been captured at another place before, which takes no look at one of them.
    #[inline]
    pub(super) fn may_repeat(&self, segments: u32) -> bool {
        self.repeated >= u32::from(MANY) && self.repeated >= segments / THIRD
    }

    /// Whether all of so many segments were captured at another place before; of those that brought new bytes, so many had been overtaken.
    pub(super) fn repeats(&self, segments: u32, overtaken: u32) -> bool {
        self.may_repeat(segments)
            && self.repeated / FOR_ONE_RESENT >= self.resent.saturating_add(overtaken)
    }

    /// Whether a packet's identification is from before the newest: senders count them up modulo 2¹⁶ (RFC 6864 §3).
    fn is_older(&self, seen: &Seen<'_>) -> bool {
        let before = |id: u16| self.last_id.wrapping_sub(id);
        seen.ip_id.is_some_and(|id| {
            id != 0 && self.last_id != 0 && (1..u16::MAX / 2).contains(&before(id))
        })
    }

    /// Whether a packet whose bytes are all known passed the point that counts before: a retransmission would have a later
    /// identification than the newest one there.
    fn has_passed(&self, seen: &Seen<'_>) -> bool {
        let is_newest = self.last_id != 0 && seen.ip_id == Some(self.last_id);
        is_newest || self.is_older(seen)
    }

    /// The time between the point that counts and the furthest other, when no queue holds a packet, in microseconds.
    fn apart(&self) -> u32 {
        let apart = |other: &OtherPoint| match other {
            _ if other.matched >= PROOF => other.nearest,
            _ if other.passed >= MANY => u32::MAX,
            _ => 0,
        };
        self.others.iter().map(apart).max().unwrap_or(0)
    }

    /// Whether the packets of the two ends were captured at two places with a path between, and the file was merged from
    /// both: clocks that differ can hide the way of one end's packets, and not that of both.
    pub(super) fn are_two_places(&self, peer: &Self) -> bool {
        self.apart().saturating_add(peer.apart()) > WITHIN_A_HOST
    }

    /// Points at which packets were seen again.
    pub(super) fn repeating(&self) -> usize {
        self.others.iter().filter(|other| other.matched > 0).count()
    }

    /// Whether a packet of the interface that counts has come another number of hops.
    pub(super) fn is_other_path(&self, seen: &Seen<'_>) -> bool {
        self.counted.is_some_and(|counted| {
            counted.ttl != seen.ttl
                && counted.interface == seen.interface
                && counted.link == seen.link
        })
    }

    /// The interface whose packets count, those of both ends; `None` where they are of several, or of none.
    pub(super) fn counted_interface(&self, peer: &Self) -> Option<u32> {
        let both = [self, peer];
        let interface = both.iter().find_map(|points| points.counted)?.interface;
        let is_only = |points: &Self| {
            let is_counted = |point: CapturePoint| point.interface == interface;
            let counts_others =
                |other: &OtherPoint| !other.repeats && other.unmatched > other.passed;
            !points.has_moved
                && points.counted.is_none_or(is_counted)
                && points.others.iter().all(|it| is_counted(it.point) || !counts_others(it))
        };
        both.into_iter().all(is_only).then_some(interface)
    }

    /// Whether the packets of the two ends were captured at an interface each, none of theirs at the other's.
    pub(super) fn are_apart(&self, peer: &Self) -> bool {
        let ours = self.only_interface();
        ours.is_some() && peer.only_interface().is_some_and(|theirs| ours != Some(theirs))
    }

    /// The interface at which all packets were captured.
    fn only_interface(&self) -> Option<u32> {
        let interface = self.counted?.interface;
        self.others.iter().all(|other| other.point.interface == interface).then_some(interface)
    }
}
