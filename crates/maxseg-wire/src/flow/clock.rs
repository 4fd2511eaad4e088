//! The capture's clock as one connection shows it: set back, set forward, or too coarse.

use serde::{Deserialize, Serialize};

use super::time_order::WINDOW;

/// The clock of the capture, and what is added to its times so that they go on where it was set.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Clock {
    /// Added to the times of the capture, in nanoseconds.
    offset: i64,
    /// What was added before the clock was last set: a single wrong time may be behind it.
    before: Option<i64>,
    /// The interface of the last packet, and one before it whose times may be of another clock.
    interface: u32,
    other: Option<OtherInterface>,
    /// The last time; a packed connection has it elsewhere.
    #[serde(skip)]
    last: u64,
    /// Whether the file has it set back by little an odd number of times; `None` before the first packet.
    is_odd: Option<bool>,
    /// Whether it was set so between the last packet and the one that passes.
    #[serde(skip)]
    is_set: bool,
    /// How often it was set.
    pub(super) steps: u16,
    /// The largest power of ten, in nanoseconds, that all times are multiples of; below [`FINE`] it is not known.
    multiple: u32,
}

/// Another interface: what is added to its times.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct OtherInterface {
    interface: u32,
    offset: i64,
    /// Whether its clock is another one, and not that of a host whose clock was set.
    is_apart: bool,
}

/// A pause from which on it is asked whether the clock was set forward, in nanoseconds.
const PAUSE: u64 = 2_000_000_000;
/// Times that are multiples of this, in nanoseconds, are fine enough.
const FINE: u32 = 100_000;
/// No timer for a retransmission waits longer (Linux: `TCP_RTO_MAX`), in nanoseconds.
const LONGEST_RTO: u64 = 120_000_000_000;
/// A timestamp clock ticks at least once a second (RFC 7323 §5.4), in nanoseconds.
const SLOWEST_TICK: u64 = 1_000_000_000;

/// What a tick takes on most hosts (Linux, Windows), in nanoseconds.
const USUAL_TICK: u64 = 1_000_000;
/// A connection that goes on has the next packet within this, in nanoseconds.
const AT_ONCE: u64 = 1_000_000_000;

/// How a time relates to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tick {
    /// It goes on.
    Runs(u64),
    /// The clock was set back: time goes on from the last packet.
    SetBack(u64),
    /// So much time passed that it may have been set forward; the caller asks [`Clock::set_forward`].
    Pause(u64),
}

/// What a segment after a pause tells of the time that passed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PauseEvidence {
    /// Ticks of its sender's timestamp clock, and for how long there was none by the capture's clock, in nanoseconds.
    pub(super) ticks: Option<(u32, u64)>,
    /// Nanoseconds per tick, as far as that is known from before.
    pub(super) tick: Option<u64>,
    /// Data was in flight that a sender would have sent again, and this is no retransmission.
    pub(super) goes_on: bool,
}

impl Clock {
    pub(super) const fn new(at: u64, interface: u32) -> Self {
        Self {
            offset: 0,
            before: None,
            interface,
            other: None,
            last: at,
            is_odd: None,
            is_set: false,
            steps: 0,
            multiple: 1_000_000_000,
        }
    }

    /// Goes on after a packet at `last`.
    pub(super) const fn resume(&mut self, last: u64) {
        self.last = last;
    }

    /// Time goes on at a packet that was captured at `raw`, however much is missing before it. Gives its time.
    pub(super) fn pass_hole(&mut self, raw: u64) -> u64 {
        self.last = raw.saturating_add_signed(self.offset).max(self.last);
        self.last
    }

    /// Whether the file has the clock set back by little before the next packet, an odd number of times.
    #[inline]
    pub(super) const fn note_setting(&mut self, is_odd: bool) {
        self.is_set = match self.is_odd {
            Some(before) => before != is_odd,
            None => false,
        };
        self.is_odd = Some(is_odd);
    }

    /// A packet that was captured at `raw`.
    #[inline]
    pub(super) fn tick(&mut self, raw: u64, interface: u32) -> Tick {
        if self.multiple > FINE {
            self.look_closer(raw);
        }
        if interface != self.interface {
            self.switch(raw, interface);
        }
        let at = raw.saturating_add_signed(self.offset);
        if at >= self.last && at - self.last < PAUSE {
            self.last = at;
            return Tick::Runs(at);
        }
        self.unusual(raw, at)
    }

    #[cold]
    fn look_closer(&mut self, raw: u64) {
        while self.multiple > FINE && !raw.is_multiple_of(self.multiple.into()) {
            self.multiple /= 10;
        }
    }

