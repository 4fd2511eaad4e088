//! Delays of one way, without clocks that agree: each segment says when it left and echoes the clock of what came last the
//! other way (RFC 7323 §4). The difference of the two grows with what that one waited for on its way. No time of the
//! capture is needed, so that it is seen anywhere, and in one direction alone.

use maxseg_core::evidence::WayDelay;
use serde::{Deserialize, Serialize};

use super::stamp_clock::StampClock;

/// What segments of one end tell of the way to it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WayDelays {
    /// The difference of the first segment: others are counted from it, in ticks.
    first: Option<u32>,
    least: i32,
    /// Segments so far; above [`FEW`], so many of the next ones do not count.
    few: u8,
    /// From so many segments on that they tell something: short connections need no memory for them.
    many: Option<Box<Many>>,
}

/// Segments by their difference.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Many {
    /// In order.
    counts: Vec<(i32, u32)>,
    /// The place of the last one: the next is mostly the same.
    current: usize,
    /// Segments that count, and those that they stand for.
    seen: u32,
    /// The clock of this end, and that of the other, as it comes back.
    own: StampClock,
    echoes: StampClock,
    pauses: Pauses,
}

/// Times without an answer that are far longer than usual, of segments that count.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pauses {
    last: Option<u64>,
    /// About the median of the gaps, in nanoseconds: each moves it by a share of itself.
    usual: u64,
    /// Together, in nanoseconds.
    sum: u64,
}

/// Differences of more ticks than this are no delay: a clock was set, or an end was idle.
const MOST: i32 = 1 << 15;
/// So many different ones are counted at most, whatever the timestamps are.
const MOST_KINDS: usize = 2048;
/// Of the first segments only the least difference is kept.
const FEW: u8 = 16;
/// So many segments count once each, then one of [`SAMPLED`] counts for all of them.
const EACH: u32 = 1000;
const SAMPLED: u8 = 8;
/// Fewer segments tell nothing.
const LEAST: u32 = 20;
/// A pause is so many times as long as a usual gap, and as many nanoseconds at least: hosts that are late make shorter ones.
const LONGER: u64 = 8;
const PAUSE: u64 = 50_000_000;
/// The share of itself by which a gap moves what is usual: one in so many.
const STEP: u64 = 16;

impl WayDelays {
    /// A segment that answers: its timestamp, and what it echoes.
    #[inline(always)]
    pub(super) fn on_answer(&mut self, at: u64, stamp: u32, echo: u32) {
        if self.few > FEW {
            self.few -= 1;
            return;
        }
        self.add(at, stamp, echo);
    }

    #[inline(never)]
    fn add(&mut self, at: u64, stamp: u32, echo: u32) {
        if let Some(many) = &mut self.many {
            many.seen = many.seen.saturating_add(if many.seen < EACH { 1 } else { SAMPLED.into() });
            self.few = if many.seen < EACH { FEW } else { FEW + SAMPLED - 1 };
        }
        let difference = stamp.wrapping_sub(echo);
        let first = *self.first.get_or_insert(difference);
        let ticks = difference.wrapping_sub(first).cast_signed();
        if !(-MOST..MOST).contains(&ticks) {
            return;
        }
        self.least = self.least.min(ticks);
        if self.few < FEW {
            self.few += 1;
            return;
        }
        let many = self.many.get_or_insert_default();
        many.pauses.on_answer(at);
        many.own.on_stamp(stamp, at);
        many.echoes.on_stamp(echo, at);
        let weight = if many.seen > EACH { SAMPLED.into() } else { 1 };
        match many.counts.get_mut(many.current) {
            Some((known, count)) if *known == ticks => *count = count.saturating_add(weight),
            _ => many.on_other(ticks, weight),
        }
    }

