//! A clock that was set back by less than a card or a kernel stores packets out of order.
//!
//! What is stored out of order is so again and again, batches of queues and blocks of interfaces, or is a few packets that come late. A
//! clock is set once, and its times ascend before it and behind it. Put in the order of these times, acknowledgements would pass before
//! their data, and the least round trip would be shorter by as much; what is taken for a clock that was set, and was a batch that
//! came late, costs one round trip that is not measured.
//!
//! ```text
//! time │   ╱│  ╱       set back:      from − by at once, and no descent for three times as long
//!      │  ╱ │ ╱
//!      │ ╱  │╱         out of order:  the next descent follows within twice as long
//!      └────────── place in the file
//! ```

/// A descent of the times that may be a clock which was set back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// The time before it, in nanoseconds, and by how much it went back.
    from: u64,
    by: u64,
    /// The newest time since, and how many packets came up to the time before.
    newest: u64,
    packets: u32,
}

/// What the next time tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Not known yet.
    Open,
    /// The clock was set back.
    Set,
    /// The packets are out of order.
    Disorder,
}

/// Smaller descents are of no consequence, and of queues of one card, in nanoseconds.
const LEAST: u64 = 1_000_000;
/// Fewer packets up to the time before come late.
const ENOUGH: u32 = 5;

impl Descent {
    /// From one time to an earlier one; `None` where it is small.
    pub(super) const fn new(from: u64, to: u64) -> Option<Self> {
        let by = from.saturating_sub(to);
        if by < LEAST { None } else { Some(Self { from, by, newest: to, packets: 1 }) }
    }

    /// The next time.
    pub(super) fn on_time(&mut self, at: u64) -> Verdict {
        let are_few = self.packets < ENOUGH && at >= self.from;
        if at < self.newest || are_few {
            return Verdict::Disorder;
        }
        self.packets = self.packets.saturating_add(u32::from(at < self.from));
        self.newest = at;
        let is_long = at >= self.from.saturating_add(self.by.saturating_mul(2));
        if is_long { Verdict::Set } else { Verdict::Open }
    }

    /// The newest time of what came since.
    pub(super) const fn newest(&self) -> u64 {
        self.newest
    }

    /// What is to be believed where nothing more comes: blocks of two interfaces end as late as each other.
    pub(super) const fn at_end(&self) -> Verdict {
        if self.newest > self.from.saturating_add(self.by) {
            Verdict::Set
        } else {
            Verdict::Disorder
        }
    }

    /// Whether a time is before that from which it went back.
    pub(super) const fn is_before(&self, at: u64) -> bool {
        at < self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(times: impl IntoIterator<Item = u64>) -> Vec<Verdict> {
        let mut descent = Descent::new(100_000_000, 80_000_000).unwrap();
        let all: Vec<Verdict> =
            times.into_iter().map(|at| descent.on_time(at * 1_000_000)).collect();
        all
    }

    #[test]
    fn a_clock_is_set_once_and_disorder_comes_again() {
        use Verdict::{Disorder, Open, Set};
        let block = || (82..100).step_by(2);
        let open = vec![Open; block().count()];
        let behind =
            |times: &[u64]| verdicts(block().chain(times.iter().copied()))[open.len()..].to_vec();
        assert_eq!(verdicts(block()), open);
        assert_eq!(behind(&[105, 139, 140]), [Open, Open, Set]);
        // The next block of the first interface, and then that of the second.
        assert_eq!(behind(&[104, 100]), [Open, Disorder]);
        assert_eq!(verdicts([101]), [Disorder], "a packet that comes late");
        assert!(Descent::new(100, 99).is_none(), "two queues of a card");
    }
}
