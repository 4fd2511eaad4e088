//! One-way delays: exact extremes, and a sample of bounded size for the quantiles.

use maxseg_core::evidence::OneWayDelay;

/// The delays of one direction in nanoseconds, by clocks that may differ.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// The least and the largest.
    pub(super) range: Option<(i64, i64)>,
    /// The latest.
    pub(super) last: i64,
    sample: Thinned,
}

/// Every value, or where there are many, every second, fourth, eighth.
#[derive(Debug, Default)]
pub(super) struct Thinned {
    list: Vec<i64>,
    /// Of so many one is kept, as a power of two.
    doublings: u32,
    skipped: u64,
}

/// Most values that are kept: p99 is then right to 0.3% of the values.
const MOST: usize = 1024;

impl Delays {
    pub(super) fn add(&mut self, delay: i64) {
        self.last = delay;
        let (least, most) = self.range.get_or_insert((delay, delay));
        *least = delay.min(*least);
        *most = delay.max(*most);
        self.sample.add(delay);
    }

    /// The largest delay above the least; 0 without any.
    pub(super) fn spread(&self) -> i64 {
        self.range.map_or(0, |(least, most)| most - least)
    }

    /// In seconds; the least counts only where the clocks' difference is known.
    pub(super) fn finish(&mut self, is_clock_known: bool) -> Option<OneWayDelay> {
        let (least, most) = self.range?;
        let above = |delay: i64| seconds(delay - least);
        Some(OneWayDelay {
            min_s: is_clock_known.then(|| seconds(least)),
            queue_median_s: above(self.sample.quantile(0.5)?),
            queue_p99_s: above(self.sample.quantile(0.99)?),
            queue_max_s: above(most),
        })
    }
}

impl Thinned {
    pub(super) fn add(&mut self, value: i64) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if self.list.len() >= MOST {
            let mut place = 0;
            self.list.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.doublings += 1;
        }
        self.skipped = (1 << self.doublings.min(62)) - 1;
        self.list.push(value);
    }

    /// The value that this share of all does not exceed.
    pub(super) fn quantile(&mut self, share: f64) -> Option<i64> {
        self.list.sort_unstable();
        let last = self.list.len().checked_sub(1)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a short list"
        )]
        let place = (share * last as f64).round() as usize;
        self.list.get(place).copied()
    }

    pub(super) fn values(&self) -> &[i64] {
        &self.list
    }
}

pub(super) fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}
