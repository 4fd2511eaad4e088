//! How fast the narrowest link is: the rate at which trains of segments came out of it.
//!
//! Packets that queue in front of a link leave it one by one, as fast as it sends; what comes behind it keeps
//! that distance (packet trains: Dovrolis, Ramanathan, Moore, 2001). So the rate of trains is that of the link,
//! whatever the mean rate is. At the receiver's side the trains are the segments, at the sender's the
//! acknowledgements of them.

/// Rates of trains, as a histogram of bytes.
#[derive(Debug)]
pub(super) struct Capacity {
    /// What has come of a train: when, and how many bytes.
    train: [(u64, u32); TRAIN],
    count: usize,
    last: u64,
    last_gap: u64,
    /// Bytes by rate; eight intervals to an octave.
    histogram: [u32; BUCKETS],
    /// Kibibytes in the histogram.
    total: u64,
}

/// Arrivals in a train: in short ones acknowledgements that come too close matter more, in long ones pauses.
const TRAIN: usize = 8;
const SHORTEST: usize = 5;
/// From 2¹⁰ to 2⁴² bit/s.
const BUCKETS: usize = 32 * PER_OCTAVE;
const PER_OCTAVE: usize = 8;
/// So much of the bytes, in 1/64, may have travelled faster: compressed acknowledgements.
const FASTER: u64 = 6;

impl Default for Capacity {
    fn default() -> Self {
        Self {
            train: [(0, 0); TRAIN],
            count: 0,
            last: 0,
            last_gap: 0,
            histogram: [0; BUCKETS],
            total: 0,
        }
    }
}

impl Capacity {
    /// So many bytes came out at `at`; `pause` is how long nothing may come within a train. `is_first` begins
    /// another: nothing had been on its way.
    pub(super) fn on_arrival(&mut self, at: u64, bytes: u32, pause: u64, is_first: bool) {
        let gap = at.saturating_sub(self.last);
        if is_first || gap > pause.max(self.last_gap.saturating_mul(4)) {
            self.measure();
            self.count = 0;
        }
        (self.last, self.last_gap) = (at, gap);
        if let Some(place) = self.train.get_mut(self.count) {
            *place = (at, bytes);
        }
        self.count += 1;
        if self.count == TRAIN {
            self.measure();
            // Trains overlap by half.
            self.train.copy_within(TRAIN / 2.., 0);
            self.count = TRAIN / 2;
        }
    }

    /// Adds the rate of the train that has come so far.
    fn measure(&mut self) {
        let Some([(begin, _), behind @ ..]) = self.train.get(..self.count) else { return };
        let Some((end, _)) = behind.last().filter(|_| self.count >= SHORTEST) else { return };
        let span = end.saturating_sub(*begin);
        if span == 0 {
            return;
        }
        let carried: u64 = behind.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
        let rate = carried.saturating_mul(8_000_000_000) / span;
        let weight = u32::try_from(carried >> 10).unwrap_or(u32::MAX).max(1);
        if let Some(bucket) = self.histogram.get_mut(bucket(rate)) {
            *bucket = bucket.saturating_add(weight);
        }
        self.total += u64::from(weight);
    }

    /// The rate, in bits per second of payload; `None` where there were no trains.
    pub(super) fn rate(&self) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let most = self.total * FASTER / 64;
        let mut above = 0;
        for (index, weight) in self.histogram.iter().enumerate().rev() {
            above += u64::from(*weight);
            if above > most {
                return Some(middle(index));
            }
        }
        None
    }
}

/// Which interval a rate lies in: its octave, and the eighth of that.
fn bucket(rate: u64) -> usize {
    let rate = rate.max(1 << 10);
    let octave = rate.ilog2();
    let eighth = (rate >> (octave - 3)) & 7;
    ((octave as usize - 10) * PER_OCTAVE + eighth as usize).min(BUCKETS - 1)
}

/// The middle of an interval.
fn middle(index: usize) -> f64 {
    let octave = (1_u64 << (index / PER_OCTAVE + 10)) as f64;
    octave * (1.0 + ((index % PER_OCTAVE) as f64 + 0.5) / PER_OCTAVE as f64)
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

    #[test]
    fn every_rate_has_an_interval() {
        for rate in [0, 1, 1 << 10, 20_000_000, u64::MAX] {
            assert!(bucket(rate) < BUCKETS);
        }
        assert!((middle(bucket(20_000_000)) / 20e6 - 1.0).abs() < 0.07);
    }
}
