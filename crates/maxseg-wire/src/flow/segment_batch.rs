//! Segments that are kept for a while, many at once: each takes one line of the processor's caches, for every one is written and
//! read again.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use super::owned_segment::MOST_OPTIONS;
use super::seen::{Passing, Seen};
use crate::tcp::Flags;

/// Segments without their payload and their ends, in the order in which they came. What few of them have takes room only for
/// these.
#[derive(Debug, Default)]
pub(super) struct SegmentBatch {
    list: Vec<KeptSegment>,
    /// Interface and link; segments behind each other have mostly the same.
    points: Vec<(u32, u32)>,
    rests: Vec<Rest>,
}

/// A segment of a batch.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct KeptSegment {
    at_nanos: u64,
    frame: u64,
    seq: u32,
    ack: u32,
    payload_len: u32,
    ip_len: u32,
    options: [u8; STAMPED],
    /// The place of its interface and link.
    point: u32,
    /// The place of what few have, from 1.
    rest: Option<NonZeroU32>,
    ip_id: u16,
    window: u16,
    flags: Flags,
    checksum: u16,
    ttl: u8,
    options_len: u8,
    options_kept: u8,
    /// The bits of congestion notification, and the marks below.
    marks: u8,
}

const _: () = assert!(size_of::<KeptSegment>() == 64, "a line of the caches");

/// Options of a segment with timestamps (RFC 7323 appendix A).
const STAMPED: usize = 12;

const ECN: u8 = 3;
const DONT_FRAGMENT: u8 = 1 << 2;
const HAS_ID: u8 = 1 << 3;
const IS_LATE: u8 = 1 << 4;
const IS_SET: u8 = 1 << 5;

/// Of a segment that came in fragments, or has more options than timestamps.
#[derive(Debug, Clone, Copy)]
struct Rest {
    fragments: u32,
    options: [u8; MOST_OPTIONS],
}

impl SegmentBatch {
    /// None yet; room for so many.
    pub(super) fn with_capacity(segments: usize) -> Self {
        Self { list: Vec::with_capacity(segments), ..Self::default() }
    }

    pub(super) const fn len(&self) -> usize {
        self.list.len()
    }

    /// When the first of them passed.
    pub(super) fn begin(&self) -> Option<u64> {
        self.list.first().map(|first| first.at_nanos)
    }

    #[inline]
    pub(super) fn push(&mut self, seen: &Seen<'_>, passing: Passing) {
        let point = (seen.interface, seen.link);
        if self.points.last() != Some(&point) {
            self.points.push(point);
        }
        let (mut options, mut rest) = ([0; STAMPED], None);
        if seen.options.len() == STAMPED && passing.fragments == 0 {
            options = *seen.options.first_chunk().unwrap_or(&options);
        } else if !seen.options.is_empty() || passing.fragments > 0 {
            rest = self.add_rest(seen, passing);
        }
        let kept = seen.options.len().min(MOST_OPTIONS);
        self.list.push(KeptSegment {
            at_nanos: seen.at_nanos,
            frame: seen.frame,
            seq: seen.seq,
            ack: seen.ack,
            payload_len: seen.payload_len,
            ip_len: seen.ip_len,
            options,
            point: u32::try_from(self.points.len() - 1).unwrap_or(u32::MAX),
            rest,
            ip_id: seen.ip_id.unwrap_or(0),
            window: seen.window,
            flags: seen.flags,
            checksum: seen.checksum,
            ttl: seen.ttl,
            options_len: seen.options_len,
            options_kept: u8::try_from(kept).unwrap_or(0),
            marks: seen.ecn & ECN
                | if seen.dont_fragment { DONT_FRAGMENT } else { 0 }
                | if seen.ip_id.is_some() { HAS_ID } else { 0 }
                | if passing.is_late { IS_LATE } else { 0 }
                | if passing.is_set { IS_SET } else { 0 },
        });
    }

    #[inline(never)]
    fn add_rest(&mut self, seen: &Seen<'_>, passing: Passing) -> Option<NonZeroU32> {
        let mut options = [0; MOST_OPTIONS];
        for (place, byte) in options.iter_mut().zip(seen.options) {
            *place = *byte;
        }
        self.rests.push(Rest { fragments: passing.fragments, options });
        NonZeroU32::new(u32::try_from(self.rests.len()).unwrap_or(u32::MAX))
    }

    /// The segment at this place; only this batch can [open](Self::open) it, and copies of it.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&KeptSegment> {
        self.list.get(place)
    }

    /// A segment of this batch between these ends, but for its payload's bytes.
    #[inline]
    pub(super) fn open<'a>(
        &'a self,
        kept: &'a KeptSegment,
        (source, destination): (SocketAddr, SocketAddr),
    ) -> (Seen<'a>, Passing) {
        let rest = kept.rest.and_then(|place| self.rests.get(place.get() as usize - 1));
        let options = rest.map_or(&kept.options[..], |rest| &rest.options);
        let (interface, link) = self.points.get(kept.point as usize).copied().unwrap_or_default();
        let seen = Seen {
            at_nanos: kept.at_nanos,
            frame: kept.frame,
            interface,
            link,
            source,
            destination,
            ip_id: (kept.marks & HAS_ID != 0).then_some(kept.ip_id),
            dont_fragment: kept.marks & DONT_FRAGMENT != 0,
            ttl: kept.ttl,
            ecn: kept.marks & ECN,
            ip_len: kept.ip_len,
            seq: kept.seq,
            ack: kept.ack,
            window: kept.window,
            flags: kept.flags,
            checksum: kept.checksum,
            payload_len: kept.payload_len,
            payload: &[],
            options_len: kept.options_len,
            options: options.get(..kept.options_kept.into()).unwrap_or_default(),
        };
        let fragments = rest.map_or(0, |rest| rest.fragments);
        let is = |mark| kept.marks & mark != 0;
        (seen, Passing { fragments, is_late: is(IS_LATE), is_set: is(IS_SET) })
    }

    /// Room for the next.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.points.clear();
        self.rests.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::{answer, segment};

    #[test]
    fn nothing_is_lost_but_the_bytes_of_payload() {
        let options = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 1];
        let cut = Seen { options: &options, options_len: 16, payload: &[7; 9], ..segment(3) };
        let stamped = Seen { options: &options[..12], options_len: 12, ..cut };
        let ends = ["[2001:db8::7]:443", "[2001:db8::9]:50000"].map(|end| end.parse().unwrap());
        let [source, destination] = ends;
        let other = Seen { source, destination, ip_id: None, ttl: 3, ..answer(4) };
        let marked = Seen { ecn: 3, dont_fragment: !stamped.dont_fragment, link: 7, ..stamped };
        let all = [stamped, other, marked, cut, stamped];
        let passings = [(2, true), (0, false), (0, true), (0, false), (0, false)]
            .map(|(fragments, is_late)| Passing { fragments, is_late, is_set: !is_late });
        let mut batch = SegmentBatch::default();
        for _ in 0..2 {
            for (seen, passing) in all.iter().zip(passings) {
                batch.push(seen, passing);
            }
            assert_eq!((batch.len(), batch.begin()), (all.len(), Some(stamped.at_nanos)));
            for (place, (seen, passing)) in all.into_iter().zip(passings).enumerate() {
                let opened = batch.open(batch.get(place).unwrap(), (seen.source, seen.destination));
                assert_eq!(opened, (Seen { payload: &[], ..seen }, passing));
            }
            batch.clear();
            assert_eq!(batch.len(), 0);
        }
    }
}
