//! The least or the largest of a measurement in a sliding window of time, of three candidates
//! (`lib/win_minmax.c`).

/// A measurement and when it was made.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: u64,
    value: u64,
}

/// The best value of the last `span` of time: the largest, or the least.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windowed<const LARGEST: bool> {
    /// The best, the second best after it, and the third after that.
    samples: [Sample; 3],
    /// Up to then none of them is too old for its place.
    fresh_until: u64,
}

/// The least value (`minmax_running_min`).
pub(super) type WindowedMin = Windowed<false>;
/// The largest value (`minmax_running_max`).
pub(super) type WindowedMax = Windowed<true>;

impl<const LARGEST: bool> Windowed<LARGEST> {
    pub(super) const fn new(at: u64, value: u64) -> Self {
        Self { samples: [Sample { at, value }; 3], fresh_until: at }
    }

    pub(super) const fn get(&self) -> u64 {
        self.samples[0].value
    }

    const fn is_as_good(value: u64, other: u64) -> bool {
        if LARGEST { value >= other } else { value <= other }
    }

    /// A new measurement. `span` is the same at each.
    #[inline]
    pub(super) fn update(&mut self, span: u64, at: u64, value: u64) {
        let new = Sample { at, value };
        let [first, second, third] = &mut self.samples;
        if Self::is_as_good(value, first.value) || at - third.at > span {
            self.samples = [new; 3];
        } else if Self::is_as_good(value, second.value) {
            *second = new;
            *third = new;
        } else if Self::is_as_good(value, third.value) {
            *third = new;
        } else if at <= self.fresh_until {
            return;
        }
        self.age(span, new);
    }

    /// Old candidates make room (`minmax_subwin_update`).
    fn age(&mut self, span: u64, new: Sample) {
        let [first, second, third] = &self.samples;
        let elapsed = new.at - first.at;
        if elapsed > span {
            self.samples = [*second, *third, new];
            if new.at - self.samples[0].at > span {
                self.samples = [self.samples[1], self.samples[2], new];
            }
        } else if second.at == first.at && elapsed > span / 4 {
            self.samples = [*first, new, new];
        } else if third.at == second.at && elapsed > span / 2 {
            self.samples[2] = new;
        }
        let [first, second, third] = &self.samples;
        self.fresh_until = first.at
            + if second.at == first.at {
                span / 4
            } else if third.at == second.at {
                span / 2
            } else {
                span
            };
    }
}