    /// A packet of another interface than the last one. Two cards of a host may have a clock each; where the host's own was set, what is
    /// added is the same for both from then on.
    #[inline(never)]
    fn switch(&mut self, raw: u64, interface: u32) {
        let apart = |offset| raw.saturating_add_signed(offset).abs_diff(self.last);
        let known = self.other.filter(|other| other.interface == interface);
        let own = known.filter(|it| it.is_apart || apart(it.offset) < apart(self.offset));
        let before = OtherInterface {
            interface: self.interface,
            offset: self.offset,
            is_apart: own.is_some_and(|it| it.is_apart || it.offset != self.offset),
        };
        self.offset = own.map_or(self.offset, |it| it.offset);
        self.other = Some(before);
        self.interface = interface;
    }

    #[cold]
    fn unusual(&mut self, raw: u64, at: u64) -> Tick {
        if at < self.last {
            if at.saturating_add(WINDOW) >= self.last && !self.is_set {
                return Tick::Runs(at); // out of order
            }
            self.set(i64::try_from(self.last.saturating_sub(raw)).unwrap_or(i64::MAX));
            return Tick::SetBack(self.last);
        }
        if let Some(before) = self.before {
            // A packet by the clock of before: two clocks at what the file calls one interface, or a single wrong time.
            let then = raw.saturating_add_signed(before);
            if then.abs_diff(self.last) < PAUSE {
                self.before = Some(self.offset);
                self.offset = before;
                self.last = self.last.max(then);
                return Tick::SetBack(self.last);
            }
        }
        Tick::Pause(at)
    }

    fn set(&mut self, offset: i64) {
        self.before = Some(self.offset);
        self.offset = offset;
        self.steps = self.steps.saturating_add(1);
    }

    /// Whether a pause that ends at `at` was none: the clock was set forward. Gives the time that goes on then.
    pub(super) fn set_forward(&mut self, at: u64, evidence: &PauseEvidence) -> Option<u64> {
        let pause = at.saturating_sub(self.last);
        let passed = match evidence.ticks {
            Some((ticks, since)) => {
                let most = u64::from(ticks).saturating_add(1).saturating_mul(SLOWEST_TICK);
                let likely = evidence.tick.map_or(most, |tick| tick.saturating_mul(ticks.into()));
                let by_ticks = evidence.tick.unwrap_or(USUAL_TICK).saturating_mul(ticks.into());
                // The timestamp clock of a host stands still while the host sleeps: it is awake for seconds before and after. And where
                // the other end sent in between, the time of those packets was right.
                let is_asleep = by_ticks > AT_ONCE || since > pause.saturating_add(AT_ONCE);
                let is_set = since / 4 > likely.min(most) && !is_asleep;
                is_set.then_some(likely.min(most).min(pause))
            }
            None => (evidence.goes_on && pause > LONGEST_RTO).then_some(0),
        };
        let Some(passed) = passed else {
            self.last = at;
            return None;
        };
        let now = self.last.saturating_add(passed.min(PAUSE));
        let back = i64::try_from(at.saturating_sub(now)).unwrap_or(0);
        self.set(self.offset.saturating_sub(back));
        self.last = now;
        Some(now)
    }

