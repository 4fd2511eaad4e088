use proptest::prelude::*;

use super::*;

/// Adds to the intervals of a time, or to those between two.
#[derive(Debug, Clone, Copy)]
enum Step {
    At(u64),
    Spread(u64, u64),
    Coarsen(usize),
    Scale(u64),
    Reload,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back = 0..40_u64;
    let step = prop_oneof![
        8 => back.clone().prop_map(Step::At),
        4 => (back, 0..60_u64).prop_map(|(from, to)| Step::Spread(from, to)),
        1 => (1..64_usize).prop_map(Step::Coarsen),
        1 => (1..4_u64).prop_map(Step::Scale),
        1 => Just(Step::Reload),
    ];
    proptest::collection::vec(step, 1..200)
}

/// Intervals as they are when nothing is packed, and as the recorder has them.
#[derive(Debug)]
struct Both {
    plain: Bins,
    recorder: BinRecorder,
}

impl Both {
    fn new() -> Self {
        let (origin, width) = (Time::from_nanos(1000), Time::from_nanos(10));
        Self { plain: Bins::new(origin, width), recorder: BinRecorder::new(origin, width) }
    }

    /// The time goes on by 15 with each step, and steps look back.
    fn take(&mut self, place: usize, step: Step) {
        let now = 1000 + 15 * u64::try_from(place).unwrap();
        let before = |back: u64| Time::from_nanos(now.saturating_sub(back * back));
        match step {
            Step::At(back) => {
                for bin in [self.plain.at(before(back)), self.recorder.at(before(back))] {
                    bin.window_max += back;
                    bin.losses += u32::from(back == 7);
                }
            }
            Step::Spread(from, to) => {
                let (from, to) = (before(from), Time::from_nanos(now + to));
                self.plain.spread(from, to, |bin, time| bin.idle = bin.idle.saturating_add(time));
                self.recorder
                    .spread(from, to, |bin, time| bin.idle = bin.idle.saturating_add(time));
            }
            Step::Coarsen(most) => {
                self.plain.coarsen(most);
                self.recorder.coarsen(most);
            }
            Step::Scale(times) => {
                self.plain.scale_windows(times);
                self.recorder.scale_windows(times);
            }
            Step::Reload => {
                let bytes = postcard::to_allocvec(&self.recorder).unwrap();
                self.recorder = postcard::from_bytes(&bytes).unwrap();
            }
        }
    }

    fn are_equal(&self) -> bool {
        let begin = self.plain.as_slice().first().map(|bin| bin.at);
        self.recorder.iter().eq(self.plain.as_slice().iter().copied())
            && (self.recorder.len(), self.recorder.begin()) == (self.plain.as_slice().len(), begin)
    }
}

proptest! {
    #[test]
    fn what_is_packed_is_what_was_recorded(steps in steps(), end in 0..200_u64) {
        let mut both = Both::new();
        for (place, step) in steps.iter().enumerate() {
            both.take(place, *step);
            prop_assert!(both.are_equal(), "after step {place}: {both:?}");
        }
        let end = Time::from_nanos(1000 + 15 * u64::try_from(steps.len()).unwrap() - end.min(1000));
        both.plain.finish(end);
        both.recorder.finish(end);
        let recorded = both.recorder.into_bins();
        prop_assert_eq!(recorded.as_slice(), both.plain.as_slice());
    }
}

#[test]
fn as_many_are_kept_as_when_nothing_is_packed() {
    let mut both = Both::new();
    for place in 0..3 * Bins::MOST {
        both.take(place, Step::At(0));
        both.take(place, Step::Spread(3, 0));
    }
    assert!(both.are_equal());
    assert!(both.recorder.older.len() > Bins::MOST / 4, "{}", both.recorder.older.len());
    assert!(both.recorder.recent.as_slice().len() <= MOST_RECENT + 4);
}
