//! How fast the narrowest link is: the rate at which trains of segments came out of it.
//!
//! Packets that queue in front of a link leave it one by one, as fast as it sends; what comes behind it keeps
//! that distance (packet trains: Dovrolis, Ramanathan, Moore, 2001). So the rate of trains is that of the link,
//! whatever the mean rate is. At the receiver's side the trains are the segments, at the sender's the
//! acknowledgements of them.

use serde::{Deserialize, Serialize};

/// Rates of trains, as a histogram of bytes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Capacity {
    /// What has come of a train: when, and how many bytes.
    train: [(u64, u32); TRAIN],
    count: usize,
    last: u64,
    last_gap: u64,
    /// Kibibytes by rate, eight intervals to an octave: those that have any, in order.
    histogram: Vec<(u16, u32)>,
    /// Kibibytes in the histogram.
    total: u64,
    arrivals: u32,
    /// Where the train before began that this one overlaps, and how many bytes came from then to where this one begins.
    before: Option<(u64, u64)>,
    /// The fastest of the first trains.
    first: u64,
    /// The very first one, of few arrivals.
    opening: u64,
}

/// Arrivals in a train: in short ones acknowledgements that come too close matter more, in long ones pauses.
const TRAIN: usize = 8;
const SHORTEST: usize = 5;
/// What comes closer, in nanoseconds, and closer than this part of a train's longest gap, is delivered at once: a flight's own segments
/// have the distance of a link between them.
const AT_ONCE: u64 = 50_000;
const WITHIN_BATCH: u64 = 16;
/// Ends of batches that bound two intervals of time.
const LEAST_BATCHES: usize = 3;
/// The lowest rate that is told apart, in bits per second.
const LEAST: u64 = 1 << 10;
/// The first trains are those of so many arrivals: a flight or two.
const FIRST: u32 = 32;
/// Arrivals of the first one, which its sender does not pace: ten segments that are acknowledged by twos, without the first.
const SHORTEST_FIRST: usize = 4;
/// So much of the bytes, in 1/64, may have travelled faster: compressed acknowledgements.
const FASTER: u64 = 6;
/// A mode holds at least this part of the bytes: smaller ones are compressed acknowledgements.
const MODE: u64 = 5;
/// Two rates are about the same up to this ratio; and acknowledgements that come in pairs make so many times the link's rate.
const ABOUT: f64 = 1.2;
const PAIRED: std::ops::RangeInclusive<f64> = 1.5..=2.3;
/// A train that makes up for a pause before it is at least so many times as fast as both together.
const STALLED: f64 = 1.8;
/// What is so many times as fast as the first flights came in batches: of a radio link that repeats what it loses, or of interrupts that wait.
const BATCHED: f64 = 10.0;

impl Capacity {
    /// So many bytes came out at `at`; `pause` is how long nothing may come within a train. `is_first` begins
    /// another: nothing had been on its way.
    pub(super) fn on_arrival(&mut self, at: u64, bytes: u32, pause: u64, is_first: bool) {
        self.arrivals = self.arrivals.saturating_add(1);
        let gap = at.saturating_sub(self.last);
        if is_first || gap > pause.max(self.last_gap.saturating_mul(4)) {
            self.measure();
            self.end_train();
        }
        // The pause before a train is no distance within it.
        (self.last, self.last_gap) = (at, if self.count == 0 { 0 } else { gap });
        if let Some(place) = self.train.get_mut(self.count) {
            *place = (at, bytes);
        }
        self.count += 1;
        if self.count == TRAIN {
            self.measure();
            // Trains overlap by half.
            let [(begin, _), passed @ ..] = &self.train;
            let passed = passed.iter().take(TRAIN / 2).map(|(_, bytes)| u64::from(*bytes)).sum();
            self.before = Some((*begin, passed));
            self.train.copy_within(TRAIN / 2.., 0);
            self.count = TRAIN / 2;
        }
    }

    /// The train that has come so far is left out: the clock was set within it.
    pub(super) fn end_train(&mut self) {
        self.count = 0;
        self.before = None;
    }

