//! Segments that are kept for a while, many at once: each takes about a hundred bytes, for every one is written and read again.

use std::net::{SocketAddr, SocketAddrV4};

use super::owned_segment::MOST_OPTIONS;
use super::seen::{Passing, Seen};
use crate::tcp::Flags;

/// Segments without their payload, in the order in which they came. What few of them have takes room only for these.
#[derive(Debug, Default)]
pub(super) struct SegmentBatch {
    list: Vec<Entry>,
    options: Vec<u8>,
    /// Both ends of those that are not IPv4's.
    other_ends: Vec<(SocketAddr, SocketAddr)>,
}

/// A segment, but for its options.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at_nanos: u64,
    frame: u64,
    count: u64,
    ends: Ends,
    interface: u32,
    link: u32,
    ip_len: u32,
    seq: u32,
    ack: u32,
    payload_len: u32,
    fragments: u32,
    options_place: u32,
    ip_id: Option<u16>,
    window: u16,
    flags: Flags,
    checksum: u16,
    ttl: u8,
    ecn: u8,
    options_len: u8,
    options_kept: u8,
    dont_fragment: bool,
    is_late: bool,
}

/// Source and destination.
#[derive(Debug, Clone, Copy)]
enum Ends {
    V4(SocketAddrV4, SocketAddrV4),
    /// Their place among the others.
    Other(u32),
}

impl SegmentBatch {
    /// None yet; room for so many, with timestamps.
    pub(super) fn with_capacity(segments: usize) -> Self {
        Self {
            list: Vec::with_capacity(segments),
            options: Vec::with_capacity(segments * STAMPED),
            other_ends: Vec::new(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// When the first of them passed.
    pub(super) fn begin(&self) -> Option<u64> {
        self.list.first().map(|first| first.at_nanos)
    }

    #[inline]
    pub(super) fn push(&mut self, seen: &Seen<'_>, passing: Passing) {
        let ends = match (seen.source, seen.destination) {
            (SocketAddr::V4(source), SocketAddr::V4(destination)) => Ends::V4(source, destination),
            ends => {
                self.other_ends.push(ends);
                Ends::Other(place_of_last(self.other_ends.len()))
            }
        };
        let options = seen.options.get(..MOST_OPTIONS).unwrap_or(seen.options);
        self.list.push(Entry {
            at_nanos: seen.at_nanos,
            frame: seen.frame,
            count: passing.count,
            ends,
            interface: seen.interface,
            link: seen.link,
            ip_len: seen.ip_len,
            seq: seen.seq,
            ack: seen.ack,
            payload_len: seen.payload_len,
            fragments: passing.fragments,
            options_place: u32::try_from(self.options.len()).unwrap_or(u32::MAX),
            ip_id: seen.ip_id,
            window: seen.window,
            flags: seen.flags,
            checksum: seen.checksum,
            ttl: seen.ttl,
            ecn: seen.ecn,
            options_len: seen.options_len,
            options_kept: u8::try_from(options.len()).unwrap_or(0),
            dont_fragment: seen.dont_fragment,
            is_late: passing.is_late,
        });
        self.options.extend_from_slice(options);
    }

    /// Adds the segment at a place of another batch.
    #[inline]
    pub(super) fn push_from(&mut self, other: &Self, place: usize) {
        let Some(kept) = other.list.get(place) else { return };
        let ends = match kept.ends {
            Ends::V4(..) => kept.ends,
            Ends::Other(place) => {
                self.other_ends.extend(other.other_ends.get(place as usize));
                Ends::Other(place_of_last(self.other_ends.len()))
            }
        };
        let options_place = u32::try_from(self.options.len()).unwrap_or(u32::MAX);
        self.list.push(Entry { ends, options_place, ..*kept });
        self.options.extend_from_slice(other.options_of(kept).unwrap_or_default());
    }

    #[inline]
    fn options_of(&self, kept: &Entry) -> Option<&[u8]> {
        let begin = kept.options_place as usize;
        self.options.get(begin..begin + usize::from(kept.options_kept))
    }

    /// The segment at this place, but for its payload's bytes.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<(Seen<'_>, Passing)> {
        let kept = self.list.get(place)?;
        let (source, destination) = match kept.ends {
            Ends::V4(source, destination) => (source.into(), destination.into()),
            Ends::Other(place) => *self.other_ends.get(place as usize)?,
        };
        let seen = Seen {
            at_nanos: kept.at_nanos,
            frame: kept.frame,
            interface: kept.interface,
            link: kept.link,
            source,
            destination,
            ip_id: kept.ip_id,
            dont_fragment: kept.dont_fragment,
            ttl: kept.ttl,
            ecn: kept.ecn,
            ip_len: kept.ip_len,
            seq: kept.seq,
            ack: kept.ack,
            window: kept.window,
            flags: kept.flags,
            checksum: kept.checksum,
            payload_len: kept.payload_len,
            payload: &[],
            options_len: kept.options_len,
            options: self.options_of(kept)?,
        };
        let passing =
            Passing { count: kept.count, fragments: kept.fragments, is_late: kept.is_late };
        Some((seen, passing))
    }

    /// All of them, in order.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (Seen<'_>, Passing)> {
        (0..self.len()).map_while(|place| self.get(place))
    }

    /// Room for the next.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.options.clear();
        self.other_ends.clear();
    }
}

/// Those of a segment with timestamps (RFC 7323 appendix A).
const STAMPED: usize = 12;

fn place_of_last(len: usize) -> u32 {
    u32::try_from(len).map_or(u32::MAX, |len| len.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::{answer, segment};

    #[test]
    fn nothing_is_lost_but_the_bytes_of_payload() {
        let options = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6];
        let stamped = Seen { options: &options, options_len: 13, payload: &[7; 9], ..segment(3) };
        let ends = ["[2001:db8::7]:443", "[2001:db8::9]:50000"].map(|end| end.parse().unwrap());
        let [source, destination] = ends;
        let other = Seen { source, destination, ip_id: None, ttl: 3, ..answer(4) };
        let mapped = Seen { source, ecn: 3, dont_fragment: false, ..stamped };
        let mut batch = SegmentBatch::default();
        for _ in 0..2 {
            let passings = [(5, 2, true), (6, 0, false), (9, 1, true)]
                .map(|(count, fragments, is_late)| Passing { count, fragments, is_late });
            for (seen, passing) in [stamped, other, mapped].iter().zip(passings) {
                batch.push(seen, passing);
            }
            let kept: Vec<_> = batch.iter().collect();
            let expected = [stamped, other, mapped].map(|seen| Seen { payload: &[], ..seen });
            assert_eq!(kept.iter().map(|(seen, _)| *seen).collect::<Vec<_>>(), expected);
            assert_eq!(kept.iter().map(|(_, passing)| *passing).collect::<Vec<_>>(), passings);
            assert_eq!((batch.len(), batch.begin()), (3, Some(stamped.at_nanos)));
            drop(kept);
            let mut copies = SegmentBatch::default();
            for place in [2, 1, 0] {
                copies.push_from(&batch, place);
            }
            let mut kept: Vec<_> = copies.iter().collect();
            kept.reverse();
            assert_eq!(kept, batch.iter().collect::<Vec<_>>());
            drop(kept);
            batch.clear();
            assert!(batch.is_empty());
        }
    }
}
