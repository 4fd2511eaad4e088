//! The points at which one end's packets were captured.
//!
//! A router captured with `-i any`, a bridge or a mirror of several ports shows a packet once at every point that it
//! passes: with the same IP identification and numbers, at another interface or link, or with fewer hops left. The
//! point of the first packet counts, and packets at the others are copies, however late they are: a queue between two
//! points holds a packet back for as long as it is full.

use serde::{Deserialize, Serialize};

use super::Seen;

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
    /// Packets with news at other points since the last at the point that counts.
    news_elsewhere: u8,
}

/// A point other than the one that counts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct OtherPoint {
    point: CapturePoint,
    /// Packets that were seen at another point shortly before, and packets that were not.
    matched: u16,
    unmatched: u16,
    /// Whether its packets are copies, matched or not.
    repeats: bool,
}

/// Other points that are kept: beyond that the packets count unless they match.
const MOST: usize = 6;
/// Matched packets from which on a point is known to repeat another.
const PROOF: u16 = 2;
/// After so many packets with news at other points and none at the point that counts, one of them counts.
const SILENT: u8 = 32;

impl CapturePoint {
    const fn of(seen: &Seen<'_>) -> Self {
        Self { interface: seen.interface, link: seen.link, ttl: seen.ttl }
    }
}

impl CapturePoints {
    /// Whether a packet was captured at the point that counts; that of the first packet is.
    #[inline]
    pub(super) fn is_counted(&mut self, seen: &Seen<'_>) -> bool {
        let point = CapturePoint::of(seen);
        let is_counted = *self.counted.get_or_insert(point) == point;
        if is_counted {
            self.news_elsewhere = 0;
        }
        is_counted
    }

    /// A packet at a point that does not count, which matched one of the last packets or not, and has news or not: a
    /// number beyond all that was seen. Gives whether it is a copy.
    #[cold]
    pub(super) fn is_copy(&mut self, seen: &Seen<'_>, has_matched: bool, has_news: bool) -> bool {
        let point = CapturePoint::of(seen);
        let known = self.others.iter().position(|other| other.point == point);
        let place = known.unwrap_or(self.others.len());
        if known.is_none() && place < MOST {
            self.others.push(OtherPoint { point, matched: 0, unmatched: 0, repeats: false });
        }
        let Some(other) = self.others.get_mut(place) else { return has_matched };
        if has_matched {
            other.matched = other.matched.saturating_add(1);
            other.repeats |= other.matched >= PROOF && other.matched >= other.unmatched;
            return true;
        }
        if !other.repeats {
            other.unmatched = other.unmatched.saturating_add(1);
        } else if has_news {
            // The capture lost it at the point that counts, or nothing passes there any more.
            self.news_elsewhere = self.news_elsewhere.saturating_add(1);
        }
        let is_copy = other.repeats && !has_news;
        if self.news_elsewhere >= SILENT {
            self.counted = Some(point);
            self.others.swap_remove(place);
            self.news_elsewhere = 0;
        }
        is_copy
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

    /// The interface whose packets count.
    pub(super) fn interface(&self) -> Option<u32> {
        self.counted.map(|counted| counted.interface)
    }
}