    /// Adds the rate of the train that has come so far.
    fn measure(&mut self) {
        let Some(train) = self.train.get(..self.count) else { return };
        // That of the arrival that ends it may be counted already.
        let is_first = self.arrivals as usize <= self.count + 1;
        let shortest = if is_first { SHORTEST_FIRST } else { SHORTEST };
        if self.count < shortest {
            return;
        }
        let Some([(begin, _), behind @ ..]) = whole_batches(train) else { return };
        let Some((end, _)) = behind.last() else { return };
        let span = end.saturating_sub(*begin);
        if span == 0 {
            return;
        }
        let carried: u64 = behind.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
        let rate = carried.saturating_mul(8_000_000_000) / span;
        if is_first {
            self.opening = self.opening.max(rate);
        }
        if self.count < SHORTEST {
            return;
        }
        if self.arrivals <= FIRST {
            // What waited in a host, or for what a link repeats, comes at once behind a pause: both together tell the link.
            let longer = self.with_before().filter(|longer| rate as f64 > STALLED * *longer as f64);
            self.first = self.first.max(longer.unwrap_or(rate));
        }
        let weight = u32::try_from(carried >> 10).unwrap_or(u32::MAX).max(1);
        let bucket = bucket(rate);
        match self.histogram.binary_search_by_key(&bucket, |(known, _)| *known) {
            Ok(place) => {
                if let Some((_, sum)) = self.histogram.get_mut(place) {
                    *sum = sum.saturating_add(weight);
                }
            }
            Err(place) => self.histogram.insert(place, (bucket, weight)),
        }
        self.total += u64::from(weight);
    }

    /// The rate of the train at hand together with the part of the one before that it does not overlap; `None` where it begins a new one.
    fn with_before(&self) -> Option<u64> {
        let (begin, passed) = self.before?;
        let train = self.train.get(..self.count)?;
        let (end, _) = train.last()?;
        let behind: u64 = train.iter().skip(1).map(|(_, bytes)| u64::from(*bytes)).sum();
        let bits = passed.saturating_add(behind).saturating_mul(8_000_000_000);
        bits.checked_div(end.saturating_sub(begin))
    }

    /// Whether a rate may be the link's, beside that of the first flights, the very first train of few arrivals among them.
    fn is_credible(&self, rate: f64) -> bool {
        let first = self.first.max(self.opening);
        first == 0 || rate <= BATCHED * first as f64
    }

    /// The rate, in bits per second of payload; `None` where there were no trains, or all came in batches. That of the first trains where
    /// most others had it too, and some seem to have been about twice as fast: acknowledgements that come in pairs.
    pub(super) fn rate(&self) -> Option<f64> {
        let highest = self.highest()?;
        if !self.is_credible(highest) {
            return self.mode();
        }
        let modes = self.mode().zip(self.first_flights());
        let of_link = modes.map(|(mode, first)| (mode.max(first), mode.min(first)));
        match of_link.filter(|(higher, lower)| *higher < ABOUT * lower) {
            Some((link, _)) if PAIRED.contains(&(highest / link)) => Some(link),
            _ => Some(highest),
        }
    }

    /// The rate that all but a few of the bytes had at most.
    fn highest(&self) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let most = self.total * FASTER / 64;
        let mut above = 0;
        for (bucket, weight) in self.histogram.iter().rev() {
            above += u64::from(*weight);
            if above > most {
                return Some(middle(*bucket));
            }
        }
        None
    }

    /// The fastest mode of the trains' rates, in bits per second of payload (Dovrolis, Ramanathan, Moore, 2001, §4): a link's
    /// rate, or the pace of a paced sender; `None` where no mode holds enough bytes, or the fastest is of batches.
    pub(super) fn mode(&self) -> Option<f64> {
        let around = |place: usize| -> u64 {
            let Some((middle, _)) = self.histogram.get(place) else { return 0 };
            let near = self.histogram.iter().filter(|(bucket, _)| bucket.abs_diff(*middle) <= 1);
            near.map(|(_, weight)| u64::from(*weight)).sum()
        };
        let is_held = |place: &usize| around(*place) * MODE >= self.total;
        let mut fastest = (0..self.histogram.len()).rev().find(is_held)?;
        while let Some(lower) = fastest.checked_sub(1).filter(|it| around(*it) > around(fastest)) {
            fastest = lower;
        }
        let mode = self.histogram.get(fastest).map(|(bucket, _)| middle(*bucket));
        mode.filter(|mode| self.is_credible(*mode))
    }

    /// The rate of the very first train, which may be of fewer arrivals: no sender without a queue of its own paces it.
    pub(super) fn opening(&self) -> Option<f64> {
        (self.opening > 0).then_some(self.opening as f64)
    }

    /// The rate of the fastest of the first trains: a sender that paces itself later sends its first flight at
    /// once. What lets short bursts through lets these through as well.
    pub(super) fn first_flights(&self) -> Option<f64> {
        (self.first > 0).then_some(self.first as f64)
    }
}