    /// What they tell, where the two clocks tick alike.
    pub(super) fn found(&self) -> Option<WayDelay> {
        let many = self.many.as_ref()?;
        let tick = many.own.usual_tick()?;
        if many.echoes.usual_tick()? != tick {
            return None;
        }
        let all: u32 = many.counts.iter().map(|(_, count)| count).sum();
        if all < LEAST {
            return None;
        }
        let quantile = |share: f64| {
            let wanted = (share * f64::from(all)).max(1.0);
            let mut below = 0.0;
            let place = many.counts.iter().find(|(_, count)| {
                below += f64::from(*count);
                below >= wanted
            });
            let ticks = place.map_or(0, |(ticks, _)| ticks - self.least);
            f64::from(ticks) * tick as f64 / 1e9
        };
        Some(WayDelay {
            count: all,
            low_s: quantile(0.25),
            median_s: quantile(0.5),
            high_s: quantile(0.95),
            paused_s: many.pauses.sum as f64 / 1e9,
        })
    }
}

impl Pauses {
    fn on_answer(&mut self, at: u64) {
        let Some(last) = self.last.replace(at) else { return };
        let gap = at.saturating_sub(last);
        if self.usual == 0 {
            self.usual = gap;
        }
        if gap > PAUSE && gap > LONGER * self.usual {
            self.sum += gap;
        }
        let step = self.usual / STEP + 1;
        self.usual =
            if gap > self.usual { self.usual + step } else { self.usual - step.min(self.usual) };
    }
}

impl Many {
    /// A segment with another difference than the one before.
    #[inline(never)]
    fn on_other(&mut self, ticks: i32, weight: u32) {
        match self.counts.binary_search_by_key(&ticks, |(known, _)| *known) {
            Ok(place) => {
                self.current = place;
                if let Some((_, count)) = self.counts.get_mut(place) {
                    *count = count.saturating_add(weight);
                }
            }
            Err(place) if self.counts.len() < MOST_KINDS => {
                self.counts.insert(place, (ticks, weight));
                self.current = place;
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments at each millisecond, which echo what left `delay` milliseconds before.
    fn delays(delay: impl Fn(u32) -> u32) -> Option<WayDelay> {
        let mut delays = WayDelays::default();
        for n in 0..1000_u32 {
            let at = u64::from(n) * 1_000_000;
            delays.on_answer(at, n.wrapping_sub(500), 77_000 + n - delay(n));
        }
        delays.found()
    }

    #[test]
    fn a_queue_on_the_way_is_what_the_difference_grows_by() {
        let steady = delays(|_| 15).unwrap();
        assert_eq!((steady.count, steady.low_s, steady.median_s), (984, 0.0, 0.0));
        let grown = delays(|n| 15 + n.min(200) / 2).unwrap();
        assert_eq!(
            (grown.low_s, grown.median_s),
            (0.1, 0.1),
            "of 100 ticks, after a fifth of the time"
        );
    }

    #[test]
    fn pauses_are_far_longer_than_usual_gaps() {
        let paused = |burst: u32, pause: u64| {
            let mut delays = WayDelays::default();
            let mut at = 0;
            for n in 0..1000_u32 {
                at += if n % burst == 0 { pause } else { 1_000_000 };
                let now = u32::try_from(at / 1_000_000).unwrap();
                delays.on_answer(at, now, now.wrapping_sub(15));
            }
            move |wanted: f64| (delays.found().unwrap().paused_s - wanted).abs() < 1e-9
        };
        assert!(paused(100, 1_000_000)(0.0));
        assert!(paused(100, 40_000_000)(0.0), "a host that is late");
        assert!(paused(100, 500_000_000)(4.5), "nine of ten: the first is before what counts");
    }

    #[test]
    fn clocks_that_tick_otherwise_tell_nothing() {
        let mut delays = WayDelays::default();
        for n in 0..1000_u32 {
            let at = u64::from(n) * 1_000_000;
            delays.on_answer(at, n / 10, n);
        }
        assert_eq!(delays.found(), None);
    }
}
