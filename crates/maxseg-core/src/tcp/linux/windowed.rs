//! The least of a measurement in a sliding window of time, of three candidates (`lib/win_minmax.c`).

/// A measurement and when it was made.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: u64,
    value: u64,
}

/// The least value of the last `span` of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowedMin {
    /// The best, the second best after it, and the third after that.
    samples: [Sample; 3],
}

impl WindowedMin {
    pub(super) const fn new(at: u64, value: u64) -> Self {
        Self { samples: [Sample { at, value }; 3] }
    }

    pub(super) const fn get(&self) -> u64 {
        self.samples[0].value
    }

    /// A new measurement (`minmax_running_min`).
    #[inline]
    pub(super) fn update(&mut self, span: u64, at: u64, value: u64) {
        let new = Sample { at, value };
        let [first, second, third] = &mut self.samples;
        if value <= first.value || at - third.at > span {
            self.samples = [new; 3];
            return;
        }
        if value <= second.value {
            *second = new;
            *third = new;
        } else if value <= third.value {
            *third = new;
        }
        self.age(span, new);
    }

    /// Old candidates make room (`minmax_subwin_update`).
    fn age(&mut self, span: u64, new: Sample) {
        let [first, second, third] = self.samples;
        let elapsed = new.at - first.at;
        if elapsed > span {
            self.samples = [second, third, new];
            if new.at - self.samples[0].at > span {
                self.samples = [self.samples[1], self.samples[2], new];
            }
        } else if second.at == first.at && elapsed > span / 4 {
            self.samples = [first, new, new];
        } else if third.at == second.at && elapsed > span / 2 {
            self.samples[2] = new;
        }
    }
}