/// The part of a train between the ends of two batches, where arrivals come in batches, as joined radio frames and interrupts that wait
/// deliver them: what is cut from a batch would count without its time. The whole train, where they come one by one; `None` where
/// fewer than three batches end within it.
fn whole_batches(train: &[(u64, u32)]) -> Option<&[(u64, u32)]> {
    let gap = |place: usize| {
        let (before, after) = (train.get(place)?.0, train.get(place + 1)?.0);
        Some(after.saturating_sub(before))
    };
    let gaps = || (0..train.len().saturating_sub(1)).filter_map(gap);
    let longest = gaps().max()?;
    let is_between = |gap: u64| gap > AT_ONCE.min(longest / WITHIN_BATCH);
    if gaps().all(is_between) {
        return Some(train);
    }
    let ends = || (0..train.len()).filter(|place| gap(*place).is_some_and(is_between));
    let (first, last) = (ends().next()?, ends().next_back()?);
    (ends().count() >= LEAST_BATCHES).then(|| train.get(first..=last))?
}

/// Which interval a number lies in: its octave, and the eighth of that.
pub(super) fn bucket(rate: u64) -> u16 {
    let rate = rate.max(LEAST);
    let octave = rate.ilog2();
    let eighth = (rate >> (octave - 3)) & 7;
    u16::try_from(u64::from(octave) << 3 | eighth).unwrap_or(u16::MAX)
}

