//! Intervals between what arrives, by how much arrives at a time. A link that is always busy lets a packet through for each
//! so many bytes: what is twice as large comes after twice the time. What a narrow link of the acknowledgements lets
//! through comes at equal intervals, whether an acknowledgement covers one segment or three; and so do, at the receiver, the
//! bursts of segments that they release.

use maxseg_core::evidence::{Bursts, Intervals as Found};
use serde::{Deserialize, Serialize};

use super::capacity::{bucket, middle};

/// Intervals as a histogram, by how many segments arrived at a time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Intervals {
    /// The three closest distances of the first segments, in nanoseconds, in order; 0 where there is none yet.
    closest: [u64; CLOSE],
    firsts: u32,
    /// The present burst: when it began, when its last segment arrived, and its bytes.
    begin: u64,
    last: u64,
    bytes: u64,
    /// By length, in order: how many of each kind.
    list: Vec<(u16, [u16; KINDS])>,
    /// The place of the last one: the next is mostly the same.
    current: usize,
    count: u32,
    /// Of all bursts of segments together: payload, nanoseconds until the next, and the nanoseconds in which the link sent them.
    burst_bytes: u64,
    burst_nanos: u64,
    link_nanos: u64,
}

/// Arrivals of one segment, two, and so on; of so many and more.
const KINDS: usize = 8;
/// The first flight has ten segments (RFC 6928), and these are sent at once.
const FIRST: u32 = 9;
/// Of the distances in it the third shows the time that a segment takes: two may be seen together by chance.
const CLOSE: usize = 3;
/// Segments are a burst up to this distance, in quarters of that.
const TOGETHER: u64 = 5;
/// So many intervals show whether they are equal.
const MOST: u32 = 4096;
/// Fewer show nothing.
const LEAST: u32 = 30;

impl Intervals {
    /// So many bytes arrive, in segments of `full`: at the receiver a segment itself, elsewhere by an acknowledgement.
    #[inline]
    pub(super) fn on_arrival(&mut self, at: u64, bytes: i64, full: i64, is_segment: bool) {
        if self.count < MOST {
            self.add(at, bytes.max(0).cast_unsigned(), full.max(1).cast_unsigned(), is_segment);
        }
    }

    fn add(&mut self, at: u64, bytes: u64, full: u64, is_segment: bool) {
        let distance = at.saturating_sub(std::mem::replace(&mut self.last, at));
        if is_segment && self.firsts <= FIRST {
            self.on_first(distance);
            (self.begin, self.bytes) = (at, bytes);
            return;
        }
        let segments = (bytes / full).max(1);
        let [.., third] = self.closest;
        let together = third.saturating_mul(segments.saturating_mul(TOGETHER)) / 4;
        if distance <= together {
            self.bytes = self.bytes.saturating_add(bytes);
            return;
        }
        // An acknowledgement comes after what it covers, a burst before the pause that it takes.
        let brought = if is_segment { self.bytes } else { bytes };
        if self.begin > 0 {
            let interval = at.saturating_sub(self.begin);
            let whole = brought.saturating_add(full / 2) / full;
            self.count_interval(interval, whole);
            if is_segment {
                self.burst_bytes = self.burst_bytes.saturating_add(brought);
                self.burst_nanos = self.burst_nanos.saturating_add(interval);
                self.link_nanos = self.link_nanos.saturating_add(third.saturating_mul(whole));
            }
        }
        (self.begin, self.bytes) = (at, bytes);
    }

    fn on_first(&mut self, distance: u64) {
        if self.firsts > 0 {
            let mut farther = distance.max(1);
            for closer in &mut self.closest {
                if *closer == 0 || farther < *closer {
                    std::mem::swap(closer, &mut farther);
                }
                if farther == 0 {
                    break; // there were fewer
                }
            }
        }
        self.firsts += 1;
    }

    fn count_interval(&mut self, nanos: u64, segments: u64) {
        let kind = usize::try_from(segments.saturating_sub(1)).unwrap_or(KINDS).min(KINDS - 1);
        let bucket = bucket(nanos);
        self.count += 1;
        if self.list.get(self.current).is_none_or(|(known, _)| *known != bucket) {
            self.current = match self.list.binary_search_by_key(&bucket, |(known, _)| *known) {
                Ok(place) => place,
                Err(place) => {
                    self.list.insert(place, (bucket, [0; KINDS]));
                    place
                }
            };
        }
        let kinds = self.list.get_mut(self.current).map(|(_, kinds)| kinds);
        if let Some(count) = kinds.and_then(|kinds| kinds.get_mut(kind)) {
            *count += 1; // there are no more than `MOST`
        }
    }

