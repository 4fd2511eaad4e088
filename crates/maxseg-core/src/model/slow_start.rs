//! A short transfer without losses: slow start in whole rounds, acknowledgement by acknowledgement.
//!
//! Cardwell, Savage and Anderson (INFOCOM 2000, equation 15) count rounds by a logarithm, fractions of them
//! too, and leave out what packets take on the wire. Here rounds are whole and links have a rate.

/// What is sent, and how its sender may send it. Segments are counted, full or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlowStart {
    pub(super) segments: f64,
    /// The window at the beginning, and the largest.
    pub(super) window: f64,
    pub(super) largest: f64,
    /// Segments that an acknowledgement waits for, and how long it waits for them in vain.
    pub(super) per_ack: f64,
    pub(super) ack_timeout: f64,
    pub(super) growth: Growth,
}

/// By how much the window grows beyond what a transfer needs of it, while its last flight is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// Not at all (RFC 7661 §4.4).
    AsUsed,
    /// With every acknowledgement, to twice the largest flight (`tcp_is_cwnd_limited`, `include/net/tcp.h`).
    TwiceUsed,
    /// With every acknowledgement (ns-2).
    Unused,
}

/// How a transfer went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    /// Until the last segments began to go in one piece: they fit the window, or the slowest link never
    /// rests from then on.
    pub(super) before: f64,
    /// How many those were.
    pub(super) at_last: f64,
    /// The window afterwards.
    pub(super) window: f64,
    /// The most that wait before the slowest link: a first flight all at once, then what a window's growth
    /// adds to each round, and in the end what the window holds beyond the path.
    pub(super) queued: f64,
}

/// Where a window that hardly grows is taken for constant.
const MOST_ROUNDS: u32 = 1000;

impl SlowStart {
    /// `acknowledged` gives the time from a round's first segment to the acknowledgement that its n-th
    /// brings about, and `each` is a segment's time on the slowest link.
    pub(super) fn course(&self, each: f64, acknowledged: impl Fn(f64) -> f64) -> Course {
        let course = self.course_as_used(each, acknowledged);
        let acks = libm::floor(self.segments / self.per_ack).max(1.0);
        let unused = (self.window + acks).min(self.largest);
        let flight = course.window.min(self.segments);
        let window = match self.growth {
            Growth::AsUsed => course.window,
            Growth::TwiceUsed => unused.min(2.0 * flight).max(course.window),
            Growth::Unused => unused,
        };
        Course { window, ..course }
    }

    fn course_as_used(&self, each: f64, acknowledged: impl Fn(f64) -> f64) -> Course {
        let mut window = self.window.min(self.largest);
        let (mut time, mut left, mut round, mut waiting) = (0.0, self.segments, window, 0.0);
        let mut before = window;
        let mut queued = window.min(left);
        for _ in 0..MOST_ROUNDS {
            if left <= round {
                // Each acknowledgement released what it acknowledged and one more, until all was sent.
                let needed = libm::ceil(left / (self.per_ack + 1.0));
                let window = if time > 0.0 { window.min(before + needed) } else { window };
                return Course { before: time, at_last: left, window, queued };
            }
            // The first acknowledgement of this round, and how many come.
            let first = self.per_ack - waiting;
            let cycle = if round < first {
                acknowledged(round) + self.ack_timeout
            } else {
                acknowledged(first)
            };
            if round * each >= cycle {
                let needed = libm::ceil((left - round) / (self.per_ack + 1.0));
                let window = (window + needed).min(self.largest);
                let beyond = window.min(left) - cycle / each;
                return Course { before: time, at_last: left, window, queued: queued.max(beyond) };
            }
            time += cycle;
            left -= round;
            let heard = round + waiting;
            let acks = libm::floor(heard / self.per_ack).max(1.0);
            let released = if round < first { heard } else { acks * self.per_ack };
            waiting = heard - released;
            let grown = (window + acks).min(self.largest);
            round = released + grown - window;
            (before, window) = (window, grown);
            queued = queued.max(round.min(left) / (self.per_ack + 1.0));
        }
        // A constant window from here on: whole rounds, of which the last is not waited for.
        let rounds = libm::ceil(left / window) - 1.0;
        time += rounds * acknowledged(self.per_ack.min(window));
        Course { before: time, at_last: left - rounds * window, window, queued }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip of a second on a link without end.
    fn rounds(segments: f64, window: f64, largest: f64, per_ack: f64) -> (f64, f64) {
        let growth = Growth::AsUsed;
        let start = SlowStart { segments, window, largest, per_ack, ack_timeout: 0.2, growth };
        let course = start.course(0.0, |_| 1.0);
        (course.before, course.at_last)
    }

    /// 38 segments go as 10, 20 and 8, of which Linux has 24 out at most.
    #[test]
    fn a_window_grows_as_its_stack_lets_it() {
        let after = |segments, growth| {
            let (window, per_ack, ack_timeout) = (10.0, 1.0, 0.04);
            let largest = f64::INFINITY;
            let start = SlowStart { segments, window, largest, per_ack, ack_timeout, growth };
            start.course(0.0, |_| 1.0).window
        };
        for (growth, of_38, of_5) in [
            (Growth::AsUsed, 24.0, 10.0),
            (Growth::TwiceUsed, 48.0, 10.0),
            (Growth::Unused, 48.0, 15.0),
        ] {
            let found = (after(38.0, growth), after(5.0, growth));
            assert!(
                (found.0 - of_38).abs() < 1e-9 && (found.1 - of_5).abs() < 1e-9,
                "{growth:?} {found:?}"
            );
        }
    }

    #[test]
    fn rounds_grow_by_an_acknowledged_segment_each() {
        let unlimited = f64::INFINITY;
        let cases = [
            (rounds(10.0, 10.0, unlimited, 1.0), (0.0, 10.0), "one flight"),
            (rounds(14.0, 2.0, unlimited, 1.0), (2.0, 8.0), "2, 4, 8"),
            (rounds(15.0, 2.0, unlimited, 1.0), (3.0, 1.0), "and one more"),
            (
                rounds(46.0, 10.0, unlimited, 2.0),
                (2.0, 21.0),
                "10, 15, 21: five and seven acknowledgements",
            ),
            (rounds(46.0, 10.0, 12.0, 2.0), (3.0, 12.0), "10, 12, 12, 12"),
            (
                rounds(3.0, 1.0, unlimited, 2.0),
                (1.2, 2.0),
                "a lone segment waits to be acknowledged",
            ),
        ];
        for ((time, last), (want, segments), why) in cases {
            assert!(
                (time - want).abs() < 1e-9 && (last - segments).abs() < 1e-9,
                "{why}: {time} {last}"
            );
        }
    }

    #[test]
    fn a_window_that_hardly_grows_is_constant_in_the_end() {
        let (time, last) = rounds(1e6, 10.0, 10.0, 1.0);
        assert!((time - 99_999.0).abs() < 1e-6 && (last - 10.0).abs() < 1e-9, "{time} {last}");
    }
}