/// The middle of an interval.
pub(super) fn middle(bucket: u16) -> f64 {
    let octave = (1_u64 << (bucket >> 3)) as f64;
    octave * (1.0 + (f64::from(bucket & 7) + 0.5) / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_tell_the_link_and_pauses_do_not() {
        let mut capacity = Capacity::default();
        let mut at = 0;
        for _ in 0..50 {
            for n in 0..40 {
                capacity.on_arrival(at, 1448, 10_000_000, n == 0);
                at += 1448 * 8 * 50; // 20 Mbit/s: 50 ns a bit
            }
            at += 40_000_000;
        }
        let rate = capacity.rate().unwrap();
        assert!((rate / 20e6 - 1.0).abs() < 0.07, "an interval is an eighth of an octave: {rate}");
    }

    /// One in eight acknowledgements is compressed: the percentile is theirs, the mode the link's.
    #[test]
    fn compressed_acknowledgements_are_no_mode() {
        let mut capacity = Capacity::default();
        let mut at = 0;
        for n in 0..80 {
            let nanos_a_bit = if n % 8 == 0 { 5 } else { 50 };
            for place in 0..8 {
                capacity.on_arrival(at, 1448, 10_000_000, place == 0);
                at += 1448 * 8 * nanos_a_bit;
            }
            at += 40_000_000;
        }
        let (rate, mode) = (capacity.rate().unwrap(), capacity.mode().unwrap());
        assert!(rate > 100e6 && (mode / 20e6 - 1.0).abs() < 0.07, "{rate} {mode}");
    }

    /// Two in seven trains have acknowledgements in pairs; the first flight and most others have the link's rate.
    #[test]
    fn acknowledgements_in_pairs_are_no_faster_link() {
        let mut capacity = Capacity::default();
        let mut at = 0;
        for n in 0..70 {
            for place in 0..8 {
                capacity.on_arrival(at, 1448, 10_000_000, place == 0);
                at += 1448 * 8 * if n % 7 >= 5 { 25 } else { 50 };
            }
            at += 40_000_000;
        }
        let (rate, highest) = (capacity.rate().unwrap(), capacity.highest().unwrap());
        assert!((rate / 20e6 - 1.0).abs() < 0.07 && highest > 35e6, "{rate} {highest}");
    }

    /// A link of 29 Mbit/s, and arrivals joined every 2 ms: in flights of 60, whole or with a part of the last batch.
    #[test]
    fn arrivals_in_batches_tell_no_faster_link() {
        let mut capacity = Capacity::default();
        for flight in 0..40_u64 {
            for n in 0..60_u64 {
                let at = flight * 100_000_000 + n / 5 * 2_000_000 + n % 5 * 1_000;
                capacity.on_arrival(at, 1448, 10_000_000, n == 0);
            }
        }
        let rate = capacity.rate();
        assert!(
            rate.is_none_or(|rate| !(31e6..1e9).contains(&rate)),
            "of a part of a batch: {rate:?}"
        );
    }

    /// Two at once every 0.8 ms: as fast as one every 0.4 ms.
    #[test]
    fn arrivals_in_pairs_tell_the_link() {
        let mut capacity = Capacity::default();
        for n in 0..400_u64 {
            let at = n / 20 * 50_000_000 + n % 20 / 2 * 800_000 + n % 2 * 2_000;
            capacity.on_arrival(at, 1448, 10_000_000, n % 20 == 0);
        }
        let rate = capacity.rate().unwrap();
        assert!((rate / 28.96e6 - 1.0).abs() < 0.07, "{rate}");
    }

    /// Ten segments at once, acknowledged by twos without the first acknowledgement; then two every 5 ms.
    #[test]
    fn the_first_flight_of_a_paced_sender_is_no_paced_one() {
        let mut capacity = Capacity::default();
        let mut at = 0;
        for n in 0..4 {
            capacity.on_arrival(at, 2 * 1448, 10_000_000, n == 0);
            at += 2 * 1448 * 8 * 10; // 100 Mbit/s
        }
        at += 35_000_000;
        for n in 0..200 {
            capacity.on_arrival(at, 2 * 1448, 10_000_000, n == 0);
            at += 5_000_000;
        }
        let (opening, mode) = (capacity.opening().unwrap(), capacity.mode().unwrap());
        assert!((opening / 100e6 - 1.0).abs() < 0.07, "{opening}");
        assert!(mode < 5e6, "{mode}");
    }

    /// Segments every 0.6 ms, two flights; in the second six wait 3 ms in a host, and come within 0.3 ms.
    #[test]
    fn what_waited_in_a_host_is_no_faster_first_flight() {
        let mut capacity = Capacity::default();
        for n in 0..30_u64 {
            let flight = if n < 10 { 0 } else { 35_000_000 };
            let waits = if (13..19).contains(&n) { (19 - n) * 540_000 } else { 0 };
            let at = flight + n * 600_000 + waits;
            capacity.on_arrival(at, 1448, 10_000_000, n == 0 || n == 10);
        }
        let first = capacity.first_flights().unwrap();
        assert!(first < 25e6, "{first}, and the link has 19.3 Mbit/s");
    }

    /// A link of 20 Mbit/s that repeats what it loses: once in 50 ms as much as it carries in 30 ms comes within one.
    #[test]
    fn what_comes_far_faster_than_the_first_flight_came_in_batches() {
        let mut capacity = Capacity::default();
        for n in 0..2000_u64 {
            let slot = 1448 * 8 * 50;
            let (round, place) = (n / 86, n % 86);
            let at = if n < 40 || place < 34 {
                n * slot
            } else {
                (86 * round + 85) * slot + place * 9_000
            };
            capacity.on_arrival(at, 1448, 10_000_000, n == 0);
        }
        let rate = capacity.rate();
        assert!(rate.is_none_or(|rate| rate < 25e6), "{rate:?} {:?}", capacity.highest());
    }

    #[test]
    fn every_rate_has_an_interval() {
        for rate in [0, 1, 1 << 10, 20_000_000, u64::MAX] {
            assert!(middle(bucket(rate)) >= LEAST as f64);
        }
        assert!((middle(bucket(20_000_000)) / 20e6 - 1.0).abs() < 0.07);
    }
}