    pub(super) fn found(&self) -> Option<Found> {
        if self.count < LEAST {
            return None;
        }
        let of = |kinds: &[u16; KINDS]| kinds.iter().map(|count| u32::from(*count)).sum::<u32>();
        let mut below = 0;
        let (usual, _) = self.list.iter().find(|(_, kinds)| {
            below += of(kinds);
            below * 2 >= self.count
        })?;
        // The next to the median's may hold it as well: an eighth of an octave is a tenth.
        let is_equal = |bucket: u16| bucket.abs_diff(*usual) <= 1;
        let of_kind = |kind: usize, is_counted: &dyn Fn(u16) -> bool| -> u32 {
            let counted = self.list.iter().filter(|(bucket, _)| is_counted(*bucket));
            counted.filter_map(|(_, kinds)| kinds.get(kind)).map(|count| u32::from(*count)).sum()
        };
        let most = (0..KINDS).max_by_key(|kind| of_kind(*kind, &|_| true))?;
        let others = self.count - of_kind(most, &|_| true);
        let all_equal: u32 = (0..KINDS).map(|kind| of_kind(kind, &is_equal)).sum();
        let others_equal = all_equal - of_kind(most, &is_equal);
        let share = |part: u32, of: u32| f64::from(part) / f64::from(of.max(1));
        Some(Found {
            count: self.count,
            usual_s: middle(*usual) / 1e9,
            equal: share(all_equal, self.count),
            others,
            others_equal: share(others_equal, others),
            bursts: (self.burst_nanos > 0).then(|| Bursts {
                of_one: share(of_kind(0, &|_| true), self.count),
                of_two: share(of_kind(1, &|_| true), self.count),
                busy: self.link_nanos as f64 / self.burst_nanos as f64,
                rate_bps: self.burst_bytes as f64 * 8e9 / self.burst_nanos as f64,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: i64 = 1448;
    const SEGMENT: u64 = 500_000;

    /// At the receiver, after a first flight at the rate of the link: bursts of one to three segments, and the time
    /// after each.
    fn bursts(time_after: impl Fn(u64) -> u64) -> Found {
        let mut intervals = Intervals::default();
        let mut at = 1_000_000;
        for _ in 0..10 {
            at += SEGMENT;
            intervals.on_arrival(at, FULL, FULL, true);
        }
        at += 20_000_000;
        for n in 0..200 {
            let segments: u64 = [2, 2, 1, 2, 3][n % 5];
            for place in 0..segments {
                intervals.on_arrival(at + place * SEGMENT, FULL, FULL, true);
            }
            at += time_after(segments);
        }
        intervals.found().unwrap()
    }

    #[test]
    fn what_acknowledgements_release_comes_at_equal_intervals() {
        let released = bursts(|_| 2_500_000);
        assert!((released.usual_s / 0.0025 - 1.0).abs() < 0.07, "{released:?}");
        assert!(released.equal > 0.98 && released.others_equal > 0.98, "{released:?}");
        assert!(released.others >= 79, "two of five: {released:?}");
        let paced = bursts(|segments| 1_250_000 * segments);
        assert!(paced.others >= 79 && paced.others_equal < 0.02, "{paced:?}");
    }

    #[test]
    fn bursts_tell_how_many_segments_came_at_a_time() {
        // Of the last burst nobody knows what follows: 398 segments of 1448 bytes, of 0.5 ms each on the link, in 199 times 2.5 ms
        // and the 20 ms behind the first flight.
        let found = bursts(|_| 2_500_000).bursts.unwrap();
        assert!((found.of_one - 0.2).abs() < 0.01 && (found.of_two - 0.6).abs() < 0.01);
        assert!((found.busy - 0.1990 / 0.5175).abs() < 0.001, "{found:?}");
        assert!((found.rate_bps - 398.0 * 1448.0 * 8.0 / 0.5175).abs() < 1e4, "{found:?}");
    }

    #[test]
    fn acknowledgements_behind_a_full_link_of_the_data_come_after_what_they_cover() {
        let of = |before: fn(i64) -> u64| {
            let (mut intervals, mut at) = (Intervals::default(), 1_000_000);
            for n in 0..200 {
                let segments = if n % 3 == 0 { 1 } else { 2 };
                at += before(segments);
                intervals.on_arrival(at, segments * FULL, FULL, false);
            }
            intervals.found().unwrap()
        };
        assert!(of(|_| 2_400_000).others_equal > 0.98);
        assert_eq!(of(|_| 2_400_000).bursts, None);
        assert!(of(|segments| segments.unsigned_abs() * 1_200_000).others_equal < 0.02);
        assert_eq!(Intervals::default().found(), None);
    }
}