    /// What all times are multiples of, in nanoseconds; `None` where that is nothing to speak of.
    pub(super) fn resolution(&self) -> Option<u64> {
        (self.multiple > FINE).then_some(self.multiple.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const NOON: u64 = 1_600_000_000 * SECOND + 123;

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let mut clock = Clock::new(NOON, 0);
        assert_eq!(clock.tick(NOON + 10, 0), Tick::Runs(NOON + 10));
        assert_eq!(clock.tick(NOON - 3 * SECOND, 0), Tick::SetBack(NOON + 10));
        assert_eq!(clock.tick(NOON - 3 * SECOND + 5, 0), Tick::Runs(NOON + 15));
        assert_eq!(clock.steps, 1);
    }

    #[test]
    fn one_wrong_time_does_not_move_the_others() {
        let mut clock = Clock::new(NOON, 0);
        assert_eq!(clock.tick(0, 0), Tick::SetBack(NOON));
        assert_eq!(clock.tick(NOON + 7, 0), Tick::SetBack(NOON + 7));
        assert_eq!(clock.tick(NOON + 9, 0), Tick::Runs(NOON + 9));
    }

    #[test]
    fn a_little_disorder_is_no_other_clock() {
        let mut clock = Clock::new(NOON, 0);
        assert_eq!(clock.tick(NOON - 40_000_000, 0), Tick::Runs(NOON - 40_000_000));
        assert_eq!(clock.tick(NOON + 1, 0), Tick::Runs(NOON + 1));
        assert_eq!(clock.steps, 0);
    }

    /// Out of order by the times, and known to be a clock that was set.
    #[test]
    fn a_clock_that_is_set_back_by_little_is_told_by_the_file() {
        let mut clock = Clock::new(NOON, 0);
        clock.note_setting(false);
        assert_eq!(clock.tick(NOON, 0), Tick::Runs(NOON));
        clock.note_setting(true);
        assert_eq!(clock.tick(NOON - 20_000_000, 0), Tick::SetBack(NOON));
        clock.note_setting(true);
        assert_eq!(clock.tick(NOON - 19_000_000, 0), Tick::Runs(NOON + 1_000_000));
        assert_eq!(clock.steps, 1);
    }

    #[test]
    fn two_interfaces_may_have_a_clock_each() {
        let mut clock = Clock::new(NOON, 0);
        let behind = 990_000_000;
        assert_eq!(clock.tick(NOON + 10 - behind, 1), Tick::SetBack(NOON));
        for n in 1..20 {
            let at = NOON + 20_000_000 * n;
            assert_eq!(clock.tick(at, 0), Tick::Runs(at), "{n}");
            assert_eq!(clock.tick(at + 500 - behind, 1), Tick::Runs(at + 490), "{n}");
        }
        // An idle time that is as long as the clocks are apart.
        let later = NOON + 380_000_000 + behind;
        assert_eq!(clock.tick(later + 500 - behind, 1), Tick::Runs(later + 490));
        assert_eq!(clock.steps, 1);
    }

    #[test]
    fn a_clock_that_is_set_is_that_of_all_interfaces() {
        let mut clock = Clock::new(NOON, 0);
        assert_eq!(clock.tick(NOON + 10, 1), Tick::Runs(NOON + 10));
        assert_eq!(clock.tick(NOON + 20, 0), Tick::Runs(NOON + 20));
        assert_eq!(clock.tick(NOON + 30 - SECOND, 0), Tick::SetBack(NOON + 20));
        assert_eq!(clock.tick(NOON + 40 - SECOND, 1), Tick::Runs(NOON + 30));
        assert_eq!(clock.tick(NOON + 50 - SECOND, 0), Tick::Runs(NOON + 40));
        assert_eq!(clock.steps, 1);
    }

    #[test]
    fn an_hour_without_ticks_is_a_clock_set_forward() {
        let cases = [
            // ticks of the sender, nanoseconds per tick, goes on, whether it was set
            (Some((5, 3600 * SECOND)), None, false, true),
            (Some((5, 3600 * SECOND)), Some(1_000_000), false, true),
            (Some((3_600_000, 3600 * SECOND)), Some(1_000_000), false, false),
            (Some((3_600, 3600 * SECOND)), None, true, false),
            // A phone that was awake for a minute of the hour; one whose peer sent in between.
            (Some((60_000, 3600 * SECOND)), Some(1_000_000), false, false),
            (Some((5, 7200 * SECOND)), Some(1_000_000), true, false),
            (None, None, true, true),
            (None, None, false, false),
        ];
        for (ticks, tick, goes_on, was_set) in cases {
            let mut clock = Clock::new(NOON, 0);
            let at = NOON + 3600 * SECOND;
            assert_eq!(clock.tick(at, 0), Tick::Pause(at));
            let evidence = PauseEvidence { ticks, tick, goes_on };
            let now = clock.set_forward(at, &evidence);
            assert_eq!(now.is_some(), was_set, "{ticks:?} {tick:?} {goes_on}");
            let next = clock.tick(at + 7, 0);
            assert_eq!(next, Tick::Runs(now.unwrap_or(at) + 7));
        }
    }

    #[test]
    fn the_resolution_is_what_all_times_are_multiples_of() {
        let cases = [
            (vec![0, 1, 5], Some(SECOND)),
            (vec![0, 10_000_000, 30_000_000], Some(10_000_000)),
            (vec![0, 1_000_000, 7_000_000], Some(1_000_000)),
            (vec![0, 100_000, 300_000], None),
            (vec![0, 1_234], None),
        ];
        for (times, want) in cases {
            let unit = if want == Some(SECOND) { SECOND } else { 1 };
            let mut clock = Clock::new(0, 0);
            for at in &times {
                clock.tick(at * unit, 0);
            }
            assert_eq!(clock.resolution(), want, "{times:?}");
        }
    }
}
